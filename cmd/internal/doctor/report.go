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

// PrintAnonymous writes a report that can be sent to the developers: the system, the version, the kind of place of the
// state folder, and the name, level and number of the findings. It omits the sentences of findings, because these name
// folders, notes, clients and servers.
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
		finding := kind{f.Check, f.Level}
		if counts[finding] == 0 {
			order = append(order, finding)
		}
		counts[finding]++
	}
	for _, finding := range order {
		fmt.Fprintf(&text, "%-*s %s", markWidth, marks[finding.level], finding.check)
		if n := counts[finding]; n > 1 {
			fmt.Fprintf(&text, " (%d)", n)
		}
		text.WriteByte('\n')
	}
	fmt.Fprintf(&text, "%s, %s\n", sanitize.Counted(r.Count(Problem), "problem"), sanitize.Counted(r.Count(Warning), "warning"))
	_, err := io.WriteString(out, text.String())
	return err
}

// statePlace describes where the state folder is without its path.
func (m Machine) statePlace() string {
	stateHome := m.Getenv("XDG_STATE_HOME")
	switch {
	case m.State == "":
		return "none"
	case filepath.IsAbs(stateHome):
		return "where XDG_STATE_HOME says"
	case m.OS == "windows" && filepath.Dir(m.State) == filepath.Clean(ownerfiles.Home(m.OS, m.Getenv)):
		return "in the profile"
	case m.OS == "windows":
		return "in the local application data"
	}
	return "in its usual place"
}
