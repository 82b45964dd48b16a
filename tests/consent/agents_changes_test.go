package consent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestWhoChangedWhatIsOneCall(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	ann, bob := serverOf(r, "ann"), serverOf(r, "bob")
	do := func(c *harness.Client, call harness.Call) {
		t.Helper()
		got := c.Do(call)
		require.That(t, got.OK, "%v: %+v", call, got.Error)
	}
	do(ann, harness.Calling("append", "path=Both/Plan.md", "content=one\ntwo"))
	ask := func(words ...string) (rows [][]string) {
		t.Helper()
		got := bob.Do(harness.Calling("changes", words...))
		require.That(t, got.OK, "%+v", got.Error)
		for line := range strings.Lines(got.Stdout) {
			rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t")[1:7]) // without the time and the id
		}
		return rows
	}
	before, all := ask("since=2001-01-01"), bob.Do(harness.Calling("changes", "since=2001-01-01", "format=json")).Stdout
	require.Equal(t, len(before), 1, "bob is told of %q", before)
	require.EqualSlices(t, before[0], []string{"Both/Plan.md", "ann (t)", "append", "+2 -0", "done", ""},
		"bob is told of %q", before)
	do(ann, harness.Calling("append", "path=Ann/Plan.md", "content=zqx"))
	do(ann, harness.Calling("create", "path=Ann/Zqx.md", "content=zqx"))
	do(ann, harness.Calling("move", "path=Ann/Zqx.md", "to=Ann/Zqx2.md"))
	if got := bob.Do(harness.Calling("changes", "since=2001-01-01", "format=json")).Stdout; got != all {
		t.Errorf("what ann changed where bob sees nothing has changed his answer:\n%s\nto\n%s", all, got)
	}
	do(bob, harness.Calling("create", "path=Bob/New.md", "content=x"))
	do(bob, harness.Calling("move", "path=Bob/New.md", "to=Both/New.md"))
	if got := ask("since=2001-01-01", "agent=bob"); len(got) != 2 ||
		!slices.Equal(got[0], []string{"Both/New.md", "bob (t)", "move", "+0 -0", "done", "Bob/New.md"}) {
		t.Errorf("the changes of bob are %q", got)
	}
	if got := bob.Do(harness.Calling("recent", "since=2001-01-01")).Stdout; !strings.Contains(got, "\tann (t)\n") ||
		!strings.Contains(got, "\tbob (t)\n") || !regexp.MustCompile(`(?m)^Bob/Plan.md\t[^\t]*$`).MatchString(got) {
		t.Errorf("recent says\n%s", got)
	}
	if got := bob.Do(harness.Calling("history", "path=Both/Plan.md")).Stdout; !strings.HasSuffix(got, "\tappend\tann (t)\n") {
		t.Errorf("history says\n%s", got)
	}
	if got := bob.Do(harness.Calling("changes", "since=2001-01-01", "limit=1")); strings.Count(got.Stdout, "\n") != 1 ||
		!strings.Contains(strings.Join(got.Notices, ""), "the latest change is listed") {
		t.Errorf("%+v", got)
	}

	var rows []struct {
		Path, From, By, Command, State, Change string
		Added, Removed                         *int
	}
	owner := func(args ...string) {
		t.Helper()
		rows = nil
		require.NoError(t, json.Unmarshal([]byte(r.Must(append([]string{"today", "--json", "--since=2001-01-01"}, args...)...)), &rows))
	}
	if owner(); len(rows) != 6 || rows[0].Path != "Both/New.md" || rows[0].From != "Bob/New.md" ||
		rows[0].By != "bob (t)" || *rows[5].Added != 2 || *rows[5].Removed != 0 {
		t.Errorf("the owner is told of %+v", rows)
	}
	r.Must("pause")
	if owner("--agent=ann"); len(rows) != 4 || rows[3].By != "ann (t)" || rows[3].State != "done" || rows[3].Change == "" {
		t.Errorf("the changes of ann are %+v", rows)
	}
	got := r.Must("today", "--since=2001-01-01")
	assert.Contains(t, got, "Bob/New.md -> Both/New.md", "today prints\n%s", got)
	assert.Contains(t, got, "+2 -0", "today prints\n%s", got)
}
