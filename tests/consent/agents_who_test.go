package consent

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// tables are the agents of these tests: two that may write in one folder each, one that reads,
// and one that has expired.
const tables = `
[agents.ann]
[agents.ann.access]
"/" = "none"
"Ann" = "rwd"
"Both" = "rwd"
[agents.bob]
[agents.bob.access]
"/" = "none"
"Bob" = "rwd"
"Both" = "rwd"
[agents.reader]
allow-mutations = false
[agents.late]
expires = 2001-01-01
`

var agentNotes = map[string]string{"Ann/Plan.md": "ann's plan zqx\n", "Bob/Plan.md": "bob's plan\n", "Both/Plan.md": "the plan of both\n"}

func newProgram(t *testing.T) *harness.Program {
	t.Helper()
	r := harness.New(t, agentNotes)
	r.Tables = tables
	return r
}

// serverOf is a server over standard input for an agent.
func serverOf(r *harness.Program, agent string) *harness.Client {
	r.T.Helper()
	r.Flags = []string{"--agent=" + agent}
	defer func() { r.Flags = nil }()
	return r.Stdio(false, "")
}

func agentCodeOf(c *harness.Client, call harness.Call) string { return harness.CodeOf(c.Do(call)) }

// stateOf is the state folder of a program.
func stateOf(r *harness.Program) string {
	return filepath.Join(r.Home, ".local", "state", "vaultwicket")
}

func TestOneAgentsChangesAreNotAnothers(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	ann, bob := serverOf(r, "ann"), serverOf(r, "bob")
	first := ann.Do(harness.Calling("append", "path=Both/Plan.md", "content=by ann").With("idempotencyKey", "k1"))
	require.That(t, first.OK, "%+v", first)
	require.That(t, first.Change != nil, "%+v", first)
	second := bob.Do(harness.Calling("append", "path=Bob/Plan.md", "content=by bob"))
	require.That(t, second.OK, "%+v", second)
	require.That(t, second.Change != nil, "%+v", second)
	if got := bob.Do(harness.Calling("undo:list")).Stdout; strings.Contains(got, first.Change.ID) || !strings.Contains(got, second.Change.ID) {
		t.Errorf("bob can undo %q", got)
	}
	missing := bob.Do(harness.Calling("undo", "id=20010101T000000.000000000Z-0000"))
	other := bob.Do(harness.Calling("undo", "id="+first.Change.ID))
	if missing.OK || other.OK || missing.Error.Code != other.Error.Code || !strings.Contains(r.Read("Both/Plan.md"), "by ann") {
		t.Errorf("undoing what ann did: %+v; what no one did: %+v", other.Error, missing.Error)
	}
	if got := ann.Do(harness.Calling("undo", "id="+first.Change.ID)); !got.OK {
		t.Errorf("ann cannot undo: %+v", got.Error)
	}
	if got := bob.Do(harness.Calling("append", "path=Both/Plan.md", "content=by ann").With("idempotencyKey",
		"k1")); !got.OK || got.Change == nil || got.Change.ID == first.Change.ID {
		t.Errorf("bob's key is that of ann: %+v", got)
	}

	var changes []struct{ Agent, Client, Command string }
	list := func(args ...string) (agents []string) {
		changes = nil
		require.NoError(t, json.Unmarshal([]byte(r.Must(args...)), &changes))
		for _, c := range changes {
			agents = append(agents, c.Agent)
		}
		return agents
	}
	if got := list("journal", "list", "--json", "--agent=ann"); len(got) < 2 || slices.ContainsFunc(got, func(a string) bool { return a != "ann" }) {
		t.Errorf("the changes of ann are by %q", got)
	}
	if got := list("journal", "list", "--json"); !slices.Contains(got, "ann") || !slices.Contains(got, "bob") {
		t.Errorf("all changes are by %q", got)
	}
	assert.Equal(t, len(list("journal", "list", "--json", "--agent=removed")), 0, "the changes of an agent that is not defined are by")
	if got := list("undo", "list", "--json", "--agent=bob"); len(got) == 0 || slices.ContainsFunc(got, func(a string) bool { return a != "bob" }) {
		t.Errorf("what can be undone of bob is by %q", got)
	}
	got := r.Must("journal", "list")
	assert.That(t, strings.Contains(got, "bob ("), "journal list prints\n%s", got)
}

func TestTheAuditLogNamesTheAgent(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	r.Tables = ""
	before := r.Stdio(false, "")
	before.Do(harness.Calling("read", "path=Both/Plan.md"))
	r.Tables = tables
	ann := serverOf(r, "ann")
	assert.Equal(t, agentCodeOf(ann, harness.Calling("read", "path=Bob/Plan.md")), "not_found", "ann reads a hidden note")
	assert.Equal(t, agentCodeOf(serverOf(r, "reader"), harness.Calling("append", "path=Both/Plan.md", "content=x")), "mutations_off", "a reader writes")
	agentsOf := func(args ...string) map[string]int {
		counts := map[string]int{}
		for line := range strings.Lines(r.Must(append([]string{"audit", "export", "-"}, args...)...)) {
			var l struct{ Agent, Command string }
			err := json.Unmarshal([]byte(line), &l)
			require.That(t, err == nil, "%v: %s", err, line)
			counts[l.Agent]++
		}
		return counts
	}
	if got := agentsOf(); got["ann"] == 0 || got["reader"] == 0 || got[""] == 0 {
		t.Errorf("the log has lines of %v", got)
	}
	r.Must("audit", "verify")
	got := r.Must("audit", "list", "--agent=ann")
	assert.Contains(t, got, "ann", "the lines of ann are\n%s", got)
	assert.NotContains(t, got, "reader", "the lines of ann are\n%s", got)
}

func TestNobodyGetsNothing(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	for name, client := range map[string]*harness.Client{"expired": serverOf(r, "late"), "unnamed": r.Stdio(false, "")} {
		for _, call := range []harness.Call{
			harness.Calling("read", "path=Both/Plan.md"), harness.Calling("files"), harness.Calling("search", "query=plan"),
			harness.Calling("daily:read"), harness.Calling("undo:list"),
			harness.Calling("help"), harness.Calling("append", "path=Both/Plan.md", "content=x"),
		} {
			result := client.Do(call)
			require.That(t, !result.OK, "%s: %v: %+v", name, call.Words(), result)
			assert.Equal(t, result.Error.Code, "agent_denied", "%s: %v: %+v", name, call.Words(), result)
			assert.Equal(t, result.Stdout, "", "%s: %v: %+v", name, call.Words(), result)
		}
	}
	assert.Equal(t, r.Read("Both/Plan.md"), agentNotes["Both/Plan.md"], "the note")
}
