package ui

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"

	"github.com/chromedp/chromedp"
)

// newest is the newest call that the view of calls shows.
const newest = `document.querySelector("#activity-calls tbody td[data-label=Call]")?.innerText`

// The rows of a list do not move under the pointer: a button says how many calls are new, and shows
// them. Filters stay.
func TestNewCallsAreShownWhenAskedFor(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	client.Do(harness.Calling("read", "path=Bread.md"))
	b := w.open()
	b.visit("activity?who=t")
	b.until("the stream", `document.getElementById("live").classList.contains("on")`)
	shown := value[string](b, `window.row = document.querySelector("#activity-calls tbody tr"), row.innerText`)
	for i, command := range []string{"append", "read", "search"} {
		client.Do(harness.Calling(command, [][]string{{"path=Bread.md", "content=x"}, {"path=Work/Plan.md"}, {"query=flour"}}[i]...))
		b.until("how many are new",
			fmt.Sprintf(`document.getElementById("fresh").checkVisibility() && document.getElementById("fresh").innerText.startsWith("%d new call")`,
				i+1))
	}
	got := value[string](b, `row.isConnected ? row.innerText : "moved"`)
	assert.Contains(t, got, "read Bread.md", "the row %q is now %q", shown, got)
	assert.Contains(t, shown, "read Bread.md", "the row %q is now %q", shown, got)
	b.run(chromedp.Click(chromedp.CSS("#fresh")))
	b.until("the new calls", newest+`?.startsWith("searched") && document.querySelectorAll("#activity-calls tbody tr").length === 4`)
	b.until("no new ones", `!document.getElementById("fresh").checkVisibility() && location.search === "?who=t"`)
}

func TestTheGateMovesWithEachCall(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	b := w.open()
	b.until("the stream", `document.getElementById("live").classList.contains("on")`)
	value[bool](b,
		`window.seen = [], new MutationObserver(() => window.seen.push(document.getElementById("gate").getAttribute("class"))).observe(document.getElementById("gate"), { attributes: true }), true`)
	client.Do(harness.Calling("read", "path=Bread.md"))
	b.until("a gate that opens", `seen.includes("gate open")`)
	b.until("and closes", `document.getElementById("gate").getAttribute("class") === "gate"`)
	client.Do(harness.Calling("eval", "code=1"))
	b.until("a gate that stays closed", `seen.includes("gate denied")`)
	b.run(emulate("prefers-reduced-motion=reduce"))
	value[bool](b, `document.getElementById("gate").classList.add("open"), true`)
	got := value[string](b, `getComputedStyle(document.querySelector(".gate .leaf")).transform`)
	assert.That(t, got == "none", "with reduced motion the gate moves: %s", got)
}

// A question appears by itself, is approved, and the call of the agent is let through.
func TestApproveAndDenyInTheBrowser(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	b := w.open()
	b.visit("approvals")
	b.until("nothing that waits", `document.querySelector("#questions .empty")`)
	first := harness.Calling("delete", "path=Bread.md")
	client.Do(first)
	b.until("the question", `document.querySelector("#questions article .removed")?.innerText.includes("# Bread")`)
	b.until("the title", `document.title.startsWith("(1) ") && document.getElementById("icon").href.includes("icon-waiting")`)
	b.press("#questions .yes")
	b.until("the card that stays", `document.querySelector("#questions .answered")?.innerText.includes("Tell “t” to go on")`)
	if got := client.Do(first); !got.OK || w.Read("Bread.md") != "" {
		t.Errorf("the approved call: %+v", got)
	}
	b.until("its end", `document.querySelector("#questions .answered")?.innerText.includes("Done, see the change")`)
	second := harness.Calling("delete", "path=Work/Plan.md")
	client.Do(second)
	b.until("the second question", `document.querySelectorAll("#questions article").length === 2`)
	b.press("#questions article form[action$=deny] button")
	got := client.Do(second)
	assert.That(t, !got.OK, "the denied call: %+v", got)
	assert.That(t, w.Read("Work/Plan.md") != "", "the denied call: %+v", got)
}

// A question that arrives never moves another one under the pointer: it comes last, and
// buttons wait for a moment.
func TestANewQuestionDoesNotMoveOthers(t *testing.T) {
	w := begin(t, nil)
	first, second := w.Stdio(false, ""), w.Stdio(false, "")
	b := w.open()
	b.visit("approvals")
	first.Do(harness.Calling("delete", "path=Bread.md"))
	b.until("the first question", `document.querySelectorAll("#questions article").length === 1`)
	at := `document.querySelector("#questions .yes").getBoundingClientRect().top`
	before := value[float64](b, at)
	value[bool](b,
		`window.pressable = [], new MutationObserver(() => window.pressable.push([...document.querySelectorAll("#questions button")].filter(b => !b.disabled).length)).observe(document.getElementById("questions"), { childList: true }), true`)
	second.Do(harness.Calling("delete", "path=Work/Plan.md"))
	b.until("the second question", `document.querySelectorAll("#questions article").length === 2`)
	after := value[float64](b, at)
	assert.That(t, after == before, "the first button moved from %v to %v", before, after)
	b.until("buttons that cannot be pressed at first", `pressable.length > 0`)
	b.until("buttons that can", `[...document.querySelectorAll("#questions button")].every(b => !b.disabled)`)
}

func TestUndoInTheBrowser(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	client.Do(harness.Calling("append", "path=Bread.md", "content=yeast"))
	b := w.open()
	b.visit("changes")
	b.run(chromedp.Click(chromedp.CSS("#changes-list tbody a")))
	b.until("the difference", `document.querySelector(".diff .added")?.innerText.includes("yeast")`)
	b.press("#undo")
	if value[bool](b, `document.getElementById("confirm") !== null`) {
		b.press("#confirm")
	}
	b.until("what was done", `document.querySelector(".note")?.innerText === "Undone." && !location.search.includes("answer")`)
	assert.That(t, w.Read("Bread.md") == "# Bread\n\nflour\nwater\nsalt\n", "the note is %q", w.Read("Bread.md"))
}

// Two windows show the same: what is done in one appears in the other.
func TestTwoWindows(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	b := w.open()
	other := w.window()
	other.base = b.base
	other.visit("approvals")
	b.visit("approvals")
	client.Do(harness.Calling("delete", "path=Bread.md"))
	other.until("the question", `document.querySelectorAll("#questions article").length === 1`)
	b.until("the question", `document.querySelectorAll("#questions article").length === 1`)
	b.press("#pause")
	b.until("a pause", `document.getElementById("resume")`)
	other.until("a pause in the other window", `document.getElementById("resume")`)
	got := client.Do(harness.Calling("read", "path=Bread.md"))
	require.That(t, !got.OK, "while paused: %+v", got)
	assert.Equal(t, got.Error.Code, "paused", "while paused: %+v", got)
	other.press("#resume")
	b.until("resumed", `document.getElementById("pause")`)
	other.press("#questions article form[action$=deny] button")
	b.until("the denied question", `document.querySelector("#questions .answered")?.innerText.includes("Denied here.")`)
	client.Do(harness.Calling("delete", "path=Work/Plan.md"))
	b.until("another question", `document.querySelectorAll("#questions article:not(.answered)").length === 1`)
	client.Do(harness.Calling("approvals", "withdraw=all"))
	b.until("that the agent has withdrawn it", `document.getElementById("questions").innerText.includes("Withdrawn by the agent.")`)
}

// Of a question that arrives while no window is seen the browser tells, and not what it is.
func TestANotification(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	b := w.open()
	b.visit("approvals")
	b.until("the stream", `document.getElementById("live").classList.contains("on")`)
	// The browser of the tests shows no notifications and hides no window, so both are
	// stood in for.
	value[bool](b,
		`window.shown = [], window.Notification = class { constructor(title, options) { shown.push(title + ": " + options.body) } static permission = "granted" }, Object.defineProperty(document, "hidden", { get: () => true }), true`)
	client.Do(harness.Calling("delete", "path=Bread.md"))
	b.until("the notification", `shown.length === 1`)
	got := value[string](b, `shown[0]`)
	assert.That(t, got == "vaultwicket: An agent asks for your approval.", "it says %q", got)
}

// A sound is made when it is switched on, and for each new question while it is on, also after another
// view was loaded.
func TestASound(t *testing.T) {
	w := begin(t, nil)
	b := w.open()
	b.before(`window.sounds = 0; window.AudioContext = class { currentTime = 0; createGain() { return { gain: {}, connect: to => to } } createOscillator() { return { connect: to => to, start() { sounds++ }, stop() {} } } close() {} }`)
	ask := func() { w.Stdio(false, "").Do(harness.Calling("delete", "path=Bread.md")) }
	for i, on := range []bool{false, true, true, false} {
		b.visit("approvals")
		if on != value[bool](b, `document.getElementById("sound").checked`) {
			b.run(chromedp.Click(chromedp.CSS("#sound")))
		}
		tried := value[int](b, `sounds`)
		want := map[int]int{1: 1}[i]
		assert.That(t, tried == want, "round %d: %d sounds before a question, want %d", i, tried, want)
		b.until("the stream", `document.getElementById("live").classList.contains("on")`)
		ask()
		b.until("the question", fmt.Sprintf(`document.querySelectorAll("#questions article").length === %d && document.title.startsWith("(%d) ")`, i+1, i+1))
		got := value[int](b, `sounds`) - tried
		assert.That(t, got == map[bool]int{true: 1}[on], "round %d: %d sounds for a question, switched on: %v", i, got, on)
	}
}

// The line that allows a call is copied with a button.
func TestTheLineIsCopied(t *testing.T) {
	w := begin(t, func(r *harness.Program) { r.Set("disable", `["read"]`) })
	w.Stdio(false, "").Do(harness.Calling("read", "path=Bread.md"))
	b := w.open()
	b.before(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { window.copied = text } } })`)
	b.visit(w.callOf("read"))
	b.run(chromedp.Click(chromedp.CSS("[data-copy]")))
	b.until("what is told", `document.querySelector("[data-copy]").innerText === "Copied" && document.getElementById("said").innerText === "Copied."`)
	got := value[string](b, `copied`)
	assert.That(t, got == "disable = []", "%q is copied", got)
}

// What was done is told for a while. Back leads to the view before the form, and nothing is sent again.
func TestWhatWasDoneIsToldForAWhile(t *testing.T) {
	w := begin(t, nil)
	w.Stdio(false, "").Do(harness.Calling("append", "path=Bread.md", "content=yeast"))
	b := w.open()
	b.before(`{ const wait = window.setTimeout; window.setTimeout = (f, ms) => wait(f, ms === 10000 ? 1 : ms); document.addEventListener("DOMContentLoaded", () => { window.told = document.querySelector(".note")?.innerText }) }`)
	b.visit("changes")
	b.press("#changes-list form button")
	if value[bool](b, `document.getElementById("confirm") !== null`) {
		b.press("#confirm")
	}
	b.until("a note that goes", `told === "Undone." && !document.querySelector(".note") && !location.search.includes("answer")`)
	value[bool](b, `window.here = true, history.back(), true`)
	b.until("the view before", `!window.here && document.getElementById("main") && document.readyState === "complete"`)
	got := w.Read("Bread.md")
	assert.That(t, !strings.Contains(got, "yeast"), "the note is %q", got)
	var entries []struct{ Command string }
	if w.decode(w.Must("journal", "--json", "list"), &entries); len(entries) != 2 {
		t.Errorf("the journal has %v", entries)
	}
}

// A tab that is not seen counts the questions in its title and its icon; so does another one that has no
// stream of its own.
func TestTabsThatAreNotSeenCount(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	b := w.open()
	other := w.window()
	other.base = b.base
	other.visit("changes")
	for _, tab := range []*tab{b, other} {
		tab.until("the stream", `document.getElementById("live").classList.contains("on")`)
		value[bool](tab, `Object.defineProperty(document, "hidden", { get: () => true }), document.dispatchEvent(new Event("visibilitychange")), true`)
	}
	client.Do(harness.Calling("delete", "path=Bread.md"))
	for _, tab := range []*tab{b, other} {
		tab.until("the count", `document.title.startsWith("(1) ") && document.getElementById("icon").href.includes("icon-waiting")`)
	}
}

// What has the focus keeps it when its part of the view is refreshed.
func TestTheFocusStays(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	client.Do(harness.Calling("read", "path=Bread.md"))
	b := w.open()
	for i, path := range []string{"activity", ""} {
		b.visit(path)
		b.until("the stream", `document.getElementById("live").classList.contains("on")`)
		value[bool](b, `document.querySelector("`+[]string{"main a[href*='activity/call']",
			"#overview-agents a"}[i]+`").focus(), window.link = document.activeElement, true`)
		id := value[string](b, `document.activeElement.id`)
		client.Do(harness.Calling("search", "query=flour"))
		if path == "activity" {
			b.until("the new call", `document.getElementById("fresh").checkVisibility()`)
			value[bool](b, `document.getElementById("fresh").click(), true`)
		}
		b.until("the new call", `!document.contains(window.link)`)
		got := value[string](b, `document.activeElement.id`)
		assert.Equal(t, got, id, "the focus was at %q and is at %q", id, got)
		assert.That(t, id != "", "the focus was at %q and is at %q", id, got)
	}
}

func TestAPageSaysThatItsProgramIsGone(t *testing.T) {
	w := begin(t, nil)
	b := w.open()
	b.until("the stream", `document.getElementById("live").classList.contains("on")`)
	shown := `document.getElementById("gone").checkVisibility()`
	assert.That(t, !value[bool](b, shown), "it says so while the program answers")
	w.ended.Store(true)
	require.NoError(t, w.process.Signal(os.Interrupt))
	b.until("a banner", shown+` && document.getElementById("gone").innerText.includes("does not answer")`)
}

// A view is read again when something has changed, and not because it was loaded.
func TestAViewIsFetchedOnce(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	client.Do(harness.Calling("read", "path=Bread.md"))
	b := w.open()
	fetches := `performance.getEntriesByType("resource").filter(e => e.initiatorType === "fetch").length`
	for _, path := range []string{"activity", "approvals", ""} {
		b.visit(path)
		b.until("the stream", `document.getElementById("live").classList.contains("on")`)
		time.Sleep(500 * time.Millisecond) // two looks of the program: nothing tells that a fetch does not come
		n := value[int](b, fetches)
		assert.That(t, n == 0, "%q is fetched %d times more", path, n)
	}
	client.Do(harness.Calling("read", "path=Bread.md"))
	b.until("one fetch", fetches+` > 0`)
	// While no window is seen nothing is told; it is made up for.
	value[bool](b,
		`Object.defineProperty(document, "hidden", { get: () => window.away, configurable: true }), window.away = true, document.dispatchEvent(new Event("visibilitychange")), true`)
	client.Do(harness.Calling("search", "query=flour"))
	value[bool](b, `window.away = false, document.dispatchEvent(new Event("visibilitychange")), true`)
	b.until("the call",
		`document.getElementById("overview-agents").innerText.includes("t") && performance.getEntriesByType("resource").filter(e => e.initiatorType === "fetch").length > 1`)
}

// However many calls there are, a view is fetched twice a second at most.
func TestUpdatesAreCoalesced(t *testing.T) {
	w := begin(t, nil)
	client := w.Stdio(false, "")
	b := w.open()
	b.until("the stream", `document.getElementById("live").classList.contains("on")`)
	starts := `performance.getEntriesByType("resource").filter(e => e.initiatorType === "fetch").map(e => e.startTime)`
	for deadline := time.Now().Add(patience); value[int](b, starts+`.length`) < 6; {
		client.Do(harness.Calling("append", "path=Work/Plan.md", "content=x"))
		require.That(t, !time.Now().After(deadline), "the view is not fetched")
	}
	at := value[[]float64](b, starts)
	for i := range at[3:] { // three pauses, of which a busy browser may make one look shorter
		assert.That(t, at[i+3]-at[i] >= 1000, "four fetches within %.0f ms", at[i+3]-at[i])
	}
}
