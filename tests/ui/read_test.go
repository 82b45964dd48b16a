package ui

import (
	"fmt"
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"

	"github.com/chromedp/chromedp"
)

func askAboutWrites(r *harness.Program) { r.Set("confirm", `"writes"`) }

// manyLines is the text of a note with lines.
func manyLines(lines int) string {
	var text strings.Builder
	for i := range lines {
		fmt.Fprintln(&text, "line", i)
	}
	return text.String()
}

// readOn presses the button that shows what was not on the screen, until nothing is left.
const readOn = `(b => !b || b.hidden || (b.click(), false))(document.querySelector("article [data-unread]"))`

const canApprove = `(b => b && !b.disabled)(document.querySelector("button.yes[data-approves]"))`

// left is how many lines were not on the screen, as the view says.
const left = `parseInt(document.querySelector("#questions [data-unread]:not([hidden])")?.innerText)`

// Approve comes alive when all of the new text was on the screen, and not only its end: folded lines, and each of
// several that are answered together.
func TestApproveComesAliveWhenAllWasRead(t *testing.T) {
	inBothBrowsers(t, askAboutWrites, func(t *testing.T, w *world, b browser) {
		client := w.Stdio(false, "")
		client.Do(harness.Calling("create", "path=Long.md", "content="+manyLines(200)))
		b.visit("approvals")
		b.until("the beginning is read", left+` < 200 && (window.before = `+left+`, true)`)
		b.until("the end", `(document.querySelectorAll("details").forEach(d => d.open = true),
			[...document.querySelectorAll(".row.added")].pop().scrollIntoView({ block: "center" }), true)`)
		b.until("the end is read", left+` < window.before`)
		b.until("what waits", `!(`+canApprove+`)`)
		b.until("a box that is picked", `(document.querySelector("[id^=pick-]").checked || document.querySelector("[id^=pick-]").click(), true)`)
		b.until("the bar for several waits", `document.querySelector("#many [data-approves]").disabled`)
		b.until("all lines", readOn)
		b.until("a button that can be pressed", canApprove+` && !document.querySelector("#many [data-approves]").disabled`)
	})
}

// A line that is longer than the window is read from its beginning to its end.
func TestALongLineIsRead(t *testing.T) {
	inBothBrowsers(t, askAboutWrites, func(t *testing.T, w *world, b browser) {
		client := w.Stdio(false, "")
		client.Do(harness.Calling("append", "path=Bread.md", "content="+strings.Repeat("word ", 8000)))
		b.visit("approvals")
		b.until("what waits", `document.querySelector("#questions .row.added") && !(`+canApprove+`)`)
		b.until("all of the line", readOn)
		b.until("a button that can be pressed", canApprove)
	})
}

// A question that is read in parts is approved after each of them was read, not only the last.
func TestEveryPartOfAQuestionIsRead(t *testing.T) {
	inBothBrowsers(t, askAboutWrites, func(t *testing.T, w *world, b browser) {
		client := w.Stdio(false, "")
		client.Do(harness.Calling("create", "path=Long.md", "content="+manyLines(2500)))
		b.visit("approvals")
		b.until("a long question", `document.querySelector("#questions a.yes")`)
		isPart := func(part int, how string) string {
			return fmt.Sprintf(`((a, isHere) => isHere ? document.readyState === "complete" : (a && document.readyState === "complete" && !window.left && (window.left = true, %s), false))(
				document.querySelector("article[data-part]"), document.getElementById("question") && document.querySelector("article").dataset.part === "%d")`, how, part)
		}
		b.until("the last part", isPart(2, `location.href = document.querySelector("#questions a.yes").href + "?part=2"`))
		b.until("all of the last part",
			`(b => b && !b.hidden && (b.innerText.startsWith("Part 1 was not read") || (b.click(), false)))(document.querySelector("[data-unread]"))`)
		b.until("a button that waits", `document.querySelector("button.yes[data-approves]").disabled`)
		b.until("the first part", isPart(1, `document.querySelector("[data-unread]").click()`))
		b.until("all of the first part", readOn)
		b.until("the last part again", isPart(2, `document.getElementById("next").click()`))
		b.until("all of the last part", readOn)
		b.until("a button that can be pressed", canApprove)
	})
}

// The page of a link waits for all of the new text as well, and has no other script.
func TestApproveBehindALinkWaits(t *testing.T) {
	w := begin(t, askAboutWrites)
	serve := osexec.Command(harness.Binary, "serve")
	serve.Env = []string{"HOME=" + w.Home}
	s := harness.StartStdio(t, serve)
	s.Send(harness.Handshake(`{"elicitation":{"form":{},"url":{}}}`))
	s.Read()
	s.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"create","params":{"path":"Long.md","content":`+
			harness.JSON(t, manyLines(200))+`}}}}`)
	var asked struct {
		ID     int
		Params struct{ URL string }
	}
	s.Next(&asked)
	s.Send(`{"jsonrpc":"2.0","id":` + harness.JSON(t, asked.ID) + `,"result":{"action":"accept"}}`)
	b := w.open()
	b.run(chromedp.EmulateViewport(360, 700))
	b.run(chromedp.Navigate(asked.Params.URL))
	b.until("what waits", `document.querySelector("[data-unread]:not([hidden])") && document.getElementById("approve").disabled`)
	b.onAPhone("link-long", "#approve", "#deny")
	b.until("all lines", readOn)
	b.until("a button that can be pressed", canApprove)
	assert.Equal(t, value[int](b, `document.scripts.length`), 1, "scripts of the page")
	b.press("#approve")
	var done struct{ ID int }
	for done.ID != 7 {
		s.Next(&done)
	}
	assert.Equal(t, w.Read("Long.md"), manyLines(200), "the note")
}
