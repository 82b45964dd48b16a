package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func textsOf(t *testing.T, r *mcp.CallToolResult) (texts []string) {
	t.Helper()
	for _, c := range r.Content {
		texts = append(texts, c.(mcp.TextContent).Text)
	}
	return texts
}

// A result in text is the output byte for byte and one line with what is not in it.
func TestAResultInText(t *testing.T) {
	h := handler{Config: Config{Text: true}, sealers: &lazySealer{}}
	byPath := gateway.Request{Command: "read", Params: allowlist.Params{"path": allowlist.Text("a b.md")}}
	for _, test := range []struct {
		name    string
		request gateway.Request
		result  gateway.Result
		want    []string
	}{
		{"a note that was named by its path", byPath,
			gateway.Result{OK: true, Stdout: "# A\n\"x\" <y>\n", Path: "a b.md", Hash: "0123456789abcdef",
				Backend: "embedded", Vault: "V"},
			[]string{"# A\n\"x\" <y>\n", "hash=0123456789abcdef"}},
		{"a note that was named otherwise", gateway.Request{Command: "daily:read"},
			gateway.Result{OK: true, Stdout: "x", Path: "a b.md", Hash: "0123456789abcdef"},
			[]string{"x", "\n" + `path="a b.md" hash=0123456789abcdef`}},
		{"a line in a path is none of ours", gateway.Request{Command: "daily:read"}, gateway.Result{OK: true, Stdout: "x", Path: "a\ncode=internal.md"},
			[]string{"x", "\n" + `path="a\ncode=internal.md"`}},
		{"a listing", gateway.Request{Command: "files"}, gateway.Result{OK: true, Stdout: "a.md\n"}, []string{"a.md\n"}},
		{"a part", gateway.Request{Command: "files"},
			gateway.Result{OK: true, Stdout: "a.md\n",
				Truncated: &gateway.Truncated{ShownBytes: 5, TotalBytes: 10, Cursor: "abc.5"}},
			[]string{"a.md\n", "cursor=abc.5"}},
		{"a change", byPath, gateway.Result{OK: true, Stdout: "Appended\n", Path: "a b.md", Hash: "0123456789abcdef",
			Change: &gateway.Change{ID: "i1", Added: 1}},
			[]string{"Appended\n", "hash=0123456789abcdef change=i1"}},
		{"nothing found", gateway.Request{Command: "files"}, gateway.Result{OK: true, Notices: []string{"no file", "really"}}, []string{"no file\nreally"}},
		{"nothing at all", gateway.Request{Command: "files"}, gateway.Result{OK: true}, []string{"done"}},
		{"a failure", byPath, gateway.Result{Error: &failure.Error{Code: "not_found", Message: "file not found", Hint: "look it up"}},
			[]string{"file not found\nlook it up\n", "code=not_found"}},
		{"a failure with output", byPath, gateway.Result{Stdout: "no", Stderr: "why\n", Error: &failure.Error{Code: "cli_error", Message: "it failed"}},
			[]string{"it failed\n", "no", "\nstandard error: why\ncode=cli_error"}},
		{"a conflict", byPath, gateway.Result{Stdout: "Error: The note has changed.\n-a\n+b\n",
			Error: &failure.Error{Code: "conflict", Message: "the note has changed"}},
			[]string{"the note has changed\n", "-a\n+b\n", "code=conflict"}},
		{"a question", byPath, gateway.Result{Error: &failure.Error{Code: "unconfirmed", Message: "it waits",
			Approval: &failure.Approval{ID: "a1", Reason: "removes 4 lines", Ways: []string{"page", "terminal"},
				Link: "http://127.0.0.1:1/question/X", Expires: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}},
			[]string{"it waits\n",
				`code=unconfirmed approval.id=a1 approval.ways=page,terminal approval.link=http://127.0.0.1:1/question/X approval.expires=2026-01-02T03:04:05Z approval.reason="removes 4 lines"`}},
	} {
		got, err := h.form(test.request)(test.result)
		require.Equal(t, err, nil, "%s", test.name)
		require.That(t, got.IsError != test.result.OK, "%s: %+v, %v", test.name, got, err)
		assert.That(t, got.StructuredContent == nil, "%s: %+v, %v", test.name, got, err)
		assert.EqualSlices(t, textsOf(t, got), test.want, "%s", test.name)
	}
}

// Clients get as much in one answer as they pass on, and images where they do.
func TestAnswersFitTheirClients(t *testing.T) {
	image := &gateway.Image{Base64: "aGk=", MediaType: "image/png"}
	for client, want := range map[string]struct {
		page     int
		isBeside bool
	}{"codex-mcp-client": {10_000, false}, "copilot-cli": {25_000, false}, "claude-code": {25_000, true}, "": {25_000, true}} {
		assert.Equal(t, pageOf(client), want.page, "%q: the page", client)
		got, err := answer(gateway.Result{OK: true, Stdout: "x"})
		assert.That(t, err == nil, "%v", err)
		got = withImage(client, got, image)
		assert.Equal(t, got.StructuredContent != nil, want.isBeside, "%q: structured content beside an image", client)
		assert.Equal(t, len(got.Content), 2, "%q: a text and an image", client)
		assert.That(t, strings.HasSuffix(got.Content[0].(mcp.TextContent).Text, "\n"), "%q: the text does not end its line", client)
	}
}

// What text costs over the note itself: four bytes count as a token.
func TestWhatAResultInTextCosts(t *testing.T) {
	note := strings.Repeat("one \"line\"\n", 40)
	result := gateway.Result{OK: true, Command: "read", Stdout: note, Path: "a.md", Hash: "0123456789abcdef", Backend: "embedded", Vault: "V"}
	request := gateway.Request{Command: "read", Params: allowlist.Params{"path": allowlist.Text("a.md")}}
	got, _ := handler{Config: Config{Text: true}, sealers: &lazySealer{}}.form(request)(result)
	over := (len(strings.Join(textsOf(t, got), "")) - len(note)) / 4
	assert.That(t, over <= 15, "about %d tokens over the note", over)
}

// Where answers are text the tools promise no structure; typed tools and the batch do.
func TestToolsThatAnswerInTextHaveNoOutputSchema(t *testing.T) {
	for _, inText := range []bool{false, true} {
		c := Config{Gateway: gatewayWith(t, everything), Version: "1", Toolsets: []string{"all"}, MaxOutput: 1 << 10, Text: inText}
		for name, tool := range listedBy(t, c) {
			encoded, err := json.Marshal(tool)
			want := !inText || name != toolName && name != readName
			got := strings.Contains(string(encoded), `"outputSchema"`)
			assert.NoError(t, err, "in text %v: %s has an output schema: %v", inText, name, got)
			assert.Equal(t, got, want, "in text %v: %s has an output schema: %v", inText, name, got)
		}
	}
}

// heardBy is a client that hears every notification.
func heardBy(hear func(method string, params map[string]any) error) *transport.Peer {
	return &transport.Peer{Send: func(line []byte) error {
		var n struct {
			Method string
			Params map[string]any
		}
		if err := json.Unmarshal(line, &n); err != nil {
			return err
		}
		return hear(n.Method, n.Params)
	}}
}

// hears records what a client hears of a call that takes as long as it is given.
func hears(t *testing.T, token mcp.ProgressToken, takes time.Duration, end func(context.CancelFunc), fails error) (heard []int) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		client := heardBy(func(method string, params map[string]any) error {
			assert.Equal(t, method, "notifications/progress", "%s %v", method, params)
			assert.That(t, params["progressToken"] == token, "%s %v", method, params)
			heard = append(heard, int(params["progress"].(float64)))
			return fails
		})
		req := mcp.CallToolRequest{}
		req.Params.Meta = &mcp.Meta{ProgressToken: token}
		_, stop := startProgress(ctx, client, req)
		time.Sleep(takes)
		if end != nil {
			end(cancel)
			time.Sleep(5 * time.Second)
		}
		stop()
		before := len(heard)
		time.Sleep(10 * time.Second)
		assert.That(t, len(heard) == before, "something was said after the answer")
	})
	return heard
}

func TestProgressRisesAndEndsBeforeTheAnswer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		takes time.Duration
		token mcp.ProgressToken
		end   func(context.CancelFunc)
		fails error
		want  int
	}{
		{"a call below a second", 900 * time.Millisecond, "t", nil, nil, 0},
		{"a call of three seconds and a half", 3500 * time.Millisecond, "t", nil, nil, 3},
		{"a token that is a number", 1500 * time.Millisecond, float64(7), nil, nil, 1},
		{"no token", 5 * time.Second, nil, nil, nil, 0},
		{"a call that is cancelled", 2500 * time.Millisecond, "t", func(cancel context.CancelFunc) { cancel() }, nil, 2},
		{"a client that has gone", 5500 * time.Millisecond, "t", nil, errors.New("gone"), 1},
	} {
		heard := hears(t, tt.token, tt.takes, tt.end, tt.fails)
		assert.That(t, len(heard) == tt.want, "%s: heard %v, want %d", tt.name, heard, tt.want)
		for i, n := range heard {
			assert.That(t, n == i+1, "%s: heard %v", tt.name, heard)
		}
	}
}

// A client that reads slowly is told how long the call has really been running.
func TestElapsedTimeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []any
		client := heardBy(func(_ string, params map[string]any) error {
			heard = append(heard, params["message"])
			time.Sleep(3500 * time.Millisecond)
			return nil
		})
		req := mcp.CallToolRequest{}
		req.Params.Meta = &mcp.Meta{ProgressToken: "t"}
		_, stop := startProgress(t.Context(), client, req)
		time.Sleep(6 * time.Second)
		stop()
		assert.That(t, len(heard) >= 2, "heard %v", heard)
		assert.Equal(t, heard[0], any("running for 1 s"))
		assert.Equal(t, heard[1], any("running for 4 s"))
	})
}

// The command of an image counts however it is written; a text with other escapes does not.
func TestImagesAreCountedHoweverTheyAreWritten(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"command":"attachment:read"}`:             true,
		`{"command":"attachmen\u0074:read"}`:        true,
		`{"command":"\u0061\u0074tachment:read"}`:   true,
		`{"command":"read","params":{"path":"a"}}`:  false,
		`{"command":"append","content":"\u00e9\n"}`: false,
	} {
		assert.Equal(t, mayHaveImage("", json.RawMessage(raw)), want, "%s", raw)
	}
}

// A count that is known is told with its total, and what is told always rises.
func TestCountsAreTold(t *testing.T) {
	count := func(done, total int, of protocol.ProgressKind) *protocol.Progress {
		return &protocol.Progress{Done: done, Total: total, Of: of}
	}
	var r progressCounter
	for i, tt := range []struct {
		count   *protocol.Progress
		told    int
		total   any
		message string
	}{
		{nil, 1, nil, "running for 1 s"},
		{count(0, 40, protocol.Operations), 2, nil, "running for 2 s, 0 of 40 operations"},
		{count(900, 2000, protocol.FilesRead), 900, 2000, "running for 3 s, 900 of 2000 files read"},
		{count(2000, 2500, protocol.FilesRead), 2000, 2500, "running for 4 s, 2000 of 2500 files read"},
		{count(2000, 2500, protocol.FilesRead), 2001, nil, "running for 5 s, 2000 of 2500 files read"},
		{count(3, 12, protocol.FilesChanged), 2002, nil, "running for 6 s, 3 of 12 files changed"},
	} {
		got := r.next(time.Duration(i+1)*time.Second, tt.count)
		if got["progress"] != tt.told || got["total"] != tt.total || got["message"] != tt.message {
			t.Errorf("%+v is told as %v, want %d of %v, %q", tt.count, got, tt.told, tt.total, tt.message)
		}
	}
}

// What a call counts reaches its client, and not the client of another call.
func TestTheCountsOfACallAreItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []any
		var mu sync.Mutex // each call tells from its own goroutine
		client := heardBy(func(_ string, params map[string]any) error {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, params["progressToken"], params["progress"], params["total"])
			return nil
		})
		call := func(token mcp.ProgressToken) (context.Context, func()) {
			req := mcp.CallToolRequest{}
			req.Params.Meta = &mcp.Meta{ProgressToken: token}
			return startProgress(t.Context(), client, req)
		}
		one, stopOne := call("one")
		time.Sleep(10 * time.Millisecond)
		_, stopTwo := call("two")
		protocol.ProgressOf(one)(protocol.Progress{Done: 7, Total: 9, Of: protocol.FilesRead})
		time.Sleep(progressInterval + 100*time.Millisecond)
		stopOne()
		stopTwo()
		want := []any{"one", 7.0, 9.0, "two", 1.0, nil}
		assert.That(t, slices.Equal(heard, want), "heard %v, want %v", heard, want)
	})
}

// logTo returns a logger that writes to the output of a test.
func logTo(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }
