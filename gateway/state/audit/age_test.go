package audit

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

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
	require.That(t, r.Broken == nil && r.Files >= 10 && r.First == 1 && r.Lines == 100 && r.Since.Equal(begin), "on the first day: %+v", r)
	*now = now.Add(89 * day)
	writeAll(t, l, 101, 110)
	wantWhole(t, l, 110)
	*now = now.Add(day) // the first hundred are ninety days old
	writeAll(t, l, 111, 120)
	r = verified(t, l)
	require.That(t, r.Broken == nil && r.First != 1 && r.First <= 101 && r.Last == 120, "after ninety days: %+v", r)
	assert.That(t, r.Files <= 8, "%d files are left", r.Files)
	first := listed(t, l, Filter{})[0]
	assert.That(t, first.Seq == r.First && r.Since.Equal(first.Time), "the first line is %d of %v, the report says %d of %v", first.Seq, first.Time, r.First, r.Since)
}

// A log that is full of young lines takes no more, and loses none. Old files that
// were too many go at once.
func TestALogFullOfYoungLinesTakesNoMore(t *testing.T) {
	l, now := aging(t, Limits{FileSize: 2600, Files: 3, MinAge: 90 * day, MaxFiles: 5})
	lines := 0
	var err error
	for ; err == nil && lines < 1000; lines++ {
		err = l.Write(sample(lines), true)
	}
	var full *Unusable
	require.That(t, errors.As(err, &full) && strings.Contains(full.Reason, "is full") && strings.Contains(full.Reason, "90 days"), "line %d: %v", lines, err)
	lines--
	wantWhole(t, l, lines)
	other := again(t, l)
	other.now = l.now
	if err := other.Write(sample(0), true); !errors.As(err, &full) {
		t.Errorf("another process: %v", err)
	}
	wantWhole(t, l, lines)
	if r := verified(t, l); r.Files != 5 || r.First != 1 {
		t.Errorf("%+v", r)
	}
	*now = now.Add(91 * day)
	require.NoError(t, l.Write(sample(0), true))
	if r := verified(t, l); r.Broken != nil || r.Files != 3 || r.First == 1 {
		t.Errorf("when they are old: %+v", r)
	}
}

// The oldest file may be of days at which the log had no least age.
func TestALogFromBeforeGoesOn(t *testing.T) {
	l := newLog(t, Limits{FileSize: 2600, Files: 4})
	writeAll(t, l, 1, 100)
	before := verified(t, l)
	require.NoError(t, l.Close())
	l.limits = Limits{FileSize: 2600, Files: 4, MinAge: 90 * day}.orDefaults()
	writeAll(t, l, 101, 200)
	r := verified(t, l)
	assert.That(t, r.Broken == nil && r.First == before.First && r.Last == 200, "%+v, before %+v", r, before)
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
