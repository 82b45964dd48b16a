package ui

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

func TestMain(m *testing.M) { os.Exit(withProgram(m)) }

// withProgram builds the program, which is of another module, and runs the tests.
func withProgram(m *testing.M) int {
	testenv.UseMemory()
	folder, err := os.MkdirTemp("", "vaultwicket-ui-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer os.RemoveAll(folder)
	harness.Binary = filepath.Join(folder, "vaultwicket")
	build := osexec.Command("go", "build", "-o", harness.Binary, "./cmd/vaultwicket")
	build.Dir, build.Stderr = filepath.Join("..", ".."), os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		return 2
	}
	defer func() { endBrowser() }()
	return m.Run()
}

// patience bounds what a test waits for: more than any view takes on a busy machine.
const patience = time.Minute

// browserPath returns the browser, "" if there is none.
func browserPath() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := osexec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// endBrowser ends the browser of all tests.
var endBrowser = func() {}

// theBrowser is one browser for all tests: each has windows and a page of its own.
var theBrowser = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browserPath()), chromedp.NoSandbox, chromedp.Flag("lang", "en-GB"))
	allocated, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	browser, end := chromedp.NewContext(allocated)
	endBrowser = func() { end(); cancel() }
	return browser, chromedp.Do(browser)
})

// world is a vault with the program, a client that calls it, and the page in a browser.
type world struct {
	*harness.Program
	t       *testing.T
	link    string      // to the page
	process *os.Process // of the page
	ended   atomic.Bool // on purpose, so the browser may complain
	browser context.Context
}

// begin makes a world with notes. change changes its settings before anything starts.
func begin(t *testing.T, change func(*harness.Program)) *world {
	t.Helper()
	if browserPath() == "" {
		t.Skip("no Chromium is installed: the tests of the local page are skipped")
	}
	r := harness.New(t, map[string]string{
		"Bread.md": "# Bread\n\nflour\nwater\nsalt\n", "Work/Plan.md": "one\ntwo\nthree\n", "Daily/2026-11-21.md": "- [ ] write\n",
		"Private/Diary.md": "nobody reads this\n",
	})
	if change != nil {
		change(r)
	}
	w := &world{Program: r, t: t}
	w.link, w.process = r.StartPage()
	var err error
	if w.browser, err = theBrowser(); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	return w
}

// tab is a window of the browser. Errors that a page reports fail the test.
type tab struct {
	w    *world
	ctx  context.Context
	base string
}

// open opens the page in a first window.
func (w *world) open() *tab {
	w.t.Helper()
	b := w.window()
	b.run(chromedp.Navigate(w.link))
	b.until("the first view", `document.getElementById("main") && document.readyState === "complete"`)
	b.base = w.link[:strings.Index(w.link, "open/")]
	return b
}

// window opens an empty window.
func (w *world) window() *tab {
	w.t.Helper()
	ctx, cancel := chromedp.NewContext(w.browser)
	w.t.Cleanup(cancel)
	b := &tab{w: w, ctx: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			w.t.Errorf("exception: %s", e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			if (e.Entry.Level == "error" || e.Entry.Source == "security") &&
				!strings.HasSuffix(e.Entry.URL, "/missing") &&
				!strings.HasPrefix(e.Entry.Text, "An iframe which has both allow-scripts and allow-same-origin") &&
				!w.ended.Load() {
				w.t.Errorf("console: %s %s", e.Entry.Text, e.Entry.URL)
			}
		case *runtime.EventConsoleAPICalled:
			assert.That(w.t, e.Type != "error", "console.error: %s", e.Args[0].Value)
		}
	})
	require.That(w.t, err == nil, "open a window: %v", err)
	return b
}

// step is one thing to do in a window.
type step = chromedp.Action[chromedp.Void]

// browser is what tests of both browsers do in a window.
type browser interface {
	visit(path string)
	until(what, expression string)
	over() (pixels float64, stick string)
	check(where, source string)
}

// inBothBrowsers runs a test in Chromium and in Firefox.
func inBothBrowsers(t *testing.T, change func(*harness.Program), test func(*testing.T, *world, browser)) {
	t.Helper()
	t.Run("Chromium", func(t *testing.T) {
		w := begin(t, change)
		b := w.open()
		b.run(chromedp.EmulateViewport(1000, 700))
		test(t, w, b)
	})
	t.Run("Firefox", func(t *testing.T) {
		w := begin(t, change)
		test(t, w, w.openFox("light"))
	})
}

// run takes steps, and fails the test if one of them fails or takes too long.
func (b *tab) run(steps ...step) {
	b.w.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	require.NoError(b.w.t, chromedp.Do(ctx, steps...))
}

// get returns what an action returns.
func get[T any](b *tab, action chromedp.Action[T]) T {
	b.w.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v := require.Value(chromedp.Run(ctx, action))(b.w.t)
	return v
}

// value evaluates an expression.
func value[T any](b *tab, expression string) T {
	b.w.t.Helper()
	return get(b, chromedp.Evaluate[T](expression))
}

// visit goes to a view.
func (b *tab) visit(path string) {
	b.w.t.Helper()
	b.run(chromedp.Navigate(b.base + path))
}

// text is what a part of the view shows.
func (b *tab) text(selector string) string {
	b.w.t.Helper()
	return value[string](b, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// before runs a script in each view that is loaded, before its own.
func (b *tab) before(script string) {
	b.w.t.Helper()
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// until waits until an expression is true. It looks from outside of the page, where the
// policy of the page does not apply, and where it makes no difference whether scripts run.
func (b *tab) until(what, expression string) {
	b.w.t.Helper()
	var err error // as of a page that is being left
	isTrue := func() (is bool) {
		is, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		return err == nil && is
	}
	if !assert.Await(patience, isTrue) {
		b.w.t.Fatalf("not within %v: %s (%v)\n%s", patience, what, err, b.text("body"))
	}
}

// press presses a button and waits for the view after it.
func (b *tab) press(selector string) {
	b.w.t.Helper()
	b.until("a button that can be pressed", fmt.Sprintf("(b => b && !b.disabled)(document.querySelector(%q))", selector))
	value[bool](b, "window.here = true")
	b.run(chromedp.Click(chromedp.CSS(selector)))
	b.until("the next view", `!window.here && document.readyState === "complete" && document.getElementById("main")`)
}

// emulate sets what the user prefers, such as prefers-color-scheme.
func emulate(features ...string) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		var all []*emulation.MediaFeature
		for _, f := range features {
			name, value, _ := strings.Cut(f, "=")
			all = append(all, &emulation.MediaFeature{Name: name, Value: value})
		}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: all})
		return err
	})
}

// scripts switches the scripts of pages on or off.
func scripts(on bool) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
		return err
	})
}
