package page

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	osexec "os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What an agent reaches that knows the address, and even the path, and not the code.
func TestTheAddressAloneReachesNothing(t *testing.T) {
	r := newProgram(t)
	link, _ := r.StartPage()
	base := link[:strings.Index(link, "open/")]
	at, err := url.Parse(base)
	require.NoError(t, err)
	root := "http://" + at.Host + "/"
	answers := map[string]bool{}
	for _, method := range []string{"GET", "HEAD", "POST"} {
		for _, address := range []string{root, root + "activity", root + "mcp", root + "favicon.ico", base,
			base + "approvals", base + "events", base + "assets/page.js", base + "pause/pause", base + "open/",
			base + "open/AAAAAAAAAAAAAAAAAAAAAA"} {
			request := require.Value(http.NewRequestWithContext(t.Context(), method, address, strings.NewReader("token=x")))(t)
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			request.Header.Set("Cookie", "vaultwicket=AAAAAAAAAAAAAAAAAAAAAA")
			answer := require.Value(http.DefaultClient.Do(request))(t)
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			assert.Equal(t, answer.StatusCode, http.StatusForbidden, "%s %s", method, address)
			assert.Equal(t, len(answer.Cookies()), 0, "%s %s", method, address)
			answers[string(body)] = true
		}
	}
	for body := range answers {
		lacks(t, body, "Bread", "Notes", r.Home, strings.Trim(at.Path, "/"))
	}
	assert.That(t, r.Read("paused") == "", "something was changed")
}

func TestTheServerOverHTTPDoesNotCarryThePage(t *testing.T) {
	r := newProgram(t)
	s := r.OverHTTP()
	for _, path := range []string{"/", "/open/x", "/activity", "/assets/page.css"} {
		answer := require.Value(http.DefaultClient.Do(s.Request(t.Context(), http.MethodGet, path, "")))(t)
		answer.Body.Close()
		assert.Equal(t, answer.StatusCode, http.StatusNotFound, "%s", path)
	}
}

// An agent that runs the command gets no link: there is no terminal that it could read.
func TestTheLinkIsShownAtATerminalOnly(t *testing.T) {
	r := newProgram(t)
	r.Save()
	c := osexec.Command(harness.Binary, "ui")
	c.Env = []string{"HOME=" + r.Home}
	c.Stdin = strings.NewReader("\n\n")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // away from the terminal of the tests
	out, err := c.CombinedOutput()
	assert.Equal(t, c.ProcessState.ExitCode(), 3, "%v\n%s", err, out)
	assert.Contains(t, string(out), "ui requires a terminal", "%v\n%s", err, out)
	assert.NotContains(t, string(out), "http://", "%v\n%s", err, out)
}

func TestOnlyLoopbackAddresses(t *testing.T) {
	r := newProgram(t)
	for _, address := range []string{"0.0.0.0:0", ":0", "192.168.1.1:80", "[::]:0", "localhost:0", "127.0.0.1",
		"127.0.0.1:x", "unix:/tmp/x", "127.0.0.1:99999"} {
		c := osexec.Command(harness.Binary, "ui", "--config", r.Save(), "--listen", address)
		c.Env = []string{"HOME=" + r.Home}
		var said strings.Builder
		c.Stderr = &said
		harness.StartAtTerminal(t, c)
		if _ = c.Wait(); c.ProcessState.ExitCode() != 2 || !strings.Contains(said.String(), "127.0.0.1:8766") {
			t.Errorf("%q ends with %d: %s", address, c.ProcessState.ExitCode(), said.String())
		}
	}
	link, _ := r.StartPage("--listen", "[::1]:0")
	assert.That(t, strings.HasPrefix(link, "http://[::1]:"), "the link is %q", link)
}

// Hostile text in every field of every file that the page reads is shown as text.
func TestHostileTextIsText(t *testing.T) {
	t.Parallel()
	evil := []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "\x1b[2J\x1b]0;x\a",
		"\u202egnp.exe", `'; alert(1); '`, `{{.}}`, "</title><h1>x"}
	name := strings.Join(evil[1:2], "")
	r := harness.New(t, map[string]string{"Bread.md": strings.Join(evil, "\n"), strings.ReplaceAll(name, "/", "") + ".md": "x\n"})
	state := stateOf(r)
	client := r.Stdio(false, "")
	client.Do(harness.Calling("append", "path=Bread.md", "content="+strings.Join(evil[:2], " ")))
	client.Do(harness.Calling("delete", "path=Bread.md"))
	client.Do(harness.Calling(evil[0]))
	logs := audit.OpenLogs(state)
	for i, text := range evil {
		line := audit.Line{Kind: "decision", Decision: "deny", Call: fmt.Sprintf("s-%d", i+1), Session: "s",
			Client: text, Surface: text, Vault: text, Command: text, Effect: text, Rule: text, Code: text,
			Backend: text, By: text, Params: []audit.Param{{Name: text}}}
		require.NoError(t, logs.Write(line, audit.Buffered))
		if _, err := consent.OpenStore(consent.Folder(state),
			time.Now).Ask(consent.StoredQuestion{Session: fmt.Sprint(i), Client: printable(text),
			Vault: printable(text), Command: printable(text), Text: printable(text),
			Digest: consent.Digest{byte(i + 1)}}); err != nil {
			t.Fatal(err)
		}
	}
	v := open(r)
	paths := []string{"", "activity", "approvals", "changes", "policy/access", "health", "settings",
		"activity?q=" + url.QueryEscape(name) + "&client=" + url.QueryEscape(name),
		"changes?caller=" + url.QueryEscape(name) + "&note=" + url.QueryEscape(name) + "&batch=" +
			url.QueryEscape(name), "policy/access?path=" + url.QueryEscape(name),
		"policy/try?command=" + url.QueryEscape(name) + "&params=" + url.QueryEscape(name)}
	for i := range evil {
		paths = append(paths, fmt.Sprintf("activity/call/s-%d", i+1))
	}
	for _, path := range paths {
		status, view := v.Fetch(http.MethodGet, v.Base+path, nil)
		assert.That(t, !strings.Contains(path, "/call/") || status == http.StatusOK, "%s answers %d", path, status)
		lacks(t, view, "<img", "onerror=alert(1)>", "<script>", "\x1b", "\u202e", "</title><h1>x", "ZgotmplZ")
		assert.Equal(t, strings.Count(view, "<script src="), 2, "%s has other elements: %s", path, view)
		assert.Equal(t, strings.Count(view, "<script"), 2, "%s has other elements: %s", path, view)
		assert.Equal(t, strings.Count(view, "<h1"), 1, "%s has other elements: %s", path, view)
	}
}

// printable is a text as the store of questions takes it.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '\u202e' {
			return '.'
		}
		return r
	}, text)
}
