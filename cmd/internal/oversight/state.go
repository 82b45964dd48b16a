package oversight

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// noteState prints which state folder a command uses, if this user has several.
func noteState(std terminal.Streams) {
	if note := stateNote(runtime.GOOS, std.Getenv, ownerfiles.StateFolder(std.Getenv, "")); note != "" {
		terminal.Notef(std.Err, "%s", note)
	}
}

// stateNote returns a note about the state folder in use, "" if there is no other one. goos is a value of
// [runtime.GOOS].
func stateNote(goos string, getenv func(string) string, used string) string {
	others := ownerfiles.OtherStates(goos, getenv, used)
	if len(others) == 0 {
		return ""
	}
	var quoted []string
	for _, folder := range others {
		quoted = append(quoted, fmt.Sprintf("%q", sanitize.Line(folder)))
	}
	return fmt.Sprintf(
		`this is about servers with the state folder %q, not those with %s; see "vaultwicket doctor"`,
		sanitize.Line(used),
		strings.Join(quoted, ", "),
	)
}

// ShareState creates the state folder that this terminal shares with servers of packaged clients, and prints where it
// is. An error is only printed: the client can be installed without it.
func ShareState(std terminal.Streams) {
	folder, err := ownerfiles.ShareState(runtime.GOOS, std.Getenv)
	switch {
	case err != nil:
		terminal.Notef(
			std.Err,
			"%s; end the MCP clients and install again, so that approvals and undo in a terminal reach their servers",
			terminal.Visible(err.Error()),
		)
	case folder != "":
		terminal.Notef(std.Err, "the state folder is %s: a packaged client has an AppData of its own", terminal.Visible(folder))
	}
}
