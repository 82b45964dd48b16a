// Package ui is the local page: what agents do, what waits for the user, and what can be
// taken back. It reads what the subcommands read, and decides and undoes through the same
// functions; it knows no other way to a vault.
//
// The page listens on a loopback address only. [guard] decides who may see it. Every view is HTML that is complete without JavaScript; the script refreshes parts of it when
// something happens. Text of notes is in questions and differences only, cleaned as in the
// terminal and escaped. Notes that are hidden are not in it, except that the owner sees
// the access rules themselves.
package ui

import (
	"context"
	"log/slog"
	"net"
	"time"

	"vaultwicket/gateway"
	"vaultwicket/gateway/httpguard"
	"vaultwicket/gateway/ui/activity"
)

// Surface is how the audit log names calls and approvals by the page.
const Surface = "page"

// Config is what the page is made of. Gateway, State and Session are required.
type Config struct {
	Gateway *gateway.Gateway
	State   string // the state folder
	Session string // names this process in the audit log
	Version string

	// Settings returns the settings as they are now. Health checks the installation,
	// which may take seconds. nil functions leave their views empty.
	Settings func() (Settings, error)
	Health   func(context.Context) []Finding

	// Log takes messages for the user; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is the system's.
	Now func() time.Time
}

// Settings are the settings with their origins.
type Settings struct {
	File string // "" for none
	Rows []Setting
}

// Setting is one setting. Lines are what to write into the file for another value.
type Setting struct {
	Name, Value, Default, Origin, About string
	Lines                               []string
}

// Finding is what one check of the installation has found. Level is ok, warning or
// problem.
type Finding struct{ Check, Level, What, Why, Fix string }

const (
	maxConnections = 64 // a browser needs six
	maxStreams     = 24
	stopGrace      = 2 * time.Second
)

// page is the page of one process.
type page struct {
	Config
	guard   *guard
	answers answers
	calls   *activity.Calls
	streams *httpguard.Streams
	events  *events
	health  *health
	routes  map[string]route

	// working ends with the page, and with it what a view has begun and not waited for.
	working context.Context
	stop    context.CancelFunc
}

// Page answers requests to the local page.
type Page struct{ page *page }

// New returns the page. It reads nothing yet. host is a name under which it is called
// besides localhost and loopback addresses, or "".
func New(c Config, host string) *Page {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	p := &page{Config: c, calls: activity.Open(c.State), streams: httpguard.NewStreams(maxStreams)}
	p.working, p.stop = context.WithCancel(context.Background())
	p.events = &events{page: p, open: map[chan event]bool{}}
	p.health = &health{page: p}
	p.routes = map[string]route{
		"":                  {show: p.overview},
		"activity":          {show: p.activity},
		"activity/call/":    {show: p.oneCall},
		"approvals":         {show: p.approvals},
		"approvals/approve": {act: func(r request) view { return p.decide(r, true) }},
		"approvals/deny":    {act: func(r request) view { return p.decide(r, false) }},
		"changes":           {show: p.changes},
		"changes/one/":      {show: p.oneChange},
		"changes/undo":      {act: p.undo},
		"policy":            {show: p.policy},
		"policy/try":        {show: func(r request) view { return view{template: "try", title: tryTitle, data: p.tryDataOf(r)} }, act: p.try},
		"policy/access":     {show: p.access},
		"health":            {show: p.healthView},
		"health/check":      {act: p.checkHealth},
		"settings":          {show: p.settings},
		"pause/pause":       {act: p.pause},
		"pause/resume":      {act: p.resume},
	}
	p.guard = newGuard(host, c.Now, p.serve)
	return &Page{page: p}
}

// Open returns the path of a link that opens the page once.
func (p *Page) Open() string { return p.page.guard.Open() }

// Serve answers requests on a listener until ctx ends, and then returns nil. The error is why
// the listener failed.
func (p *Page) Serve(ctx context.Context, l net.Listener) error { return p.page.listen(ctx, l) }

func (p *page) listen(ctx context.Context, l net.Listener) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer p.stop()
	limited := httpguard.NewConnLimiter(l, maxConnections)
	s := httpguard.NewServer(base, p.guard, slog.NewLogLogger(p.Log.Handler(), slog.LevelDebug))
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(limited) }()
	go func() { // before the first view asks for it
		if _, err := p.calls.Update(); err != nil {
			p.Log.Warn("the audit log cannot be read", "error", err.Error())
		}
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	p.stop()
	p.streams.Close()
	limited.CloseUnauthenticated() // browsers open connections ahead, which Shutdown would wait for
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	_ = s.Shutdown(grace)
	cut()
	_ = s.Close()
	<-failed
	// Wait for the running check, so that no program that it has started outlives the page.
	h := p.health
	h.mu.Lock()
	done := h.done
	h.mu.Unlock()
	if done != nil {
		select {
		case <-done:
		case <-grace.Done():
		}
	}
	return nil
}
