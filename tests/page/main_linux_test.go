package page

import (
	"bufio"
	"bytes"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }

// visitor is a program that has opened the page with its link.
type visitor struct {
	t      *testing.T
	base   string // with the path that no one can guess
	client *http.Client
}

// newRig is a vault with a few notes.
func newRig(t *testing.T) *rig.Rig {
	return rig.New(t, map[string]string{"Bread.md": "flour\nwater\nsalt\n", "Work/Plan.md": "one\ntwo\n", "Private/Diary.md": "secret words\n"})
}

// stateOf is the state folder of a rig.
func stateOf(r *rig.Rig) string { return filepath.Join(r.Home, ".local", "state", "vaultwicket") }

// startPage starts "vaultwicket ui" and returns its link.
func startPage(r *rig.Rig, flags ...string) (link string) {
	r.T.Helper()
	r.Save()
	c := osexec.Command(rig.Binary, append([]string{"ui"}, flags...)...)
	c.Env = []string{"HOME=" + r.Home, "TZ=UTC"}
	var log bytes.Buffer
	c.Stderr = &log
	user := rig.StartAtTerminal(r.T, c)
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
	return strings.TrimSpace(line)
}

// open starts the page and opens it.
func open(r *rig.Rig, flags ...string) *visitor {
	r.T.Helper()
	link := startPage(r, flags...)
	jar, err := cookiejar.New(nil)
	require.NoError(r.T, err)
	v := &visitor{r.T, link[:strings.Index(link, "open/")], &http.Client{Jar: jar}}
	if status, body := v.fetch(http.MethodGet, link, nil); status != http.StatusOK {
		r.T.Fatalf("the link answers %d: %s", status, body)
	}
	return v
}

// fetch sends a request as a browser would.
func (v *visitor) fetch(method, address string, form url.Values) (status int, body string) {
	v.t.Helper()
	var in io.Reader
	if form != nil {
		in = strings.NewReader(form.Encode())
	}
	request, err := http.NewRequestWithContext(v.t.Context(), method, address, in)
	require.NoError(v.t, err)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if form != nil {
		request.Header.Set("Origin", "http://"+request.URL.Host)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := v.client.Do(request)
	require.NoError(v.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(v.t, err)
	return answer.StatusCode, string(text)
}

// see returns a view that exists.
func (v *visitor) see(path string) string {
	v.t.Helper()
	status, body := v.fetch(http.MethodGet, v.base+path, nil)
	require.That(v.t, status == http.StatusOK, "%q answers %d: %s", path, status, body)
	return body
}

var hiddenFields = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// send sends the form of a view whose text contains all of marks, with further fields.
func (v *visitor) send(view, action string, more url.Values, marks ...string) (status int, body string) {
	v.t.Helper()
	for _, form := range strings.Split(view, "<form ")[1:] {
		form, _, _ = strings.Cut(form, "</form>")
		if !strings.Contains(form, action+`"`) {
			continue
		}
		missing := false
		for _, mark := range marks {
			missing = missing || !strings.Contains(form, mark)
		}
		if missing {
			continue
		}
		values := url.Values{}
		for _, field := range hiddenFields.FindAllStringSubmatch(form, -1) {
			values.Set(field[1], field[2])
		}
		for name, value := range more {
			values[name] = value
		}
		return v.fetch(http.MethodPost, v.base+action, values)
	}
	v.t.Fatalf("no form for %q with %q in %s", action, marks, view)
	return 0, ""
}

// has fails unless a view contains all of texts, as it is or as a browser reads it.
func has(t *testing.T, view string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(view, text) && !strings.Contains(html.UnescapeString(view), text) {
			t.Errorf("%q is not in %s", text, mainOf(view))
		}
	}
}

// mainOf is a view without what is around it.
func mainOf(view string) string {
	if _, main, found := strings.Cut(view, "<main"); found {
		return main
	}
	return view
}

// lacks fails if a view contains one of texts.
func lacks(t *testing.T, view string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(view, text) {
			t.Errorf("%q is in %s", text, mainOf(view))
		}
	}
}
