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

// marked returns an answer of the gateway as it leaves: with marks around the text of notes,
// where that is configured. Everything with such text passes here, and nowhere twice.
func marked[T interface{ Marked() T }](h handler, answer T) T {
	if !h.MarkUntrusted {
		return answer
	}
	return answer.Marked()
}

func answer(result gateway.Result) (*mcp.CallToolResult, error) { return reply(result, !result.OK) }

// reply puts the same JSON into the text and into the structured content: some clients
// show a model only one of them.
func reply(content any, failed bool) (*mcp.CallToolResult, error) {
	text, err := excerpt.JSON(content)
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	result := mcp.NewToolResultStructured(content, text+"\n") // some clients join texts with nothing between them
	result.IsError = failed
	return result, nil
}

// clientTraits are what a client does with results. What a client says that it is gives no right: it decides how an
// answer is laid out.
type clientTraits struct {
	page int // bytes of output in one answer that it passes on whole
	// losesImages says that it passes on no image that stands beside structured content.
	losesImages bool
}

// traits are those of clients that were tried, by the names that they give themselves: Codex cuts the middle out of
// what is longer than 12,000 characters, Copilot writes what is longer than 30,000 to a file.
var traits = map[string]clientTraits{
	"codex-mcp-client": {page: 10_000, losesImages: true},
	"copilot-cli":      {page: otherPage, losesImages: true},
}

// otherPage is how many bytes of output other clients get in one answer: fewer than those that clients write to files.
const otherPage = 25_000

// pageOf returns how many bytes of output a client gets in one answer, where the user has set no limit.
func pageOf(client string) int { return cmp.Or(traits[client].page, otherPage) }

// withImage returns an answer with an image as one more content, if there is one.
func withImage(client string, answer *mcp.CallToolResult, image *gateway.Image) *mcp.CallToolResult {
	if image == nil {
		return answer
	}
	answer.Content = append(answer.Content, mcp.NewImageContent(image.Base64, image.MediaType))
	if traits[client].losesImages {
		answer.StructuredContent = nil // the text has the same
	}
	return answer
}

// form makes what the client sees of a result.
type form func(gateway.Result) (*mcp.CallToolResult, error)

// form returns the form of the answer to a request of obsidianCli. As text it is the output, byte for byte, and a
// content block after it with what a later call may need. A note cannot write into that block.
func (h handler) form(request gateway.Request) form {
	if !h.Text {
		return answer
	}
	return func(r gateway.Result) (*mcp.CallToolResult, error) {
		if r.Rows() {
			return answer(r)
		}
		result := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: !r.OK}
		output := r.Stdout
		if r.Error != nil && strings.HasPrefix(output, "Error: ") { // the message says it better
			_, output, _ = strings.Cut(output, "\n")
		}
		failed := ""
		if r.Error != nil {
			failed = strings.TrimSuffix(r.Error.Message+"\n"+r.Error.Hint, "\n") + "\n"
		}
		// Have the notices of a result and then, on one line, its facts that are not in the text. The path
		// is left out where the caller gave it.
		var facts []string
		fact := func(name, value string) {
			if value != "" {
				facts = append(facts, name+"="+value)
			}
		}
		if r.Path != "" && request.Params["path"] != allowlist.Text(r.Path) {
			fact("path", strconv.Quote(r.Path)) // a file may have a name that reads like the facts after it
		}
		fact("hash", r.Hash)
		fact("sectionHash", r.SectionHash)
		if r.Change != nil {
			fact("change", r.Change.ID)
		}
		if r.Truncated != nil {
			fact("cursor", r.Truncated.Cursor)
		}
		if r.Error != nil {
			fact("code", r.Error.Code)
		}
		if r.Error != nil && r.Error.Approval != nil {
			fact("approval.id", r.Error.Approval.ID)
			fact("approval.ways", strings.Join(r.Error.Approval.Ways, ","))
			fact("approval.link", r.Error.Approval.Link)
			fact("approval.expires", r.Error.Approval.Expires.Format(time.RFC3339))
			fact("approval.reason", strconv.Quote(r.Error.Approval.Reason))
		}
		lines := slices.Clone(r.Notices)
		if r.Stderr != "" {
			lines = append(lines, "standard error: "+strings.TrimSuffix(r.Stderr, "\n"))
		}
		if len(facts) > 0 {
			lines = append(lines, strings.Join(facts, " "))
		}
		before := ""
		for _, text := range []string{failed, output, strings.Join(lines, "\n")} {
			if text == "" {
				continue
			}
			if before != "" && !strings.HasSuffix(before, "\n") { // some clients join texts with nothing between them
				text = "\n" + text
			}
			result.Content = append(result.Content, mcp.NewTextContent(text))
			before = text
		}
		if len(result.Content) == 0 { // some clients take no content for a failure
			result.Content = append(result.Content, mcp.NewTextContent("done"))
		}
		return result, nil
	}
}

// unstructured takes the output schema from a tool that answers with text: a client may
// refuse an answer without the structured content that a schema promises.
func (h handler) unstructured(t mcp.Tool) mcp.Tool {
	if h.Text {
		t.RawOutputSchema = nil
	}
	return t
}

// App shows what changed, or what waits for the user, in clients that show the pages of servers
// (the extension MCP Apps, SEP-1865). Page is the document that the client loads once, which has no
// text of a note. View is what it shows of one result: the lines, and for a question that waits the
// link to it, "" without one.
//
// It decides nothing. A server cannot tell a call that a page makes from one of the model, so an
// approval there would be only as strong as the promise of a client to keep the two apart.
type App struct {
	Page func() string
	View func(lines []consent.Line, waits bool, link string) string
}

const (
	appURI       = "ui://vaultwicket/difference"
	appExtension = "io.modelcontextprotocol/ui"
	appMIME      = "text/html;profile=mcp-app"
	metaView     = "vaultwicket/view" // in the _meta of a result, which is not for the model
)

// showsApps reports whether the client of a request shows the app.
func (h handler) showsApps(client *transport.Peer) bool {
	if h.App.Page == nil {
		return false
	}
	_, can := client.Client()
	settings, _ := can.Extensions[appExtension].(map[string]any)
	types, _ := settings["mimeTypes"].([]any)
	return slices.Contains(types, any(appMIME))
}

// view is what the app shows of one call; nil for a client that does not show it.
type view struct {
	app   App
	lines []consent.Line
	link  string
}

// on adds to a result what the app shows of it: what was changed, or else the question that waits.
func (v *view) on(result *mcp.CallToolResult, changed []consent.Line) *mcp.CallToolResult {
	switch {
	case v == nil:
	case len(changed) > 0:
		result.Meta = mcp.NewMetaFromMap(map[string]any{metaView: v.app.View(changed, false, "")})
	case result.IsError && len(v.lines) > 0:
		result.Meta = mcp.NewMetaFromMap(map[string]any{metaView: v.app.View(v.lines, true, v.link)})
	}
	return result
}
