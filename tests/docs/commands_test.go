//go:build unix

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/programs"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/rig"
)

// pagesThatRun are those whose blocks of sh are one script, from the first to the last.
// Blocks of console are shown only: they need the source, root or another program.
// A line that begins with "go" or builds the program needs the source too and is left out.
var pagesThatRun = []string{"../README.md", "quick-start.md", "permissions.md", "recipes.md", "services.md", "faq.md", "packages.md"}

func TestEveryCommandOfTheGuidesRuns(t *testing.T) {
	for _, page := range pagesThatRun {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text := require.Value(os.ReadFile(filepath.Join("..", "..", "docs", page)))(t)
			script := scriptOf(string(text))
			require.That(t, strings.Contains(script, "vaultwicket "), "the page has no command")
			folder, home := t.TempDir(), t.TempDir()
			if err := os.MkdirAll(filepath.Join(home, ".cursor"), 0o755); err != nil { // a client that install finds
				t.Fatal(err)
			}
			// The pages ask date for today, and so does the program: midnight must not be between.
			bin := t.TempDir()
			programs.Write(t, filepath.Join(bin, "date"), []byte("#!/bin/sh\necho 2026-11-21\n"))
			if err := os.Symlink(rig.Binary, filepath.Join(folder, "vaultwicket")); err != nil { // the README has it in the current folder
				t.Fatal(err)
			}
			c := exec.Command("/bin/sh", "-eu", "-c", "umask 077\n"+script)
			c.Dir = folder
			c.Env = []string{"HOME=" + home, "PATH=" + bin + ":" + filepath.Dir(rig.Binary) + ":/usr/bin:/bin", "TZ=UTC", "TMPDIR=" + t.TempDir(), "VAULTWICKET_NOW=2026-11-21T09:30:00Z"}
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v; the script is\n%s\nand its output\n%s", err, script, out)
			} else if bad := unexpected(string(out)); bad != "" {
				t.Errorf("the output has %q:\n%s", bad, out)
			}
		})
	}
}

// scriptOf returns the blocks of sh of a page, in their order.
func scriptOf(text string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh\n"
		case inside && !strings.HasPrefix(line, "go ") && !strings.Contains(line, " go build "):
			b.WriteString(line)
		}
	}
	return b.String()
}

// unexpected finds what a refusal that a page shows on purpose does not say: a mistake in
// the command itself.
func unexpected(out string) string {
	for _, mistake := range []string{"unknown command", "unknown flag", "unknown parameter", "missing parameter", "internal error", "usage:", "panic:"} {
		if strings.Contains(out, mistake) {
			return mistake
		}
	}
	return ""
}
