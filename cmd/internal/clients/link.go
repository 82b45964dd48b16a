package clients

import (
	"encoding/base64"
	"net/url"
	"strings"

	"vaultwicket/cmd/internal/document"
)

// Link returns an address that makes a client offer to install the server, "" for a client
// without one. It contains the absolute path of the command, so it is valid on this machine
// only.
func (c Client) Link(s Server) string {
	entry, ok := c.shape.entry(s)
	if c.link == nil || !ok || s.URL != "" {
		return ""
	}
	return c.link(s, entry)
}

// configLink is a link with the name of the server and its entry, which write encodes.
func configLink(page string, write func(document.Object) string) func(Server, document.Object) string {
	return func(s Server, entry document.Object) string {
		return page + "?name=" + url.QueryEscape(s.Name) + "&config=" + write(entry)
	}
}

func inBase64(entry document.Object) string {
	return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(document.RenderJSONLine(entry))))
}

func inJSON(entry document.Object) string { return escaped(document.RenderJSONLine(entry)) }

func codeLink(scheme string) func(Server, document.Object) string {
	return func(s Server, _ document.Object) string {
		entry := append(document.Object{{Key: "name", Value: s.Name}}, commandAndArgs(s)...)
		return scheme + ":mcp/install?" + escaped(document.RenderJSONLine(entry))
	}
}

func gooseLink(s Server, _ document.Object) string {
	link := "goose://extension?cmd=" + escaped(s.Command)
	for _, word := range s.Args {
		link += "&arg=" + escaped(word)
	}
	return link + "&id=" + escaped(s.Name) + "&name=" + escaped(s.Name)
}

// escaped escapes a part of an address whose reader does not decode + as a space.
func escaped(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
