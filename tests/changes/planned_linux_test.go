package changes

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// drawnOperations are operations of a batch on the vault of [fillMany]: in any order, so that many name what another one has
// made, moved or removed.
var drawnOperations = []string{
	"create path=New/Deep/a.md content=#new_[[hub]]_word", "append path=New/Deep/a.md content=more", "delete path=New/Deep/a.md permanent",
	"create path=P/b.md content=b", "append path=P/n1.md content=added_#t", "prepend path=P/n1.md content=first", "replace path=hub.md old=word new=term",
	"rename path=hub.md name=Hub", "rename path=Hub.md name=hub", "move path=P/n2.md to=Far/Away/n2.md", "move path=Far/Away/n2.md to=n2.md",
	"delete path=P/n3.md permanent", "delete path=P/n4.md", "folder:create path=Empty/Inner",
	"folder:delete path=Empty", "folder:rename path=P name=Q", "folder:rename path=Q name=P",
	"property:set path=P/n5.md name=status value=open", "property:remove path=P/n5.md name=status",
	"property:set path=hub.md name=aliases value=Center", "tag:rename name=t to=u", "tag:rename name=u to=t",
	"vault:replace old=word new=term", "vault:replace old=term new=word", "note:split path=long.md level=1",
	"daily:append content=today", "bookmark file=hub.md title=Mark", "create path=P/n3.md content=again",
	"read path=hub.md", "read file=Hub", "read file=a", "read path=P/n1.md", "files", "files folder=Q", "folders",
	"tags counts", "search query=word", "search:context query=term", "backlinks path=hub.md",
	"backlinks path=Hub.md",
	"links path=New/Deep/a.md", "unresolved", "orphans", "outline path=long.md", "properties",
	"property:read path=P/n5.md name=status", "find query=word", "aliases", "bookmarks", "daily:read",
	"wordcount path=P/n1.md", "recents",
}

func operationOf(id, line string) gateway.Operation {
	words := strings.Fields(line)
	for i, word := range words[1:] {
		words[i+1] = strings.ReplaceAll(word, "_", " ")
	}
	return harness.Operation(id, words[0], words[1:]...)
}

// answered is what an answer says that does not depend on the moment.
func answered(a *gateway.Answer) string {
	said := fmt.Sprintf("%q %s %s %q %v", a.Stdout, a.Path, a.Hash, a.Notices, a.Error)
	if a.Change != nil {
		said += fmt.Sprintf(" %s %s +%d -%d", a.Change.Before, a.Change.After, a.Change.Added, a.Change.Removed)
	}
	return said
}

// Each operation of an atomic batch answers as it does where the ones before it are made, and the batch leaves what they leave;
// although nothing of it can be seen before its end. It is taken back as one.
func TestOperationsOfABatchSeeWhatThoseBeforeThemWillMake(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	kinds := map[string]int{}
	for n := range testenv.Count(12, 400) {
		batch := testenv.MemoryFolder(t)
		single := testenv.MemoryFolder(t)
		for _, folder := range []string{batch, single} {
			fillMany(t, filepath.Join(folder, "Vault"))
		}
		old := everything(t, filepath.Join(batch, "Vault"))
		one, endOne := manyGateway(t, single, 0)
		var operations []gateway.Operation
		var want []string
		changes := 0
		for range 60 {
			line := drawnOperations[random.IntN(len(drawnOperations))]
			o := operationOf(fmt.Sprint("c", len(operations)), line)
			got := one.DoBatch(t.Context(), gateway.Batch{Operations: []gateway.Operation{o}})
			if !got.OK {
				continue
			}
			operations = append(operations, o)
			want = append(want, answered(got.Results[0].Result))
			kinds[strings.Fields(line)[0]]++
			if got.Results[0].Result.Change != nil {
				changes++
			}
		}
		g, end := manyGateway(t, batch, 0)
		vault := filepath.Join(batch, "Vault")
		ctx := protocol.WithProgress(t.Context(), func(p protocol.Progress) {
			if p.Of == protocol.Operations && !maps.Equal(everything(t, vault), old) {
				t.Errorf("%d: after %d operations something can be seen: %q", n, p.Done, differ(everything(t, vault), old, ""))
			}
		})
		got := g.DoBatch(ctx, gateway.Batch{Request: gateway.Request{Caller: "me"}, Operations: operations, Atomic: true})
		require.That(t, got.OK, "%d: %s", n, describe(got))
		for i, done := range got.Results {
			assert.Equal(t, answered(done.Result), want[i], "%d, %d: %s %q", n, i, operations[i].Command, operations[i].Words)
		}
		now := everything(t, vault)
		differences := differ(now, everything(t, filepath.Join(single, "Vault")), "")
		require.That(t, len(differences) == 0, "%d: %q", n, differences)
		if changes > 0 {
			undone := g.Do(t.Context(), gateway.Request{Command: "undo", Caller: "me"})
			require.That(t, undone.OK, "%d: %v", n, undone.Error)
			back := everything(t, vault)
			delete(back, ".obsidian/bookmarks.json")
			require.That(t, maps.Equal(back, old), "%d: after undo: %q", n, differ(back, old, ""))
		}
		end()
		endOne()
	}
	t.Logf("%v", kinds)
}

// Of a batch that fails nothing is written: not into the vault, and no change into the journal.
func TestNothingIsWrittenOfABatchThatFails(t *testing.T) {
	folder := testenv.MemoryFolder(t)
	vault := filepath.Join(folder, "Vault")
	fillMany(t, vault)
	g, end := manyGateway(t, folder, 0)
	defer end()
	must(t, g, []string{"version"})
	old := everything(t, vault)
	state := func() map[string]string { return withoutAudit(everything(t, filepath.Join(folder, "state"))) }
	for _, kind := range failingBatches {
		before := state()
		var operations []gateway.Operation
		for i, words := range kind {
			operations = append(operations, operationOf(fmt.Sprint("c", i), words))
		}
		if kind[3] == "append path=P/n4.md content=x" {
			operations[3].ExpectHash = "0123456789abcdef"
		}
		got := g.DoBatch(t.Context(), gateway.Batch{Operations: operations, Atomic: true})
		assert.That(t, !got.OK, "%q: %s", kind, describe(got))
		assert.Equal(t, got.Summary.Error, 1, "%q: %s", kind, describe(got))
		assert.Equal(t, got.Summary.NotUndone, 0, "%q: %s", kind, describe(got))
		for _, done := range got.Results[:3] {
			assert.That(t, done.Result.Change == nil, "%q: %+v", kind, done)
			assert.HasPrefix(t, done.Notice, "not applied", "%q: %+v", kind, done)
		}
		assert.That(t, maps.Equal(everything(t, vault), old), "%q: the vault differs", kind)
		assert.That(t, maps.Equal(state(), before), "%q: the journal differs: %q", kind, differ(state(), before, ""))
	}
	nothing := g.Do(t.Context(), gateway.Request{Command: "undo"})
	require.That(t, !nothing.OK, "%+v", nothing.Error)
	assert.Contains(t, nothing.Error.Message, "othing to undo", "%+v", nothing.Error)
}

func withoutAudit(all map[string]string) map[string]string {
	maps.DeleteFunc(all, func(name, _ string) bool {
		return !strings.Contains(name, "journal/") || strings.HasSuffix(name, ".lock")
	})
	return all
}

// A batch stands in the journal as its operations, and can be taken back by each of them, or as one.
func TestTheJournalHasTheOperationsOfABatch(t *testing.T) {
	folder := testenv.MemoryFolder(t)
	vault := filepath.Join(folder, "Vault")
	fillMany(t, vault)
	g, end := manyGateway(t, folder, 0)
	defer end()
	got := g.DoBatch(t.Context(), gateway.Batch{Atomic: true, Operations: []gateway.Operation{
		operationOf("a", "append path=P/n1.md content=one"), operationOf("b", "append path=P/n1.md content=two"),
		operationOf("c", "create path=New/x.md content=x"), operationOf("d", "read path=P/n1.md"),
	}})
	require.That(t, got.OK, "%s", describe(got))
	assert.That(t, strings.HasSuffix(got.Results[3].Result.Stdout, "one\ntwo\n"), "%q", got.Results[3].Result.Stdout)
	j := journal.OpenAs(filepath.Join(folder, "state", "vaultwicket", "journal"), vault, vault)
	entries, damage := entriesOf(t, j)
	require.Equal(t, len(entries), 3, "%d entries: %+v %v", len(entries), entries, damage)
	require.Equal(t, len(damage), 0, "%d entries: %+v %v", len(entries), entries, damage)
	for i, e := range entries {
		id := got.Results[2-i].Result.Change.ID
		assert.Equal(t, e.ID, id, "%+v", e)
		assert.Equal(t, e.State, journal.Done, "%s: %+v", id, e)
		assert.Equal(t, e.Batch, entries[0].Batch, "%s: %+v", id, e)
		assert.Equal(t, len(e.Steps), 1, "%s: %+v", id, e)
	}
	must(t, g, []string{"undo", "id=" + entries[0].ID})
	_, err := os.Stat(filepath.Join(vault, "New"))
	assert.That(t, os.IsNotExist(err), "the folder of the undone operation is there: %v", err)
	must(t, g, []string{"undo", "batch=" + entries[0].Batch})
	text := string(require.Value(os.ReadFile(filepath.Join(vault, "P", "n1.md")))(t))
	assert.NotContains(t, text, "one")
	assert.NotContains(t, text, "two")
}

func entriesOf(t *testing.T, j *journal.Journal) (entries []journal.Entry, damage []journal.Damage) {
	t.Helper()
	entries, damage, err := j.Entries(context.Background(), journal.Filter{})
	require.NoError(t, err)
	return entries, damage
}

// While a batch is planned others write. It is worked out anew, and has what they wrote.
func TestABatchIsWorkedOutAnewBesideOthers(t *testing.T) {
	folder := testenv.MemoryFolder(t)
	vault := filepath.Join(folder, "Vault")
	fillMany(t, vault)
	g, end := manyGateway(t, folder, 0)
	defer end()
	other, endOther := manyGateway(t, folder, 0)
	defer endOther()
	line := 0
	for _, test := range []struct {
		name     string
		write    func() // once each try to plan
		approved bool
		want     string
	}{
		{"another gateway", func() { must(t, other, []string{"append", "path=P/n9.md", fmt.Sprint("content=line ", line)}) }, false, "ok"},
		{"a program", func() { require.NoError(t, appendLine(filepath.Join(vault, "P", "n9.md"), fmt.Sprint("line ", line))) }, false, "ok"},
		{"a program, and a hash is expected",
			func() { require.NoError(t, appendLine(filepath.Join(vault, "P", "n9.md"), fmt.Sprint("line ", line))) },
			true, failure.CodeConflict},
	} {
		name := filepath.Join(vault, "P", "n9.md")
		before := string(require.Value(os.ReadFile(name))(t))
		operations := []gateway.Operation{operationOf("a", "read path=P/n9.md"),
			operationOf("b", "append path=P/n9.md content=mine"), operationOf("c", "append path=P/n8.md content=mine")}
		if test.approved {
			read := g.Do(t.Context(), gateway.Request{Command: "read", Words: []string{"path=P/n9.md"}})
			operations[1].ExpectHash = read.Hash
		}
		first := line
		ctx := protocol.WithProgress(t.Context(), func(p protocol.Progress) {
			if p.Of == protocol.Operations && p.Done == 3 && line < first+2 {
				line++
				test.write()
			}
		})
		got := g.DoBatch(ctx, gateway.Batch{Operations: operations, Atomic: true})
		now := string(require.Value(os.ReadFile(name))(t))
		lines := strings.Split(strings.TrimPrefix(now, before), "\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
		if test.want != "ok" {
			require.That(t, !got.OK, "%s: %s\n%q", test.name, describe(got), lines)
			require.That(t, got.Error != nil, "%s: %s\n%q", test.name, describe(got), lines)
			assert.Equal(t, got.Error.Code, test.want, "%s: %s\n%q", test.name, describe(got), lines)
			assert.That(t, !slices.Contains(lines, "mine"), "%s: %s\n%q", test.name, describe(got), lines)
			continue
		}
		wanted := []string{fmt.Sprint("line ", first+1), fmt.Sprint("line ", first+2), "mine"}
		assert.That(t, got.OK, "%s: %s\n%q", test.name, describe(got), lines)
		assert.EqualSlices(t, lines, wanted, "%s: %s\n%q", test.name, describe(got), lines)
	}
}

// A batch is worked out anew for what it rests on, and for nothing else: the files that it changes, notes whose texts it takes, links
// to what it moves. What others write elsewhere is no reason, also where an operation names its note by its hash.
func TestABatchRestsOnWhatItReadAlone(t *testing.T) {
	folder := testenv.MemoryFolder(t)
	vault := filepath.Join(folder, "Vault")
	fillMany(t, vault)
	g, end := manyGateway(t, folder, 0)
	defer end()
	other, endOther := manyGateway(t, folder, 0)
	defer endOther()
	appends := []gateway.Operation{operationOf("a", "append path=P/n9.md content=mine"), operationOf("b", "append path=P/n8.md content=mine")}
	reads := operationOf("r", "read path=P/n5.md")
	takes := operationOf("t", "append path=P/n6.md")
	takes.From = map[string]gateway.Reference{"content": {ClientID: "r", Field: "stdout"}}
	for _, test := range []struct {
		name       string
		operations []gateway.Operation
		hash       bool // the first operation names its note by its hash
		write      []string
		tries      int
	}{
		{"another note", appends, false, []string{"append", "path=P/n7.md", "content=line"}, 1},
		{"another note, with a hash", appends, true, []string{"append", "path=P/n7.md", "content=line"}, 1},
		{"a note that it changes", appends, false, []string{"append", "path=P/n8.md", "content=line"}, 2},
		{"a note that it only reads", append([]gateway.Operation{reads}, appends...), false, []string{"append", "path=P/n5.md", "content=line"}, 1},
		{"a note of which it takes the text", append([]gateway.Operation{reads, takes}, appends...), false,
			[]string{"append", "path=P/n5.md", "content=line"}, 2},
		{"another note beside one of which it takes the text", append([]gateway.Operation{reads, takes}, appends...),
			false, []string{"append", "path=P/n7.md", "content=line"}, 1},
		{"a new link to what it moves",
			append([]gateway.Operation{operationOf("m", "rename path=hub.md name=Center")}, appends...), false,
			[]string{"create", "path=Link.md", "content=[[hub]]"}, 2},
		{"a note without links beside a move",
			append([]gateway.Operation{operationOf("m", "rename path=long.md name=Longer")}, appends...), false,
			[]string{"create", "path=None.md", "content=none"}, 1},
	} {
		operations := slices.Clone(test.operations)
		if test.hash {
			read := g.Do(t.Context(), gateway.Request{Command: "read", Words: []string{"path=P/n9.md"}})
			operations[0].ExpectHash = read.Hash
		}
		planned := 0
		ctx := protocol.WithProgress(t.Context(), func(p protocol.Progress) {
			if p.Of != protocol.Operations || p.Done != len(operations) {
				return
			}
			if planned++; planned == 1 { // once it is planned
				must(t, other, test.write)
			}
		})
		got := g.DoBatch(ctx, gateway.Batch{Operations: operations, Atomic: true})
		assert.That(t, got.OK, "%s: %s", test.name, describe(got))
		assert.Equal(t, planned, test.tries, "%s: planned, times", test.name)
		if test.write[0] == "create" && strings.Contains(test.write[2], "[[") {
			text := string(require.Value(os.ReadFile(filepath.Join(vault, "Link.md")))(t))
			assert.Equal(t, text, "[[Center]]", "%s: the link", test.name)
		}
	}
}

// A change whose worker and gateway have died is completed or taken back when a server starts, or when the owner looks at the
// installation: before any call.
func TestAStartSettlesWhatWasBrokenOff(t *testing.T) {
	folder := testenv.MemoryFolder(t)
	vault := filepath.Join(folder, "Vault")
	fillMany(t, vault)
	old := everything(t, vault)
	first, end := manyGateway(t, folder, 0)
	must(t, first, []string{"tag:rename", "name=t", "to=u"})
	done := everything(t, vault)
	end()
	j := journal.OpenAs(filepath.Join(folder, "state", "vaultwicket", "journal"), vault, vault)
	entries, _ := entriesOf(t, j)
	require.That(t, len(entries) == 1, "%d entries", len(entries))
	// As if it had died within the commit: some notes are old again, and the end is not written.
	e := entries[0]
	e.ID = journal.NewID(e.Time.Add(1))
	e.State = journal.Begun
	for i := range e.Steps {
		e.Steps[i].Before, e.Steps[i].After = e.Steps[i].After, e.Steps[i].Before
		e.Steps[i].Draft = ""
	}
	text := func(s journal.Step) (io.ReadCloser, error) {
		return os.Open(filepath.Join(vault, s.Path))
	}
	require.NoError(t, j.Mark().Set(e.ID))
	require.NoError(t, j.Begin(e, text))
	for _, s := range e.Steps[:3] {
		require.NoError(t, os.WriteFile(filepath.Join(vault, s.Path), []byte(old[s.Path]), 0o644))
	}
	require.That(t, j.HasUnfinished(), "nothing is unfinished")
	next, endNext := manyGateway(t, folder, 0)
	defer endNext()
	require.NoError(t, next.Settle(t.Context()))
	now := everything(t, vault)
	assert.That(t, maps.Equal(now, done) || maps.Equal(now, old), "neither as before nor as after: %q", differ(now, done, ""))
	assert.That(t, !j.HasUnfinished(), "the change is still unfinished")
	require.NoError(t, next.Settle(t.Context())) // there is nothing to do
}
