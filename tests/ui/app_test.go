package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"

	"github.com/chromedp/chromedp"
)

// The policy that a client has to give a page of a server that declares nothing.
const appPolicy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'"

// appHost is a client that shows pages of servers (MCP Apps), as far as the test needs one.
const appHost = `<!doctype html><link rel=icon href=data:,><iframe id=view sandbox="allow-scripts allow-same-origin" src="/view" style="width:800px"></iframe><script>
const got = [], frame = document.getElementById('view');
const send = (message) => frame.contentWindow.postMessage({jsonrpc: '2.0', ...message}, '*');
const show = (result) => send({method: 'ui/notifications/tool-result', params: result});
addEventListener('message', ({data}) => {
	got.push(data);
	if (data.method === 'ui/initialize') send({id: data.id, result: {protocolVersion: '2026-01-26', hostInfo: {name: 't', version: '1'}, hostCapabilities: {openLinks: {}}, hostContext: {}}});
});
</script>`

// A client that shows pages of servers gets the one of vaultwicket, which shows what a call has changed
// and what waits, whatever the text of a note is; its only request is to open the link of a question.
func TestAClientShowsTheApp(t *testing.T) {
	w := begin(t, nil)
	serve := osexec.Command(harness.Binary, "serve")
	serve.Env = []string{"HOME=" + w.Home}
	s := harness.StartStdio(t, serve)
	s.Send(harness.Handshake(`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`))
	s.Read()
	s.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	exchange := func(method string, params any, to any) (result json.RawMessage) {
		t.Helper()
		answer, err := s.Exchange(method, params)
		var message struct{ Result json.RawMessage }
		if err == nil {
			err = json.Unmarshal(answer, &message)
		}
		if err == nil && to != nil {
			err = json.Unmarshal(message.Result, to)
		}
		require.NoError(t, err)
		return message.Result
	}
	var page struct {
		Contents []struct{ Text, MIMEType string }
	}
	exchange("resources/read", map[string]any{"uri": "ui://vaultwicket/difference"}, &page)
	call := func(command string, params map[string]any) string {
		t.Helper()
		return string(exchange("tools/call", map[string]any{"name": "obsidianCli", "arguments": map[string]any{"command": command, "params": params}}, nil))
	}
	host := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) {
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		if req.URL.Path != "/view" {
			fmt.Fprint(out, appHost)
			return
		}
		out.Header().Set("Content-Security-Policy", appPolicy)
		fmt.Fprint(out, page.Contents[0].Text)
	}))
	defer host.Close()
	b := w.window()
	b.run(chromedp.Navigate(host.URL))
	b.until("the handshake", `got.some((m) => m.method === "ui/notifications/initialized")`)

	hostile := `<img src=x onerror="parent.ran=1"><script>parent.ran=2</script></pre><a data-link="https://evil.example/">x</a>&lt;b&gt;`
	changed := call("append", map[string]any{"path": "Bread.md", "content": hostile})
	b.run(chromedp.Evaluate[chromedp.Void](`show(` + changed + `)`))
	b.until("the change", `frame.contentDocument.body.innerText.includes("Bread.md")`)
	shown := value[string](b, `frame.contentDocument.querySelector(".row.added").innerText`)
	if !strings.Contains(shown, hostile) ||
		value[int](b,
			`frame.contentDocument.querySelectorAll("img, a, [data-link], script:not(:first-child)").length`) != 0 ||
		value[bool](b, `"ran" in window`) {
		t.Errorf("the added line is shown as %q", shown)
	}
	b.until("its height", `got.some((m) => m.method === "ui/notifications/size-changed" && m.params.height > 80)`)

	waits := call("delete", map[string]any{"path": "Bread.md"})
	b.run(chromedp.Evaluate[chromedp.Void](`show(` + waits + `)`))
	b.until("the question", `frame.contentDocument.body.innerText.includes("Waits for your approval")`)
	assert.NotContains(t, waits, `\u003cscript\u003eparent`, "the question is %s", waits)
	assert.That(t, w.Read("Bread.md") != "", "the question is %s", waits)
	b.run(chromedp.Evaluate[chromedp.Void](`frame.contentDocument.querySelector("[data-link]").click()`))
	b.until("the request to open the link", `got.some((m) => m.method === "ui/open-link")`)
	opens := value[string](b, `got.find((m) => m.method === "ui/open-link").params.url`)
	at := w.link[:strings.Index(w.link[8:], "/")+8] + "/question/"
	assert.That(t, strings.HasPrefix(opens, at), "it opens %s, not one of %s", opens, at)
	batch := string(exchange("tools/call", map[string]any{"name": "obsidianBatch", "arguments": map[string]any{"atomic": true, "operations": []any{
		map[string]any{"clientId": "a", "command": "append",
			"params": map[string]any{"path": "Work/Plan.md", "content": "four"}},
		map[string]any{"clientId": "b", "command": "append",
			"params": map[string]any{"path": "Bread.md", "content": "yeast"}},
	}}}, nil))
	b.run(chromedp.Evaluate[chromedp.Void](`show(` + batch + `)`))
	b.until("both changes of a batch", `["Plan.md", "four", "Bread.md", "yeast"].every((part) => frame.contentDocument.body.innerText.includes(part))`)
	b.run(chromedp.Evaluate[chromedp.Void](`show(` + call("read", map[string]any{"path": "Bread.md"}) + `)`))
	b.until("nothing for a read", `frame.contentDocument.body.innerHTML === ""`)
	methods := value[string](b, `[...new Set(got.map((m) => m.method ?? "response"))].sort().join()`)
	assert.That(t, methods == "ui/initialize,ui/notifications/initialized,ui/notifications/size-changed,ui/open-link", "it sends %s", methods)
}
