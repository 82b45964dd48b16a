package consent

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func newProposalProgram(t *testing.T) *harness.Program {
	r := harness.New(t, map[string]string{"Projects/a.md": "one\n", "Projects/b.md": "two\n"})
	r.Set("confirm", `"writes"`)
	r.Tables = "[agents.nightly]\ntier = \"v1\"\nallow-mutations = true\n"
	return r
}

// fileOf writes a file outside of the vault.
func fileOf(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "batch.json")
	harness.WriteFile(t, name, []byte(text))
	return name
}

const nightly = `{"operations": [
	{"clientId": "new", "command": "create", "params": {"path": "Projects/n.md", "content": "made at night"}},
	{"clientId": "link", "command": "append", "params": {"path": "Projects/a.md", "content": "see [[n]]"}},
	{"clientId": "other", "command": "append", "params": {"path": "Projects/b.md", "content": "more"}}]}`

// waiting returns the code of the one proposal that waits, with its operations.
func waiting(t *testing.T, r *harness.Program) (code, id string) {
	t.Helper()
	var list []struct {
		Code, Proposal, Agent string
		Operations            []struct {
			Name  string
			Needs []string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.Must("approvals", "--json")), &list))
	require.Equal(t, len(list), 1)
	require.Equal(t, len(list[0].Operations), 3)
	assert.Equal(t, list[0].Agent, "nightly")
	assert.Equal(t, strings.Join(list[0].Operations[1].Needs, ","), "new")
	return list[0].Code, list[0].Proposal
}

// A job of the night leaves a proposal and is gone; in the morning its owner takes a part of it.
func TestAProposalOfTheNightIsTakenInTheMorning(t *testing.T) {
	t.Parallel()
	r := newProposalProgram(t)
	file := fileOf(t, nightly)
	var proposed struct {
		OK       bool
		Proposal struct{ ID string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.Must("batch", "--agent", "nightly", "--propose", file)), &proposed))
	code, id := waiting(t, r)
	assert.Equal(t, id, proposed.Proposal.ID)
	assert.Contains(t, r.Must("approvals"), "3. Change")
	shown, err := typedAt(t, r, "no\n", "approve", code)
	assert.That(t, err != nil, "no: %v\n%s", err, shown)
	assert.Contains(t, shown, "still waits", "no: %v\n%s", err, shown)
	_, said, status := r.Run("approve", code)
	assert.That(t, status != 0, "without a terminal: %s", said)
	assert.NotContains(t, said, "made ", "without a terminal")
	assert.Equal(t, r.Read("Projects/a.md"), "one\n")
	shown, err = typedAt(t, r, "yes\n", "approve", code, "--only", "link", "--say", "fine, but not b")
	require.That(t, err == nil, "%v\n%s", err, shown)
	for _, want := range []string{"made at night", "see [[n]]", "and decline 1 other operation?",
		"made 2 of 3 operations", "undo with: vaultwicket undo --batch 2"} {
		assert.Contains(t, shown, want)
	}
	assert.That(t, !strings.Contains(shown, "more"), "what is not taken is not drawn:\n%s", shown)
	assert.Equal(t, r.Read("Projects/n.md")+r.Read("Projects/a.md")+r.Read("Projects/b.md"), "made at nightone\nsee [[n]]two\n")
	told := r.Must("run", "--agent", "nightly", "approvals")
	assert.Contains(t, told, "taken: new, link\tdeclined: other\tthe user says: \"fine, but not b\"")
	assert.Equal(t, strings.TrimSpace(r.Must("approvals", "--json")), "[]")
	_, said, status = r.Run("deny", code)
	assert.That(t, status != 0, "denied later: %s", said)
	assert.Contains(t, said, "does not wait: taken", "denied later")
	r.Set("confirm", `"never"`)
	r.Must("undo")
	assert.Equal(t, r.Read("Projects/n.md")+r.Read("Projects/a.md"), "one\n", "one undo takes back all")
}

func TestAProposalIsDeclinedAndPlannedAgain(t *testing.T) {
	t.Parallel()
	r := newProposalProgram(t)
	file := fileOf(t, nightly)
	r.Must("batch", "--agent", "nightly", "--propose", file)
	code, id := waiting(t, r)
	r.Write("Projects/a.md", "changed by hand\n")
	assert.Contains(t, r.Must("run", "--agent", "nightly", "approvals"), "changed since: Projects/a.md")
	r.Must("batch", "--agent", "nightly", "--propose="+id, fileOf(t, `{"operations": []}`))
	assert.That(t, !strings.Contains(r.Must("run", "--agent", "nightly", "approvals"), "changed since"), "planned again")
	again, _ := waiting(t, r)
	assert.Equal(t, again, code, "under the same code")
	out, said, status := r.Run("deny", code, "--say", "not\nnow\x1b[31m")
	require.That(t, status == 0, "%s %s", out, said)
	assert.Contains(t, said, "changed by hand", "%s %s", out, said)
	assert.Contains(t, out, "declined "+code, "%s %s", out, said)
	told := r.Must("run", "--agent", "nightly", "approvals")
	assert.That(t, regexp.MustCompile(`declined\t.*the user says: "not now`).MatchString(told), "%q", told)
	assert.NotContains(t, told, "\x1b")
	out, _, status = r.Run("batch", "--agent", "nightly", "--propose", file)
	assert.Equal(t, status, 3, "again at once: %d %s", status, out)
	assert.Contains(t, out, "declined the same operations", "again at once: %d %s", status, out)
	assert.Equal(t, r.Read("Projects/b.md"), "two\n")
}

// A client can start its server with rights as flags, which the settings lack: the owner is told so, and takes the
// proposal with the same flags.
func TestAProposalUnderFlagsIsTakenWithThem(t *testing.T) {
	t.Parallel()
	r := newProposalProgram(t)
	r.Tables = "[agents.nightly]\n"
	r.Set("tier", `"v0"`)
	r.Set("allow-mutations", "false")
	flags := []string{"--tier=v1", "--allow-mutations"}
	r.Must(append([]string{"batch", "--agent=nightly", "--propose", fileOf(t, nightly)}, flags...)...)
	code, _ := waiting(t, r)
	_, said, status := r.Run("approve", code)
	assert.That(t, status != 0, "it is taken without the flags: %s", said)
	shown, err := typedAt(t, r, "yes\n", "approve", code)
	assert.That(t, err != nil, "it is taken without the flags: %s", shown)
	assert.Contains(t, strings.Join(strings.Fields(shown), " "), "if the client starts its server with flags, this program needs them, too")
	assert.Equal(t, r.Read("Projects/a.md"), "one\n")
	shown, err = typedAt(t, r, "yes\n", append([]string{"approve", code}, flags...)...)
	require.That(t, err == nil, "%v\n%s", err, shown)
	assert.Equal(t, r.Read("Projects/n.md")+r.Read("Projects/a.md")+r.Read("Projects/b.md"), "made at nightone\nsee [[n]]two\nmore")
}
