package consent

import (
	"bytes"
	"encoding/json"
	osexec "os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// newGrantProgram returns a program with an agent that has to ask before every change.
func newGrantProgram(t *testing.T) *harness.Program {
	r := harness.New(t, map[string]string{"Projects/a.md": "one\n", "Other/o.md": "other\n"})
	r.Set("confirm", `"writes"`)
	r.Tables = "[agents.cursor]\ntier = \"v1\"\nallow-mutations = true\n"
	return r
}

// grantAt types "vaultwicket grant" with flags at a terminal, and an answer.
func grantAt(t *testing.T, r *harness.Program, answer string, flags ...string) (shown string, err error) {
	t.Helper()
	return typedAt(t, r, answer, append([]string{"grant"}, flags...)...)
}

// typedAt runs the program at a terminal.
func typedAt(t *testing.T, r *harness.Program, typed string, words ...string) (shown string, err error) {
	t.Helper()
	r.Save()
	program := osexec.Command(harness.Binary, words...)
	program.Env = []string{"HOME=" + r.Home, "PATH=", "TERM=xterm"}
	var said bytes.Buffer
	program.Stdout = &said
	program.Stderr = &said
	shown, err = harness.AtTerminal(t, program, typed)
	return shown + said.String(), err
}

var idOf = regexp.MustCompile(`g-[a-z2-7]{10}`)

func TestAGrantIsGivenUsedListedEndedAndTakenBack(t *testing.T) {
	t.Parallel()
	r := newGrantProgram(t)
	flags := []string{"--agent", "cursor", "--commands", "append,create", "--in", "Projects/", "--notes", "4", "--changes", "5", "--for", "2h"}
	shown, err := grantAt(t, r, "no\n", flags...)
	assert.That(t, err != nil, "declined: %v\n%s", err, shown)
	assert.Contains(t, shown, "nothing is granted", "declined: %v\n%s", err, shown)
	shown, err = grantAt(t, r, "yes\n", flags...)
	require.That(t, err == nil, "%v\n%s", err, shown)
	for _, want := range []string{"cursor may run append and create on up to 4 notes below", "Projects", "5 changes in all", "without asking"} {
		assert.Contains(t, strings.Join(strings.Fields(shown), " "), want)
	}
	id := idOf.FindString(shown)
	add := []string{"run", "--agent", "cursor", "append", "content=x"}
	_, _, status := r.Run(append(add, "path=Other/o.md")...)
	assert.Equal(t, status, 3, "outside of the folder")
	r.Must(append(add, "path=Projects/a.md")...)
	r.Must("run", "--agent", "cursor", "create", "path=Projects/n.md", "content=new")
	var list []struct {
		ID      string
		Changes struct{ Max, Left int }
		Notes   struct{ Max, Left int }
		Ended   string
	}
	require.NoError(t, json.Unmarshal([]byte(r.Must("grants", "--json")), &list))
	require.Equal(t, len(list), 1)
	assert.Equal(t, list[0].ID, id, "%+v", list[0])
	assert.Equal(t, list[0].Changes.Left, 3, "%+v", list[0])
	assert.Equal(t, list[0].Notes.Left, 2, "%+v", list[0])
	assert.Contains(t, r.Must("run", "--agent", "cursor", "approvals"), "grant "+id)
	assert.Contains(t, r.Must("grants", "end", id), "ended "+id)
	_, _, status = r.Run(append(add, "path=Projects/a.md")...)
	assert.Equal(t, status, 3, "after its end")
	assert.Equal(t, strings.TrimSpace(r.Must("grants", "--json")), "[]")
	assert.Contains(t, r.Must("grants", "--all"), "ended: by the owner")
	r.Set("confirm", `"never"`)
	r.Must("undo", "--grant", id)
	assert.Equal(t, r.Read("Projects/a.md")+r.Read("Projects/n.md"), "one\n", "after the undo")
	_, said, status := r.Run("undo", "--grant", id)
	assert.Equal(t, status, 1, "a second time: %d %s", status, said)
	assert.Contains(t, said, "no change of this vault", "a second time: %d %s", status, said)
}

func TestWhatCannotBeGranted(t *testing.T) {
	t.Parallel()
	r := newGrantProgram(t)
	for name, tt := range map[string]struct {
		flags []string
		want  string
	}{
		"nobody":             {[]string{"--commands", "append", "--in", "/"}, "grant requires --agent"},
		"an unknown agent":   {[]string{"--agent", "codex", "--commands", "append", "--in", "/"}, "unknown agent"},
		"a read":             {[]string{"--agent", "cursor", "--commands", "read", "--in", "/"}, "only commands that change notes"},
		"no folder":          {[]string{"--agent", "cursor", "--commands", "append"}, "folders have to be named"},
		"no bound on lines":  {[]string{"--agent", "cursor", "--commands", "delete", "--in", "/", "--destructive", "--notes", "3"}, "lines has to be given"},
		"no bound on notes":  {[]string{"--agent", "cursor", "--commands", "delete", "--in", "/", "--destructive", "--lines", "3"}, "requires --notes"},
		"a folder by a dot":  {[]string{"--agent", "cursor", "--commands", "append", "--in", "../x"}, "folder"},
		"too many changes":   {[]string{"--agent", "cursor", "--commands", "append", "--in", "/", "--changes", "1001"}, "want 1 to 1000"},
		"an unknown command": {[]string{"--agent", "cursor", "--commands", "apend", "--in", "/"}, "does not exist"},
	} {
		shown, err := grantAt(t, r, "yes\n", tt.flags...)
		assert.That(t, err != nil, "%s: %v\n%s", name, err, shown)
		assert.Contains(t, shown, tt.want, "%s: %v\n%s", name, err, shown)
	}
	r.Set("max-grant", `"none"`)
	shown, err := grantAt(t, r, "yes\n", "--agent", "cursor", "--commands", "append", "--in", "/")
	assert.That(t, err != nil, "with max-grant = none: %v\n%s", err, shown)
	assert.Contains(t, shown, "max-grant", "with max-grant = none: %v\n%s", err, shown)
	_, said, status := r.Run("grant", "--agent", "cursor", "--commands", "append", "--in", "/")
	assert.That(t, status != 0, "without a terminal: %d %s", status, said)
	assert.NotContains(t, said, "granted g-", "without a terminal: %d %s", status, said)
}

func TestARevokedAgentHasNoGrants(t *testing.T) {
	t.Parallel()
	r := newGrantProgram(t)
	shown, err := grantAt(t, r, "yes\n", "--agent", "cursor", "--commands", "append", "--in", "/")
	require.That(t, err == nil, "%v\n%s", err, shown)
	r.Must("agent", "rotate", "cursor")
	assert.Equal(t, strings.TrimSpace(r.Must("grants", "--json")), "[]")
	_, _, status := r.Run("run", "--agent", "cursor", "append", "path=Projects/a.md", "content=x")
	assert.Equal(t, status, 3, "after the renewal")
}
