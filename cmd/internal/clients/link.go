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

func cursorLink(s Server, entry document.Object) string {
	return "cursor://anysphere.cursor-deeplink/mcp/install?name=" + url.QueryEscape(s.Name) + "&config=" + base64Of(entry)
}

func studioLink(s Server, entry document.Object) string {
	return "lmstudio://add_mcp?name=" + url.QueryEscape(s.Name) + "&config=" + base64Of(entry)
}

func base64Of(entry document.Object) string {
	return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(document.RenderJSONLine(entry))))
}

func codeLink(scheme string) func(Server, document.Object) string {
	return func(s Server, _ document.Object) string {
		entry := append(document.Object{{Key: "name", Value: s.Name}}, commandAndArgs(s)...)
		return scheme + ":mcp/install?" + escaped(document.RenderJSONLine(entry))
	}
}

func kiroLink(s Server, entry document.Object) string {
	return "https://kiro.dev/launch/mcp/add?name=" + url.QueryEscape(s.Name) + "&config=" + escaped(document.RenderJSONLine(entry))
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
