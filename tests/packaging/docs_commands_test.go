//go:build unix

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// notRun are the lines that the test leaves out, by their beginning on the pages of a pattern, each with the reason.
var notRun = []struct{ page, line, why string }{
	{"*", "git clone ", "needs the network"},
	{"*", "go ", "needs the source"},
	{"*", "packaging/check.sh ", "needs the source"},
	{"*", "sudo ", "changes the machine"},
	{"bases.md", "", "run by internal/vault/handlers, which compares the output"},
	{"refactoring.md", "", "run by internal/vault/handlers, which compares the output"},
	{"packages.md", "sha256sum ", "there is no release to check"},
	{"packages.md", "cosign ", "there is no release to check"},
	{"packages.md", "gh ", "there is no release to check"},
	{"recipes.md", "docker ", "another program"},
	{"remote.md", "", "needs a server at a public name"},
	{"scale.md", "", "needs a collector"},
	{"services.md", "vaultwicket serve ", "serves until it is stopped"},
	{"services.md", "systemctl ", "another program"},
	{"services.md", "loginctl ", "another program"},
	{"services.md", "launchctl ", "another program"},
	{"services.md", "sed ", "needs the source"},
	{"cli.md", "vaultwicket serve ", "serves until it is stopped"},
	{"cli.md", "vaultwicket doctor --url ", "needs a server"},
	{"cli.md", "vaultwicket run --url ", "needs a server"},
	{"cli.md", "source ", "bash alone"},
	{"cli.md", "vaultwicket man run | ", "needs man"},
}

// Every line of the blocks of sh and console is run, or has its reason in notRun. The lines of a page are one script.
// Lines of sh must end well; one of console, which shows what it prints, may be refused.
func TestEveryCommandOfTheGuidesRuns(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "clients/*.md"} {
		pages = append(pages, require.Value(filepath.Glob(filepath.Join("..", "..", "docs", pattern)))(t)...)
	}
	pages = append(pages, filepath.Join("..", "..", "README.md"))
	used := map[int]bool{}
	lines := 0
	run := 0
	scripts := map[string]string{}
	for _, file := range pages {
		name := filepath.Base(file)
		var script strings.Builder
		for _, c := range commandsOf(string(require.Value(os.ReadFile(file))(t))) {
			lines++
			row := slices.IndexFunc(notRun, func(r struct{ page, line, why string }) bool {
				return (r.page == "*" || r.page == name) && strings.HasPrefix(c.text, r.line)
			})
			if row >= 0 {
				used[row] = true
				continue
			}
			run++
			isOfClients := filepath.Base(filepath.Dir(file)) == "clients" || name == "clients.md" // which are not here
			if c.mayFail || isOfClients || name == "ui.md" {
				c.text = "{ " + c.text + "\n} || true" // a remark may end the line
			}
			script.WriteString(c.text + "\n")
		}
		if script.Len() > 0 {
			scripts[name] = script.String()
		}
	}
	t.Logf("%d of %d commands are run", run, lines)
	for i, row := range notRun {
		assert.That(t, used[i], "no line of %s begins with %q", row.page, row.line)
	}
	notes := notesOf(t)
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runScript(t, name, script, notes)
		})
	}
}

// command is a line of a block, with the lines that continue it.
type command struct {
	text    string
	mayFail bool // it is in a block of console
}

// commandsOf returns the commands of a page, in their order. A block of sh with a document in it, or with lines that
// depend on each other, is one command.
func commandsOf(text string) (list []command) {
	block := ""
	var whole strings.Builder
	continued := false
	for line := range strings.Lines(text) {
		typed, isTyped := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			if block == "sh" && whole.Len() > 0 {
				list = append(list, shCommands(whole.String())...)
			}
			whole.Reset()
			block = strings.TrimSpace(strings.TrimPrefix(line, "```"))
			continued = false
		case block == "sh":
			whole.WriteString(line)
		case block == "console" && continued:
			list[len(list)-1].text += "\n" + strings.TrimRight(line, "\n")
			continued = strings.HasSuffix(strings.TrimSpace(line), "\\")
		case block == "console" && isTyped:
			list = append(list, command{strings.TrimRight(typed, "\n"), true})
			continued = strings.HasSuffix(strings.TrimSpace(typed), "\\")
		}
	}
	return list
}

// shCommands divides a block of sh into its commands.
func shCommands(block string) (list []command) {
	if strings.Contains(block, "<<") {
		return []command{{strings.TrimRight(block, "\n"), false}}
	}
	continues := false
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")
		if continues {
			list[len(list)-1].text += "\n" + line
		} else {
			list = append(list, command{line, false})
		}
		continues = strings.HasSuffix(line, "&&") || strings.HasSuffix(line, "\\")
	}
	return list
}

// notesOf returns the lines that make the folder Notes, which the quick start and the README have and no other page.
func notesOf(t *testing.T) string {
	t.Helper()
	var made []string
	pages := append(require.Value(filepath.Glob(filepath.Join("..", "..", "docs", "*.md")))(t), filepath.Join("..", "..", "README.md"))
	for _, file := range pages {
		for _, c := range commandsOf(string(require.Value(os.ReadFile(file))(t))) {
			if strings.HasPrefix(c.text, "mkdir ") && strings.HasSuffix(strings.Split(c.text, "\n")[0], " Notes &&") {
				made = append(made, c.text)
			}
		}
	}
	require.That(t, len(made) == 2, "%d pages make the folder Notes, want the quick start and the README", len(made))
	assert.Equal(t, made[0], made[1])
	return made[0]
}

func runScript(t *testing.T, page, script, notes string) {
	t.Helper()
	folder, home := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".cursor"), 0o755)) // a client that install finds
	// The pages ask date for today, and so does the program: midnight must not be between.
	bin := t.TempDir()
	testenv.WriteProgram(t, filepath.Join(bin, "date"), []byte("#!/bin/sh\necho 2026-11-21\n"))
	require.NoError(t, os.Symlink(harness.Binary, filepath.Join(folder, "vaultwicket"))) // the README has it in the current folder
	if !strings.Contains(script, notes) {
		script = notes + "\n" + script
	}
	script = "umask 077\n" + strings.Replace(script, notes, notes+"\ncp -R Notes ~/Notes", 1)
	c := exec.Command("/bin/sh", "-eu", "-c", script)
	c.Dir = folder
	c.Env = []string{"HOME=" + home, "PATH=" + bin + ":" + filepath.Dir(harness.Binary) + ":/usr/bin:/bin", "TZ=UTC",
		"TMPDIR=" + t.TempDir(), "VAULTWICKET_NOW=2026-11-21T09:30:00Z"}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v; the script is\n%s\nand its output\n%s", page, err, script, out)
	} else if bad := unexpected(string(out)); bad != "" {
		t.Errorf("%s: the output has %q:\n%s", page, bad, out)
	}
}

// unexpected finds what a refusal that a page shows on purpose does not say: a mistake in
// the command itself.
func unexpected(out string) string {
	for _, mistake := range []string{"unknown command", "unknown flag", "unknown parameter", "unknown setting",
		"unknown client", "unknown action", "missing parameter", "error: internal", "error: usage:", "panic:",
		"not found: vaultwicket"} {
		if strings.Contains(out, mistake) {
			return mistake
		}
	}
	return ""
}
