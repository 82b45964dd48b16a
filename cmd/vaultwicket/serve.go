package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"sync"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/serving"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

var serveHelp = description{
	Name: "serve", Usage: "[flags]", Group: groupStart, Summary: "serve MCP over stdio or HTTP",
	About: []string{
		"An MCP client starts this and exchanges JSON-RPC messages on standard input and output. Messages for you go to standard error.",
		"With --http, one server can serve several clients; each needs the token from the token file.",
	},
	Examples: []example{
		{"a read-only server for one folder", "vaultwicket serve --vault ~/Notes"},
		{"let agents search and change notes", "vaultwicket serve --vault ~/Notes --tier v2 --allow-mutations"},
		{"over HTTP, on this machine only", "vaultwicket serve --vault ~/Notes --http 127.0.0.1:8765"},
	},
}

// serve runs "vaultwicket serve", which serves MCP on standard input and output, or over HTTP.
func serve(ctx context.Context, std terminal.Streams, args []string) error {
	parent := 0 // no process
	o, err := bootstrap.Open("serve", std, args, func(f *settings.Flags) {
		f.Resident = true
		f.Observed = true
		f.WithoutJSON()
		f.Func(
			"parent-pid",
			"exit when this process ends; for programs that start the server",
			func(text string) (err error) {
				parent, err = serving.ParseProcessID(text)
				return err
			},
		)
	})
	if err != nil {
		return err
	}
	return serving.Serve(ctx, o, parent, func() {
		// A user who typed the command at a terminal is told what it waits for. A client uses pipes, and may show
		// standard error to its user.
		isAtTerminal := terminal.IsTerminal(std.In) && terminal.IsTerminal(std.Out) && terminal.IsTerminal(std.Err)
		if isAtTerminal && !o.LogJSON {
			onError := std
			onError.Out = std.Err
			fmt.Fprint(
				std.Err,
				serveText(terminal.DefaultScreen(onError), cmp.Or(o.Vault.Name, o.Vault.Folder, o.Vault.ID)),
			)
		}
	})
}

// plainWord matches a value that needs no quotes in any shell.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./:@~+-]+$`) })

// serveText explains a server to a user who started it in a terminal: what it waits for, how clients
// start it, how to try it and how to stop it. vault is a name, id or folder, "" if none is given.
func serveText(s terminal.Screen, vault string) string {
	flag := ""
	if plainWord().MatchString(vault) {
		flag = " --vault " + vault
	}
	p := helpWriter{screen: s, width: min(s.Width(pipeWidth), maxHelpWidth)}
	p.wrap(
		"",
		"This is an MCP server. It waits for messages of an MCP client on standard input, which is your keyboard now. Clients start it themselves: you do not need to keep it running.",
	)
	p.heading("To connect a client")
	p.commandLines(
		[]example{
			{"which clients are here", "vaultwicket install --list"},
			{"add it to one", "vaultwicket install claude-code" + flag},
		},
	)
	p.heading("To try it without a client")
	p.commandLines([]example{
		{"one command", "vaultwicket run" + flag + " daily:read"},
		{"a whole session with a built-in vault", "vaultwicket demo"},
		{"one server for several clients, over HTTP", "vaultwicket serve" + flag + " --http 127.0.0.1:8765"},
	})
	p.line("")
	p.line("Press Ctrl-C to stop.")
	return p.text.String()
}
