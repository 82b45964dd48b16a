package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vaultwicket/cmd/internal/clients"
)

func (m Machine) clients(ctx context.Context, r *Report) {
	present, installed := 0, 0
	for _, c := range clients.All() {
		s := m.Clients.State(c)
		if s.Problem != "" {
			r.warn("client-file", s.Problem, fmt.Sprintf("%s may start no MCP server at all", c.Name), fmt.Sprintf("correct %q", s.File))
		}
		if s.Found != "" {
			present++
		}
		for _, entry := range s.Servers {
			installed++
			m.entry(ctx, s, entry, r)
		}
	}
	switch {
	case installed > 0:
	case present == 0:
		r.warn("clients-none", "no MCP client was found", "an agent needs one to use vaultwicket", "install a client, or add the entry that \"vaultwicket install --print CLIENT\" prints")
	default:
		r.warn("clients-without-entry", fmt.Sprintf("%d MCP clients were found; none starts vaultwicket", present), "no agent can use it yet", "vaultwicket install --list, then vaultwicket install CLIENT")
	}
}

// entry checks one entry, and at last starts it.
func (m Machine) entry(ctx context.Context, s clients.State, entry clients.Entry, r *Report) {
	where := fmt.Sprintf("entry %q of %s", entry.Name, s.Name)
	again := fmt.Sprintf("vaultwicket install %s --name %s", s.Client, entry.Name)
	if entry.Approves != "" {
		r.warn("entry-approves", fmt.Sprintf("%s has %s: the client runs calls without asking you", where, entry.Approves), "what the policy allows, an agent does unseen",
			fmt.Sprintf("remove %s from the entry, or set confirm in the settings of vaultwicket", entry.Approves))
	}
	if entry.URL != "" || len(entry.Command) == 0 {
		r.ok("client", where+": "+entry.URL)
		return
	}
	program := entry.Command[0]
	if clients.Temporary(program) {
		r.problem("entry-temporary", fmt.Sprintf("%s starts %q", where, program), "\"go run\" deletes that program", "install vaultwicket, then "+again)
		return
	}
	if filepath.IsAbs(program) {
		info, err := os.Stat(program)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.problem("entry-program-missing", fmt.Sprintf("%s starts %q, which does not exist", where, program), "the client cannot start vaultwicket", again)
			return
		case err == nil && (info.IsDir() || m.OS != "windows" && info.Mode()&0o111 == 0):
			r.problem("entry-not-executable", fmt.Sprintf("%s starts %q, which is not a program", where, program), "the client cannot start vaultwicket", again)
			return
		}
	} else {
		r.warn("entry-relative", fmt.Sprintf("%s starts %q without a path", where, program), "clients of the desktop often have another PATH than a terminal, and do not find it", again)
	}
	if vault := valueOf(entry.Command, "--vault"); filepath.IsAbs(vault) && !exists(vault) {
		r.problem("entry-vault-missing", fmt.Sprintf("%s is for the vault %q, which does not exist", where, vault), "vaultwicket does not start", again+" --vault FOLDER")
		return
	}
	name, version, err := m.Start(ctx, entry.Command)
	switch {
	case err != nil:
		r.problem("entry-fails", fmt.Sprintf("%s does not start: %v", where, err), "the client shows no tools of vaultwicket", "run the command in a terminal to see what it says: "+strings.Join(entry.Command, " "))
	case name != "vaultwicket":
		r.problem("entry-other-program", fmt.Sprintf("%s starts another program, %q", where, name), "its calls do not pass the permissions of vaultwicket", again+" --replace")
	case version != m.Version:
		r.warn("entry-version", fmt.Sprintf("%s starts version %s; this is %s", where, version, m.Version), "it may know other commands and settings", again)
	default:
		r.ok("client", where+" starts")
	}
}

// valueOf returns the value of a flag among the words of a command.
func valueOf(command []string, flag string) string {
	for i, word := range command {
		if value, ok := strings.CutPrefix(word, flag+"="); ok {
			return value
		}
		if word == flag && i+1 < len(command) {
			return command[i+1]
		}
	}
	return ""
}
