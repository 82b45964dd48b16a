package mcpserver

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/mcpserver/wire"
)

// maxURI is the maximum length of a URI that is looked up, in bytes. Valid ones are shorter
// than a tenth of it.
const maxURI = 512

// errMissing is returned by a handler for a URI that [finder.find] should have rejected.
var errMissing = errors.New("resource not found")

// finder checks that a resource exists before mcp-go looks for a handler. An error of a
// handler always gets the code of an internal error. mcp-go returns the right code for a
// missing resource, which differs between the two protocol generations, only for a URI
// without a handler: so the URI of a missing resource is replaced by such a one.
type finder struct {
	handler
	fixed []fixedResource
}

// find replaces the URI by its canonical spelling, or by an explanation that is no URI.
func (f finder) find(ctx context.Context, _ any, req *mcp.ReadResourceRequest) {
	uri, err := guarded(f.Log, "resource", func() (string, error) { return f.canonical(ctx, req.Params.URI), nil })
	if err == nil { // otherwise the handler fails in the same way
		req.Params.URI = uri
	}
}

func (f finder) canonical(ctx context.Context, uri string) string {
	if len(uri) > maxURI {
		return missing(uri, "the URI is too long")
	}
	for _, r := range f.fixed {
		if r.uri == uri {
			return uri
		}
	}
	switch {
	case strings.HasPrefix(uri, helpPrefix):
		return f.canonicalHelp(uri)
	case strings.HasPrefix(uri, outputPrefix):
		return f.canonicalOutput(ctx, uri)
	}
	return missing(uri, f.nearest(uri))
}

// canonicalHelp returns the canonical URI of the help of a command, given plain or
// percent-encoded.
func (f finder) canonicalHelp(uri string) string {
	name, ok := segment(uri, helpPrefix)
	if !ok {
		return missing(uri, commandsURI+" lists the commands")
	}
	if _, err := allowlist.Describe(name); err == nil {
		return helpPrefix + url.QueryEscape(name)
	}
	if near := allowlist.Meant(name); near != "" {
		return missing(uri, "did you mean "+helpPrefix+near+"?")
	}
	return missing(uri, commandsURI+" lists the commands")
}

// nearest suggests a URI, or lists all.
func (f finder) nearest(uri string) string {
	names := []string{strings.TrimPrefix(helpURI, scheme), strings.TrimPrefix(outputURI, scheme)}
	for _, r := range f.fixed {
		names = append(names, strings.TrimPrefix(r.uri, scheme))
	}
	if name, ours := strings.CutPrefix(uri, scheme); ours {
		if near := quote.Nearest(name, names[2:]); near != "" {
			return "did you mean " + scheme + near + "?"
		}
	}
	return "valid: " + scheme + strings.Join(names, ", "+scheme)
}

// segment returns the path segment after the prefix of a URI, decoded once. ok is false if
// it is empty, more than one segment, or badly encoded.
func segment(uri, prefix string) (text string, ok bool) {
	rest, found := strings.CutPrefix(uri, prefix)
	text, err := url.PathUnescape(rest)
	return text, found && err == nil && rest != "" && !strings.ContainsAny(rest, "/?#")
}

// missing returns an explanation in place of a URI. It contains a space, so no handler has
// it.
func missing(uri, hint string) string {
	return wire.Clip(uri) + " (" + hint + ")"
}
