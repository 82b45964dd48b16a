package clients

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"vaultwicket/cmd/internal/terminal"
)

// list shows the clients that were found, with the entries of vaultwicket, and names
// the others.
func (s Session) list() error {
	var states []State
	for _, c := range All() {
		states = append(states, s.Installer.State(c))
	}
	if s.JSON {
		return terminal.PrintJSON(s.Out, states, terminal.ExitDone)
	}
	var missing []string
	w := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "CLIENT\tNAME\tVAULTWICKET\tFILE\n")
	for _, state := range states {
		if state.Found == "" && len(state.Servers) == 0 {
			missing = append(missing, state.Client)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", state.Client, state.Name, terminal.Visible(summary(state)), terminal.Visible(state.File))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, state := range states {
		if state.Problem != "" {
			fmt.Fprintf(s.Err, "%s: %s\n", state.Name, terminal.Visible(state.Problem))
		}
	}
	_, err := fmt.Fprintf(s.Out, "\nNot found: %s\n", strings.Join(missing, ", "))
	return err
}

// summary says in a few words whether vaultwicket is installed.
func summary(state State) string {
	if state.Problem != "" {
		return "file cannot be read"
	}
	var names []string
	for _, entry := range state.Servers {
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
	case len(names) > 0:
		return strings.Join(names, ", ")
	case !state.Writes:
		return "not installed; --print only"
	}
	return "not installed"
}
