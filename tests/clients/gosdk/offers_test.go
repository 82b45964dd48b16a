package gosdk

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// everything opens all that can be offered.
var everything = []string{"--tier=v3", "--toolsets=all"}

func TestToolsAreListedAndTyped(t *testing.T) {
	everywhere(t, everything, func(t *testing.T, s server, version string) {
		session := s.connect(t, version, nil)
		var names []string
		for tool, err := range session.Tools(t.Context(), nil) {
			noError(t, err)
			names = append(names, tool.Name)
			if tool.Description == "" || tool.OutputSchema == nil || tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
				t.Errorf("%s lacks something: %+v", tool.Name, tool.Annotations)
			}
		}
		for _, want := range []string{"obsidianCli", "obsidianBatch", "read_note", "search_notes", "daily_note"} {
			if !slices.Contains(names, want) {
				t.Errorf("%s is not among %q", want, names)
			}
		}
		if got := use(t, session, "read_note", map[string]any{"path": "Note.md"}); got.Stdout != "one\n" {
			t.Errorf("read_note: %+v", got)
		}
		if got := use(t, session, "search_notes", map[string]any{"query": "one"}); !strings.Contains(got.Stdout, "Note.md") {
			t.Errorf("search_notes: %+v", got)
		}
		if got := use(t, session, "read_note", map[string]any{"path": "Note.md", "colour": "red"}); got.Error.Code != "bad_request" {
			t.Errorf("an argument that is not there: %+v", got)
		}
	})
}

func TestResources(t *testing.T) {
	everywhere(t, everything, func(t *testing.T, s server, version string) {
		session := s.connect(t, version, nil)
		for resource, err := range session.Resources(t.Context(), nil) {
			noError(t, err)
			if text := read(t, session, resource.URI); resource.MIMEType == "application/json" && !json.Valid([]byte(text)) {
				t.Errorf("%s is %q", resource.URI, text)
			}
		}
		var templates []string
		for template, err := range session.ResourceTemplates(t.Context(), nil) {
			noError(t, err)
			templates = append(templates, template.URITemplate)
		}
		if !slices.Equal(templates, []string{"vaultwicket://help/{command}", "vaultwicket://output/{id}"}) {
			t.Errorf("templates %q", templates)
		}
		for _, uri := range []string{"vaultwicket://help/daily:read", "vaultwicket://help/daily%3Aread"} {
			if text := read(t, session, uri); !strings.Contains(text, "daily:read") {
				t.Errorf("%s is %q", uri, text)
			}
		}
		_, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "vaultwicket://help/no:such"})
		var wire *jsonrpc.Error
		want := int64(-32002)
		if version == eras[0] {
			want = -32602
		}
		if !errors.As(err, &wire) || wire.Code != want {
			t.Errorf("a resource that is not there: %v", err)
		}
	})
}

func read(t *testing.T, session *mcp.ClientSession, uri string) string {
	t.Helper()
	got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil || len(got.Contents) != 1 || got.Contents[0].Text == "" {
		t.Fatalf("%s: %+v, %v", uri, got, err)
	}
	return got.Contents[0].Text
}

func TestPrompts(t *testing.T) {
	everywhere(t, everything, func(t *testing.T, s server, version string) {
		session := s.connect(t, version, nil)
		count := 0
		for prompt, err := range session.Prompts(t.Context(), nil) {
			noError(t, err)
			count++
			got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: prompt.Name})
			if err != nil || len(got.Messages) == 0 {
				t.Errorf("%s: %+v, %v", prompt.Name, got, err)
			}
		}
		if count != 6 {
			t.Errorf("%d prompts", count)
		}
		got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "surprise-me", Arguments: map[string]string{"count": "7"}})
		noError(t, err)
		if text, ok := got.Messages[0].Content.(*mcp.TextContent); !ok || !strings.Contains(text.Text, `"count":7`) {
			t.Errorf("%v", got.Messages[0].Content)
		}
		if _, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "surprise-me", Arguments: map[string]string{"count": "many"}}); err == nil {
			t.Error("a count that is no number was taken")
		}
	})
}

func TestCompletions(t *testing.T) {
	everywhere(t, everything, func(t *testing.T, s server, version string) {
		session := s.connect(t, version, nil)
		for _, test := range []struct {
			ref             *mcp.CompleteReference
			argument, typed string
			want            string
		}{
			{&mcp.CompleteReference{Type: "ref/resource", URI: "vaultwicket://help/{command}"}, "command", "daily:r", "daily:read"},
			{&mcp.CompleteReference{Type: "ref/prompt", Name: "surprise-me"}, "count", "1", "1"},
		} {
			got, err := session.Complete(t.Context(), &mcp.CompleteParams{Ref: test.ref, Argument: mcp.CompleteParamsArgument{Name: test.argument, Value: test.typed}})
			if err != nil || !slices.Contains(got.Completion.Values, test.want) {
				t.Errorf("%s %q: %+v, %v", test.argument, test.typed, got, err)
			}
		}
	})
}
