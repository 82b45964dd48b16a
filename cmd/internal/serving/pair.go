package serving

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/ui"
)

// PairBrowser shows the user at a terminal a link that pairs a browser, unless one is paired already, and waits until
// the link is opened, Enter is pressed or ctx is done. Errors are only shown to the user, who can run "vaultwicket ui"
// later.
func PairBrowser(ctx context.Context, std terminal.Streams, state string) {
	browsers := consent.Browsers{State: state, Now: time.Now}
	if browsers.Count() > 0 {
		return
	}
	l, err := listenLoopback(ctx, "127.0.0.1:0")
	if err != nil {
		terminal.Notef(std.Err, `no browser was paired: %v; "vaultwicket ui" does it, too`, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	page := ui.NewPairing(state, slog.New(slog.DiscardHandler))
	var serving conc.WaitGroup
	serving.Go(func() { page.Serve(ctx, l) })
	offer := fmt.Sprintf(
		"\nPair your browser, so that you can approve there what agents ask. Open this link in it within %d minutes, or press Enter to do it later with \"vaultwicket ui\":\n%s\n",
		int(ui.LinkLife/time.Minute),
		"http://"+l.Addr().String()+page.Link(),
	)
	fmt.Fprint(std.Err, terminal.Fit(std.Err, offer))
	enterPressed := make(chan struct{})
	go func() {
		terminal.Ask(ctx, std.In, std.Err)
		close(enterPressed)
	}()
	select {
	case <-page.Paired():
		terminal.Notef(std.Err, "the browser is paired")
	case <-enterPressed:
	case <-ctx.Done():
	}
	cancel()
	serving.Wait()
}
