package mcpserver

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/allowlist"
)

// maxAddress bounds an address that is looked up, in bytes. Ours are shorter than
// a tenth of it.
const maxAddress = 512

// errMissing is for a handler that is asked for what [finder.find] would have
// sent away.
var errMissing = errors.New("there is no such resource")

// finder finds out whether there is what an address names, before mcp-go looks
// for a handler. A handler can only fail, and every failure has the code of a bug.
// mcp-go itself knows what to say of a resource that is missing, which is another
// code in each of the two eras, but only of an address without a handler: so
// that is what an address becomes that leads nowhere.
type finder struct {
	handler
	fixed []fixedResource
}

// find puts the one spelling of the address in its place, or words that are no
// address and say what is wrong.
func (f finder) find(ctx context.Context, _ any, req *mcp.ReadResourceRequest) {
	address, err := guarded(f.Log, "resource", func() (string, error) { return f.address(ctx, req.Params.URI), nil })
	if err == nil { // else the handler meets the same fault
		req.Params.URI = address
	}
}

func (f finder) address(ctx context.Context, uri string) string {
	if len(uri) > maxAddress {
		return missing(uri, "no address is that long")
	}
	for _, r := range f.fixed {
		if r.uri == uri {
			return uri
		}
	}
	switch {
	case strings.HasPrefix(uri, helpPrefix):
		return f.helpAddress(uri)
	case strings.HasPrefix(uri, outputPrefix):
		return f.outputAddress(ctx, uri)
	}
	return missing(uri, f.nearest(uri))
}

// helpAddress looks a command up, written as it is or percent-encoded.
func (f finder) helpAddress(uri string) string {
	name, ok := segment(uri, helpPrefix)
	if !ok {
		return missing(uri, commandsURI+" lists the commands")
	}
	if _, err := allowlist.Describe(name); err == nil {
		return helpPrefix + url.QueryEscape(name)
	}
	if near := allowlist.Nearest(name, allowlist.Names()); near != "" {
		return missing(uri, "did you mean "+helpPrefix+near+"?")
	}
	return missing(uri, commandsURI+" lists the commands")
}

// nearest says which address of ours was meant, or what there is.
func (f finder) nearest(uri string) string {
	names := []string{strings.TrimPrefix(helpURI, scheme), strings.TrimPrefix(outputURI, scheme)}
	for _, r := range f.fixed {
		names = append(names, strings.TrimPrefix(r.uri, scheme))
	}
	if name, ours := strings.CutPrefix(uri, scheme); ours {
		if near := allowlist.Nearest(name, names[2:]); near != "" {
			return "did you mean " + scheme + near + "?"
		}
	}
	return "there are " + scheme + strings.Join(names, ", "+scheme)
}

// segment returns what stands behind the prefix of an address, decoded once. ok is
// false where that is nothing, or more than one segment, or no encoding.
func segment(uri, prefix string) (text string, ok bool) {
	rest, found := strings.CutPrefix(uri, prefix)
	text, err := url.PathUnescape(rest)
	return text, found && err == nil && rest != "" && !strings.ContainsAny(rest, "/?#")
}

// missing returns words in place of an address that leads nowhere. The blank in
// them is in no address.
func missing(uri, hint string) string {
	return clip(uri) + " (" + hint + ")"
}
