package mcpserver

import (
	"context"
	"math"
	"net/url"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway"
)

// maxResource is the maximum size of one resource text, in bytes. A client reads a resource
// for itself, so it is larger than a result for a model.
const maxResource = 1 << 20

// The keys in the _meta of an output.
const (
	metaNext    = "vaultwicket/next"    // URI of the next page
	metaNotices = "vaultwicket/notices" // notices of the result
)

// canonicalOutput checks that the rest of a result is still kept.
func (f finder) canonicalOutput(ctx context.Context, uri string) string {
	cursor, ok := segment(uri, outputPrefix)
	if !ok || url.QueryEscape(cursor) != cursor {
		return missing(uri, "use the cursor exactly as in the result")
	}
	if f.Gateway.Admits() != nil {
		return uri // the handler returns the reason
	}
	if err := f.Gateway.Kept(caller(ctx), cursor); err != nil {
		return missing(uri, visibleError(err).Error())
	}
	return uri
}

// readOutput returns the next page of a truncated result, as the tool would return it, with
// a larger limit.
func (h handler) readOutput(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	cursor, ok := segment(req.Params.URI, outputPrefix)
	if !ok {
		return nil, errMissing
	}
	if err := h.Gateway.Admits(); err != nil {
		return nil, visibleError(err)
	}
	result := h.Gateway.Do(ctx, gateway.Request{
		Cursor: cursor, MaxOutput: maxResource, Limit: math.MaxInt, Keep: true, Caller: caller(ctx), Client: clientName(ctx), Surface: surface(ctx),
	})
	if !result.OK {
		return nil, visibleError(result.Error)
	}
	result = marked(h, result)
	contents := mcp.TextResourceContents{URI: req.Params.URI, MIMEType: mimeText, Text: result.Stdout, Meta: map[string]any{}}
	if result.Rows() {
		contents.MIMEType = mimeJSON
	}
	if next := result.Truncated.Cursor; next != "" {
		contents.Meta[metaNext] = outputPrefix + next
	}
	if len(result.Notices) > 0 {
		contents.Meta[metaNotices] = result.Notices
	}
	return []mcp.ResourceContents{contents}, nil
}
