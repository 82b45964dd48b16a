package change_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// batched are atomic batches of the vault of [notesOfBatch], whose operations rest on each other. Of each it is said which notes it
// concerns: where they are before and after it.
var batched = []struct {
	name       string
	operations []string
	notes      [][2]string
}{
	{"appends, and a note in new folders",
		[]string{"append path=a.md content=one", "append path=P/b.md content=two",
			"create path=New/Deep/c.md content=three"}, [][2]string{{"a.md", "a.md"}, {"P/b.md", "P/b.md"}}},
	{"a note that is made and gone again",
		[]string{"create path=New/x.md content=x", "append path=New/x.md content=y", "append path=a.md content=one",
			"delete path=New/x.md permanent"}, [][2]string{{"a.md", "a.md"}}},
	{"moves, changes and removes",
		[]string{"move path=a.md to=Far/a.md", "append path=Far/a.md content=one", "delete path=P/b.md",
			"delete path=c.md permanent"}, [][2]string{{"a.md", "Far/a.md"}, {"c.md", "c.md"}}},
	{"a folder, and all of the vault",
		[]string{"folder:rename path=P name=Q", "append path=Q/b.md content=one", "vault:replace old=word new=term"},
		[][2]string{{"a.md", "a.md"}, {"P/b.md", "Q/b.md"}}},
	{"two notes change places", []string{"rename path=a.md name=t", "rename path=c.md name=a", "rename path=t.md name=c"}, [][2]string{{"a.md", "c.md"}}},
	{"removed and made again", []string{"delete path=a.md permanent", "create path=a.md content=again",
		"append path=a.md content=more"}, [][2]string{{"a.md", "a.md"}}},
}

func notesOfBatch() map[string]string {
	return map[string]string{
		".obsidian/app.json": `{"alwaysUpdateLinks":true,"trashOption":"local"}`,
		"a.md":               "word [[b]]\n", "P/b.md": "word [[a]] [[c]]\n", "c.md": "word [[a]]\n", "P/d.md": "[[P/b]]\n", "other.md": "other\n",
	}
}

// allIn is all that is in a vault: the texts of files, those in the trash too, and "" for folders.
func allIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case name == ".trash":
			return nil
		case d.IsDir():
			tree[filepath.ToSlash(name)+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		tree[filepath.ToSlash(name)] = string(text)
		return err
	})
	require.NoError(t, err)
	return tree
}

// batchEvent comes before a call that changes the disk.
type batchEvent struct {
	call int
	what string // kill, full, broken, rewrite or extend
	note int    // of another program
}

// broken is a disk that refuses each call until it is mended.
const broken = "broken disk"

// goBatch plans a batch and makes it, with an event. It returns how many calls that change the disk there were, the answer, and
// whether the process was killed.
func goBatch(
	t *testing.T,
	h *embedded.Vault,
	id string,
	operations []string,
	at func(call int, isAlone bool) error,
) (calls int, said answer.Reply, isKilled bool) {
	t.Helper()
	host := h.Host()
	defer host.Close()
	planned := 0
	for _, line := range operations {
		words := strings.Fields(line)
		q := protocol.Request{
			Command: words[0], Args: words[1:], Write: protocol.Write{Allowed: true, Batch: id},
			Batch: protocol.Batch{ID: id, Planned: planned},
		}
		v := require.Value(host.Open(context.Background(), h.Dir, q))(t)
		v.Disk.Interpose(func(method string) error { return fmt.Errorf("%s while %q is planned", method, line) })
		over := require.Value(change.InBatch(v, q.Batch, true))(t)
		said := vault.Respond(over, q, nil)
		require.That(t, said.Status == answer.ExitDone, "%q: %s", line, said.Text())
		planned = over.Batch.Count()
	}
	q := protocol.Request{Write: protocol.Write{Allowed: true, Task: protocol.Commit, Batch: id}}
	v := require.Value(host.Open(context.Background(), h.Dir, q))(t)
	v.Batch = host.Batch(id, planned)
	v.Disk.Interpose(func(string) error {
		calls++
		stack := make([]byte, 64<<10)
		stack = stack[:runtime.Stack(stack, false)]
		return at(calls, strings.Contains(string(stack), "transaction).run("))
	})
	isKilled = true
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var err error
		if said, err = change.CommitBatch(v, q.Write); err != nil {
			said = answer.Explain(err)
		}
		isKilled = false
	}()
	<-ended
	return calls, said, isKilled
}

// Whatever happens before whichever call that changes the disk, a batch is made as a whole or not at all, nothing else is left, the
// answer agrees with the disk, and what was made is taken back as one.
func TestEveryEventOfABatchLeavesAllOfItOrNothing(t *testing.T) {
	ends := map[string]int{}
	runs := 0
	for _, b := range batched {
		h := embedded.New(t, notesOfBatch())
		before := allIn(t, h.Dir)
		id := journal.NewID(time.Now())
		calls, said, _ := goBatch(t, h, id, b.operations, func(int, bool) error { return nil })
		require.That(t, said.Status == answer.ExitDone, "%s: %s", b.name, said.Text())
		after := allIn(t, h.Dir)
		h.Does("undo", "batch="+id)
		assert.That(t, maps.Equal(allIn(t, h.Dir), before), "%s: after undo: %q", b.name, unlike(allIn(t, h.Dir), before))
		var events []batchEvent
		for call := 1; call <= calls; call++ {
			for _, what := range []string{kill, full, broken} {
				events = append(events, batchEvent{call, what, 0})
			}
			for note := range b.notes {
				events = append(events, batchEvent{call, rewrite, note}, batchEvent{call, extend, note})
			}
		}
		every := testenv.Count(3, 1)
		if testing.Short() {
			every = 20
		}
		for n, e := range events {
			if n%every != 0 {
				continue
			}
			runs++
			what := fmt.Sprintf("%s, %s before call %d of %d", b.name, e.what, e.call, calls)
			ends[e.what+" "+meetEvent(t, what, b.operations, b.notes[e.note], e, before, after)]++
		}
	}
	t.Logf("%d runs: %v", runs, ends)
}

// meetEvent makes a batch with an event in a vault of its own, and judges what is left. It returns how it ended.
func meetEvent(t *testing.T, what string, operations []string, note [2]string, e batchEvent, before, after map[string]string) string {
	t.Helper()
	h := embedded.New(t, notesOfBatch())
	id := journal.NewID(time.Now())
	isMet := false
	_, said, isKilled := goBatch(t, h, id, operations, func(call int, isAlone bool) error {
		if e.what == broken && call >= e.call {
			return os.ErrDeadlineExceeded
		}
		if call != e.call {
			return nil
		}
		switch e.what {
		case kill:
			if isAlone { // else several threads stage texts
				runtime.Goexit()
			}
		case full:
			return os.ErrDeadlineExceeded
		case rewrite, extend:
			isMet = writeAsAnother(t, h, note, e.what)
		}
		return nil
	})
	h.Does("version") // whatever is broken off is settled
	now := allIn(t, h.Dir)
	foreign := 0
	for path, text := range now {
		isTemporary := strings.Contains(path, ".vaultwicket-")
		assert.That(t, !isTemporary, "%s: left is %s", what, path)
		if strings.Contains(text, foreignText) {
			foreign++
		}
	}
	if isMet {
		assert.That(t, foreign > 0, "%s: what another program wrote is gone: %q", what, now)
	}
	left := func(tree map[string]string) map[string]string {
		tree = maps.Clone(tree)
		for path, text := range tree {
			tree[path] = strings.TrimSuffix(text, foreignText)
		}
		if e.what == rewrite && isMet {
			maps.DeleteFunc(tree, func(path, _ string) bool { return path == note[0] || path == note[1] || path == ".trash/"+note[0] })
		}
		return tree
	}
	isOld := maps.Equal(left(now), left(before))
	isNew := maps.Equal(left(now), left(after))
	ended := "neither"
	switch {
	case isKilled && (isOld || isNew):
		ended = "killed"
	case said.Status == answer.ExitDone && isNew && !isKilled:
		ended = "made"
	case e.what == broken && len(said.Part.Made) > 0 && (isOld || isNew):
		ended = "in part, until the disk was mended"
	case said.Status != answer.ExitDone && said.Kind.Code == protocol.CodePartlyApplied:
		ended = "partly"
		assert.That(t, isMet, "%s: in part: %s", what, said.Text())
	case said.Status != answer.ExitDone && isOld:
		ended = "not made"
	}
	assert.That(t, ended != "neither", "%s: %q (killed %v): not as before: %q, not as after: %q", what, said.Text(),
		isKilled, unlike(left(now), left(before)), unlike(left(now), left(after)))
	if isNew && !isMet {
		h.Does("undo", "batch="+id)
		back := allIn(t, h.Dir)
		assert.That(t, maps.Equal(back, before), "%s: after undo: %q", what, unlike(back, before))
	}
	return ended
}

// writeAsAnother rewrites a note, or appends to it, wherever it is by now. It reports whether there is one.
func writeAsAnother(t *testing.T, h *embedded.Vault, note [2]string, how string) bool {
	t.Helper()
	for _, at := range note {
		path := h.File(at)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if how == rewrite {
			require.NoError(t, errors.Join(os.WriteFile(path+".new", []byte(foreignText), 0o600), os.Rename(path+".new", path)))
			return true
		}
		file := require.Value(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
		_, err := file.WriteString(foreignText)
		require.NoError(t, errors.Join(err, file.Close()))
		return true
	}
	return false
}

// unlike lists what differs between two trees.
func unlike(now, want map[string]string) (all []string) {
	for path, text := range now {
		if wanted, there := want[path]; !there || wanted != text {
			all = append(all, fmt.Sprintf("+%s %q", path, text))
		}
	}
	for path := range want {
		if _, there := now[path]; !there {
			all = append(all, "-"+path)
		}
	}
	return all
}
