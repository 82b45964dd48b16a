package mcpserver

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
	"vaultwicket/gateway/failure"
)

// form makes what the client sees of a result.
type form func(gateway.Result) (*mcp.CallToolResult, error)

// form returns the form of the answer to a request of obsidianCli.
func (h handler) form(request gateway.Request) form {
	if !h.Text {
		return answer
	}
	return func(r gateway.Result) (*mcp.CallToolResult, error) {
		if r.Rows() {
			return answer(r)
		}
		return inText(r, request), nil
	}
}

// unstructured takes the output schema from a tool that answers with text: a client may
// refuse an answer without the structured content that a schema promises.
func (h handler) unstructured(t mcp.Tool, err error) (mcp.Tool, error) {
	if h.Text {
		t.RawOutputSchema = nil
	}
	return t, err
}

// inText is a result as the text of its output, byte for byte, and a line of its own
// behind it with what a later call may need. A note cannot write that line: it is another
// content block.
func inText(r gateway.Result, request gateway.Request) *mcp.CallToolResult {
	result := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: !r.OK}
	output := r.Stdout
	if r.Error != nil && strings.HasPrefix(output, "Error: ") { // the message says it better
		_, output, _ = strings.Cut(output, "\n")
	}
	for _, text := range []string{explained(r.Error), output, lastLine(r, request)} {
		if text != "" {
			result.Content = append(result.Content, mcp.NewTextContent(text))
		}
	}
	if len(result.Content) == 0 { // some clients take no content for a failure
		result.Content = append(result.Content, mcp.NewTextContent("done"))
	}
	return result
}

func explained(e *failure.Error) string {
	switch {
	case e == nil:
		return ""
	case e.Hint == "":
		return e.Message
	}
	return e.Message + "\n" + e.Hint
}

// quotedPath returns a path in quotes that nothing in it can end: a file may have a name that
// reads like the facts behind it.
func quotedPath(path string) string {
	if path == "" {
		return ""
	}
	return strconv.Quote(path)
}

// lastLine has the facts of a result that are not in its text, and its notices above
// them. The path is left out where the caller gave it.
func lastLine(r gateway.Result, request gateway.Request) string {
	var facts []string
	fact := func(name, value string) {
		if value != "" {
			facts = append(facts, name+"="+value)
		}
	}
	if request.Params["path"] != allowlist.Text(r.Path) {
		fact("path", quotedPath(r.Path))
	}
	fact("hash", r.Hash)
	if r.Change != nil {
		fact("change", r.Change.ID)
	}
	if r.Truncated != nil {
		fact("cursor", r.Truncated.Cursor)
	}
	if r.Error != nil {
		fact("code", r.Error.Code)
	}
	lines := slices.Clone(r.Notices)
	if r.Stderr != "" {
		lines = append(lines, "standard error: "+strings.TrimSuffix(r.Stderr, "\n"))
	}
	if len(facts) > 0 {
		lines = append(lines, strings.Join(facts, " "))
	}
	return strings.Join(lines, "\n")
}
