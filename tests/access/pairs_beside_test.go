package access

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What changes a note while a server runs is seen by each feature of the next
// call: by the worker with its index and its cache, by the hash, the dry run, the
// batch and the undo.
func TestAChangeBesideTheServerIsSeenByTheNextCall(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"Note.md": "one #first\n", "Other.md": "see [[Note]]\n"})
	r.Set("confirm", `"never"`)
	e := r.Stdio(false, "")
	found := func(query string) string { return e.Do(harness.Calling("search", "query="+query)).Stdout }
	if got := found("tag:#first"); !strings.Contains(got, "Note.md") {
		t.Fatalf("found %q", got)
	}
	for round := range 5 {
		mark := strings.Repeat("x", round+1)
		change := e.Do(harness.Calling("append", "path=Note.md", "content=#ours"+mark))
		require.That(t, change.OK, "round %d: %+v", round, change.Error)
		require.Contains(t, found("tag:#ours"+mark), "Note.md", "round %d: %+v", round, change.Error)
		r.Write("Note.md", "two #theirs"+mark+"\n")
		if got := e.Do(harness.Calling("append", "path=Note.md", "content=x").With("expectHash", change.Hash)); harness.CodeOfError(got.Error) != "conflict" {
			t.Errorf("round %d: a hash from before: %+v", round, got.Error)
		}
		got := e.Do(harness.Calling("undo", "id="+harness.ChangeID(change)))
		assert.That(t, harness.CodeOfError(got.Error) == "conflict", "round %d: undo of a note that another program has changed: %+v", round, got.Error)
		plan := e.Plan(harness.Calling("append", "path=Note.md", "content=more"))
		assert.That(t, strings.Contains(plan.Diff, "#theirs"+mark), "round %d: the dry run shows %q", round, plan.Diff)
		batch := e.Batch(harness.Calling("read", "path=Note.md"), harness.Calling("search", "query=tag:#theirs"+mark))
		if !batch.OK || batch.Results[0].Result.Stdout != "two #theirs"+mark+"\n" || !strings.Contains(batch.Results[1].Result.Stdout, "Note.md") {
			t.Errorf("round %d: the batch: %s", round, harness.JSON(t, batch))
		}
	}
}

// The cache of the index has what every process has read, whatever its rules are.
// What a process answers follows its own.
func TestACacheFilledUnderOtherRulesTellsNothing(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"Open.md": "#open [[Secret]]\n",
		"Private/Secret.md": "---\nzqxprop: 1\n---\n#zqxtag [[Open]] [[zqxlink]]\n",
		"Ignored.md":        "#zqxignored [[Open]]\n"})
	listings := [][]string{{"tags"}, {"search", "query=zqx"}, {"files"}, {"unresolved"}, {"properties"},
		{"backlinks", "path=Open.md"}, {"orphans"}, {"deadends"}}
	all := func() (answers []string) {
		for _, words := range listings {
			out, log, _ := r.Run(append([]string{"run"}, words...)...)
			answers = append(answers, out+log)
		}
		return answers
	}
	whole := all()
	if text := strings.Join(whole, "\n"); strings.Count(text, "zqx") < 4 || !strings.Contains(text, "Private/Secret.md") {
		t.Fatalf("without rules there is %s", text)
	}
	limited(r)
	r.Write(".vaultwicketignore", "Ignored.md\n")
	hidden := all()
	for i, text := range hidden {
		if strings.Contains(strings.ReplaceAll(text, "zqx\"", ""), "zqx") || strings.Contains(text, "Secret.md") || strings.Contains(text, "Ignored.md") {
			t.Errorf("%v tells what is hidden: %s", listings[i], text)
		}
	}
	r.Tables = ""
	r.Write(".vaultwicketignore", "")
	for i, text := range all() {
		if text != whole[i] {
			t.Errorf("%v is %q when nothing is hidden any more, and was %q", listings[i], text, whole[i])
		}
	}
}

// A pause applies from the next operation of a batch on, and from the next step of a
// call, whichever program made the one before.
func TestAPauseInTheMiddleOfABatch(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"Note.md": "one\n"})
	r.Set("confirm", `"never"`).Set("backend", `"obsidian"`)
	app := r.App(`case "$2" in version) echo "1.12.7 (installer 1.12.7)";; files) "` + harness.Binary +
		`" pause >/dev/null; echo Note.md;; vault) echo "` + r.Vault +
		`";; *) echo "$*" >>"$HOME/called"; echo one;; esac`)
	r.Flags = []string{"--cli=" + app}
	e := r.Stdio(false, "")
	got := e.Batch(harness.Calling("files"), harness.Calling("append", "path=Note.md", "content=x"), harness.Calling("daily:path"))
	require.That(t, !got.OK, "the batch: %s", harness.JSON(t, got))
	require.Equal(t, len(got.Results), 3, "the batch: %s", harness.JSON(t, got))
	require.Equal(t, got.Results[0].Status, "ok", "the batch: %s", harness.JSON(t, got))
	for _, result := range got.Results[1:] {
		require.That(t, result.Result != nil, "after the pause: %s", harness.JSON(t, result))
		assert.Equal(t, harness.CodeOfError(result.Result.Error), "paused", "after the pause: %s", harness.JSON(t, result))
	}
	assert.That(t, r.Read("Note.md") == "one\n", "the note was changed")
}

// Whatever way an answer or a part of it takes to a client, the audit log has a line
// about it, and the limit of calls counts it.
func TestEveryWayOutIsCountedAndLogged(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"0", "3"} {
		r := harness.New(t, map[string]string{"Note.md": harness.LongNote})
		r.Set("rate", limit)
		e := r.Stdio(false, "")
		lines := func() int {
			return strings.Count(r.Must("audit", "list", "--json", "--limit", "0"), `"decision"`)
		}
		first := e.Do(harness.Calling("read", "path=Note.md"))
		require.That(t, first.OK, "%+v", first)
		require.That(t, first.Truncated != nil, "%+v", first)
		ways := []func(){
			func() { e.Do(harness.Calling("read", "path=Note.md").With("cursor", first.Truncated.Cursor)) },
			func() {
				e.Ask("resources/read", map[string]any{"uri": "vaultwicket://output/" + first.Truncated.Cursor})
			},
			func() { e.Batch(harness.Calling("read", "path=Note.md")) },
			func() { e.Plan(harness.Calling("append", "path=Note.md", "content=x")) },
			func() {
				var result gateway.Result
				e.Tool("obsidianRead", harness.Calling("read", "path=Note.md"), &result)
			},
		}
		for i, way := range ways {
			before := lines()
			if way(); limit == "0" && lines() <= before {
				t.Errorf("rate %s: way %d has no line in the audit log", limit, i)
			}
		}
		after := e.Do(harness.Calling("read", "path=Note.md"))
		limited := harness.CodeOfError(after.Error) == "rate_limited"
		assert.That(t, limited == (limit != "0"), "rate %s: after %d answers: %+v", limit, len(ways)+1, after.Error)
		for _, free := range []struct {
			method string
			params map[string]any
		}{
			{"prompts/get", map[string]any{"name": "morning-review"}},
			{"completion/complete", map[string]any{"ref": map[string]any{"type": "ref/resource",
				"uri": "vaultwicket://help/{command}"}, "argument": map[string]any{"name": "command", "value": "re"}}},
			{"resources/read", map[string]any{"uri": "vaultwicket://status"}},
		} { // what tells nothing of the vault needs no place among the calls
			answer := e.Ask(free.method, free.params)
			assert.That(t, answer.Error == nil, "rate %s: %s: %+v", limit, free.method, answer)
			assert.NotContains(t, harness.JSON(t, answer.Result), "a line that is long",
				"rate %s: %s: %+v", limit, free.method, answer)
		}
	}
}
