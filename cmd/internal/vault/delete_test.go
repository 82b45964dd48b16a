package vault

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
)

func TestDelete(t *testing.T) {
	for _, test := range []struct{ name, settings, args, want, trashed string }{
		{"into the trash of the vault, which is flat", `{}`, "path=sub/a.md", "Moved to trash: sub/a.md", ".trash/a.md"},
		{"by its name", `{"trashOption":"local"}`, "file=a", "Moved to trash: sub/a.md", ".trash/a.md"},
		{"the system's trash is out of reach", `{"trashOption":"system"}`, "path=sub/a.md", "Moved to trash: sub/a.md", ".trash/a.md"},
		{"a vault without a trash", `{"trashOption":"none"}`, "path=sub/a.md", "Deleted permanently: sub/a.md", ""},
		{"for good", `{}`, "path=sub/a.md permanent", "Deleted permanently: sub/a.md", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := build(t, map[string]string{"sub/a.md": "text", ".obsidian/app.json": test.settings})
			h.expect(command.ExitDone, test.want+"\n", append([]string{"delete"}, strings.Fields(test.args)...)...)
			if h.get("sub/a.md") != "(missing)" {
				t.Error("it is still there")
			}
			if test.trashed != "" && h.get(test.trashed) != "text" {
				t.Errorf("the trash has %q", h.get(test.trashed))
			}
			if test.trashed == "" && h.get(".trash/a.md") != "(missing)" {
				t.Error("it is in the trash")
			}
			_, _, _ = h.run("undo")
			if h.get("sub/a.md") != "text" || h.get(".trash/a.md") != "(missing)" {
				t.Errorf("undone, it is %q, and in the trash %q", h.get("sub/a.md"), h.get(".trash/a.md"))
			}
		})
	}
	h := build(t, map[string]string{"a.md": "2", ".trash/a.md": "1", "f/x.md": ""})
	h.steps([]turn{
		{"what is not there", "delete path=b.md", command.ExitFailed, "Error: File \"b.md\" not found.\n"},
		{"a folder", "delete path=f", command.ExitFailed, "Error: File \"f\" not found.\n"},
		{"what lies in the trash", "delete path=.trash/a.md", command.ExitFailed, "Error: File \".trash/a.md\" not found.\n"},
		{"a name that is taken in the trash gets a number", "delete path=a.md", command.ExitDone, "Moved to trash: a.md\n"},
	})
	if h.get(".trash/a.md") != "1" || h.get(".trash/a 1.md") != "2" {
		t.Errorf("the trash has %q and %q", h.get(".trash/a.md"), h.get(".trash/a 1.md"))
	}
	h.run("undo")
	if h.get("a.md") != "2" || h.get(".trash/a.md") != "1" || h.get(".trash/a 1.md") != "(missing)" {
		t.Error("undone, the wrong one was taken from the trash")
	}
}
