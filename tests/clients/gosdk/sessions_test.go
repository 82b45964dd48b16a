package gosdk

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Two clients of one server have sessions of their own: what one was given, the
// other cannot use.
func TestTwoClientsDoNotShareCursors(t *testing.T) {
	for _, version := range eras[1:] { // the newest knows no sessions: there the token says who it is
		t.Run(version, func(t *testing.T) {
			s := overHTTP(t, "--tier=v1", "--max-output=4KiB")
			write(t, filepath.Join(s.vault, "Long.md"), strings.Repeat("A long line of a long note.\n", 2000))
			mine, other := s.connect(t, version, nil), s.connect(t, version, nil)
			if mine.ID() == "" || mine.ID() == other.ID() {
				t.Fatalf("sessions %q and %q", mine.ID(), other.ID())
			}
			first := call(t, mine, "read", map[string]any{"path": "Long.md"})
			next := map[string]any{"command": "read", "cursor": first.Truncated.Cursor}
			if got := use(t, other, "obsidianCli", next); got.OK || got.Error.Code != "not_found" || got.Stdout != "" {
				t.Errorf("the other client: %+v", got)
			}
			if got, err := other.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "vaultwicket://output/" + first.Truncated.Cursor}); err == nil {
				t.Errorf("the other client read %+v", got)
			}
			if got := use(t, mine, "obsidianCli", next); !got.OK || got.Stdout == "" {
				t.Errorf("its own client: %+v", got)
			}
		})
	}
}
