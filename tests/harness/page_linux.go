package harness

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Page is a program that has opened the local page with its link.
type Page struct {
	T      *testing.T
	Base   string // with the path that no one can guess
	Client *http.Client
}

// StartPage starts "vaultwicket ui" and returns its link.
func (r *Program) StartPage(flags ...string) (link string, process *os.Process) {
	r.T.Helper()
	r.Save()
	c := osexec.Command(Binary, append([]string{"ui"}, flags...)...)
	c.Env = []string{"HOME=" + r.Home, "TZ=" + cmp.Or(r.Zone, "UTC")}
	var log bytes.Buffer
	c.Stderr = &log
	user := StartAtTerminal(r.T, c)
	r.T.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		if err := c.Wait(); err != nil {
			r.T.Errorf("the page ended with %v: %s", err, log.String())
		}
	})
	line, err := bufio.NewReader(user).ReadString('\n')
	if err != nil {
		r.T.Fatalf("%v: %s", err, log.String())
	}
	return strings.TrimSpace(line), c.Process
}

// ZoneAtNoon returns a time zone in which it is about noon, for tests in which a day must not end.
func ZoneAtNoon() string {
	behind := time.Now().UTC().Hour() - 12
	return fmt.Sprintf("Etc/GMT%+d", behind) // in these names the sign is that of the hours behind
}

// OpenPage starts the page and opens it.
func (r *Program) OpenPage(flags ...string) *Page {
	r.T.Helper()
	link, _ := r.StartPage(flags...)
	jar := require.Value(cookiejar.New(nil))(r.T)
	p := &Page{r.T, link[:strings.Index(link, "open/")], &http.Client{Jar: jar}}
	status, body := p.Fetch(http.MethodGet, link, nil)
	require.That(r.T, status == http.StatusOK, "the link answers %d: %s", status, body)
	return p
}

// Fetch sends a request as a browser would.
func (p *Page) Fetch(method, address string, form url.Values) (status int, body string) {
	p.T.Helper()
	request := require.Value(http.NewRequestWithContext(p.T.Context(), method, address, strings.NewReader(form.Encode())))(p.T)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if form != nil {
		request.Header.Set("Origin", "http://"+request.URL.Host)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer := require.Value(p.Client.Do(request))(p.T)
	defer answer.Body.Close()
	text := require.Value(io.ReadAll(answer.Body))(p.T)
	return answer.StatusCode, string(text)
}

// See returns a view that exists.
func (p *Page) See(path string) string {
	p.T.Helper()
	status, body := p.Fetch(http.MethodGet, p.Base+path, nil)
	require.That(p.T, status == http.StatusOK, "%q answers %d: %s", path, status, body)
	return body
}
