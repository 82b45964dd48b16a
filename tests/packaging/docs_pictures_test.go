//go:build linux

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// now is the time in every picture.
const now = "2026-11-21T09:30:00Z"

// pictures are terminals in which a user has typed these lines.
var pictures = map[string][]string{
	"refusal.svg": {`vaultwicket run --vault ./Notes daily:append content="- [ ] buy bread"`},
	"decisions.svg": {
		`vaultwicket run --vault ./Notes daily:read`,
		`vaultwicket run --vault ./Notes daily:append content="- [ ] buy bread"`,
		`vaultwicket run --vault ./Notes eval code="1+1"`,
	},
	"explain.svg":  {`vaultwicket explain --vault ./Notes append`},
	"briefing.svg": {`vaultwicket run --vault ./Notes --tier v1 briefing`},
	"approval.svg": {
		`vaultwicket run --vault ./Notes --tier v1 --allow-mutations delete path=Plan.md`,
		`vaultwicket approvals`,
	},
}

// The pictures are what the program prints, drawn by this test.
func TestPicturesAreFresh(t *testing.T) {
	for name, lines := range pictures {
		testenv.GoldenFile(t, filepath.Join("..", "..", "docs", "pictures", name), drawTerminal(session(t, lines)))
	}
	entries := require.Value(os.ReadDir(filepath.Join("..", "..", "docs", "pictures")))(t)
	for _, e := range entries {
		assert.That(t, pictures[e.Name()] != nil, "nothing draws %s", e.Name())
	}
}

// What differs each time: the name of an approval, and how long ago it was asked for.
var (
	approvalCode = regexp.MustCompile(`[0-9A-Z]{4}-[0-9A-Z]{4}`)
	approvalAge  = regexp.MustCompile(`asked \S+ ago, \S+ left`)
)

// session types the lines in a shell in front of the same vault, at the same time.
func session(t *testing.T, lines []string) string {
	t.Helper()
	folder, home := t.TempDir(), t.TempDir()
	written := time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)
	for name, text := range map[string]string{"2026-11-21.md": "# Saturday\n\n- [ ] call the dentist\n",
		"2026-11-20.md": "- [ ] answer the letter\n- [x] water the plants\n",
		"Plan.md":       "# Plan\n\n- [ ] buy milk 📅 2026-11-19\n"} {
		file := filepath.Join(folder, "Notes", name)
		harness.WriteFile(t, file, []byte(text))
		require.NoError(t, os.Chtimes(file, written, written))
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("\x1b[1m$ " + line + "\x1b[0m\n")
		c := exec.Command("/bin/sh", "-c", line)
		c.Dir = folder
		c.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(harness.Binary) + ":/usr/bin:/bin", "TZ=UTC",
			"LC_ALL=C.UTF-8", "VAULTWICKET_NOW=" + now, "CLICOLOR_FORCE=1", "COLUMNS=100"}
		out, err := c.CombinedOutput()
		require.That(t, c.ProcessState != nil, "%v", err)
		b.Write(out)
		if len(out) > 0 && out[len(out)-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	return approvalAge.ReplaceAllString(approvalCode.ReplaceAllString(b.String(), "7ZBC-2GX4"), "asked 4s ago, 9m56s left")
}
