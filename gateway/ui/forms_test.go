package ui

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// visitor is a browser that has the page open.
type visitor struct {
	t      *testing.T
	page   *Page
	base   string
	client *http.Client
}

// openPage opens the page of a state folder.
func openPage(t *testing.T, state string) *visitor {
	t.Helper()
	require.That(t, ownerfiles.EnsureFolder(state), "no state folder")
	p := New(Config{
		Gateway: gateway.New(gateway.Config{Runner: exec.New(exec.Config{})}), State: state, Session: "1-page", Log: slog.New(slog.DiscardHandler),
		Settings: func() (Settings, error) { return Settings{}, nil },
		Health:   func(context.Context) []Finding { return nil }, Agents: func() ([]Agent, error) { return nil, nil },
	})
	server := httptest.NewServer(p.guard)
	t.Cleanup(server.Close)
	jar := require.Value(cookiejar.New(nil))(t)
	client := server.Client()
	client.Jar, client.CheckRedirect = jar, func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	open := server.URL + p.Open()
	v := &visitor{t, p, open[:strings.Index(open, "open/")], client}
	v.do(http.MethodGet, open, nil)
	return v
}

// do sends a request as a browser would, and follows nothing.
func (v *visitor) do(method, address string, form url.Values) (status int, location, body string) {
	v.t.Helper()
	r := require.Value(http.NewRequestWithContext(v.t.Context(), method, address, strings.NewReader(form.Encode())))(v.t)
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://"+r.URL.Host)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer := require.Value(v.client.Do(r))(v.t)
	defer answer.Body.Close()
	text := require.Value(io.ReadAll(answer.Body))(v.t)
	if at, err := answer.Location(); err == nil {
		location = at.String()
	}
	return answer.StatusCode, location, string(text)
}

func (v *visitor) see(path string) string {
	v.t.Helper()
	status, _, body := v.do(http.MethodGet, v.base+path, nil)
	assert.Equal(v.t, status, http.StatusOK, "%q answers", path)
	return body
}

// send sends the form for an action with a token of a view, and returns where it leads.
func (v *visitor) send(view, action string, form url.Values) (location string) {
	v.t.Helper()
	_, rest, _ := strings.Cut(v.see(view), action+`"`)
	token := regexp.MustCompile(`name="token" value="([^"]+)"`).FindStringSubmatch(rest)
	require.That(v.t, token != nil, "no form for %s", action)
	form.Set("token", token[1])
	status, location, body := v.do(http.MethodPost, v.base+action, form)
	require.That(v.t, status == http.StatusSeeOther, "%s answers %d: %s", action, status, body)
	return location
}

// A browser that goes back to the answer of a form would ask whether to send it again.
func TestFormsLeadToAView(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	planned := v.send("policy/try", "policy/try", url.Values{"command": {"eval"}, "params": {"code=1"}})
	for range 2 { // it can be loaded again
		if status, _, body := v.do(http.MethodGet, planned, nil); status != http.StatusOK ||
			!strings.Contains(body, "outcome deny") || !strings.Contains(body, ">code=1</textarea>") {
			t.Errorf("the plan answers %d: %s", status, body)
		}
	}
	q, err := consent.OpenStore(consent.Folder(v.page.State),
		nil).Ask(consent.StoredQuestion{Session: "terminal", Vault: "v", Command: "delete", Text: "x",
		Digest: consent.Digest{1}})
	require.NoError(t, err)
	form := url.Values{"code": {q.Code}}
	_, _, body := v.do(http.MethodGet, v.send("approvals", "approvals/approve", form), nil)
	assert.Contains(t, body, "Approved here, for one call", "approved")
	_, twice, _ := v.do(http.MethodPost, v.base+"approvals/approve", form)
	for i, want := range []int{http.StatusUnprocessableEntity, http.StatusOK} { // the problem is told once
		status, _, body := v.do(http.MethodGet, twice, nil)
		assert.Equal(t, status, want, "a second time it answers %d", status)
		assert.Equal(t, strings.Contains(body, "already answered"), i == 0, "a second time it answers %d", status)
	}
}

// That calls are denied is shown as long as it is so, whatever a form has led to.
func TestANoteEndsWithWhatItIsAbout(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	v := openPage(t, state)
	paused := v.send("", "pause/pause", url.Values{"from": {"settings"}})
	const note = "Every running server denies every call until"
	if _, _, body := v.do(http.MethodGet, paused, nil); !strings.Contains(body, `role="status">Paused <time`) ||
		!strings.Contains(body, note) || !strings.HasSuffix(paused, "/settings") {
		t.Errorf("%s: %s", paused, body)
	}
	if _, err := admission.Resume(state, ""); err != nil { // in a terminal
		t.Fatal(err)
	}
	_, _, body := v.do(http.MethodGet, paused, nil)
	assert.That(t, !strings.Contains(body, ">Paused <"), "after the pause: %s", body)
	shown := v.base + v.page.answers.keep(view{goTo: "changes?vault=x", note: "Undone."})
	for _, want := range []bool{true, false} {
		_, _, body := v.do(http.MethodGet, shown, nil)
		assert.Equal(t, strings.Contains(body, "Undone."), want, "the note is shown: %v", !want)
	}
}

// A form leads back to the view that it was in, with its filters, and to nothing else.
func TestFormsLeadBackWithTheFilters(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	view := v.see("activity?outcome=denied&q=x")
	assert.That(t, strings.Contains(view, `name="from" value="activity?outcome=denied&amp;q=x"`), "%s", view)
	for from, want := range map[string]string{
		"activity?outcome=denied&q=x": "activity?outcome=denied&q=x", "activity?answer=1&q=x": "activity?q=x", "?": "",
		"changes/one/x?vault=y": "changes/one/x?vault=y",
		"https://evil.example/": "", "//evil.example/": "", "approvals/approve": "", "../x": "", "events": "",
		"activity\r\nX: y": "", "assets/page.js": "", "%zz": "",
	} {
		at := v.send("", "pause/pause", url.Values{"from": {from}})
		assert.That(t, at == v.base+want, "%q leads to %s, want %s", from, at, want)
		require.Value(admission.Resume(v.page.State, ""))(t)
	}
}

// The files of the page are compressed, and kept by the browser under their hash; views are neither.
func TestFilesAreCompressedAndKept(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	view := v.see("")
	for _, name := range []string{"page.css", "page.js", "icon.svg", "icon-waiting.svg"} {
		address := regexp.MustCompile(`/assets/` + regexp.QuoteMeta(name) + `\?[0-9a-f]{12}`).FindString(view)
		for _, packed := range []bool{true, false} {
			r := require.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(v.base, "/")+address, nil))(t)
			r.Header.Set("Accept-Encoding", map[bool]string{true: "gzip, br", false: "identity"}[packed])
			answer := require.Value(v.client.Do(r))(t)
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if packed != (answer.Header.Get("Content-Encoding") == "gzip") ||
				!strings.Contains(answer.Header.Get("Cache-Control"), "immutable") || address == "" {
				t.Errorf("%s: %v", name, answer.Header)
			}
			if packed {
				unpacked := require.Value(gzip.NewReader(bytes.NewReader(body)))(t)
				body, _ = io.ReadAll(unpacked)
			}
			want, _ := assetFiles.ReadFile("assets/" + name)
			assert.That(t, bytes.Equal(body, want), "%s has %d bytes, want %d", name, len(body), len(want))
		}
	}
	answer := require.Value(v.client.Get(v.base))(t)
	answer.Body.Close()
	assert.Equal(t, answer.Header.Get("Cache-Control"), "no-store", "a view")
	assert.That(t, !answer.Uncompressed, "a view: %v", answer.Header)
}
