package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/clients"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

var setupHelp = description{
	Name: "setup", Group: groupStart, Summary: "ask for the vault, the client and what agents may do, and set them up",
	About: []string{
		"It asks three questions and shows what it would write: the vault in the settings file, and an entry in the settings of the client. If you confirm, it writes both and runs \"vaultwicket doctor\".",
	},
	Examples: []example{{"the first thing to do", "vaultwicket setup"}},
}

// setupRights are the choices for what agents may do; the first is the default.
var setupRights = []struct {
	text, tier string
	edit       bool
}{
	{"read daily and random notes", "v0", false},
	{"read all notes", "v1", false},
	{"read all notes, and write into the daily note and other notes; you approve what deletes or overwrites", "v1", true},
	{"also move, rename and change many notes at once; you approve what deletes or overwrites", "v2", true},
}

// setUp runs "vaultwicket setup", which asks the questions of a first run and sets everything up.
func setUp(ctx context.Context, std terminal.Streams, args []string) error {
	rest, err := terminal.ParseFlags("setup", args, nil)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return &terminal.UsageError{Reason: "setup takes no arguments", Advice: "it asks for what it needs"}
	}
	if !terminal.IsTerminal(std.In) || !terminal.IsTerminal(std.Err) {
		return &terminal.UsageError{
			Reason: "setup asks questions, which needs a terminal",
			Advice: "in a script: vaultwicket config set vault FOLDER, then vaultwicket install CLIENT --vault FOLDER --yes",
		}
	}
	folder, err := chooseVault(ctx, std)
	if err != nil {
		return err
	}
	client, err := chooseClient(ctx, std)
	if err != nil {
		return err
	}
	var entry []string
	if client != "" {
		var texts []string
		for _, rights := range setupRights {
			texts = append(texts, rights.text)
		}
		n, err := choose(ctx, std, "What may agents do?", texts)
		if err != nil {
			return err
		}
		entry = []string{client, "--vault", folder, "--tier", setupRights[n].tier}
		if setupRights[n].edit {
			entry = append(entry, "--edit")
		}
	}
	if err := writeSetup(ctx, std, folder, entry); err != nil {
		return err
	}
	fmt.Fprintln(std.Err)
	err = runDoctor(ctx, std, nil)
	if client == "" {
		fmt.Fprintln(std.Err, "\nTry it: vaultwicket run daily:read")
	} else {
		fmt.Fprintln(std.Err, "\nRestart the client, and ask your agent: What is in my daily note?")
	}
	return err
}

// writeSetup shows the line of the settings file and the entry of the client, asks once about both, and writes them.
// entry contains the arguments for install, nil for no client.
func writeSetup(ctx context.Context, std terminal.Streams, folder string, entry []string) error {
	line, file, err := settings.Planned(std, "vault", folder)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Err, "\nThis line is written into %s:\n  %s\n", terminal.Visible(file), terminal.Visible(line))
	if entry == nil {
		if !terminal.Confirm(ctx, std.In, std.Err, "Write it?") {
			return notSetUp(ctx)
		}
		return settings.Assign(std, "vault", folder)
	}
	fmt.Fprintln(std.Err, "\nAnd this into the settings of the client:")
	isAsked := false
	var notAssigned error
	err = installAfter(ctx, std, entry, func(ctx context.Context) bool {
		isAsked = true
		if !terminal.Confirm(ctx, std.In, std.Err, "Write both?") {
			notAssigned = notSetUp(ctx)
			return false
		}
		notAssigned = settings.Assign(std, "vault", folder)
		return notAssigned == nil
	})
	switch {
	case notAssigned != nil:
		return notAssigned
	case err != nil && isAsked:
		terminal.Notef(std.Err, "the vault is in %s; the client is not set up", terminal.Visible(file))
		return err
	case err != nil || isAsked:
		return err
	}
	// The client already has the entry, so only the line is left.
	if !terminal.Confirm(ctx, std.In, std.Err, "Write the line of the vault?") {
		return notSetUp(ctx)
	}
	return settings.Assign(std, "vault", folder)
}

// notSetUp returns the error after the user has not answered a question of setup, or has answered no.
func notSetUp(ctx context.Context) error {
	status := terminal.ExitDenied
	if ctx.Err() != nil {
		status = terminal.ExitInterrupted
	}
	return terminal.Fail(status, "nothing was written", `"vaultwicket setup" asks again`)
}

// choose asks the user to choose one of the texts and returns its index. Enter alone chooses the first.
func choose(ctx context.Context, std terminal.Streams, question string, texts []string) (int, error) {
	fmt.Fprintf(std.Err, "\n%s\n", question)
	for i, text := range texts {
		fmt.Fprint(std.Err, terminal.Fit(std.Err, fmt.Sprintf("  %d  %s\n", i+1, terminal.Visible(text))))
	}
	for {
		fmt.Fprintf(std.Err, "1 to %d [1]: ", len(texts))
		answer, ok := terminal.Ask(ctx, std.In, std.Err)
		if !ok {
			return 0, notSetUp(ctx)
		}
		n, err := strconv.Atoi(cmp.Or(answer, "1"))
		if err == nil && n >= 1 && n <= len(texts) {
			return n - 1, nil
		}
		fmt.Fprintf(std.Err, "%s is not one of these.\n", terminal.Visible(answer))
	}
}

// chooseVault asks for the folder of the notes: one of those that were found, or another one, which is typed.
func chooseVault(ctx context.Context, std terminal.Streams) (folder string, err error) {
	const another = "another folder"
	found := append(bootstrap.VaultsHere(std), another)
	n := 0
	if len(found) > 1 {
		if n, err = choose(ctx, std, "Where are your notes?", found); err != nil {
			return "", err
		}
	}
	if found[n] != another {
		return found[n], nil
	}
	for {
		fmt.Fprint(std.Err, "The folder of your notes: ")
		typed, ok := terminal.AskText(ctx, std.In, std.Err)
		if !ok {
			return "", notSetUp(ctx)
		}
		for _, path := range pathsOf(strings.TrimSpace(typed)) {
			folder, err = filepath.Abs(bootstrap.ExpandHome(std, path))
			if err != nil {
				return "", err
			}
			if info, err := os.Stat(folder); err == nil && info.IsDir() {
				return folder, nil
			}
		}
		if typed != "" {
			fmt.Fprintf(std.Err, "%s is not a folder.\n", terminal.Visible(folder))
		}
	}
}

// pathsOf returns the paths that a typed text can mean. A file manager whose folder is dragged into the terminal
// writes the path in quotes or with backslashes before spaces; the last result is the text itself. For an empty text it
// returns none.
func pathsOf(typed string) (paths []string) {
	for _, quote := range []string{`"`, "'"} {
		bare, begins := strings.CutPrefix(typed, quote)
		bare, ends := strings.CutSuffix(bare, quote)
		if begins && ends && bare != "" {
			paths = append(paths, bare)
		}
	}
	if runtime.GOOS != "windows" && strings.Contains(typed, `\`) {
		paths = append(paths, strings.ReplaceAll(typed, `\`, ""))
	}
	if typed != "" {
		paths = append(paths, typed)
	}
	return paths
}

// chooseClient asks which of the installed MCP clients should start vaultwicket. id is "" for none.
func chooseClient(ctx context.Context, std terminal.Streams) (id string, err error) {
	working, _ := os.Getwd()
	system := clients.System{OS: runtime.GOOS, Getenv: std.Getenv, Project: working}
	installer := clients.Installer{System: system}
	var ids, names []string
	for _, c := range clients.All() {
		state := installer.State(c)
		if state.Found == "" || !state.Writes {
			continue
		}
		ids = append(ids, c.ID)
		names = append(names, state.Name)
	}
	if len(ids) == 0 {
		terminal.Notef(std.Err, `no MCP client was found whose settings can be written; "vaultwicket install --list" lists all`)
		return "", nil
	}
	n, err := choose(ctx, std, "Which client is to use vaultwicket?", append(names, "none for now"))
	if err != nil || n == len(ids) {
		return "", err
	}
	return ids[n], nil
}
