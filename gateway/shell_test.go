package gateway

import (
	"bytes"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	own "vaultwicket/exec"
	_ "vaultwicket/tests/sameseed"
)

// TestTheShellReadsBackWhatWasQuoted asks a real shell, with a program in front
// that prints its arguments.
func TestTheShellReadsBackWhatWasQuoted(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no POSIX shell")
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(
			rapid.StringOfN(rapid.RuneFrom([]rune("a'\"\\ $`!*?[]{}()<>|&;#~=\n\té-")), 0, 20, -1), rapid.StringN(0, 20, -1),
		).Filter(func(s string) bool { return !strings.Contains(s, "\x00") }).Draw(t, "word")
		out, err := exec.Command(shell, "-c", withNewline("printf '%s|' "+shellWords([]string{word, "end"}))).Output()
		if err != nil || string(out) != word+"|end|" {
			t.Fatalf("%q became %q (%v)", word, out, err)
		}
	})
}

func TestAPastedLineSendsStandardInputToo(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no POSIX shell")
	}
	line := shellLine(own.Command{Path: "cat", Args: []string{"-"}, StdinParam: "content", Stdin: "100%\n'x' \\n"})
	var out bytes.Buffer
	c := exec.Command(shell, "-c", line)
	c.Stdout = &out
	if err := c.Run(); err != nil || out.String() != "100%\n'x' \\n" || strings.Contains(line, "\n") {
		t.Errorf("%s gave %q (%v)", line, out.String(), err)
	}
}

func TestTheLineForTheDailyNoteAsksForThePath(t *testing.T) {
	t.Parallel()
	got := shellReadLine(own.Command{Path: "/bin/obsidian", Args: []string{"vault=My Work", "daily:path"}})
	if want := `/bin/obsidian 'vault=My Work' read path="$(/bin/obsidian 'vault=My Work' daily:path)"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
