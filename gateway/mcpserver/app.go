package mcpserver

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway/consent"
)

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
func (h handler) showsApps(ctx context.Context) bool {
	if h.App.Page == nil {
		return false
	}
	_, can := clientOf(ctx)
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
