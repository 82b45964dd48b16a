package doctor

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// PrintAnonymous writes a report to send to the developers: the system, the version, where the state is, and the name and
// level of each finding with how often it was found. It has nothing else of a finding, whose sentences name folders, notes,
// clients and servers.
func (r *Report) PrintAnonymous(out io.Writer, m Machine) error {
	var text strings.Builder
	if m.Remote != nil {
		fmt.Fprintln(&text, "a server over HTTP")
	} else {
		fmt.Fprintf(&text, "vaultwicket %s, %s/%s\n", m.Version, m.OS, runtime.GOARCH)
		fmt.Fprintf(&text, "state folder: %s, %s\n", m.statePlace(), sanitize.Counted(len(ownerfiles.OtherStates(m.OS, m.Getenv, m.State)), "other"))
		fmt.Fprintf(&text, "served: %s; listed by the app: %s\n", sanitize.Counted(len(m.Settings.Served), "vault"), sanitize.Counted(len(m.Known), "vault"))
	}
	type kind struct {
		check string
		level Level
	}
	counts := map[kind]int{}
	var order []kind
	for _, f := range r.Findings {
		found := kind{f.Check, f.Level}
		if counts[found] == 0 {
			order = append(order, found)
		}
		counts[found]++
	}
	for _, found := range order {
		fmt.Fprintf(&text, "%-*s %s", markWidth, marks[found.level], found.check)
		if n := counts[found]; n > 1 {
			fmt.Fprintf(&text, " (%d)", n)
		}
		text.WriteByte('\n')
	}
	fmt.Fprintf(&text, "%s, %s\n", sanitize.Counted(r.Count(Problem), "problem"), sanitize.Counted(r.Count(Warning), "warning"))
	_, err := io.WriteString(out, text.String())
	return err
}

// statePlace says where the state folder is, without its name.
func (m Machine) statePlace() string {
	named := m.Getenv("XDG_STATE_HOME")
	switch {
	case m.State == "":
		return "none"
	case filepath.IsAbs(named):
		return "where XDG_STATE_HOME says"
	case m.OS == "windows" && filepath.Dir(m.State) == filepath.Clean(ownerfiles.Home(m.OS, m.Getenv)):
		return "in the profile"
	case m.OS == "windows":
		return "in the local application data"
	}
	return "in its usual place"
}
