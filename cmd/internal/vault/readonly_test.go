package vault

import (
	"os"
	"slices"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/gateway/state/private"
	"vaultwicket/tests/assert"
)

// writingSamples are the arguments with which every command that writes gets as far as
// changing something.
var writingSamples = map[string]string{
	"append": "path=a.md content=x", "prepend": "path=a.md content=x", "create": "path=n.md", "delete": "path=a.md", "move": "path=a.md to=F/",
	"rename": "path=a.md name=b", "property:set": "path=a.md name=p value=1", "property:remove": "path=a.md name=p", "task": "ref=a.md:2 done",
	"daily": "", "daily:append": "content=x", "daily:prepend": "content=x", "bookmark": "file=a.md", "unique": "", "template:insert": "name=T path=a.md",
	"note:replace": "path=a.md old=- new=x", "note:insert": "path=a.md heading=H position=after content=x", "note:set-section": "path=a.md heading=H content=x",
	"task:add": "path=a.md content=x", "task:reschedule": "ref=a.md:2 due=today", "daily:ensure": "", "periodic:append": "period=week content=x",
	"base:create": "path=B.base name=n", "base:set": "path=B.base name=p value=1",
	"canvas:create": "path=C.canvas", "canvas:add": "path=C.canvas text=x", "canvas:set": "path=C.canvas id=x text=y", "canvas:connect": "path=C.canvas from=x to=y", "canvas:remove": "path=C.canvas id=x",
	"base:add-view": "path=B.base name=V", "base:set-view": "path=B.base view=V limit=1", "base:remove-view": "path=B.base view=V", "base:set-formula": "path=B.base name=f expr=1",
	"copy": "path=a.md to=b.md", "folder:create": "path=F", "folder:move": "path=F to=G/", "folder:rename": "path=F name=G", "folder:copy": "path=F to=G", "folder:delete": "path=F",
	"property:add": "path=a.md name=p value=1", "property:remove-item": "path=a.md name=p value=1",
	"note:merge": "path=a.md into=T.md", "note:extract": "path=a.md heading=H to=N.md", "note:split": "path=a.md level=1",
	"attachment:write": "path=x.bin data=eA==",
	"tag:rename":       "name=t to=u", "property:rename": "name=p to=q", "heading:rename": "path=a.md heading=H to=I", "vault:replace": "old=x new=y", "history:restore": "path=a.md version=1", "undo": "",
}

// Without --write no command changes a note or keeps anything in the journal, and
// nothing but the switch is what is missing; one that only shows something is
// answered.
func TestWithoutTheSwitchNothingIsChanged(t *testing.T) {
	h := build(t, map[string]string{"a.md": "# H\n- [ ] x\n", "T.md": "t"})
	h.readOnly = true
	writers := 0
	for _, row := range table() {
		if !row.Writes() {
			continue
		}
		writers++
		given, known := writingSamples[row.Name]
		assert.That(t, known, "%s: has no sample here", row.Name)
		for _, before := range []string{"", "--change 20261121T080507.000000000Z-00ff", "--begin --change 20261121T080507.000000000Z-00ff", "--end --change 20261121T080507.000000000Z-00ff"} {
			args := append(strings.Fields(before), append([]string{row.Name}, strings.Fields(given)...)...)
			status, out, _ := h.run(args...)
			want := "Error: " + row.Name + " changes the vault, and this program only reads. Put --write before the command.\n"
			assert.That(t, status == command.ExitMisuse && out == want, "%q: status %d, %q", args, status, out)
		}
	}
	assert.That(t, writers >= 15, "only %d commands write", writers)
	h.expect(command.ExitDone, "# H\n- [ ] x\n", "read", "path=a.md")
	if journal := private.StateFolder(func(name string) string { return h.env[name] }, h.dir); h.exists(journal) {
		t.Error("there is a state folder")
	}
	h.expect(command.ExitDone, "status\t \ntext\t- [ ] x\nfile\ta.md\nline\t2\n", "task", "ref=a.md:2") // shows a task
	if status, out, _ := h.run("--plan", "append", "path=a.md", "content=x"); status != command.ExitDone || !strings.Contains(out, `"sign":"+","new":3,"text":"x"`) {
		t.Errorf("a plan: %d, %q", status, out)
	}
	h.expect(command.ExitMisuse, "Error: Unknown switch: --write\n", "read", "path=a.md", "--write")
	h.readOnly = false
	h.expect(command.ExitDone, "Appended to: a.md\n", "append", "path=a.md", "content=x")
	assert.That(t, slices.Contains(strings.Split(h.get("a.md"), "\n"), "x"), "with the switch: %q", h.get("a.md"))
}

// What an agent can read does not show how this program is started.
func TestTheHelpOfTheGatewayShowsNoRawProgram(t *testing.T) {
	h := build(t, nil)
	for _, args := range [][]string{{"--facts", "help"}, {"--facts", "help", "append"}} {
		status, out, _ := h.run(args...)
		if status != command.ExitDone || strings.Contains(out, "vaultwicket vault") || strings.Contains(out, "--") || !strings.Contains(out, "append") {
			t.Errorf("%q: %d, %q", args, status, out)
		}
	}
	if _, out, _ := h.run("help"); !strings.Contains(out, command.Synopsis) || !strings.Contains(out, "--write") {
		t.Errorf("by hand: %q", out)
	}
}

// exists reports whether something is at a path of the machine.
func (h *testVault) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
