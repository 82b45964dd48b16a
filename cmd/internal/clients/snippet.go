package clients

import (
	"encoding/base64"
	"net/url"
	"strings"

	"vaultwicket/cmd/internal/document"
	"vaultwicket/cmd/internal/terminal"
)

// Snippet returns the entry for a server as a whole settings file would contain it. The error is
// an [*terminal.Failure] for a client without a form for the server.
func (c Client) Snippet(s Server) (string, error) {
	entry, ok := c.shape.entry(s)
	if !ok {
		return "", c.noHTTP()
	}
	at := c.at(s.Name)
	switch c.format {
	case tomlFormat:
		return document.RenderTOML(at, entry, "\n"), nil
	case yamlFormat:
		return document.RenderYAML(at, entry), nil
	}
	whole := document.Object{{Key: s.Name, Value: entry}}
	for i := len(c.place) - 1; i >= 0; i-- {
		whole = document.Object{{Key: c.place[i], Value: whole}}
	}
	text := document.RenderJSON(whole)
	if s.URL != "" && c.shape.inputs {
		// The renderer has no list of objects: the one that there is has a fixed text.
		text = "{\n" + codeInputs + text[2:]
	}
	return text + "\n", nil
}

const codeInputs = `  "inputs": [
    {"type": "promptString", "id": "vaultwicket-token", "description": "Token of vaultwicket", "password": true}
  ],
`

func (c Client) noHTTP() error {
	return terminal.Fail(terminal.ExitInvalid, c.Name+" cannot take the token of an HTTP server from an environment variable", "install it without --url, so that the client starts vaultwicket itself")
}

// Link returns an address that makes a client offer to install the server, "" for a client without one.
// It contains the absolute path of the command, so it is valid on this machine only.
func (c Client) Link(s Server) string {
	entry, ok := c.shape.entry(s)
	if c.link == nil || !ok || s.URL != "" {
		return ""
	}
	return c.link(s, entry)
}

// configLink is a link with the name of the server and its entry, in Base64 or as JSON.
func configLink(page string, inBase64 bool) func(Server, document.Object) string {
	return func(s Server, entry document.Object) string {
		config := escaped(document.RenderJSONLine(entry))
		if inBase64 {
			config = url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(document.RenderJSONLine(entry))))
		}
		return page + "?name=" + url.QueryEscape(s.Name) + "&config=" + config
	}
}

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
