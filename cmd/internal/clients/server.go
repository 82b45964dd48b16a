package clients

import (
	"encoding/base64"
	"net/url"
	"os"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/textedit"
)

// Server is the server that an entry starts or connects to.
type Server struct {
	Name    string   // of the entry
	Command string   // absolute path of vaultwicket
	Args    []string // of the command
	URL     string   // of a running server; then Command is not used
	Token   string   // the environment variable with the bearer token for URL
	System  string   // GOOS of the machine
}

// ValuesOf returns the values of a flag among the words of a command: "--flag", "value" or
// "--flag=value".
func ValuesOf(flag string, words []string) (values []string) {
	for i, word := range words {
		if value, joined := strings.CutPrefix(word, flag+"="); joined {
			values = append(values, value)
		} else if word == flag && i+1 < len(words) {
			values = append(values, words[i+1])
		}
	}
	return values
}

// shape is how a client writes an entry.
type shape struct {
	stdio func(Server) textedit.Object
	http  func(s Server, token string) textedit.Object // nil: not in the file
	// token is how the client reads an environment variable; VAR is the place of its name.
	// "" is for a client that would need the token as text.
	token  string
	inputs bool // for a client that asks for the token itself, with a second entry
}

// entry returns the entry for a server. It reports false where the client has no form
// for it that keeps the token out of the file.
func (h shape) entry(s Server) (textedit.Object, bool) {
	if s.URL == "" {
		return h.stdio(s), true
	}
	if h.http == nil || h.token == "" {
		return nil, false
	}
	return h.http(s, strings.ReplaceAll(h.token, "VAR", s.Token)), true
}

// commandAndArgs is the form of most clients.
func commandAndArgs(s Server) textedit.Object {
	return textedit.Object{{Key: "command", Value: s.Command}, {Key: "args", Value: s.Args}}
}

// with puts members before or after those of commandAndArgs.
func with(before, after textedit.Object) func(Server) textedit.Object {
	return func(s Server) textedit.Object {
		return append(append(append(textedit.Object{}, before...), commandAndArgs(s)...), after...)
	}
}

// oneCommand is the form of opencode: one list for the command and its arguments.
func oneCommand(after ...textedit.Member) func(Server) textedit.Object {
	return func(s Server) textedit.Object {
		return append(
			textedit.Object{
				{Key: "type", Value: "local"},
				{Key: "command", Value: append([]string{s.Command}, s.Args...)},
			},
			after...)
	}
}

// remote is the form of a server that is reached by its address, with members before.
func remote(address string, before ...textedit.Member) func(Server, string) textedit.Object {
	return func(s Server, token string) textedit.Object {
		return append(
			append(textedit.Object{}, before...),
			textedit.Member{
				Key:   address,
				Value: s.URL,
			},
			textedit.Member{Key: "headers", Value: textedit.Object{{Key: "Authorization", Value: "Bearer " + token}}},
		)
	}
}

// commandOf returns the command of an entry and its arguments, in any of the forms above.
func commandOf(entry map[string]any) []string {
	if nested, ok := entry["transport"].(map[string]any); ok {
		entry = nested
	}
	var words []string
	for _, key := range []string{"command", "cmd", "args"} {
		switch value := entry[key].(type) {
		case string:
			words = append(words, value)
		case []any:
			for _, item := range value {
				if text, ok := item.(string); ok {
					words = append(words, text)
				}
			}
		}
	}
	return words
}

// urlOf returns the address in an entry, "" for none.
func urlOf(entry map[string]any) string {
	for _, key := range []string{"url", "httpUrl", "serverUrl", "uri"} {
		if text, ok := entry[key].(string); ok {
			return text
		}
	}
	return ""
}

// isOurs reports whether an entry starts vaultwicket, or connects to an address with
// its endpoint under a name that begins with vaultwicket.
func isOurs(name string, entry map[string]any) bool {
	if words := commandOf(entry); len(words) > 0 {
		return startsThisProgram(words[0])
	}
	return strings.HasPrefix(name, programName) && strings.HasSuffix(urlOf(entry), "/mcp")
}

// startsThisProgram reports whether a command is vaultwicket: by its name, which may go on behind a sign as that of a
// download does ("vaultwicket-linux-amd64"), or because it is the file of this process, whatever that is called.
func startsThisProgram(command string) bool {
	if this, err := os.Executable(); err == nil && command == this {
		return true
	}
	base := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	rest, isNamed := strings.CutPrefix(strings.TrimSuffix(base, ".exe"), programName)
	return isNamed && (rest == "" || strings.ContainsRune("-_.", rune(rest[0])))
}

const programName = "vaultwicket"

// Snippet returns the entry for a server as a whole settings file would contain it. The error is
// an [*terminal.Failure] for a client without a form for the server.
func (c Client) Snippet(s Server) (string, error) {
	entry, ok := c.shape.entry(s)
	if !ok {
		return "", c.noHTTP()
	}
	text := c.format.editor().Render(c.at(s.Name), entry)
	if s.URL != "" && c.shape.inputs {
		// The renderer has no list of objects: the one that there is has a fixed text.
		text = "{\n" + codeInputs + text[2:]
	}
	return text, nil
}

const codeInputs = `  "inputs": [
    {"type": "promptString", "id": "vaultwicket-token", "description": "Token of vaultwicket", "password": true}
  ],
`

func (c Client) noHTTP() error {
	return terminal.Fail(
		terminal.ExitInvalid,
		c.Name+" cannot take the token of an HTTP server from an environment variable",
		"install it without --url, so that the client starts vaultwicket itself",
	)
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

// base64Link is a link with the name of the server and its entry in Base64.
func base64Link(page string) func(Server, textedit.Object) string {
	return func(s Server, entry textedit.Object) string {
		config := base64.StdEncoding.EncodeToString([]byte(textedit.RenderJSONLine(entry)))
		return page + "?name=" + url.QueryEscape(s.Name) + "&config=" + url.QueryEscape(config)
	}
}

// jsonLink is a link with the name of the server and its entry as JSON.
func jsonLink(page string) func(Server, textedit.Object) string {
	return func(s Server, entry textedit.Object) string {
		return page + "?name=" + url.QueryEscape(s.Name) + "&config=" + escaped(textedit.RenderJSONLine(entry))
	}
}

func codeLink(scheme string) func(Server, textedit.Object) string {
	return func(s Server, _ textedit.Object) string {
		entry := append(textedit.Object{{Key: "name", Value: s.Name}}, commandAndArgs(s)...)
		return scheme + ":mcp/install?" + escaped(textedit.RenderJSONLine(entry))
	}
}

// escaped escapes a part of an address whose reader does not decode + as a space.
func escaped(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
