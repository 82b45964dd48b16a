package vault

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
)

func TestTaskIsChanged(t *testing.T) {
	const shown = "status\t%\ntext\t- [%] one\nfile\tA.md\nline\t2\n"
	for _, test := range []struct {
		name, mark, args, want string
	}{
		{"done", " ", "done", "x"},
		{"done twice", "x", "done", "x"},
		{"another finished mark becomes the one of done", "X", "done", "x"},
		{"open again", "x", "todo", " "},
		{"an open one is toggled to done", " ", "toggle", "x"},
		{"a finished one to open", "x", "toggle", " "},
		{"a mark of somebody's own to open", "/", "toggle", " "},
		{"a mark", " ", "status=/", "/"},
		{"a mark of several bytes", "x", "status=→", "→"},
		{"a mark in place of one of several bytes", "→", "status=-", "-"},
		{"shown", "/", "", "/"},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(test.name, func(t *testing.T) {
				note := func(mark string) string {
					return "\ufefftext" + end + "  - [" + mark + "] one" + end + "- [ ] two [ ]" + end + "\xff"
				}
				h := build(t, map[string]string{"A.md": note(test.mark)})
				h.expect(command.ExitDone, strings.ReplaceAll(shown, "%", test.want), append([]string{"task", "path=A.md", "line=2"}, strings.Fields(test.args)...)...)
				if got := h.get("A.md"); got != note(test.want) {
					t.Errorf("the note became %q", got)
				}
			})
		}
	}
}

func TestTaskIsNamedInEveryWay(t *testing.T) {
	for _, args := range []string{"ref=N/A.md:1", "path=N/A.md line=1", "file=a line=1", "daily line=1"} {
		h := build(t, map[string]string{"N/A.md": "- [ ] a", ".obsidian/daily-notes.json": `{"folder":"N","format":"[A]"}`})
		h.expect(command.ExitDone, "status\tx\ntext\t- [x] a\nfile\tN/A.md\nline\t1\n", append([]string{"task", "done"}, strings.Fields(args)...)...)
		if got := h.get("N/A.md"); got != "- [x] a" {
			t.Errorf("%s: the note became %q", args, got)
		}
	}
}

func TestTasksThatCannotBeChanged(t *testing.T) {
	text := "- [ ] a\n\ntext\n```\n- [ ] code\n```\n- [ ] b\n\n\n\n- [ ] c\n- [ ] d\n- [ ] e"
	h := build(t, map[string]string{"A.md": text, "B.md": "text", "C.txt": "- [ ] a"})
	h.steps([]turn{
		{"the nearest tasks are named", "task path=A.md line=5 done", command.ExitFailed,
			"Error: Task \"A.md:5\" not found. The nearest are line 1 \"- [ ] a\", line 7 \"- [ ] b\", line 11 \"- [ ] c\", line 12 \"- [ ] d\".\n"},
		{"behind the end", "task ref=A.md:99 toggle", command.ExitFailed,
			"Error: Task \"A.md:99\" not found. The nearest are line 7 \"- [ ] b\", line 11 \"- [ ] c\", line 12 \"- [ ] d\", line 13 \"- [ ] e\".\n"},
		{"a note without any", "task path=B.md line=1 done", command.ExitFailed, "Error: Task \"B.md:1\" not found. The note has none.\n"},
		{"a file that is no note", "task path=C.txt line=1 done", command.ExitFailed, "Error: Task \"C.txt:1\" not found. Only Markdown notes have tasks.\n"},
		{"a missing note", "task path=D.md line=1 done", command.ExitFailed, "Error: File \"D.md\" not found.\n"},
		{"today's note is not made for it", "task daily line=1 done", command.ExitFailed, "Error: File \"2026-11-21.md\" not found.\n"},
		{"two changes", "task path=A.md line=1 done todo", command.ExitMisuse, "Error: Use toggle, done, todo or status=<mark>, not several.\n"},
		{"two characters", "task path=A.md line=1 status=xx", command.ExitMisuse, "Error: Invalid status: xx. Use one character.\n"},
		{"half a character", "task path=A.md line=1 status=\xc3", command.ExitMisuse, "Error: Invalid status: \xc3. Use one character.\n"},
		{"a mark that would be none", "task path=A.md line=1 status=\x01", command.ExitFailed, "Error: Line 1: this character cannot be the mark of a task.\n"},
	})
	if got := h.get("A.md"); got != text {
		t.Errorf("the note became %q", got)
	}
}
