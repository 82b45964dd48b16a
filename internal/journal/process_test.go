package journal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

const childOf = "JOURNAL_TEST_CHILD_OF"

func TestMain(m *testing.M) { testenv.MainOrChild(m, childOf, child) }

// child changes notes until it is killed, or was asked to do so many, and says
// what was confirmed.
func child(dir string) {
	j := openAt(dir, testVault, Limits{})
	count := 1 << 30
	_, _ = fmt.Sscan(os.Getenv("COUNT"), &count)
	out := bufio.NewWriterSize(os.Stdout, 1) // written through
	say := func(format string, args ...any) {
		fmt.Fprintf(out, format+"\n", args...)
		out.Flush()
	}
	for i := range count {
		seed := rand.IntN(1 << 20)
		e, content := change(fmt.Sprintf("%d.md", i%3), childText(seed), "")
		e.Note = fmt.Sprint(seed)
		unlock, err := j.Lock(context.Background())
		if err == nil {
			err = j.Begin(e, content)
		}
		if err != nil {
			say("error %v", err)
			return
		}
		say("begun %s", e.ID)
		if err := j.End(e.ID, Outcome{State: Done}); err != nil {
			say("error %v", err)
			return
		}
		say("done %s", e.ID)
		unlock()
	}
}

// childText makes the text of a seed: mostly a short one that is like others,
// sometimes one that needs a file.
func childText(seed int) string {
	if seed%16 == 0 {
		return string(random(maxInline + seed%1000))
	}
	return strings.Repeat("a line of the note\n", 200) + fmt.Sprint(seed)
}

// start starts a child that makes so many changes, 0 for no end, and says it to said.
func start(t *testing.T, dir string, count int, said io.Writer) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childOf+"="+dir)
	if count > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("COUNT=%d", count))
	}
	cmd.Stdout = said
	require.NoError(t, cmd.Start())
	return cmd
}

// verify fails unless everything that children have said is there. It reports
// how much that was.
func verify(t *testing.T, dir, said string) (confirmedEntries int) {
	t.Helper()
	j := openAt(dir, testVault, Limits{})
	list, damage, err := j.Entries(t.Context(), Filter{Limit: 1 << 20})
	require.NoError(t, err)
	for _, d := range damage {
		assert.That(t, d.Torn, "damage %+v", d)
	}
	found := map[string]Entry{}
	for _, e := range list {
		found[e.ID] = e
		seed := 0
		_, _ = fmt.Sscan(e.Note, &seed)
		text, err := j.object(t.Context(), e.Steps[0].Before.Hash)
		require.Equal(t, err, nil, "%s: %d bytes", e.ID, len(text))
		assert.Equal(t, string(text), childText(seed), "%s: %d bytes", e.ID, len(text))
	}
	for line := range strings.Lines(said) {
		word, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		e, ok := found[id]
		assert.That(t, ok, "%q was said, and is %v: %+v", line, ok, e)
		assert.That(t, word != "done" || e.State == Done, "%q was said, and is %v: %+v", line, ok, e)
		confirmedEntries++
	}
	return confirmedEntries
}

// maxSaid is how many lines a process says at most before it is killed: what is read
// again is no more where the disk is fast.
const maxSaid = 100

// A folder for each twenty lives: all of it is read again.
func TestKilledAtAnyMoment(t *testing.T) {
	folders, lives := testenv.Count(1, 10), 20
	for n := range folders {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			dir, all := t.TempDir(), ""
			require.NoError(t, os.Chmod(dir, 0o700))
			for range lives {
				said := testenv.NewOutput(rand.IntN(maxSaid))
				all += testenv.KillAfterLines(t, start(t, dir, 0, said), said)
			}
			confirmed := verify(t, dir, all)
			assert.That(t, confirmed >= lives, "only %d records were confirmed in %d lives", confirmed, lives)
			t.Logf("%d kills, %d confirmed records", lives, confirmed)
		})
	}
}

func TestFourProcessesAtOnce(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	const each = 40
	var commands []*exec.Cmd
	var said []*strings.Builder
	for range 4 {
		out := &strings.Builder{}
		commands, said = append(commands, start(t, dir, each, out)), append(said, out)
	}
	// Meanwhile one process reads, and one prunes.
	j := openAt(dir, testVault, Limits{})
	for range 30 {
		entries(t, j)
		require.NoError(t, j.Prune())
	}
	all := ""
	for i, cmd := range commands {
		require.NoError(t, cmd.Wait())
		all += said[i].String()
	}
	n := verify(t, dir, all)
	assert.That(t, n == 4*each*2, "%d records, want %d", n, 4*each*2)
	entries(t, j)
}

// A change that was broken off is told of until it is settled, also where the mark of it was lost in a crash of the
// system, or cut off.
func TestBrokenOff(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "journal")
	vault := t.TempDir()
	open := func() *Journal { return openAt(folder, vault, Limits{}) }
	j := open()
	unlock := require.Value(j.Lock(context.Background()))(t)
	defer unlock()
	expect := func(when string, j *Journal, want string) {
		t.Helper()
		broken, err := j.Mark().BrokenOff(t.Context())
		require.NoError(t, err)
		id := ""
		if broken != nil {
			id = broken.ID
		}
		assert.Equal(t, id, want, "%s", when)
	}
	expect("before anything was written", j, "")
	e := Entry{ID: NewID(time.Now()), Time: time.Now(), Steps: []Step{{Path: "a.md", After: ImageOf([]byte("x"))}}}
	require.NoError(t, j.Mark().Set(e.ID))
	expect("before it is begun", j, "")
	require.NoError(t, j.Begin(e, nil))
	assert.That(t, j.HasUnfinished(), "no mark")
	expect("while it is made", j, e.ID)
	expect("in another process", open(), e.ID)
	require.NoError(t, j.Mark().SetTakingBack(e.ID))
	broken := require.Value(j.Mark().BrokenOff(t.Context()))(t)
	assert.Equal(t, broken.ID, e.ID, "taken back")
	assert.That(t, broken.TakingBack, "taken back: %+v", broken)
	require.NoError(t, os.WriteFile(j.folder.file(unfinishedFile), []byte(e.ID[:7]), 0o600))
	expect("with half a mark", j, e.ID)
	j.Mark().Clear()
	expect("without a mark", j, "")
	expect("without a mark, in a new process", open(), e.ID)
	require.NoError(t, j.End(e.ID, Outcome{State: Done}))
	expect("behind its end", open(), "")
	assert.That(t, !j.HasUnfinished(), "a mark is left")
}

// fullDisk takes no new file.
type fullDisk struct{ ownerfiles.System }

func (fullDisk) Create(name string) (ownerfiles.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOSPC}
}

// A change that runs into a full disk is marked as one that is taken back all the same: else whoever opens the vault next
// completes a change that was told as not made.
func TestTakingBackIsMarkedOnAFullDisk(t *testing.T) {
	j := newJournal(t, Limits{})
	unlock := require.Value(j.Lock(t.Context()))(t)
	defer unlock()
	e := Entry{ID: NewID(time.Now()), Time: time.Now(), Steps: []Step{{Path: "a.md", After: ImageOf([]byte("x"))}}}
	require.NoError(t, j.Mark().Set(e.ID))
	require.NoError(t, j.Begin(e, nil))
	j.sys = fullDisk{j.sys}
	require.NoError(t, j.Mark().SetTakingBack(e.ID))
	broken := require.Value(j.Mark().BrokenOff(t.Context()))(t)
	require.That(t, broken != nil, "%+v", broken)
	require.Equal(t, broken.ID, e.ID)
	assert.That(t, broken.TakingBack, "%+v", broken)
}

// Since returns what was begun or ended behind an extent, and nothing else.
func TestWhatWasChangedSince(t *testing.T) {
	j := newJournal(t, Limits{})
	var ids []string
	begin := func(path string) string {
		e, content := change(path, "old "+path, "new "+path)
		e.ID = NewID(time.Now().Add(time.Duration(len(ids)) * time.Second))
		require.NoError(t, j.Begin(e, content))
		ids = append(ids, e.ID)
		return e.ID
	}
	since := func(from Extent, most int) (found []string, all bool) {
		entries, all, err := j.Since(t.Context(), from, most)
		require.NoError(t, err)
		for _, e := range entries {
			found = append(found, e.ID)
		}
		slices.Sort(found)
		return found, all
	}
	first := begin("a.md")
	between := j.Extent()
	found, all := since(between, 10)
	require.That(t, all, "nothing was changed: %v, %v", found, all)
	assert.Equal(t, len(found), 0, "nothing was changed")
	second := begin("b.md")
	found, _ = since(between, 10)
	assert.Equal(t, fmt.Sprint(found), fmt.Sprint([]string{second}), "begun")
	require.NoError(t, j.End(first, Outcome{State: Done})) // it was being made meanwhile
	found, _ = since(between, 10)
	assert.Equal(t, fmt.Sprint(found), fmt.Sprint([]string{first, second}), "ended")
	_, all = since(between, 1)
	assert.That(t, !all, "more than one are told as all")
	j.lines = 1 // the next one is in another segment
	third := begin("c.md")
	found, all = since(between, 10)
	assert.Equal(t, fmt.Sprint(found, all), fmt.Sprint([]string{first, second, third}, true), "in two segments")
}
