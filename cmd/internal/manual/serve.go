package manual

import (
	"regexp"
	"sync"

	"vaultwicket/cmd/internal/terminal"
)

// plainWord is a value that every shell takes as it is.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./:@~+-]+$`) })

// ServeText explains a server to a user who started it by hand: what it waits for, how a
// client comes to start it, how to try it out, how to stop it. vault is the name, id or folder
// that was given, "" for none.
func ServeText(s terminal.Screen, vault string) string {
	flag := ""
	if plainWord().MatchString(vault) {
		flag = " --vault " + vault
	}
	p := page{screen: s, width: min(s.Width(pipeWidth), maxWidth)}
	p.wrap("", "This is an MCP server. It waits for messages of an MCP client on standard input, which is your keyboard now. Clients start it themselves: you do not need to keep it running.")
	p.heading("To connect a client")
	p.commandLines([]Example{
		{"which clients are here", "vaultwicket install --list"},
		{"add it to one", "vaultwicket install claude-code" + flag},
	})
	p.heading("To try it without a client")
	p.commandLines([]Example{
		{"one command", "vaultwicket run" + flag + " daily:read"},
		{"a whole session with a built-in vault", "vaultwicket demo"},
		{"one server for several clients, over HTTP", "vaultwicket serve" + flag + " --http 127.0.0.1:8765"},
	})
	p.line("")
	p.line("Press Ctrl-C to stop.")
	return p.text.String()
}
