package audit

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// TestAnOpenLogMissesNothing: a log that has its files open finds the same damage as one that
// has just been opened.
func TestAnOpenLogMissesNothing(t *testing.T) {
	move := func(name string) func(*testing.T, *Log) {
		return func(t *testing.T, l *Log) {
			require.NoError(t, os.Rename(l.folder.file(name), filepath.Join(t.TempDir(), name)))
		}
	}
	replace := func(name string) func(*testing.T, *Log) {
		return func(t *testing.T, l *Log) {
			text := readFile(t, l, name)
			require.NoError(t, os.Remove(l.folder.file(name)))
			require.NoError(t, os.WriteFile(l.folder.file(name), text, 0o600))
		}
	}
	for name, damage := range map[string]func(*testing.T, *Log){
		"nothing":             func(*testing.T, *Log) {},
		"the file is gone":    move(currentFile),
		"the file is another": replace(currentFile),
		"the head is gone":    move(headFile),
		"the head is another": replace(headFile),
		"the lock is gone":    move(lockFile),
		"the lock is another": replace(lockFile),
		"the folder is gone":  func(t *testing.T, l *Log) { require.NoError(t, os.RemoveAll(l.folder.dir)) },
		"a line more": func(t *testing.T, l *Log) {
			writeFile(t, l, currentFile, append(readFile(t, l, currentFile), "{}\n"...))
		},
		"a line less":           func(t *testing.T, l *Log) { require.NoError(t, os.Truncate(l.folder.file(currentFile), 600)) },
		"a line of another log": func(t *testing.T, l *Log) { writeAll(t, again(t, l), 9, 9) },
	} {
		t.Run(name, func(t *testing.T) {
			var reports [2]Report
			for i, fresh := range []bool{false, true} {
				l := newLog(t, Limits{})
				writeAll(t, l, 1, 3)
				writeAll(t, l, 4, 5)
				damage(t, l)
				if fresh && name != "the folder is gone" { // a log that has seen it says that it is gone
					l = again(t, l)
				}
				writeAll(t, l, 6, 7)
				reports[i] = verified(t, l)
			}
			kept, fresh := reports[0], reports[1]
			if kept.Lines != fresh.Lines || (kept.Broken == nil) != (fresh.Broken == nil) {
				t.Errorf("%d lines, broken %v; a log that was just opened: %d, %v", kept.Lines, kept.Broken, fresh.Lines, fresh.Broken)
			}
		})
	}
}

// TestALockThatIsReplacedIsShared: with two logs, of which one has the removed file of the
// lock open.
func TestALockThatIsReplacedIsShared(t *testing.T) {
	l := newLog(t, Limits{})
	writeAll(t, l, 0, 0)
	writeAll(t, l, 1, 2)
	require.NoError(t, os.Remove(l.folder.file(lockFile)))
	other := again(t, l)
	var both sync.WaitGroup
	for _, log := range []*Log{l, other} {
		both.Go(func() {
			for n := range 100 {
				assert.NoError(t, log.Write(sample(n), false))
			}
		})
	}
	both.Wait()
	wantWhole(t, l, 203)
}

// TestLinesThatComeTogetherStayTogether: pairs of lines by many callers, in files of a few
// lines and in large ones.
func TestLinesThatComeTogetherStayTogether(t *testing.T) {
	for _, limits := range []Limits{{}, {FileSize: 2600, Files: 1000}} {
		l := newLog(t, limits)
		const callers, pairs = 16, 10
		var all sync.WaitGroup
		for caller := range callers {
			log := l
			if caller%4 == 0 {
				log = again(t, l)
			}
			all.Go(func() {
				for n := range pairs {
					first, second := sample(caller*pairs+n), sample(caller*pairs+n)
					first.Kind = "decision"
					assert.NoError(t, log.WriteAll(false, first, second))
				}
			})
		}
		all.Wait()
		wantWhole(t, l, 2*callers*pairs)
		lines := listed(t, l, Filter{})
		for i := 0; i+1 < len(lines); i += 2 {
			if lines[i].Kind != "decision" || lines[i+1].Kind != "end" || lines[i].Call != lines[i+1].Call {
				t.Fatalf("line %d: %s of %s, then %s of %s", i, lines[i].Kind, lines[i].Call, lines[i+1].Kind, lines[i+1].Call)
			}
		}
	}
}

// TestThoseWhoWaitAreWrittenByOne: the one that has the log writes for all.
func TestThoseWhoWaitAreWrittenByOne(t *testing.T) {
	l := newLog(t, Limits{})
	writeAll(t, l, 1, 1)
	l.mu.Lock()
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			assert.NoError(t, l.Write(sample(n), false))
		})
	}
	waits := func() int {
		l.queueMu.Lock()
		defer l.queueMu.Unlock()
		return len(l.queue)
	}
	for waits() < 8 {
		time.Sleep(time.Millisecond)
	}
	l.writeWaiting()
	report, err := Verify(l.folder.dir)
	l.mu.Unlock()
	assert.That(t, err == nil && report.Lines == 9, "%d lines are written, want 9; %v", report.Lines, err)
	all.Wait()
	wantWhole(t, l, 9)
}

// TestDigestsAndLinesOfOneLogDoNotMeet: the first digest makes the key, under the lock that
// a line takes. It says something under the race detector.
func TestDigestsAndLinesOfOneLogDoNotMeet(t *testing.T) {
	l := newLog(t, Limits{})
	var all sync.WaitGroup
	digests := make([]string, 8)
	for n := range digests {
		all.Go(func() { digests[n] = l.Digest("text") })
		all.Go(func() {
			assert.NoError(t, l.Write(sample(n), false))
		})
	}
	all.Wait()
	for _, d := range digests {
		assert.That(t, d != "" && d == digests[0], "digests %q", digests)
	}
	wantWhole(t, l, len(digests))
}
