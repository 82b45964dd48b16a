package mcpserver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// showsApp are the capabilities of a client that shows the app and asks its user nothing.
const showsApp = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// withApp has the booth serve an app that writes what it is given.
func withApp(h *handler) {
	h.App = App{Page: func() string { return "<!doctype html>" }, View: func(lines []consent.Line, waits bool, link string) string {
		return fmt.Sprint(consent.Draw(lines), waits, " ", link)
	}}
}

// request sends a request and returns its result.
func (b *booth) request(method, params string) string {
	b.T.Helper()
	b.ids++
	if b.era == modernEra {
		params = strings.TrimSuffix(params+","+strings.Replace(fake.ModernMeta, `clientCapabilities":{}`, `clientCapabilities":`+b.can, 1), ",")
	}
	b.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, b.ids, method, strings.TrimPrefix(params, ",")))
	m := b.Next()
	if m.Error != nil {
		return m.Error.Message
	}
	return string(m.Result)
}

// viewOf returns what the app would show of a call.
func (b *booth) viewOf(arguments, more string) (view string, got told) {
	b.T.Helper()
	b.tool("obsidianCli", arguments, more)
	m := b.Next()
	var result struct {
		Meta map[string]string `json:"_meta"`
	}
	_ = json.Unmarshal(m.Result, &result)
	return result.Meta["vaultwicket/view"], toldBy(m)
}

// Only a client that declares the extension with the type of the page has the app: for every other
// one lists and answers are, byte for byte, those of a server without an app.
func TestOtherClientsSeeNothingOfTheApp(t *testing.T) {
	for _, e := range eras {
		answers := func(can string, changes ...func(*handler)) (list string) {
			b := openBooth(t, e, can, changes...)
			for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
				list += b.request(method, "") + "\n"
			}
			b.tool("obsidianCli", removal, "")
			return list + regexp.MustCompile(`durationMs[\\":]+\d+|expires[\\":]+[^\\",}]+`).ReplaceAllString(string(b.Next().Result), "")
		}
		for _, can := range []string{
			`{}`, `{"extensions":{}}`, `{"extensions":{"io.modelcontextprotocol/ui":{}}}`,
			`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}}`,
			`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":"text/html;profile=mcp-app"}}}`,
			`{"extensions":{"io.modelcontextprotocol/ui":["text/html;profile=mcp-app"]}}`,
			`{"experimental":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`,
		} {
			with, without := answers(can, withApp), answers(can)
			assert.Equal(t, with, without, "%s, %s: %d and %d bytes", e, can, len(with), len(without))
			assert.That(t, !strings.Contains(with, "ui://"), "%s, %s: %d and %d bytes", e, can, len(with), len(without))
		}
		shown := answers(showsApp, withApp)
		if strings.Count(shown, `"_meta":{"ui":{"resourceUri":"ui://vaultwicket/difference"}}`) != 2 || strings.Contains(answers(showsApp), "ui://") {
			t.Errorf("%s: a client that shows the app: %s", e, shown)
		}
	}
}

// A question that no form asks is shown by the app, with a link to the local page where one is open.
// Nothing that a client or a page in it sends approves it.
func TestTheAppShowsAQuestionAndApprovesNothing(t *testing.T) {
	for _, e := range eras {
		b := openBooth(t, e, showsApp, withApp)
		page := b.request("resources/read", `"uri":"ui://vaultwicket/difference"`)
		assert.Contains(t, page, `"mimeType":"text/html;profile=mcp-app"`, "%s", e)
		assert.Contains(t, page, "doctype", "%s", e)
		view, got := b.viewOf(removal, "")
		if got.Code != "unconfirmed" || !strings.Contains(view, `Delete "a.md"`) || !strings.HasSuffix(view, "true ") || len(b.pending()) != 1 {
			t.Errorf("%s, no page is open: %+v, %q", e, got, view)
		}
		b.openPage()
		view, got = b.viewOf(removalOf("linked"), "")
		waiting := b.pending()
		last := waiting[len(waiting)-1]
		assert.Equal(t, got.Code, "unconfirmed", "%s, a page is open: %+v", e, got)
		assert.That(t, strings.HasSuffix(view, "true http://127.0.0.1:8766/question/"+last.Ref), "%s, a page is open: %+v, %q", e, got, view)
		for _, q := range waiting {
			code := strings.ReplaceAll(q.Code, "-", "")
			assert.That(t, !strings.Contains(strings.ReplaceAll(view+fmt.Sprint(got), "-", ""), code), "%s: the code is in %q", e, view)
		}
		ref := waiting[len(waiting)-1].Ref
		for what, attack := range map[string]string{
			"an answer to a form": `,"inputResponses":{"confirm":{"action":"accept","content":{}}}`,
			"a forged state":      `,"inputResponses":{"confirm":{"action":"accept"}},"requestState":"` + ref + `"`,
			"the name as state":   `,"requestState":"` + ref + `"`, "an approval in _meta": "", "a made-up argument": "",
		} {
			arguments := removalOf("linked")
			switch what {
			case "an approval in _meta":
				if e == legacyEra {
					attack = `,"_meta":{"vaultwicket/view":"approved","ui":{"approved":true}}`
				}
			case "a made-up argument":
				arguments = strings.Replace(arguments, `{`, `{"approved":true,`, 1)
			}
			_, got := b.viewOf(arguments, attack)
			assert.That(t, got.Code == "unconfirmed" || got.Code == "bad_request", "%s, %s: %+v", e, what, got)
		}
		for _, uri := range []string{"ui://vaultwicket/approve", "ui://vaultwicket/difference?ref=" + ref,
			"ui://vaultwicket/difference/" + ref, "ui://vaultwicket/../question/" + ref,
			"UI://vaultwicket/difference"} {
			assert.Contains(t, b.request("resources/read", `"uri":"`+uri+`"`), "not found", "%s, %s", e, uri)
		}
		for _, tool := range []string{"ui/approve", "approve", "obsidianApprove"} {
			assert.Equal(t, b.result(b.tool(tool, `{"ref":"`+ref+`"}`, "")).Code, "protocol", "%s, the tool %s", e, tool)
		}
		b.idle("attacks by the app")
		// Another client sees nothing of it, and what one was approved is not another's.
		other := openBooth(t, e, showsApp, withApp)
		view, _ = other.viewOf(reading, "")
		assert.Equal(t, view, "", "%s: a read has the view", e)
		require.Value(b.approvals.Approve(waiting[len(waiting)-1].Code))(t)
		_, got = other.viewOf(removalOf("linked"), "")
		assert.Equal(t, got.Code, "unconfirmed", "%s: another client with the approval: %+v", e, got)
		assert.Equal(t, len(other.ran()), 0, "%s: another client with the approval: %+v", e, got)
		view, got = b.viewOf(removalOf("linked"), "")
		assert.Equal(t, got.Code, "", "%s: the approved call: %+v", e, got)
		assert.That(t, !strings.Contains(view, "true"), "%s: the approved call: %+v, %q", e, got, view)
		assert.Equal(t, len(b.ran()), 1, "%s: the approved call: %+v", e, got)
		_, got = b.viewOf(removalOf("linked"), "")
		assert.Equal(t, got.Code, "unconfirmed", "%s: the approved call again: %+v", e, got)
		assert.Equal(t, len(b.ran()), 1, "%s: the approved call again: %+v", e, got)
	}
}
