package changes

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// killsVariable says how often programs are killed in the middle of a change.
// The default keeps the tests short.
const killsVariable = "VAULTWICKET_KILLS"

// changing are calls that change something, one of each kind.
var changing = [][]string{
	{"append", "path=A.md", "content=more"}, {"prepend", "path=A.md", "content=first"}, {"create", "path=New/Note.md", "content=new"},
	{"create", "path=A.md", "content=replaced", "overwrite"}, {"property:set", "path=A.md", "name=n", "value=5"}, {"property:remove", "path=A.md", "name=tags"},
	{"task", "path=A.md", "line=6", "done"}, {"move", "path=A.md", "to=Sub/"}, {"rename", "path=A.md", "name=Other"}, {"delete", "path=A.md"},
	{"delete", "path=A.md", "permanent"}, {"daily:append", "content=today"}, {"note:replace", "path=A.md", "old=text", "new=words"},
	{"heading:rename", "path=A.md", "heading=A", "to=New"}, {"vault:replace", "old=[[A", "new=[[./A"}, {"property:set", "name=n", "value=5", "query=A"},
	{"folder:move", "path=Sub", "to=Other/"}, {"folder:delete", "path=Sub"}, {"folder:copy", "path=Sub", "to=New/Sub"},
	{"note:merge", "path=A.md", "into=B.md"}, {"note:split", "path=A.md", "level=1"},
}

// fill makes the vault of these tests.
func fill(t *testing.T, vault string) {
	t.Helper()
	os.RemoveAll(vault)
	for name, text := range map[string]string{
		".obsidian/app.json": `{"alwaysUpdateLinks":true,"trashOption":"local"}`,
		"A.md":               "---\ntags: [x]\n---\n# A\ntext\n- [ ] do\n" + strings.Repeat("a long note\n", 2000),
		"B.md":               "[[A]] and [[A#A|the note]]\n", "Sub/C.md": "![[A]]\n", "Board.canvas": `{"nodes":[{"type":"file","file":"A.md"}]}`,
	} {
		harness.WriteFile(t, filepath.Join(vault, name), []byte(text))
	}
}

// notesIn returns the visible files of a vault.
func notesIn(t *testing.T, vault string) map[string]string {
	t.Helper()
	notes := map[string]string{}
	err := filepath.WalkDir(vault, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(vault, path)
		if strings.HasPrefix(filepath.Base(path), ".") && path != vault {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			notes[name] = string(text)
			return err
		}
		return nil
	})
	require.NoError(t, err)
	return notes
}

// A program that is killed at any moment leaves every note as it was or as it
// was to be, and a journal that can be read and that takes the change back.
func TestKilledInTheMiddleOfAChange(t *testing.T) {
	t.Parallel()
	kills := testenv.Count(24, 160)
	if n, err := strconv.Atoi(os.Getenv(killsVariable)); err == nil {
		kills = n
	}
	folder := t.TempDir()
	vault := filepath.Join(folder, "Vault")
	env := []string{"HOME=" + folder, "VAULTWICKET_NOW=2026-11-21T09:00:00Z"}
	run := func(ctx context.Context, args ...string) ([]byte, error) {
		c := exec.CommandContext(ctx, harness.Binary, append([]string{"vault", vault, "--write"}, args...)...)
		c.Env = env
		return c.CombinedOutput()
	}
	after := make([]map[string]string, len(changing))
	took := make([]time.Duration, len(changing))
	for i, args := range changing {
		fill(t, vault)
		start := time.Now()
		out, err := run(t.Context(), args...)
		require.That(t, err == nil, "%q: %v\n%s", args, err, out)
		took[i] = time.Since(start)
		after[i] = notesIn(t, vault)
	}
	fill(t, vault)
	before := notesIn(t, vault)
	random := rand.New(rand.NewPCG(1, 9))
	done, undone := 0, 0
	for n := range kills {
		i := n % len(changing)
		fill(t, vault)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(took[i]))))
		_, err := run(ctx, changing[i]...) // a context that ends kills at once
		cancel()
		if err == nil {
			done++
		}
		now := notesIn(t, vault)
		for name, text := range now {
			if old, was := before[name]; was && text == old {
				continue
			}
			if text != after[i][name] {
				t.Fatalf("%q, killed: %s is neither old nor new: %.200q", changing[i], name, text)
			}
		}
		for name := range before {
			_, there := now[name]
			if _, stays := after[i][name]; stays && !there {
				t.Fatalf("%q, killed: %s is gone", changing[i], name)
			}
			if !there && fmt.Sprint(now) != fmt.Sprint(after[i]) && len(now) < len(after[i]) {
				t.Fatalf("%q, killed: a note is lost: there is %v", changing[i], keys(now))
			}
		}
		out, err := run(t.Context(), "undo")
		switch {
		case err == nil:
			undone++
			if got := notesIn(t, vault); fmt.Sprint(got) != fmt.Sprint(before) {
				t.Fatalf("%q, killed and undone: there is %v, want %v\n%s", changing[i], keys(got), keys(before), out)
			}
		case strings.Contains(string(out), "journal"):
			t.Fatalf("%q, killed: the journal is broken: %s", changing[i], out)
		}
	}
	t.Logf("%d kills, of which %d came too late; %d changes were taken back", kills, done, undone)
}

func keys(m map[string]string) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	return names
}
