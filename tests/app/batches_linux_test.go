package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// batch has operations be carried out as an atomic batch: each is a command, then its parameters.
func (a *appVault) batch(operations ...[]string) (result gateway.BatchResult) {
	a.t.Helper()
	a.sendBatch(operations)
	unmarshalResult(a.t, a.receive(), &result)
	return result
}

func (a *appVault) sendBatch(operations [][]string) {
	a.t.Helper()
	var all []any
	for i, o := range operations {
		params := map[string]any{}
		for n := 1; n < len(o); n += 2 {
			params[o[n]] = o[n+1]
		}
		all = append(all, map[string]any{"clientId": fmt.Sprint("c", i), "command": o[0], "params": params})
	}
	a.askFor("obsidianBatch", map[string]any{"atomic": true, "operations": all})
}

// Operations of the embedded CLI and of the app, for an atomic batch.
var (
	ownReplaces = []string{"note:replace", "path", "Plan.md", "old", "first", "new", "second"}
	ownMakes    = []string{"folder:create", "path", "New/Deep"}
	appAppends  = []string{"append", "path", "Plain.md", "content", "more"}
	appSets     = []string{"property:set", "path", "A/Note.md", "name", "x", "value", "y"}
	appRemoves  = []string{"property:remove", "path", "Plan.md", "name", "n"}
)

// In an atomic batch, what the app carries out comes last. Of another order nothing is made, and the answer says why.
func TestOperationsOfTheAppComeLast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		operations [][]string
		backends   []string // nil for a batch that is refused
	}{
		{"ours, then the app's", [][]string{ownReplaces, ownMakes, appAppends, appSets}, []string{"embedded", "embedded", "obsidian", "obsidian"}},
		{"the app's alone", [][]string{appAppends, appSets}, []string{"obsidian", "obsidian"}},
		{"ours alone", [][]string{ownReplaces, ownMakes}, []string{"embedded", "embedded"}},
		{"the app's first", [][]string{appAppends, ownReplaces}, nil},
		{"the app's between ours", [][]string{ownMakes, appAppends, ownReplaces}, nil},
		{"of one note", [][]string{ownReplaces, appRemoves}, []string{"embedded", "obsidian"}},
	} {
		a := newAppVault(t, appNotes)
		a.tell(true)
		a.serve(howNamed[0].settings, "--tier=v3", "--rate=0")
		before := a.disk()
		got := a.batch(test.operations...)
		if test.backends == nil {
			require.That(t, got.Error != nil, "%s: %+v", test.name, got)
			require.That(t, !got.OK, "%s: %+v", test.name, got)
			assert.That(t, strings.Contains(got.Error.Message, "comes after one that only the app carries out"), "%s: %+v", test.name, got.Error)
			assert.Equal(t, got.Error.Code, "bad_request", "%s", test.name)
			assert.That(t, maps.Equal(a.disk(), before), "%s: something was changed", test.name)
			continue
		}
		var backends []string
		for _, done := range got.Results {
			if done.Result != nil {
				backends = append(backends, done.Result.Backend)
			}
		}
		assert.That(t, got.OK, "%s: %+v %+v", test.name, got.Error, got.Results)
		assert.EqualSlices(t, backends, test.backends, "%s: backends", test.name)
		for range test.operations { // the newest first: each operation has an entry
			assert.That(t, a.do("undo").OK, "%s: undo", test.name)
			if maps.Equal(a.disk(), before) {
				break
			}
		}
		assert.That(t, maps.Equal(a.disk(), before), "%s: after undo there is %q", test.name, a.disk())
	}
}

// If the app fails at the end of an atomic batch, what we made is taken back, and the answer is true of every operation.
func TestABatchOfWhichTheAppFailsIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind, text string
		ok         bool
	}{
		{"says", "Appended to: Plain.md\n", false},
		{"says", "Error: something went wrong.\n", false},
		{"crashes before", "", false},
		{"crashes", "", true}, // it has done it
		{"does something else", "quite another text\n", false},
		{"does it twice", "", false},
	} {
		a := newAppVault(t, appNotes)
		a.tell(true, appFault{Command: "append", Kind: test.kind, Text: test.text})
		a.serve(howNamed[0].settings, "--tier=v3", "--rate=0")
		before := a.disk()
		got := a.batch(ownReplaces, ownMakes, appSets, appAppends)
		what := fmt.Sprintf("%s %q", test.kind, test.text)
		assert.Equal(t, got.OK, test.ok, "%s: %+v", what, got)
		if test.ok {
			continue
		}
		now := a.disk()
		for path, text := range before {
			if path != "/Plain.md" {
				assert.Equal(t, now[path], text, "%s: %s", what, path)
			}
		}
		require.Equal(t, len(got.Results), 4, "%s: results", what)
		for i, done := range got.Results[:3] {
			require.That(t, done.Undone != nil, "%s: operation %d: %+v", what, i, done)
			assert.That(t, *done.Undone, "%s: operation %d: %+v", what, i, done)
		}
		last := got.Results[3]
		isBack := last.Undone == nil || *last.Undone
		assert.Equal(t, now["/Plain.md"] == before["/Plain.md"], isBack, "%s: the note of the app is %q, told: %+v", what, now["/Plain.md"], last)
	}
}

// A server that is killed while the app works on the end of an atomic batch leaves what the next one takes back, with what the app
// has done since, if it has.
func TestABatchThatDiesWithTheServerIsTakenBack(t *testing.T) {
	t.Parallel()
	a := newAppVault(t, appNotes)
	a.tell(true, appFault{Command: "append", Kind: "hangs"})
	a.serve(howNamed[0].settings, "--tier=v3", "--rate=0")
	before := a.disk()
	a.sendBatch([][]string{ownReplaces, ownMakes, appSets, appAppends})
	harness.WaitFor(t, "the app to be asked", func() bool {
		return slices.ContainsFunc(a.called(), func(call string) bool { return strings.Contains(call, "append") })
	})
	assert.That(t, !maps.Equal(a.disk(), before), "nothing was made before the app was asked")
	require.NoError(t, a.Process.Process.Kill())
	_ = a.End()
	a.tell(true)
	a.serve(howNamed[0].settings, "--tier=v3", "--rate=0", "--backend=embedded") // which does not wait for the app
	assert.That(t, a.do("files").OK, "the next call")
	assert.That(t, a.do("append", "path", "Links.md", "content", "x").OK, "the next change")
	assert.That(t, a.do("undo").OK, "undo of it")
	assert.That(t, maps.Equal(a.disk(), before), "there is %q", a.disk())
}
