package mcpserver

import (
	"context"
	"math"
	"net/url"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway"
)

// maxResource bounds the bytes of one answer to a resource. A client reads a
// resource for itself, so it is more than what goes to a model.
const maxResource = 1 << 20

// The keys of what stands beside the text of an output.
const (
	metaNext    = "vaultwicket/next"    // the address of what follows
	metaNotices = "vaultwicket/notices" // what a person or a model should know of it
)

// outputAddress looks whether an answer is kept.
func (f finder) outputAddress(ctx context.Context, uri string) string {
	cursor, ok := segment(uri, outputPrefix)
	if !ok || url.QueryEscape(cursor) != cursor {
		return missing(uri, "give the cursor as the answer has it")
	}
	if f.Gateway.Admits() != nil {
		return uri // the handler says why nothing is let through
	}
	if err := f.Gateway.Kept(caller(ctx), cursor); err != nil {
		return missing(uri, visibleError(err).Error())
	}
	return uri
}

// readOutput hands out what a call has read from notes. It is the next page of
// the answer, as the tool would give it, in a larger size.
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
	if h.MarkUntrusted {
		result = result.Marked()
	}
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
