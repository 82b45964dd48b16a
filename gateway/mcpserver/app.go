package mcpserver

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/mcpserver/wire"
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

// addApp adds the document of the app. No list has it: clients find it by the tools.
func (h handler) addApp(s *server.MCPServer, hooks *server.Hooks) {
	if h.App.Page == nil {
		return
	}
	s.AddResource(mcp.NewResource(appURI, "difference", mcp.WithMIMEType(appMIME)), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: appURI, MIMEType: appMIME, Text: h.App.Page(), Meta: map[string]any{"ui": map[string]any{"prefersBorder": true}}}}, nil
	})
	hooks.AddAfterListResources(func(_ context.Context, _ any, _ *mcp.ListResourcesRequest, list *mcp.ListResourcesResult) {
		list.Resources = slices.DeleteFunc(list.Resources, func(r mcp.Resource) bool { return r.URI == appURI })
	})
}

// view is what the app shows of one call; nil for a client that does not show it.
type view struct {
	app   App
	modes askModes
	lines []consent.Line
	link  string
}

func (h handler) viewOf(ctx context.Context) *view {
	if !h.showsApps(ctx) {
		return nil
	}
	return &view{app: h.App, modes: askModes{far: wire.PeerOf(ctx).Caller != ""}}
}

// ask is the [consent.Asker] that shows a question that the client does not ask: it waits for the
// user on a page or in the terminal.
func (v *view) ask(next consent.Asker) consent.Asker {
	if v == nil {
		return next
	}
	return func(ctx context.Context, q consent.Question) consent.Reply {
		if next != nil {
			if reply := next(ctx, q); reply != consent.NoWay {
				return reply
			}
		}
		v.lines = q.Lines
		page, open := q.OnPage(v.modes.pages()...)
		if !open {
			return consent.NoWay
		}
		v.link = page.Link
		return consent.Opened
	}
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
