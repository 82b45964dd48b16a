package journal

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A change of several files keeps others out until it passes its turn on, and from then on only those that are to be alone.
func TestATurnThatIsPassedOn(t *testing.T) {
	j := newJournal(t, Limits{})
	large := require.Value(j.Alone(t.Context()))(t)
	isBusy := func(turn *Turn, err error) {
		t.Helper()
		var busy *Busy
		assert.That(t, turn == nil, "%v, %v", turn, err)
		assert.That(t, errors.As(err, &busy), "%v, %v", turn, err)
	}
	isBusy(j.Beside(endedContext()))
	isBusy(j.Alone(endedContext()))

	large.PassOn()
	isBusy(j.Alone(endedContext()))
	_, isFree := j.TryLock()
	assert.That(t, !isFree, "a lock beside the change")
	beside := require.Value(j.Beside(endedContext()))(t)
	isBusy(j.Beside(endedContext()))
	assert.That(t, !beside.BecomeAlone(), "alone beside the change")
	beside.End()

	large.End()
	beside = require.Value(j.Beside(endedContext()))(t)
	for range 2 { // it may be asked for again
		assert.That(t, beside.BecomeAlone(), "not alone")
	}
	isBusy(j.Alone(endedContext()))
	beside.End()
	unlock, isFree := j.TryLock()
	require.That(t, isFree, "a turn is left")
	unlock()
}

// What a change of several files is about is known while it is marked and begun.
func TestWhatAChangeClaims(t *testing.T) {
	j := newJournal(t, Limits{})
	turn := require.Value(j.Alone(t.Context()))(t)
	defer turn.End()
	isClaimed := func(path string) (covered, isMade bool) {
		t.Helper()
		claims, isMade, err := j.Claimed(t.Context())
		require.NoError(t, err)
		return isMade && claims.Cover(path), isMade
	}
	_, isMade := isClaimed("a.md")
	assert.That(t, !isMade, "a change without a mark")

	image := ImageOf([]byte("x"))
	e := Entry{
		ID: NewID(time.Now()), Time: time.Now(), Folders: []string{"New/Deep"}, Emptied: []string{"Old"},
		Steps: []Step{
			{Path: "P/a.md", Before: image, After: ImageOf([]byte("y"))}, {Path: "New/Deep/b.md", From: "Old/b.md", Before: image, After: image},
			{Path: "Gone/", Before: ImageOf(nil)}, {Path: "Ä/ß.md", After: image},
		},
	}
	require.NoError(t, j.Mark().Set(e.ID))
	_, isMade = isClaimed("P/a.md")
	assert.That(t, !isMade, "a change that is not begun")
	require.NoError(t, j.Begin(e, func(s Step) (io.ReadCloser, error) {
		text := "x"
		if s.Path == "Gone/" {
			text = ""
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}))
	for _, path := range []string{
		"P/a.md", "p/A.md", "Old/b.md", "New/Deep/b.md", "New/Deep/other.md", "new/deep/c/d.md", "Old/x.md", "Gone/x.md", "Gone/x/y.md", "Gone",
		"P", "New", "New/Deep", "P/a.md/x.md", "Ä/ß.md", "a\u0308/SS.md",
	} {
		covered, isMade := isClaimed(path)
		assert.That(t, isMade, "%q is free", path)
		assert.That(t, covered, "%q is free", path)
	}
	for _, path := range []string{"P/b.md", "New/b.md", "other.md", "Olde.md", "Old.md", "P/a", "Gone.md", ".obsidian/bookmarks.json"} {
		covered, _ := isClaimed(path)
		assert.That(t, !covered, "%q is taken", path)
	}
	j.Mark().Clear()
	_, isMade = isClaimed("P/a.md")
	assert.That(t, !isMade, "a change that has ended")
}

// Each of the two marks is of one change, and neither is written over.
func TestTwoMarks(t *testing.T) {
	j := newJournal(t, Limits{})
	turn := require.Value(j.Alone(t.Context()))(t)
	defer turn.End()
	large := NewID(time.Now())
	single := NewID(time.Now().Add(time.Second))
	require.NoError(t, j.Mark().Set(large))
	require.NoError(t, j.BesideMark().Durable().Set(single))
	require.NoError(t, j.Mark().Keep())
	assert.That(t, j.Mark().Set(single) != nil, "a mark is written over")
	assert.That(t, j.BesideMark().Set(large) != nil, "a mark is written over")
	for id, mark := range map[string]Mark{large: j.Mark(), single: j.BesideMark()} {
		got, isTakenBack, err := mark.read()
		require.NoError(t, err)
		assert.Equal(t, got, id)
		assert.That(t, !isTakenBack, "taken back")
	}
	j.Mark().Clear()
	assert.That(t, j.HasUnfinished(), "a change beside another one is not unfinished")
	require.NoError(t, j.Mark().Keep())
	j.BesideMark().Clear()
	assert.That(t, !j.HasUnfinished(), "a mark is left")
	broken, err := j.BesideMark().BrokenOff(context.Background())
	assert.That(t, broken == nil, "%v", broken)
	assert.NoError(t, err, "%v", broken)
}
