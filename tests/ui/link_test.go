package ui

import (
	osexec "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"

	"github.com/chromedp/chromedp"
)

// A client that opens links, and a browser that it opens them in: the link leads to the question, the
// call goes on when the user has approved it there, and a browser that is not paired sees no text of a note.
func TestALinkOfAClientLeadsToTheQuestion(t *testing.T) {
	w := begin(t, nil)
	serve := osexec.Command(harness.Binary, "serve")
	serve.Env = []string{"HOME=" + w.Home}
	s := harness.StartStdio(t, serve)
	s.Send(harness.Handshake(`{"elicitation":{"form":{},"url":{}}}`))
	s.Read()
	s.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"delete","params":{"path":"Bread.md"}}}}`)
	var asked struct {
		ID     int
		Method string
		Params struct{ Mode, URL, Message, ElicitationID string }
	}
	s.Next(&asked)
	if asked.Method != "elicitation/create" || asked.Params.Mode != "url" || !strings.HasPrefix(asked.Params.Message, `Delete "Bread.md" (vault "Notes")`) {
		t.Fatalf("asked %+v", asked)
	}
	s.Send(`{"jsonrpc":"2.0","id":` + harness.JSON(t, asked.ID) + `,"result":{"action":"accept"}}`)
	b := w.window()
	b.run(chromedp.Navigate(asked.Params.URL))
	b.until("what a browser that is not paired sees", `document.body.innerText.includes("This browser is not paired")`)
	if text := b.text("html"); !strings.Contains(text, "Bread") || strings.Contains(text, "flour") || w.Read("Bread.md") == "" {
		t.Errorf("without a pairing: %s", text)
	}
	styled := value[string](b, `getComputedStyle(document.querySelector("h1")).fontFamily`)
	assert.That(t, strings.Contains(styled, "Iowan"), "the page of the link has the letters %s", styled)
	b.onAPhone("link-not-paired")
	b.run(chromedp.Navigate(w.link))
	b.until("the first view", `document.getElementById("switch")`)
	opened := time.Now()
	b.run(chromedp.Navigate(asked.Params.URL))
	b.until("the question", `document.getElementById("approve") && document.body.innerText.includes("Bread.md")`)
	b.onAPhone("link", "#approve", "#deny")
	t.Logf("from the link to the question: %v", time.Since(opened))
	decided := time.Now()
	b.press(`#approve`)
	var complete struct {
		Method string
		Params struct{ ElicitationID string }
	}
	s.Next(&complete)
	assert.Equal(t, complete.Method, "notifications/elicitation/complete", "%+v", complete)
	assert.Equal(t, complete.Params.ElicitationID, asked.Params.ElicitationID, "%+v", complete)
	var result struct {
		ID     int
		Result struct{ StructuredContent struct{ OK bool } }
	}
	s.Next(&result)
	t.Logf("from the decision to the result: %v", time.Since(decided))
	assert.Equal(t, result.ID, 7, "the approved call: %+v", result)
	assert.That(t, result.Result.StructuredContent.OK, "the approved call: %+v", result)
	assert.Equal(t, w.Read("Bread.md"), "", "the approved call: %+v", result)
}
