package gosdk

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pages makes a call, and follows the cursors to the end of the answer.
func pages(t *testing.T, session *mcp.ClientSession, arguments map[string]any) (all []string) {
	t.Helper()
	for {
		r := use(t, session, "obsidianCli", arguments)
		if !r.OK {
			t.Fatalf("page %d: %+v", len(all)+1, r)
		}
		all = append(all, r.Stdout)
		if r.Truncated.Cursor == "" {
			return all
		}
		delete(arguments, "params")
		arguments["cursor"] = r.Truncated.Cursor
	}
}

func TestAListingIsPagedToItsEnd(t *testing.T) {
	everywhere(t, []string{"--tier=v1"}, func(t *testing.T, s server, version string) {
		want := []string{"Note.md"}
		for n := range 500 {
			name := fmt.Sprintf("Some folder/Note %04d.md", n)
			write(t, filepath.Join(s.vault, name), "text\n")
			want = append(want, name)
		}
		session := s.connect(t, version, nil)
		got := pages(t, session, map[string]any{"command": "files", "limit": 30})
		lines := strings.Split(strings.TrimSpace(strings.Join(got, "")), "\n")
		slices.Sort(lines)
		slices.Sort(want)
		if len(got) != 17 || !slices.Equal(lines, want) {
			t.Errorf("%d pages with %d lines, want %d", len(got), len(lines), len(want))
		}
	})
}

// A long note comes out whole, through the tool and as a resource.
func TestALongNoteIsPagedToItsEnd(t *testing.T) {
	everywhere(t, []string{"--tier=v1", "--max-output=4KiB"}, func(t *testing.T, s server, version string) {
		want := strings.Repeat("Zwei Hochwasser am Tag, 潮汐 und 🌊.\n", 2000)
		write(t, filepath.Join(s.vault, "Long.md"), want)
		session := s.connect(t, version, nil)
		arguments := map[string]any{"path": "Long.md"}
		if got := pages(t, session, map[string]any{"command": "read", "params": arguments}); strings.Join(got, "") != want || len(got) < 10 {
			t.Errorf("%d pages with %d bytes, want %d", len(got), len(strings.Join(got, "")), len(want))
		}
		first := call(t, session, "read", arguments)
		got := first.Stdout
		for uri := "vaultwicket://output/" + first.Truncated.Cursor; uri != ""; {
			page, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			noError(t, err)
			got += page.Contents[0].Text
			uri, _ = page.Contents[0].Meta["vaultwicket/next"].(string)
		}
		if got != want {
			t.Errorf("as a resource %d bytes, want %d", len(got), len(want))
		}
	})
}
