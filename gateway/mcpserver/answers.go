package mcpserver

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// withMarks wraps the note text in an answer of the gateway in delimiters, if that is configured. Every
// answer with note text must pass through it exactly once.
func withMarks[T interface{ Marked() T }](h handler, answer T) T {
	if !h.MarkUntrusted {
		return answer
	}
	return answer.Marked()
}

func answer(result gateway.Result) (*mcp.CallToolResult, error) { return reply(result, !result.OK) }

// reply returns a result with the same JSON as text and as structured content: some clients show the
// model only one of them.
func reply(content any, isError bool) (*mcp.CallToolResult, error) {
	text, err := excerpt.JSON(content)
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	result := mcp.NewToolResultStructured(content, text+"\n") // some clients join texts with nothing between them
	result.IsError = isError
	return result, nil
}

// clientTraits describes how a client handles results. The name that a client reports gives it no rights: it only
// affects the layout of answers.
type clientTraits struct {
	page int // bytes of output in one answer that it passes on completely
	// losesImages reports that it drops images next to structured content.
	losesImages bool
}

// traits has the traits of clients that were tested, by the names that they report. Codex removes the middle of texts
// with more than 12,000 characters; Copilot writes texts with more than 30,000 to a file.
var traits = map[string]clientTraits{
	"codex-mcp-client": {page: 10_000, losesImages: true},
	"copilot-cli":      {page: defaultPage, losesImages: true},
}

// defaultPage is how many bytes of output other clients get in one answer. It is below the sizes that clients were
// observed to write to files.
const defaultPage = 25_000

// pageOf returns how many bytes of output a client gets in one answer if the user has not set a limit.
func pageOf(client string) int { return cmp.Or(traits[client].page, defaultPage) }

// withImage adds an image to an answer as another content block, unless image is nil.
func withImage(client string, answer *mcp.CallToolResult, image *gateway.Image) *mcp.CallToolResult {
	if image == nil {
		return answer
	}
	answer.Content = append(answer.Content, mcp.NewImageContent(image.Base64, image.MediaType))
	if traits[client].losesImages {
		answer.StructuredContent = nil // the text contains the same
	}
	return answer
}

// form converts a result of the gateway to a tool result.
type form func(gateway.Result) (*mcp.CallToolResult, error)

// form returns the form of answers to a request of obsidianCli. As text, the answer is the output, byte for byte,
// followed by a content block with facts that a later call may need. Note text cannot get into that block.
func (h handler) form(request gateway.Request) form {
	if !h.Text {
		return answer
	}
	return func(r gateway.Result) (*mcp.CallToolResult, error) {
		if r.Rows() {
			return answer(r)
		}
		return textAnswer(request, r), nil
	}
}

// textAnswer returns a result as text: the error message, the output, and the notices and facts.
func textAnswer(request gateway.Request, r gateway.Result) *mcp.CallToolResult {
	output := r.Stdout
	failure := ""
	if r.Error != nil {
		if strings.HasPrefix(output, "Error: ") { // the message is better
			_, output, _ = strings.Cut(output, "\n")
		}
		failure = strings.TrimSuffix(r.Error.Message+"\n"+r.Error.Hint, "\n") + "\n"
	}
	// The last block has the notices and then, on one line, the facts that are not in the text.
	lines := slices.Clone(r.Notices)
	if r.Stderr != "" {
		lines = append(lines, "standard error: "+strings.TrimSuffix(r.Stderr, "\n"))
	}
	if facts := factsOf(request, r); len(facts) > 0 {
		lines = append(lines, strings.Join(facts, " "))
	}
	result := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: !r.OK}
	previous := ""
	for _, text := range []string{failure, output, strings.Join(lines, "\n")} {
		if text == "" {
			continue
		}
		if previous != "" && !strings.HasSuffix(previous, "\n") { // some clients join texts without a separator
			text = "\n" + text
		}
		result.Content = append(result.Content, mcp.NewTextContent(text))
		previous = text
	}
	if len(result.Content) == 0 { // some clients treat empty content as a failure
		result.Content = append(result.Content, mcp.NewTextContent("done"))
	}
	return result
}

// factsOf returns the facts of a result that are not in its text, as "name=value". The path is omitted if the
// caller gave it.
func factsOf(request gateway.Request, r gateway.Result) []string {
	var facts []string
	addFact := func(name, value string) {
		if value != "" {
			facts = append(facts, name+"="+value)
		}
	}
	if r.Path != "" && request.Params["path"] != allowlist.Text(r.Path) {
		addFact("path", strconv.Quote(r.Path)) // quoted: the name of a file may look like further facts
	}
	addFact("hash", r.Hash)
	addFact("sectionHash", r.SectionHash)
	if r.Change != nil {
		addFact("change", r.Change.ID)
	}
	if r.Truncated != nil {
		addFact("cursor", r.Truncated.Cursor)
	}
	if r.Unread > 0 {
		addFact("unread", strconv.Itoa(r.Unread))
	}
	if r.Error == nil {
		return facts
	}
	addFact("code", r.Error.Code)
	if approval := r.Error.Approval; approval != nil {
		addFact("approval.id", approval.ID)
		addFact("approval.ways", strings.Join(approval.Ways, ","))
		addFact("approval.link", approval.Link)
		addFact("approval.expires", approval.Expires.Format(time.RFC3339))
		addFact("approval.reason", strconv.Quote(approval.Reason))
	}
	return facts
}

// withoutSchema removes the output schema of a tool if answers are text: a client may reject an answer
// without the structured content that a schema promises.
func (h handler) withoutSchema(t mcp.Tool) mcp.Tool {
	if h.Text {
		t.RawOutputSchema = nil
	}
	return t
}

// App shows changes and pending approval requests in clients that support the extension MCP Apps
// (SEP-1865). Page returns the document that the client loads once; it contains no note text. View
// returns the data that the document shows for one result: the lines of a change, and for a pending
// request the link to it, "" if there is none.
//
// The app cannot approve anything. A server cannot distinguish a call by a page from one by the
// model, so an approval there would rely on the client to keep the two apart.
type App struct {
	Page func() string
	View func(lines []consent.Line, waits bool, link string) string
}

const (
	appURI       = "ui://vaultwicket/difference"
	appExtension = "io.modelcontextprotocol/ui"
	appMIME      = "text/html;profile=mcp-app"
	metaView     = "vaultwicket/view" // key in the _meta of a result, which the model does not see
)

// showsApps reports whether the client shows the app.
func (h handler) showsApps(client *transport.Peer) bool {
	if h.App.Page == nil {
		return false
	}
	_, capabilities := client.Client()
	settings, _ := capabilities.Extensions[appExtension].(map[string]any)
	types, _ := settings["mimeTypes"].([]any)
	return slices.Contains(types, any(appMIME))
}

// view is what the app shows about one call. It is nil for clients that do not show the app.
type view struct {
	app   App
	lines []consent.Line
	link  string
}

// attach adds the data for the app to a result: the change, or else the pending approval request.
func (v *view) attach(result *mcp.CallToolResult, changed []consent.Line) *mcp.CallToolResult {
	switch {
	case v == nil:
	case len(changed) > 0:
		result.Meta = mcp.NewMetaFromMap(map[string]any{metaView: v.app.View(changed, false, "")})
	case result.IsError && len(v.lines) > 0:
		result.Meta = mcp.NewMetaFromMap(map[string]any{metaView: v.app.View(v.lines, true, v.link)})
	}
	return result
}
