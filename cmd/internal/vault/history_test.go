package vault

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// oldTimes are those of changes, which are made by the machine's clock.
var oldTimes = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

// written is a vault in which a note has three versions.
func written(t *testing.T) *testVault {
	h := build(t, map[string]string{"a.md": "one\n", "b.md": "", "c.md": "c"})
	for _, call := range []string{
		"append path=a.md content=two", "move path=a.md to=n/a.md", "create path=n/a.md content=three overwrite", "delete path=n/a.md",
		"append path=b.md content=x", "create path=new.md content=x", "move path=c.md to=d.md", "bookmark search=x",
	} {
		if status, out, _ := h.run(strings.Fields(call)...); status != command.ExitDone {
			t.Fatalf("%s: status %d, %q", call, status, out)
		}
	}
	return h
}

func TestHistory(t *testing.T) {
	h := written(t)
	const list = "1\tTIME\t5\tdelete\t-\n2\tTIME\t7\tcreate\t-\n3\tTIME\t4\tappend\t-\ta.md\n"
	for _, typed := range []string{"history", "diff", "diff filter=local"} {
		status, out, _ := h.run(append(strings.Fields(typed), "path=n/a.md")...)
		if out = oldTimes.ReplaceAllString(out, "TIME"); status != command.ExitDone || out != list {
			t.Errorf("%s: status %d, %q", typed, status, out)
		}
	}
	h.steps([]turn{
		{"the notes that have versions, by their present names", "history:list", command.ExitDone, "b.md\nn/a.md\n"},
		{"a version has the bytes of then", "history:read path=n/a.md version=3", command.ExitDone, "one\n"},
		{"the newest is the default", "history:read path=n/a.md", command.ExitDone, "three\n"},
		{"a note that was only moved has none", "history path=d.md", command.ExitDone, ""},
		{"nor has one that was made", "history file=new", command.ExitDone, ""},
		{"a note that was never there", "history path=none.md", command.ExitFailed, "Error: File \"none.md\" not found.\n"},
		{"a version that is not there", "history:read path=n/a.md version=4", command.ExitFailed, "Error: Version \"4\" of \"n/a.md\" not found.\n"},
		{"a version that is no number", "history:read path=n/a.md version=x", command.ExitMisuse, "Error: Invalid number: x\n"},
		{"no version at all", "history:restore path=n/a.md", command.ExitMisuse, "Error: Missing required parameter: version=<n>\nUsage: history:restore [file=<name>] [path=<path>] version=<n>\n"},
		{"no note", "history", command.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
		{"a version and another", "diff path=n/a.md from=3 to=2", command.ExitDone, "--- n/a.md (version 3)\n+++ n/a.md (version 2)\n@@ -1 +1,2 @@\n one\n+two\n\\ No newline at end of file\n"},
		{"a version and a note that is gone", "diff path=n/a.md from=3", command.ExitDone, "--- n/a.md (version 3)\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"},
		{"a version and the note", "diff path=b.md from=1", command.ExitDone, "--- b.md (version 1)\n+++ b.md\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"},
		{"a version and itself", "diff path=n/a.md from=2 to=2", command.ExitDone, ""},
		{"a version that is not there to compare", "diff path=n/a.md from=2 to=9", command.ExitFailed, "Error: Version \"9\" of \"n/a.md\" not found.\n"},
		{"nothing to start from", "diff path=n/a.md to=9", command.ExitMisuse, "Error: Use to=<n> with from=<n>.\n"},
		{"what only the app has", "diff path=n/a.md filter=sync", command.ExitFailed, "Error: \"diff filter=sync\" needs the Obsidian app.\n"},
		{"a note is restored", "history:restore path=b.md version=1", command.ExitDone, "Restored: b.md from version 1\n"},
		{"one that is gone too", "history:restore path=n/a.md version=2", command.ExitDone, "Restored: n/a.md from version 2\n"},
	})
	assert.That(t, h.get("b.md") == "" && h.get("n/a.md") == "one\ntwo", "the notes are %q and %q", h.get("b.md"), h.get("n/a.md"))
	h.run("undo")
	h.run("undo")
	assert.That(t, h.get("b.md") == "x" && h.get("n/a.md") == "(missing)", "undone, the notes are %q and %q", h.get("b.md"), h.get("n/a.md"))
	if left, _, _ := h.run("history:restore", "path=b.md", "version=1"); left != command.ExitDone {
		t.Error("it cannot be restored again")
	}
}

func TestHistoryOfAVaultThatWasNeverChanged(t *testing.T) {
	h := build(t, map[string]string{"a.md": "x"})
	h.steps([]turn{
		{"no notes", "history:list", command.ExitDone, ""},
		{"no versions", "history path=a.md", command.ExitDone, ""},
		{"nothing to read", "history:read path=a.md", command.ExitFailed, "Error: Version \"1\" of \"a.md\" not found.\n"},
	})
}

// While something is hidden, what is known of a note that the owner took from its place is
// not told: it may be hidden now. What was deleted through this program can be brought back.
func TestHistoryDoesNotOutliveHiding(t *testing.T) {
	h := build(t, map[string]string{"Secret/x.md": "x", "plan.md": "one", "other.md": "o"})
	h.env[command.AccessVariable] = mustRules(t, map[string]string{"/": "rwd", "Secret": "none"}).String()
	for _, call := range []string{"append path=plan.md content=two", "append path=other.md content=more", "delete path=other.md"} {
		if status, out, _ := h.run(strings.Fields(call)...); status != command.ExitDone {
			t.Fatalf("%s: %q", call, out)
		}
	}
	h.steps([]turn{{"both are there or were deleted here", "history:list", command.ExitDone, "other.md\nplan.md\n"}})
	require.NoError(t, os.Rename(h.file("plan.md"), h.file("Secret/plan.md")))
	h.steps([]turn{
		{"the list", "history:list", command.ExitDone, "other.md\n"},
		{"the versions", "history path=plan.md", command.ExitFailed, "Error: File \"plan.md\" not found.\n"},
		{"a version", "history:read path=plan.md version=1", command.ExitFailed, "Error: File \"plan.md\" not found.\n"},
		{"a difference", "diff path=plan.md from=1", command.ExitFailed, "Error: File \"plan.md\" not found.\n"},
		{"a plan to restore", "--plan history:restore path=plan.md version=1", command.ExitFailed, "Error: File \"plan.md\" not found.\n"},
		{"one that was deleted here", "history:read path=other.md", command.ExitDone, "o\nmore\n"},
	})
	if status, out, _ := h.run("undo", h.changes()[0]); status == command.ExitDone || strings.Contains(out, "two") {
		t.Errorf("undo tells %q", out)
	}
}
