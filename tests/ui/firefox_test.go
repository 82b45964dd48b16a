package ui

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"

	"github.com/coder/websocket"
)

// fox is a window of Firefox, which is driven by WebDriver BiDi.
type fox struct {
	w       *world
	ctx     context.Context
	socket  *websocket.Conn
	context string
	calls   int
	base    string
}

// openFox starts Firefox in a profile of its own, and opens the page. The scheme is light or dark.
func (w *world) openFox(scheme string) *fox {
	w.t.Helper()
	path := ""
	for _, name := range []string{"firefox-esr", "firefox"} {
		if found, err := osexec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		w.t.Skip("no Firefox is installed: its tests of the local page are skipped")
	}
	profile := w.t.TempDir()
	prefs := fmt.Sprintf("user_pref(\"layout.css.prefers-color-scheme.content-override\", %d);\nuser_pref(\"app.update.enabled\", false);\nuser_pref(\"browser.shell.checkDefaultBrowser\", false);\n",
		map[string]int{"dark": 0, "light": 1}[scheme])
	require.NoError(w.t, os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600))
	c := osexec.Command(path, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0")
	c.Env = append(os.Environ(), "HOME="+profile, "MOZ_CRASHREPORTER_DISABLE=1")
	log, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	require.That(w.t, err == nil, "start Firefox: %v", err)
	w.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*patience)
	w.t.Cleanup(cancel)
	address := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(log); lines.Scan(); { // to its end, so that the browser never waits
			if _, found, ok := strings.Cut(lines.Text(), "WebDriver BiDi listening on "); ok {
				address <- found
			}
		}
		close(address)
	}()
	found, ok := <-address
	require.That(w.t, ok, "Firefox has ended")
	f := &fox{w: w, ctx: ctx}
	if f.socket, _, err = websocket.Dial(ctx, found+"/session", nil); err != nil {
		w.t.Fatal(err)
	}
	f.socket.SetReadLimit(64 << 20)
	f.do("session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	f.do("session.subscribe", map[string]any{"events": []string{"log.entryAdded"}}, nil)
	f.do("script.addPreloadScript",
		map[string]any{"functionDeclaration": `() => { window.reports = []; addEventListener("securitypolicyviolation", e => reports.push(e.violatedDirective + " " + e.blockedURI), true) }`},
		nil)
	var tree struct{ Contexts []struct{ Context string } }
	f.do("browsingContext.getTree", map[string]any{}, &tree)
	f.context = tree.Contexts[0].Context
	f.base = w.link[:strings.Index(w.link, "open/")]
	f.do("browsingContext.navigate", map[string]any{"context": f.context, "url": w.link, "wait": "complete"}, nil)
	f.until("the first view", `document.querySelector("h1")?.innerText === "Overview"`)
	return f
}

// do sends a command and reads until its answer. What the pages log as an error fails the test.
func (f *fox) do(method string, params map[string]any, into any) {
	f.w.t.Helper()
	f.calls++
	text, err := json.Marshal(map[string]any{"id": f.calls, "method": method, "params": params})
	if err == nil {
		err = f.socket.Write(f.ctx, websocket.MessageText, text)
	}
	for err == nil {
		var answer struct {
			ID             int
			Type, Method   string
			Result, Params json.RawMessage
			Error, Message string
		}
		if _, text, err = f.socket.Read(f.ctx); err != nil {
			break
		}
		if err = json.Unmarshal(text, &answer); err != nil {
			break
		}
		if answer.Method == "log.entryAdded" {
			var entry struct{ Level, Text string }
			_ = json.Unmarshal(answer.Params, &entry) // what it cannot say is not an error
			assert.That(f.w.t, entry.Level != "error" || f.w.ended.Load(), "console of Firefox: %s", entry.Text)
		}
		if answer.ID != f.calls {
			continue
		}
		require.That(f.w.t, answer.Type != "error", "%s: %s: %s", method, answer.Error, answer.Message)
		if into != nil {
			err = json.Unmarshal(answer.Result, into)
		}
		break
	}
	require.That(f.w.t, err == nil, "%s: %v", method, err)
}

func (f *fox) visit(path string) {
	f.w.t.Helper()
	f.do("browsingContext.navigate", map[string]any{"context": f.context, "url": f.base + path, "wait": "complete"}, nil)
}

// resize makes the window so wide.
func (f *fox) resize(width int64) {
	f.w.t.Helper()
	f.do("browsingContext.setViewport", map[string]any{"context": f.context, "viewport": map[string]int64{"width": width, "height": 800}}, nil)
}

// over returns how many pixels the view is too wide, and what sticks out.
func (f *fox) over() (pixels float64, stick string) {
	f.w.t.Helper()
	f.value(overflow, &pixels)
	if pixels > 0 {
		f.value(widest, &stick)
	}
	return pixels, stick
}

// check fails for whatever axe finds in the view.
func (f *fox) check(where, source string) {
	f.w.t.Helper()
	var answer any
	f.do("script.evaluate", map[string]any{"expression": source + "; true", "target": map[string]any{"context": f.context}, "awaitPromise": false}, &answer)
	var found []finding
	f.value(violations, &found)
	for _, one := range found {
		f.w.t.Errorf("%s: %s: %v %s", where, one.ID, one.Nodes[0].Target, one.Nodes[0].FailureSummary)
	}
}

// value evaluates an expression, whose value is read as JSON.
func (f *fox) value(expression string, into any) {
	f.w.t.Helper()
	var answer struct {
		Type             string
		Result           struct{ Value string }
		ExceptionDetails struct{ Text string }
	}
	f.do("script.evaluate", map[string]any{"expression": "(async () => JSON.stringify(await (" + expression +
		") ?? null))()", "target": map[string]any{"context": f.context}, "awaitPromise": true}, &answer)
	require.That(f.w.t, answer.Type == "success", "%.200s: %s", expression, answer.ExceptionDetails.Text)
	err := json.Unmarshal([]byte(answer.Result.Value), into)
	require.That(f.w.t, err == nil, "%.200s: %v", expression, err)
}

func (f *fox) until(what, expression string) {
	f.w.t.Helper()
	isTrue := func() (is bool) {
		f.value("Boolean("+expression+")", &is)
		return is
	}
	if !assert.Await(patience, isTrue) {
		text := ""
		f.value("document.body.innerText", &text)
		f.w.t.Fatalf("not within %v: %s\n%s", patience, what, text)
	}
}

// Every view in Firefox, in both themes: nothing is wider than the window, axe finds nothing, and the
// policy of the page stops nothing.
func TestEveryViewInFirefox(t *testing.T) {
	schemes := []string{"light", "dark"}
	if testing.Short() {
		schemes = schemes[:1]
	}
	for _, scheme := range schemes {
		w := begin(t, nil)
		w.lively()
		f := w.openFox(scheme)
		source := ""
		if *axe != "" {
			text := require.Value(os.ReadFile(*axe))(t)
			source = string(text)
		}
		for _, width := range []int64{360, 800, 1280} {
			f.resize(width)
			for _, path := range []string{"", "agents", "activity", "approvals", "changes", w.changePath(),
				w.changePath() + "&as=rendered", "policy", "policy/try?command=delete&params=path%3DBread.md",
				"policy/access", "health", "settings", w.callOf("eval"), "missing"} {
				f.visit(path)
				where := fmt.Sprintf("%q at %d, %s", path, width, scheme)
				var opened int
				f.value(`[...document.querySelectorAll("details")].map(d => d.open = true).length`, &opened)
				if over, stick := f.over(); over > 0 {
					t.Errorf("%s is %v pixels too wide: %s", where, over, stick)
				}
				var reports []string
				if f.value("reports", &reports); len(reports) > 0 {
					t.Errorf("%s: the policy stopped %q", where, reports)
				}
				if source == "" || width == 800 || testing.Short() && width == 360 {
					continue
				}
				f.check(where, source)
			}
		}
	}
}

// In Firefox, too, a question appears by itself and is approved, new calls are counted and shown, and a
// change is undone.
func TestAWalkInFirefox(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	f := w.openFox("light")
	f.visit("approvals")
	f.until("the stream", `document.getElementById("live").classList.contains("on")`)
	first := harness.Calling("delete", "path=Bread.md")
	client.Do(first)
	f.until("the question", `document.querySelector("#questions article .removed")?.innerText.includes("# Bread") && document.title.startsWith("(1) ")`)
	f.until("a button that can be pressed", `(b => b && !b.disabled)(document.querySelector("#questions .yes"))`)
	press := func(selector string) {
		var done bool
		f.value(fmt.Sprintf("(document.querySelector(%q).click(), true)", selector), &done)
	}
	press("#questions article .yes")
	f.until("the card that stays", `document.querySelector("#questions .answered")?.innerText.includes("Tell “t” to go on")`)
	got := client.Do(first)
	assert.That(t, got.OK, "the approved call: %+v", got)
	assert.Equal(t, w.Read("Bread.md"), "", "the approved call: %+v", got)
	f.until("its end", `document.querySelector("#questions .answered")?.innerText.includes("Done, see the change")`)
	f.visit("activity")
	f.until("the stream", `document.getElementById("live").classList.contains("on")`)
	client.Do(harness.Calling("read", "path=Work/Plan.md"))
	f.until("how many are new", `document.getElementById("fresh").innerText.startsWith("1 new call") && !document.getElementById("fresh").hidden`)
	press("#fresh")
	f.until("the new call", newest+`?.startsWith("read Work/Plan.md")`)
	f.visit("")
	press(".changes button")
	f.until("what was done, or the question", `document.querySelector(".note")?.innerText.startsWith("Undone") || document.getElementById("confirm")`)
	var asked bool
	if f.value(`document.getElementById("confirm") !== null`, &asked); asked {
		press("#confirm")
	}
	f.until("what was done", `document.querySelector(".note")?.innerText.startsWith("Undone")`)
	assert.That(t, w.Read("Bread.md") != "", "the note is not back")
}
