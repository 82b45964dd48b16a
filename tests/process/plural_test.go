package process

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
)

// onePlural is a 1 before several things. onlyWords end in "s" and are no plural.
var (
	onePlural = regexp.MustCompile(`(?:^|[\s(])1 (?:more |other |of )?([a-z]{3,}s)\b`)
	onlyWords = map[string]bool{"has": true, "was": true, "this": true, "process": true, "address": true, "access": true, "less": true, "its": true}
)

// Outputs count in words that fit, with none, one and two of everything.
func TestNothingIsOneOfSeveral(t *testing.T) {
	t.Parallel()
	for many := range 3 {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			harness.WriteFile(t, filepath.Join(home, "Notes", "Index.md"),
				[]byte("# Index\n"+strings.Repeat("[[Plan]]\n- [ ] task #tag ghp_"+strings.Repeat("a1B2", 9)+"\n",
					many)))
			for i := range many {
				harness.WriteFile(t, filepath.Join(home, "Notes", "Folder", fmt.Sprintf("Note%d.md", i)), []byte("---\nkey: 1\n---\n# Plan\nword [[Index]] #tag\n"))
			}
			vault := "--vault ./Notes --tier v3 --allow-mutations "
			lines := []string{"doctor --vault ./Notes", "scan --vault ./Notes", "commands --vault ./Notes"}
			for i := range many {
				lines = append(lines, fmt.Sprintf("run %sappend path=Index.md content=line%d", vault, i),
					fmt.Sprintf("run %sdelete path=Folder/Note%d.md", vault, i))
			}
			for _, call := range []string{
				"tag:rename name=tag to=other", "property:rename name=key to=other", "heading:rename path=Index.md heading=Index to=New",
				"vault:replace old=word new=term", "property:set folder=Folder name=key value=2", "folder:rename path=Folder name=Other",
				"folder:copy path=Other to=Third", "rename path=Index.md name=Start", "find query=zzzz", "find query=word", "search query=word",
				"files", "files total", "folder path=Other", "tasks", "tags counts", "outline path=Start.md",
				"wordcount path=Start.md", "orphans", "unresolved", "recent",
				"history path=Start.md", "briefing", "links path=Start.md", "backlinks path=Start.md",
				"read path=Start.md", "note:section path=Start.md lines=90-91",
			} {
				lines = append(lines, "dry-run -v "+vault+call, "run "+vault+call)
			}
			lines = append(lines, "today --vault ./Notes", "journal list --vault ./Notes", "undo list --vault ./Notes",
				"approvals", "grants", "audit list", "audit verify",
				"audit what-if --secrets block", "audit export "+filepath.Join(home, "log"),
				"undo --vault ./Notes --allow-mutations", "install --list", "doctor --vault ./Notes")
			for _, line := range lines {
				command := exec.Command(harness.Binary, strings.Fields(line)...)
				command.Dir = home
				command.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home, "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00"}
				out, _ := command.CombinedOutput()
				for _, found := range onePlural.FindAllStringSubmatch(string(out), -1) {
					assert.That(t, onlyWords[found[1]], "%s: %q in\n%s", line, found[0], out)
				}
			}
		})
	}
}
