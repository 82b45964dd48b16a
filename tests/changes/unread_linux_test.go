package changes

import (
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// unreadProgram is a program whose vault is on a disk that can lose a note: Work/Bad.md. Two notes were changed, each by
// the owner and under a grant.
func unreadProgram(t *testing.T) (r *harness.Program, d *badDisk) {
	t.Helper()
	folder := testenv.MemoryFolder(t)
	d = mountBadDisk(t, folder, "Notes")
	r = harness.New(t, nil)
	r.Vault = filepath.Join(folder, "Notes")
	r.Write("Work/Good.md", "# Good\nword\n")
	r.Write("Work/Bad.md", "# Bad\nword\n")
	r.Set("confirm", `"writes"`)
	r.Tables = "[agents.nightly]\ntier = \"v1\"\nallow-mutations = true\n"
	r.Save()
	grant := osexec.Command(harness.Binary, "grant", "--agent", "nightly", "--commands", "append", "--in", "Work/",
		"--notes", "100", "--changes", "200", "--for", "2h")
	grant.Env = []string{"HOME=" + r.Home, "PATH=", "TERM=xterm"}
	shown, err := harness.AtTerminal(t, grant, "yes\n")
	require.That(t, err == nil, "%v\n%s", err, shown)
	for _, path := range []string{"Work/Good.md", "Work/Bad.md"} {
		r.Must("run", "--confirm=never", "append", "path="+path, "content=mine")
		r.Must("run", "--agent", "nightly", "append", "path="+path, "content=word at night")
	}
	return r, d
}

// lose makes Work/Bad.md one that cannot be looked at until the disk is healed.
func (d *badDisk) lose() {
	d.t.Helper()
	require.Equal(d.t, d.tell("fault EIO lookup:Bad.md 1 0"), "ok")
}

const couldNotBeRead = "1 note could not be read"

// Lists of changes that the terminal shows say how many notes could not be read, and are whole afterwards.
func TestNoListOfChangesAtATerminalIsShorterWithoutAWord(t *testing.T) {
	r, d := unreadProgram(t)
	bad := regexp.MustCompile(`\S+`).FindString(lineWith(t, r.Must("journal", "list"), "Bad.md"))
	for _, words := range [][]string{{"undo", "list"}, {"journal", "list"}, {"today"}, {"review"}, {"run", "undo:list"}} {
		d.lose()
		stdout, stderr, status := r.Run(words...)
		assert.Equal(t, status, 0, "%q: %s", words, stderr)
		assert.That(t, !strings.Contains(stdout+stderr, "Bad.md"), "%q shows a note that might hide itself: %s", words, stdout)
		assert.Contains(t, stderr, couldNotBeRead, "%q: %s", words, stdout)
		d.tell("heal")
		stdout, stderr, status = r.Run(words...)
		assert.Equal(t, status, 0, "%q: %s", words, stderr)
		assert.That(t, !strings.Contains(stderr, couldNotBeRead), "%q, healed: %s", words, stderr)
		if words[0] != "run" { // which lists the changes of its own process
			assert.Contains(t, stdout, "Bad.md", "%q, healed", words)
		}
	}
	for _, words := range [][]string{{"journal", "show", bad}, {"undo", "--grant", grantOf(r)}, {"undo", "--session"}} {
		d.lose()
		stdout, stderr, status := r.Run(words...)
		assert.That(t, status != 0, "%q: %s", words, stdout)
		assert.Contains(t, stderr, "cannot be read now", "%q", words)
		d.tell("heal")
	}
	assert.Contains(t, r.Read("Work/Good.md"), "at night", "nothing is undone in part")
}

func grantOf(r *harness.Program) string {
	return regexp.MustCompile(`g-[a-z2-7]{10}`).FindString(r.Must("grants"))
}

func lineWith(t *testing.T, text, part string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	t.Fatalf("no line has %q: %s", part, text)
	return ""
}

// The views of the page say how many notes cannot be read, and what they lack counts as not reviewed.
func TestNoViewOfThePageIsShorterWithoutAWord(t *testing.T) {
	r, d := unreadProgram(t)
	page := r.OpenPage()
	link := regexp.MustCompile(`changes/one/[^"]+`)
	view := page.See("changes")
	var bad string
	for _, row := range strings.Split(view, "<tr") {
		if strings.Contains(row, "Bad.md") {
			bad = link.FindString(row)
		}
	}
	require.That(t, bad != "", "no change of the note: %s", view)
	const told = "1 note cannot be read now, and its changes are not shown"
	for _, path := range []string{"", "changes", "agents", "review"} {
		d.lose()
		view := page.See(path)
		assert.Contains(t, view, told, "%q", path)
		assert.That(t, !strings.Contains(view, "Bad.md"), "%q shows a note that might hide itself: %s", path, view)
		assert.That(t, !strings.Contains(view, "I have looked at these"), "%q: what is not shown would not be reviewed", path)
		d.tell("heal")
		view = page.See(path)
		assert.That(t, !strings.Contains(view, told), "%q, healed: %s", path, view)
		assert.That(t, path == "agents" || strings.Contains(view, "Bad.md"), "%q, healed: %s", path, view)
	}
	d.lose()
	_, view = page.Fetch("GET", page.Base+strings.ReplaceAll(bad, "&amp;", "&"), nil)
	assert.Contains(t, view, "cannot be read now", "the view of one change")
	d.tell("heal")
}
