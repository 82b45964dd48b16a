package consent

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

func TestWhatAStandingYesCovers(t *testing.T) {
	c := newClock()
	s := NewStanding(c.now)
	require.NoError(t, s.Grant("Notes", "Work/Inbox", c.now().Add(time.Hour)))
	for _, test := range []struct {
		vault, note       string
		destructive, want bool
	}{
		{"Notes", "Work/Inbox/a.md", false, true},
		{"Notes", "Work/Inbox/deep/er/a.md", false, true},
		{"Notes", "Work/Inbox/a.md", true, false},
		{"Other", "Work/Inbox/a.md", false, false},
		{"", "Work/Inbox/a.md", false, false},
		{"Notes", "Work/Inbox", false, false},
		{"Notes", "Work/Inbox2/a.md", false, false},
		{"Notes", "Work/Inbox.md", false, false},
		{"Notes", "Work/a.md", false, false},
		{"Notes", "Inbox/a.md", false, false},
		{"Notes", "a/Work/Inbox/a.md", false, false},
		{"Notes", "work/inbox/a.md", false, false},
		{"Notes", "Work/Inbox/../a.md", false, false},
		{"Notes", "Work/Inbox/./a.md", false, false},
		{"Notes", "Work/Inbox//a.md", false, false},
		{"Notes", "/Work/Inbox/a.md", false, false},
		{"Notes", "Work/Inbox/", false, false},
		{"Notes", `Work/Inbox/..\..\a.md`, false, false},
		{"Notes", `Work\Inbox\a.md`, false, false},
		{"Notes", "Work/Inbox/.. /a.md", false, false},
		{"Notes", "Work/Inbox/.../a.md", false, false},
		{"Notes", "Work/Inbox/.obsidian/a.json", false, false},
		{"Notes", "Work/Inbox/a.md.", false, false},
		{"Notes", "Work/Inbox/a\x00.md", false, false},
		{"Notes", "", false, false},
		{"Notes", "Work/Inbox/" + strings.Repeat("a/", maxPath) + "a.md", false, false},
	} {
		got := s.Covers(test.vault, test.note, test.destructive)
		assert.That(t, got == test.want, "%q %q, destructive %v: %v", test.vault, test.note, test.destructive, got)
	}
}

func TestAStandingYesNeverCoversWhatDestroys(t *testing.T) {
	c := newClock()
	s := NewStanding(c.now)
	require.NoError(t, s.Grant("v", "a", c.now().Add(time.Hour)))
	segment := rapid.SampledFrom([]string{"a", "b", "ab", "A", "..", ".", ""})
	rapid.Check(t, func(t *rapid.T) {
		note := strings.Join(rapid.SliceOf(segment).Draw(t, "note"), "/")
		require.That(t, !s.Covers("v", note, true), "%q", note)
		// Nothing but the folder itself, and nothing that leads out of it.
		want := strings.HasPrefix(note, "a/") && !strings.Contains(note, ".") && !strings.Contains(note, "//") && !strings.HasSuffix(note, "/")
		require.Equal(t, s.Covers("v", note, false), want, "%q", note)
	})
}

func TestAStandingYesExpires(t *testing.T) {
	c := newClock()
	s := NewStanding(c.now)
	require.NoError(t, s.Grant("v", "a", c.now().Add(time.Minute)))
	c.pass(time.Minute - 1)
	assert.That(t, s.Covers("v", "a/b.md", false), "too early")
	c.pass(1)
	assert.That(t, !s.Covers("v", "a/b.md", false), "too late")
	c.pass(-time.Hour)
	assert.That(t, !s.Covers("v", "a/b.md", false), "a clock put back brought it back")
	// A second yes replaces the first, also with a shorter one.
	require.NoError(t, s.Grant("v", "a", c.now().Add(time.Hour)))
	require.NoError(t, s.Grant("v", "a", c.now().Add(time.Minute)))
	c.pass(time.Minute)
	assert.That(t, !s.Covers("v", "a/b.md", false), "the first one counted")
	require.NoError(t, s.Grant("v", "a", c.now().Add(time.Hour)))
	clear(s.until)
	assert.That(t, !s.Covers("v", "a/b.md", false), "taken back, and covers")
}

func TestWhatCannotBeGranted(t *testing.T) {
	c := newClock()
	s := NewStanding(c.now)
	soon := c.now().Add(time.Hour)
	for _, test := range []struct {
		vault, folder string
		until         time.Time
	}{
		{"", "a", soon}, {"v", "", soon}, {"v", "/", soon}, {"v", ".", soon}, {"v", "a/", soon}, {"v", "/a", soon},
		{"v", "..", soon}, {"v", "a/../b", soon}, {"v", `a\b`, soon}, {"v", ".obsidian", soon}, {"v", "a ", soon},
		{"v", "a", time.Time{}}, {"v", "a", c.now()}, {"v", "a", c.now().Add(maxSession + 1)},
		{"v", "a", time.Unix(1<<40, 0)},
	} {
		var invalid *Invalid
		err := s.Grant(test.vault, test.folder, test.until)
		assert.That(t, errors.As(err, &invalid), "%q %q %v: %v", test.vault, test.folder, test.until, err)
	}
	assert.That(t, len(s.until) == 0, "%d were granted", len(s.until))
}

func TestStandingAnswersAreBounded(t *testing.T) {
	c := newClock()
	s := NewStanding(c.now)
	for i := range maxStanding {
		require.NoError(t, s.Grant("v", fmt.Sprint("a", i), c.now().Add(time.Minute)))
	}
	var full *Full
	err := s.Grant("v", "b", c.now().Add(time.Minute))
	assert.That(t, errors.As(err, &full), "%v", err)
	require.NoError(t, s.Grant("v", "a1", c.now().Add(time.Minute))) // no new one
	c.pass(time.Minute)
	require.NoError(t, s.Grant("v", "b", c.now().Add(time.Minute)))
	assert.That(t, len(s.until) == 1, "%d are kept", len(s.until))
}

func TestTheZeroStandingCoversNothing(t *testing.T) {
	var s Standing
	assert.That(t, !s.Covers("v", "a/b.md", false), "it does")
	var full *Full
	err := s.Grant("v", "a", time.Now().Add(time.Minute))
	assert.That(t, errors.As(err, &full), "%v", err)
	clear(s.until)
}

// What an agent was allowed before it was revoked covers nothing.
func TestVoidTakesStandingApprovalsBack(t *testing.T) {
	a := New("", nil)
	err := a.standing.Grant("Notes", "Inbox", time.Now().Add(time.Hour))
	require.That(t, err == nil && a.standing.Covers("Notes", "Inbox/a.md", false), "%v", err)
	a.Void("ann")
	assert.That(t, !a.standing.Covers("Notes", "Inbox/a.md", false), "it covers the folder still")
}
