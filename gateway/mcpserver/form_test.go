package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/mcpserver/arguments"
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
	h := handler{Config: Config{Text: true}, sealers: &sealers{}}
	byPath := gateway.Request{Command: "read", Params: allowlist.Params{"path": allowlist.Text("a b.md")}}
	for _, test := range []struct {
		name    string
		request gateway.Request
		result  gateway.Result
		want    []string
	}{
		{"a note that was named by its path", byPath, gateway.Result{OK: true, Stdout: "# A\n\"x\" <y>\n", Path: "a b.md", Hash: "0123456789abcdef", Backend: "embedded", Vault: "V"},
			[]string{"# A\n\"x\" <y>\n", "hash=0123456789abcdef"}},
		{"a note that was named otherwise", gateway.Request{Command: "daily:read"}, gateway.Result{OK: true, Stdout: "x", Path: "a b.md", Hash: "0123456789abcdef"},
			[]string{"x", `path="a b.md" hash=0123456789abcdef`}},
		{"a line in a path is none of ours", gateway.Request{Command: "daily:read"}, gateway.Result{OK: true, Stdout: "x", Path: "a\ncode=internal.md"},
			[]string{"x", `path="a\ncode=internal.md"`}},
		{"a listing", gateway.Request{Command: "files"}, gateway.Result{OK: true, Stdout: "a.md\n"}, []string{"a.md\n"}},
		{"a part", gateway.Request{Command: "files"}, gateway.Result{OK: true, Stdout: "a.md\n", Truncated: &gateway.Truncated{ShownBytes: 5, TotalBytes: 10, Cursor: "abc.5"}},
			[]string{"a.md\n", "cursor=abc.5"}},
		{"a change", byPath, gateway.Result{OK: true, Stdout: "Appended\n", Path: "a b.md", Hash: "0123456789abcdef", Change: &gateway.Change{ID: "i1", Added: 1}},
			[]string{"Appended\n", "hash=0123456789abcdef change=i1"}},
		{"nothing found", gateway.Request{Command: "files"}, gateway.Result{OK: true, Notices: []string{"no file", "really"}}, []string{"no file\nreally"}},
		{"nothing at all", gateway.Request{Command: "files"}, gateway.Result{OK: true}, []string{"done"}},
		{"a failure", byPath, gateway.Result{Error: &failure.Error{Code: "not_found", Message: "file not found", Hint: "look it up"}},
			[]string{"file not found\nlook it up", "code=not_found"}},
		{"a failure with output", byPath, gateway.Result{Stdout: "no", Stderr: "why\n", Error: &failure.Error{Code: "cli_error", Message: "it failed"}},
			[]string{"it failed", "no", "standard error: why\ncode=cli_error"}},
		{"a conflict", byPath, gateway.Result{Stdout: "Error: The note has changed.\n-a\n+b\n", Error: &failure.Error{Code: "conflict", Message: "the note has changed"}},
			[]string{"the note has changed", "-a\n+b\n", "code=conflict"}},
	} {
		got, err := h.form(test.request)(test.result)
		if err != nil || got.IsError == test.result.OK || got.StructuredContent != nil {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
		if texts := textsOf(t, got); !slices.Equal(texts, test.want) {
			t.Errorf("%s: %q, want %q", test.name, texts, test.want)
		}
	}
}

// What text costs over the note itself: four bytes count as a token.
func TestWhatAResultInTextCosts(t *testing.T) {
	note := strings.Repeat("one \"line\"\n", 40)
	result := gateway.Result{OK: true, Command: "read", Stdout: note, Path: "a.md", Hash: "0123456789abcdef", Backend: "embedded", Vault: "V"}
	request := gateway.Request{Command: "read", Params: allowlist.Params{"path": allowlist.Text("a.md")}}
	got, _ := handler{Config: Config{Text: true}, sealers: &sealers{}}.form(request)(result)
	if over := (len(strings.Join(textsOf(t, got), "")) - len(note)) / 4; over > 15 {
		t.Errorf("about %d tokens over the note", over)
	}
}

// Where answers are text the tools promise no structure; typed tools and the batch do.
func TestToolsThatAnswerInTextHaveNoOutputSchema(t *testing.T) {
	for _, inText := range []bool{false, true} {
		c := Config{Gateway: gatewayWith(t, everything), Version: "1", Toolsets: []string{"all"}, MaxOutput: 1 << 10, Text: inText}
		s, err := newServer(c.complete())
		if err != nil {
			t.Fatal(err)
		}
		for name, tool := range s.MCP.ListTools() {
			encoded, err := json.Marshal(tool.Tool)
			want := !inText || name != arguments.ToolName && name != readName
			if got := strings.Contains(string(encoded), `"outputSchema"`); err != nil || got != want {
				t.Errorf("in text %v: %s has an output schema: %v", inText, name, got)
			}
		}
	}
}
