package clients

import (
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
		return document.RenderTOML(at, entry), nil
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
