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
	Name    string   // the name of the entry
	Command string   // the absolute path of vaultwicket
	Args    []string // the arguments of Command
	URL     string   // the URL of a running server, "" to start Command
	Token   string   // the name of the environment variable with the bearer token for URL
	System  string   // the GOOS value of the machine
}

// ValuesOf returns the values of a flag in a command line, given as "--flag", "value" or as "--flag=value".
func ValuesOf(flag string, words []string) (values []string) {
	for i, word := range words {
		if value, isJoined := strings.CutPrefix(word, flag+"="); isJoined {
			values = append(values, value)
		} else if word == flag && i+1 < len(words) {
			values = append(values, words[i+1])
		}
	}
	return values
}

// shape is the form of an entry in the settings of a client.
type shape struct {
	stdio func(Server) textedit.Object
	http  func(s Server, token string) textedit.Object // nil if the client has no form for HTTP
	// token is the client's syntax for an environment variable, with VAR for its name. It is "" if the client could
	// only store the token itself.
	token  string
	inputs bool // the client prompts for the token, which needs a second entry
}

// entry returns the entry for a server. It returns false if the client has no form for it that keeps the token out of
// the file.
func (h shape) entry(s Server) (textedit.Object, bool) {
	if s.URL == "" {
		return h.stdio(s), true
	}
	if h.http == nil || h.token == "" {
		return nil, false
	}
	return h.http(s, strings.ReplaceAll(h.token, "VAR", s.Token)), true
}

// commandAndArgs returns the entry of most clients.
func commandAndArgs(s Server) textedit.Object {
	return textedit.Object{{Key: "command", Value: s.Command}, {Key: "args", Value: s.Args}}
}

// with returns a form with members before and after those of commandAndArgs.
func with(before, after textedit.Object) func(Server) textedit.Object {
	return func(s Server) textedit.Object {
		return append(append(append(textedit.Object{}, before...), commandAndArgs(s)...), after...)
	}
}

// oneCommand returns the form of opencode: one list with the command and its arguments, followed by after.
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

// remote returns a form for a server over HTTP, with the URL in the key address and with members before it.
func remote(urlKey string, before ...textedit.Member) func(Server, string) textedit.Object {
	return func(s Server, token string) textedit.Object {
		return append(
			append(textedit.Object{}, before...),
			textedit.Member{
				Key:   urlKey,
				Value: s.URL,
			},
			textedit.Member{Key: "headers", Value: textedit.Object{{Key: "Authorization", Value: "Bearer " + token}}},
		)
	}
}

// commandOf returns the command and the arguments in an entry of any of the forms above.
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

// urlOf returns the URL in an entry, "" if it has none.
func urlOf(entry map[string]any) string {
	for _, key := range []string{"url", "httpUrl", "serverUrl", "uri"} {
		if text, ok := entry[key].(string); ok {
			return text
		}
	}
	return ""
}

// isOurs reports whether an entry starts vaultwicket. An entry for HTTP counts if its name begins with vaultwicket and
// its URL ends with the path of our endpoint.
func isOurs(name string, entry map[string]any) bool {
	if words := commandOf(entry); len(words) > 0 {
		return startsThisProgram(words[0])
	}
	return strings.HasPrefix(name, programName) && strings.HasSuffix(urlOf(entry), "/mcp")
}

// startsThisProgram reports whether a command is vaultwicket, by its name (downloads have names such as
// "vaultwicket-linux-amd64") or because it is the executable of this process.
func startsThisProgram(command string) bool {
	if executable, err := os.Executable(); err == nil && command == executable {
		return true
	}
	base := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	suffix, isNamed := strings.CutPrefix(strings.TrimSuffix(base, ".exe"), programName)
	return isNamed && (suffix == "" || strings.ContainsRune("-_.", rune(suffix[0])))
}

const programName = "vaultwicket"

// Snippet returns a settings file that contains only the entry for a server. The error is a [*terminal.Failure] if the
// client has no form for the server.
func (c Client) Snippet(s Server) (string, error) {
	entry, ok := c.shape.entry(s)
	if !ok {
		return "", c.noHTTP()
	}
	text := c.format.editor().Render(c.at(s.Name), entry)
	if s.URL != "" && c.shape.inputs {
		// The renderer does not support lists of objects, so this one is inserted as text.
		text = "{\n" + codeInputs + text[2:]
	}
	return text, nil
}

const codeInputs = `  "inputs": [
    {"type": "promptString", "id": "vaultwicket-token", "description": "Token of vaultwicket", "password": true}
  ],
`

// noHTTP returns the error for a client that would need the token in its file.
func (c Client) noHTTP() error {
	return terminal.Fail(
		terminal.ExitInvalid,
		c.Name+" cannot take the token of an HTTP server from an environment variable",
		"install it without --url, so that the client starts vaultwicket itself",
	)
}

// Link returns a link that makes a client offer to install the server, "" if the client has none. The link
// contains the absolute path of the command, so it is only valid on this machine.
func (c Client) Link(s Server) string {
	entry, ok := c.shape.entry(s)
	if c.link == nil || !ok || s.URL != "" {
		return ""
	}
	return c.link(s, entry)
}

// base64Link returns a function for links to page with the name of the server and its entry in Base64.
func base64Link(page string) func(Server, textedit.Object) string {
	return func(s Server, entry textedit.Object) string {
		config := base64.StdEncoding.EncodeToString([]byte(textedit.RenderJSONLine(entry)))
		return page + "?name=" + url.QueryEscape(s.Name) + "&config=" + url.QueryEscape(config)
	}
}

// jsonLink returns a function for links to page with the name of the server and its entry as JSON.
func jsonLink(page string) func(Server, textedit.Object) string {
	return func(s Server, entry textedit.Object) string {
		return page + "?name=" + url.QueryEscape(s.Name) + "&config=" + escaped(textedit.RenderJSONLine(entry))
	}
}

// codeLink returns a function for links of VS Code.
func codeLink(scheme string) func(Server, textedit.Object) string {
	return func(s Server, _ textedit.Object) string {
		entry := append(textedit.Object{{Key: "name", Value: s.Name}}, commandAndArgs(s)...)
		return scheme + ":mcp/install?" + escaped(textedit.RenderJSONLine(entry))
	}
}

// escaped escapes a part of a URL for readers that do not decode + as a space.
func escaped(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
