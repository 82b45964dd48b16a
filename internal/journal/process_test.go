package journal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/long"
	"github.com/vaultwicket/vaultwicket/tests/programs"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const childOf = "JOURNAL_TEST_CHILD_OF"

func TestMain(m *testing.M) { programs.Main(m, childOf, child) }

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
		if err := j.End(e.ID, Done, nil, ""); err != nil {
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
	list, damage, err := j.Entries(Filter{Limit: 1 << 20})
	require.NoError(t, err)
	for _, d := range damage {
		assert.That(t, d.Torn, "damage %+v", d)
	}
	found := map[string]Entry{}
	for _, e := range list {
		found[e.ID] = e
		seed := 0
		_, _ = fmt.Sscan(e.Note, &seed)
		text, err := j.Object(e.Steps[0].Before.Hash)
		assert.That(t, err == nil && string(text) == childText(seed), "%s: %d bytes, %v", e.ID, len(text), err)
	}
	for line := range strings.Lines(said) {
		word, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		e, ok := found[id]
		assert.That(t, ok && (word != "done" || e.State == Done), "%q was said, and is %v: %+v", line, ok, e)
		confirmedEntries++
	}
	return confirmedEntries
}

// maxSaid is how many lines a process says at most before it is killed: what is read
// again is no more where the disk is fast.
const maxSaid = 100

// A folder for each twenty lives: all of it is read again.
func TestKilledAtAnyMoment(t *testing.T) {
	folders, lives := long.Count(1, 10), 20
	for n := range folders {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			dir, all := t.TempDir(), ""
			require.NoError(t, os.Chmod(dir, 0o700))
			for range lives {
				said := programs.NewSpeech(rand.IntN(maxSaid))
				all += programs.AfterLines(t, start(t, dir, 0, said), said)
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

// A writer that ended is not told of, and one that was killed is, since when it
// was, until a process has looked at it.
func TestInterrupted(t *testing.T) {
	j := openAt(filepath.Join(t.TempDir(), "journal"), t.TempDir(), Limits{})
	unlock := require.Value(j.Lock(context.Background()))(t)
	defer unlock()
	expect := func(when string, want bool) {
		t.Helper()
		since, killed := j.Interrupted()
		assert.That(t, killed == want && killed != since.IsZero() && (!killed || time.Since(since) <= time.Hour), "%s: %v since %v", when, killed, since)
	}
	expect("before anything was written", false)
	written := j.Writing()
	expect("while something is written", true)
	written()
	expect("behind it", false)
	_ = j.Writing() // and killed
	written = j.Writing()
	written()
	expect("behind the next writer", true)
	j.Swept()
	expect("when that was looked after", false)
}
