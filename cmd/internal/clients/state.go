package clients

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/textedit"
)

// State is the state of a client on a machine.
type State struct {
	Client  string  `json:"client"`
	Name    string  `json:"name"`
	Found   string  `json:"found,omitempty"`   // the path that shows that the client is installed, "" if it is not found
	File    string  `json:"file,omitempty"`    // the settings file of the user
	Servers []Entry `json:"servers,omitempty"` // the entries for vaultwicket
	Writes  bool    `json:"writes"`            // install can write the entry; otherwise it can only be printed
	Problem string  `json:"problem,omitempty"` // why the file cannot be read
}

// Entry is an installed entry for vaultwicket.
type Entry struct {
	Name     string   `json:"name"`
	Command  []string `json:"command,omitempty"`
	URL      string   `json:"url,omitempty"`
	Edit     bool     `json:"edit"`               // it allows changes to notes
	Approves string   `json:"approves,omitempty"` // the key that makes the client run calls without asking, "" for none
}

// State returns whether a client is installed, and the entries in the settings of the user.
func (i Installer) State(c Client) State {
	_, writes := c.Writes(User)
	s := State{
		Client: c.ID,
		Name:   c.Name,
		Found:  i.System.Found(c),
		File:   i.System.File(c, User),
		Writes: writes && c.on(i.System.OS),
	}
	if s.File == "" || c.format == noFile || !exists(s.File) {
		return s
	}
	settings, err := readFile(s.File)
	var value any
	if err == nil {
		if value, err = c.format.editor().Decode(settings.content); err != nil {
			err = c.unusable(s.File, err)
		}
	}
	if err != nil {
		s.Problem = strings.TrimSuffix(err.Error(), nothingWritten)
		return s
	}
	entries := textedit.Entries(value, c.at(""))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		entry := entries[name]
		if !isOurs(name, entry) {
			continue
		}
		words := commandOf(entry)
		s.Servers = append(s.Servers, Entry{
			Name:     name,
			Command:  words,
			URL:      urlOf(entry),
			Edit:     allowsChanges(words),
			Approves: approvalKey(entry),
		})
	}
	return s
}

// allowsChanges reports whether the words of a command line allow changes to notes. The last switch counts.
func allowsChanges(words []string) bool {
	allows := false
	for _, word := range words {
		name, value, hasValue := strings.Cut(word, "=")
		if name != allowMutations {
			continue
		}
		isTrue, err := strconv.ParseBool(value)
		allows = !hasValue || err == nil && isTrue
	}
	return allows
}

// approvalKey returns the key of an entry that approves calls in advance, "" for none.
func approvalKey(entry map[string]any) string {
	for _, key := range []string{
		"autoApprove",                 // Cline, Kiro
		"alwaysAllow",                 // Windsurf, Roo Code
		"trust",                       // Gemini CLI, Qwen Code
		"default_tools_approval_mode", // Codex
	} {
		switch value := entry[key].(type) {
		case bool:
			if value {
				return key
			}
		case string:
			if value == "approve" || value == "auto" {
				return key
			}
		case []any:
			if len(value) > 0 {
				return key
			}
		}
	}
	return ""
}

const allowMutations = "--allow-mutations"

// Args returns the arguments with which an entry starts vaultwicket. With "" for vault or tier, the settings decide.
// Without edit, changes are off whatever the settings say. edit does not enable a tier.
func Args(vault string, edit bool, tier string) []string {
	args := []string{"serve"}
	if vault != "" {
		args = append(args, "--vault", vault)
	}
	if tier != "" {
		args = append(args, "--tier", tier)
	}
	if edit {
		return append(args, allowMutations)
	}
	return append(args, allowMutations+"=false")
}

// approvalMeans describes which changes require approval.
const approvalMeans = "It needs your approval to delete or overwrite a note, to remove a property, to remove or replace more than 10 lines or half of a text, and to change or move more than 20 notes at once. \"vaultwicket undo\" takes changes back."

// codexApproves describes what else an entry of Codex with --edit contains.
const codexApproves = "Codex runs the tools of vaultwicket without a question of its own (approval_mode = \"approve\"), because it refuses their calls where it has no terminal: vaultwicket asks you."

// permissions describes what the entry allows an agent to do.
func (s Session) permissions() string {
	switch {
	case s.Edit && s.Tier == "":
		return `The agent can add to daily notes, in tier v0, the default; with "--tier v1" it can create, change, move and delete notes. ` + approvalMeans
	case s.Edit && s.Tier == "v0":
		return "The agent can add to daily notes. " + approvalMeans
	case s.Edit:
		return "The agent can create, change, move and delete notes. " + approvalMeans
	case s.Tier == "":
		return `The agent can read notes but not change them: daily and random notes in tier v0, the default, and all notes with "--tier v1". "--edit" allows changes.`
	case s.Tier == "v0":
		return `The agent can read daily and random notes but not change them. "--edit" allows changes.`
	}
	return `The agent can read all notes but not change them. "--edit" allows changes.`
}

// Temporary reports whether a path is that of a program that "go run" has built and will delete.
func Temporary(executable string) bool {
	return strings.Contains(path.Clean(strings.ReplaceAll(executable, `\`, "/")), "/go-build")
}

// summary returns the entries of a client with what each allows, or why there are none.
func (s State) summary() string {
	var names []string
	for _, entry := range s.Servers {
		mode := "read-only"
		switch {
		case entry.URL != "":
			mode = "HTTP"
		case entry.Edit:
			mode = "edit"
		}
		names = append(names, fmt.Sprintf("%s (%s)", entry.Name, mode))
	}
	switch {
	case s.Problem != "":
		return "file cannot be read"
	case len(names) == 0 && !s.Writes:
		return "not installed; --print only"
	case len(names) == 0:
		return "not installed"
	}
	return strings.Join(names, ", ")
}

// list prints the clients that were found with their entries for vaultwicket, and the names of the others.
func (s Session) list() error {
	var states []State
	for _, c := range All() {
		states = append(states, s.Installer.State(c))
	}
	if s.JSON {
		return terminal.PrintJSON(s.Out, states, terminal.ExitDone)
	}
	return s.writeList(states)
}

// writeList prints the states of clients for people.
func (s Session) writeList(states []State) error {
	var missing []string
	isFound := false
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	for _, state := range states {
		if state.Found == "" && len(state.Servers) == 0 {
			missing = append(missing, state.Client)
			continue
		}
		if !isFound {
			fmt.Fprintf(w, "CLIENT\tNAME\tVAULTWICKET\tFILE\n")
			isFound = true
		}
		fmt.Fprintf(
			w,
			"%s\t%s\t%s\t%s\n",
			state.Client,
			state.Name,
			terminal.Visible(state.summary()),
			terminal.Visible(state.File),
		)
	}
	w.Flush()
	if err := terminal.Write(s.Out, terminal.Fit(s.Out, table.String())); err != nil {
		return err
	}
	for _, state := range states {
		if state.Problem != "" {
			fmt.Fprintf(s.Err, "%s: %s\n", state.Name, terminal.Visible(state.Problem))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	others := fmt.Sprintf("\nNot found: %s\n", strings.Join(missing, ", "))
	if !isFound {
		others = "No MCP client was found. \"--print\" prints the entry for one of these: " + strings.Join(missing, ", ") + "\n"
	}
	return terminal.Write(s.Out, terminal.Fit(s.Out, others))
}
