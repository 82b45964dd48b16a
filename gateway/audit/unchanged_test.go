package audit

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
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
				writeAll(t, l, 1, 5)
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
	writeAll(t, l, 0, 2)
	require.NoError(t, os.Remove(l.folder.file(lockFile)))
	other := again(t, l)
	var both sync.WaitGroup
	for _, log := range []*Log{l, other} {
		both.Go(func() {
			for n := range 100 {
				assert.NoError(t, log.Write(sample(n), Buffered))
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
					assert.NoError(t, log.WriteAll(Buffered, first, second))
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
		all.Go(func() { assert.NoError(t, l.Write(sample(n), Buffered)) })
	}
	waits := func() int {
		l.queueMu.Lock()
		defer l.queueMu.Unlock()
		return len(l.queue)
	}
	require.Within(t, time.Minute, "eight lines wait", func() bool { return waits() >= 8 })
	l.writeQueued()
	report, err := Verify(t.Context(), l.folder.dir)
	l.mu.Unlock()
	require.Equal(t, err, nil, "%d lines are written, want 9; %v", report.Lines, err)
	assert.Equal(t, report.Lines, 9, "%d lines are written, want 9; %v", report.Lines, err)
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
		all.Go(func() { assert.NoError(t, l.Write(sample(n), Buffered)) })
	}
	all.Wait()
	for _, d := range digests {
		require.That(t, d != "", "digests %q", digests)
		assert.Equal(t, d, digests[0], "digests %q", digests)
	}
	wantWhole(t, l, len(digests))
}

const day = 24 * time.Hour

// aging returns a log with a clock that the test sets.
func aging(t *testing.T, limits Limits) (l *Log, now *time.Time) {
	l = newLog(t, limits)
	now = new(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	l.now = func() time.Time { return *now }
	return l, now
}

// Files that hold a young line stay, however many there are; when they are old they
// go, and what is left is whole from its first line on.
func TestYoungLinesAreKept(t *testing.T) {
	l, now := aging(t, Limits{FileSize: 2600, Files: 3, MinAge: 90 * day})
	begin := *now
	writeAll(t, l, 1, 100)
	r := verified(t, l)
	require.That(t, r.Broken == nil, "on the first day: %+v", r)
	require.That(t, r.Files >= 10, "on the first day: %+v", r)
	require.Equal(t, r.First, 1, "on the first day")
	require.Equal(t, r.Lines, 100, "on the first day")
	require.That(t, r.Since.Equal(begin), "on the first day: %+v", r)
	*now = now.Add(89 * day)
	writeAll(t, l, 101, 110)
	wantWhole(t, l, 110)
	*now = now.Add(day) // the first hundred are ninety days old
	writeAll(t, l, 111, 120)
	r = verified(t, l)
	require.That(t, r.Broken == nil, "after ninety days: %+v", r)
	require.That(t, r.First != 1, "after ninety days: %+v", r)
	require.That(t, r.First <= 101, "after ninety days: %+v", r)
	require.Equal(t, r.Last, 120, "after ninety days")
	assert.That(t, r.Files <= 8, "%d files are left", r.Files)
	first := listed(t, l, Filter{})[0]
	assert.Equal(t, first.Seq, r.First, "the first line is %d of %v, the report says %d of %v", first.Seq, first.Time, r.First, r.Since)
	assert.That(t, r.Since.Equal(first.Time), "the first line is %d of %v, the report says %d of %v", first.Seq, first.Time, r.First, r.Since)
}

// A log that is full of young lines takes no more, and loses none. Old files that
// were too many go at once.
func TestALogFullOfYoungLinesTakesNoMore(t *testing.T) {
	l, now := aging(t, Limits{FileSize: 2600, Files: 3, MinAge: 90 * day, MaxFiles: 5})
	lines := 0
	var err error
	for ; err == nil && lines < 1000; lines++ {
		err = l.Write(sample(lines), Durable)
	}
	var full *Unusable
	require.That(t, errors.As(err, &full), "line %d: %v", lines, err)
	require.Contains(t, full.Reason, "is full", "line %d", lines)
	require.Contains(t, full.Reason, "90 days", "line %d", lines)
	lines--
	wantWhole(t, l, lines)
	other := again(t, l)
	other.now = l.now
	err = other.Write(sample(0), Durable)
	assert.That(t, errors.As(err, &full), "another process: %v", err)
	wantWhole(t, l, lines)
	r := verified(t, l)
	assert.Equal(t, r.Files, 5)
	assert.Equal(t, r.First, 1)
	*now = now.Add(91 * day)
	require.NoError(t, l.Write(sample(0), Durable))
	r = verified(t, l)
	require.That(t, r.Broken == nil, "when they are old: %+v", r)
	require.Equal(t, r.Files, 3, "when they are old")
	assert.That(t, r.First != 1, "when they are old: %+v", r)
}

// The oldest file may be of days at which the log had no least age.
func TestALogFromBeforeGoesOn(t *testing.T) {
	l := newLog(t, Limits{FileSize: 2600, Files: 4})
	writeAll(t, l, 1, 100)
	before := verified(t, l)
	require.NoError(t, l.Close())
	l.limits.MinAge = 90 * day
	writeAll(t, l, 101, 200)
	r := verified(t, l)
	require.That(t, r.Broken == nil, "%+v, before %+v", r, before)
	require.Equal(t, r.First, before.First, "%+v, before %+v", r, before)
	assert.Equal(t, r.Last, 200, "%+v, before %+v", r, before)
}

func TestMergedLinesAreInTheOrderOfTheirTimes(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	broken := errors.New("broken")
	of := func(name string, times ...int) func(func(Line, error) bool) {
		return func(yield func(Line, error) bool) {
			for _, s := range times {
				line, err := Line{Time: at(s), Call: name}, error(nil)
				if s < 0 {
					line, err = Line{}, broken
				}
				if !yield(line, err) {
					return
				}
			}
		}
	}
	var got []string
	for line, err := range merge(of("a", 1, 3, -1, 5), of("b", 2, 3, 4, 9)) {
		if err != nil {
			got = append(got, "error")
			continue
		}
		got = append(got, line.Call+string(rune('0'+line.Time.Unix())))
	}
	want := []string{"a1", "b2", "a3", "error", "b3", "b4", "a5", "b9"}
	assert.That(t, slices.Equal(got, want), "%v, want %v", got, want)
	for range merge(of("a", 1, 2), of("b", 3)) {
		break
	}
}
