package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	goodToken  = "N3v3r-Us3-Th1s-0ne.It_is-only~for+the/tests-abc"
	otherToken = "An0ther-0ne.That_is-not~the+right/token-at-all0"
	patience   = 20 * time.Second // of a test for what must happen soon
)

// httpToy is a server of tools with which a test can look at its own requests.
type httpToy struct {
	server  *Server
	started chan string   // the callers whose call of "block" has begun
	ended   chan error    // how the context of one ended
	release chan struct{} // lets them end by themselves
}

func newToy() *httpToy {
	y := &httpToy{
		server:  &Server{Info: mcp.Implementation{Name: "toy", Version: "1"}, Log: slog.New(slog.DiscardHandler)},
		started: make(chan string, 64), ended: make(chan error, 64), release: make(chan struct{}),
	}
	tools := map[string]ToolHandler{
		"who": func(_ context.Context, from *Peer, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(from.Caller), nil
		},
		"block": y.block,
		"count": count,
		"panic": func(context.Context, *Peer, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			panic("the secret of a note")
		},
		"ask":  ask,
		"chat": y.chat,
	}
	y.server.CallTool = func(ctx context.Context, from *Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		tool := tools[req.Params.Name]
		if tool == nil {
			return nil, &Error{Code: mcp.INVALID_PARAMS, Text: "no such tool"}
		}
		return tool(ctx, from, req)
	}
	y.server.ListTools = func(*Peer) (all []mcp.Tool) {
		for _, name := range slices.Sorted(maps.Keys(tools)) {
			all = append(all, mcp.NewTool(name))
		}
		return all
	}
	y.server.Capabilities.Tools = &struct {
		ListChanged bool `json:"listChanged,omitempty"`
	}{true}
	return y
}

func (y *httpToy) block(ctx context.Context, from *Peer, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	y.started <- from.Caller
	select {
	case <-ctx.Done():
		y.ended <- ctx.Err()
		return mcp.NewToolResultError("stopped"), nil
	case <-y.release:
		return mcp.NewToolResultText("released"), nil
	}
}

// chat sends a notification, whatever becomes of it, and waits for its end.
func (y *httpToy) chat(ctx context.Context, from *Peer, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	_ = from.Notify(ctx, "notifications/message", map[string]any{"level": "info", "data": "hello"})
	<-ctx.Done()
	y.ended <- ctx.Err()
	return mcp.NewToolResultError("stopped"), nil
}

// count sends a notification for each number, and then the last one as its result.
func count(ctx context.Context, from *Peer, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var given struct{ To int }
	if err := json.Unmarshal(r.Params.RawArguments, &given); err != nil {
		return nil, err
	}
	to := given.To
	for n := range to {
		if err := from.Notify(ctx, "notifications/progress", map[string]any{"progressToken": "p", "progress": n + 1}); err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText(fmt.Sprint(to)), nil
}

func ask(ctx context.Context, from *Peer, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	question := mcp.ElicitationParams{Message: "really?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}
	answer, err := Ask[mcp.ElicitationResult](ctx, from, mcp.MethodElicitationCreate, question)
	if err != nil {
		return mcp.NewToolResultError("not asked"), nil
	}
	return mcp.NewToolResultText(string(answer.Action)), nil
}

// running is a server on a loopback address.
type running struct {
	*httpToy
	t         *testing.T
	url, addr string
	stop      context.CancelFunc
	done      chan error // what Serve returned
}

// open starts a server; change may be nil. It is stopped at the end of the test.
func open(t *testing.T, change func(*HTTPConfig)) *running {
	t.Helper()
	y := newToy()
	c := HTTPConfig{Server: y.server, Addr: "127.0.0.1:0", Token: goodToken}
	if change != nil {
		change(&c)
	}
	ctx, stop := context.WithCancel(context.Background())
	urls := make(chan string, 1)
	r := &running{httpToy: y, t: t, stop: stop, done: make(chan error, 1)}
	go func() { r.done <- ServeHTTP(ctx, c, func(url string) { urls <- url }) }()
	select {
	case r.url = <-urls:
	case err := <-r.done:
		t.Fatal(err)
	}
	r.addr = strings.TrimSuffix(strings.TrimPrefix(r.url, "http://"), endpoint)
	t.Cleanup(func() { stop(); r.wait() })
	return r
}

// wait returns what Serve returned.
func (r *running) wait() error {
	err := <-r.done
	r.done <- err
	return err
}

// exchanged is an answer, read to its end.
type exchanged struct {
	status int
	header http.Header
	body   string
}

// send sends one request on a connection of its own. Headers are pairs; one with
// the value "" is left out. The token, and what a POST needs, are there by default.
func (r *running) send(method, path, body string, headers ...string) exchanged {
	r.t.Helper()
	answer, err := r.try(r.t.Context(), method, path, body, headers...)
	require.That(r.t, err == nil, "%s %s: %v", method, path, err)
	return answer
}

func (r *running) request(ctx context.Context, method, path, body string, headers ...string) *http.Request {
	q := require.Value(http.NewRequestWithContext(ctx, method, "http://"+r.addr+path, strings.NewReader(body)))(r.t)
	all := append([]string{"Authorization", "Bearer " + goodToken, "Content-Type", "application/json", "Accept",
		"application/json, text/event-stream"}, headers...)
	for i := 0; i < len(all); i += 2 {
		q.Header.Del(all[i])
		if all[i+1] != "" {
			q.Header.Set(all[i], all[i+1])
		}
		if all[i] == "Host" {
			q.Host = all[i+1]
		}
	}
	return q
}

func (r *running) try(ctx context.Context, method, path, body string, headers ...string) (exchanged, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r.request(ctx, method, path, body, headers...))
	if err != nil {
		return exchanged{}, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return exchanged{answer.StatusCode, answer.Header, string(text)}, err
}

// post sends a message.
func (r *running) post(body string, headers ...string) exchanged {
	r.t.Helper()
	return r.send(http.MethodPost, endpoint, body, headers...)
}

// begun posts a call of "block", and returns when it runs.
func (r *running) begun(body string, headers ...string) (answers <-chan exchanged) {
	r.t.Helper()
	c := make(chan exchanged, 1)
	go func() { c <- r.post(body, headers...) }()
	soon(r.t, "the call", r.started)
	return c
}

const legacyVersion = "2025-11-25"

func initialize(version string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version +
		`","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}}`
}

// session opens one and returns its id.
func (r *running) session() string {
	r.t.Helper()
	answer := r.post(initialize(legacyVersion))
	id := answer.header.Get(sessionHeader)
	require.Equal(r.t, answer.status, http.StatusOK, "initialize")
	require.That(r.t, id != "", "initialize: %+v", answer)
	return id
}

// callHTTP is a legacy tools/call.
func callHTTP(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// modern is a request of the protocol without sessions, with its headers.
func modern(id int, method, params string) (body string, headers []string) {
	const version = mcp.ProtocolVersion20260728
	meta := fmt.Sprintf(`"_meta":{%q:%q,%q:{"name":"test","version":"1"},%q:{}}`,
		mcp.MetaKeyProtocolVersion, version, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities)
	if params != "" {
		meta += ","
	}
	body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, id, method, meta, params)
	return body, []string{mcp.HeaderProtocolVersion, version, "Mcp-Method", method}
}

func modernCall(id int, tool, arguments string) (body string, headers []string) {
	body, headers = modern(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
	return body, append(headers, "Mcp-Name", tool)
}

// messages returns what is in a stream of events, or in a document.
func (e exchanged) messages(t *testing.T) []map[string]any {
	t.Helper()
	var texts []string
	if strings.HasPrefix(e.header.Get("Content-Type"), eventStream) {
		for event := range strings.SplitSeq(strings.TrimSpace(e.body), "\n\n") {
			_, data, ok := strings.Cut(event, "data: ")
			require.That(t, ok, "event %q", event)
			require.That(t, strings.HasPrefix(event, "event: message\n"), "event %q", event)
			texts = append(texts, data)
		}
	} else {
		texts = []string{e.body}
	}
	var all []map[string]any
	for _, text := range texts {
		var one map[string]any
		err := json.Unmarshal([]byte(text), &one)
		require.That(t, err == nil, "status %d, %q: %v", e.status, text, err)
		all = append(all, one)
	}
	return all
}

// text is the text of the result of a call, "" if it has none.
func (e exchanged) text(t *testing.T) string {
	t.Helper()
	all := e.messages(t)
	result, _ := all[len(all)-1]["result"].(map[string]any)
	content, _ := result["content"].([]any)
	if len(content) == 0 {
		return ""
	}
	first, _ := content[0].(map[string]any)
	text, _ := first["text"].(string)
	return text
}

// raw sends bytes and returns all that is received until the connection ends. end
// says that nothing else will be sent.
func (r *running) raw(text string, end bool) string {
	r.t.Helper()
	c := r.dial()
	defer c.Close()
	_, _ = io.WriteString(c, text) // it may be closed in the middle of it
	if end {
		_ = c.(interface{ CloseWrite() error }).CloseWrite()
	}
	var all bytes.Buffer
	_, err := all.ReadFrom(c)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		r.t.Fatalf("after %.200q the server neither answered nor closed", text)
	}
	return all.String()
}

func (r *running) dial() net.Conn {
	r.t.Helper()
	network, addr := "tcp", r.addr
	if path, ok := strings.CutPrefix(r.url, "unix:"); ok {
		network, addr = "unix", path
	}
	c := require.Value(net.Dial(network, addr))(r.t)
	_ = c.SetDeadline(time.Now().Add(3 * patience))
	return c
}

// statusOf returns the status of the first answer in text, 0 if there is none.
func statusOf(text string) int {
	status, _ := readAnswer(bufio.NewReader(strings.NewReader(text)))
	return status
}

// readAnswer reads an answer to its end. The status is 0 if there is none.
func readAnswer(from *bufio.Reader) (status int, text string) {
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

// soon receives from a channel.
func soon[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: nothing happened", what)
		panic("unreachable")
	}
}

// Nothing of a server outlives Serve, so nothing is ignored.
