package consent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestWhatAStandingYesCovers(t *testing.T) {
	s := newStanding(newClock().now)
	s.grant("Notes", "Work/Inbox")
	for _, test := range []struct {
		vault, note string
		want        bool
	}{
		{"Notes", "Work/Inbox/a.md", true},
		{"Notes", "work/inbox/a.md", false},
		{"Other", "Work/Inbox/a.md", false},
		{"", "Work/Inbox/a.md", false},
		{"Notes", `Work/Inbox/..\..\a.md`, false},
		{"Notes", `Work\Inbox\a.md`, false},
		{"Notes", "Work/Inbox/.. /a.md", false},
		{"Notes", "Work/Inbox/.../a.md", false},
		{"Notes", "Work/Inbox/.obsidian/a.json", false},
		{"Notes", "Work/Inbox/a.md.", false},
		{"Notes", "Work/Inbox/a\x00.md", false},
		{"Notes", "", false},
		{"Notes", "Work/Inbox/" + strings.Repeat("a/", maxPath) + "a.md", false},
	} {
		got := s.covers(test.vault, test.note, false)
		assert.That(t, got == test.want, "%q %q: %v", test.vault, test.note, got)
	}
}

func TestAStandingYesNeverCoversWhatDestroys(t *testing.T) {
	s := newStanding(newClock().now)
	s.grant("v", "a")
	segment := rapid.SampledFrom([]string{"a", "b", "ab", "A", "..", ".", ""})
	rapid.Check(t, func(t *rapid.T) {
		note := strings.Join(rapid.SliceOf(segment).Draw(t, "note"), "/")
		require.That(t, !s.covers("v", note, true), "%q", note)
		// Nothing but the folder itself, and nothing that leads out of it.
		want := strings.HasPrefix(note, "a/") && !strings.Contains(note, ".") && !strings.Contains(note, "//") && !strings.HasSuffix(note, "/")
		require.Equal(t, s.covers("v", note, false), want, "%q", note)
	})
}

func TestAStandingYesExpires(t *testing.T) {
	c := newClock()
	s := newStanding(c.now)
	s.grant("v", "a")
	c.pass(standingLife - 1)
	assert.That(t, s.covers("v", "a/b.md", false), "too early")
	c.pass(1)
	assert.That(t, !s.covers("v", "a/b.md", false), "too late")
	c.pass(-time.Hour)
	assert.That(t, !s.covers("v", "a/b.md", false), "a clock put back brought it back")
	s.grant("v", "a")
	c.pass(standingLife - 1)
	s.grant("v", "a")
	c.pass(standingLife - 1)
	assert.That(t, s.covers("v", "a/b.md", false), "the second yes does not count")
}

func TestWhatCannotBeGranted(t *testing.T) {
	s := newStanding(newClock().now)
	for _, folder := range []string{"", "/", ".", "a/", "/a", "..", "a/../b", `a\b`, ".obsidian", "a "} {
		s.grant("v", folder)
	}
	assert.Equal(t, len(s.until), 0, "granted")
}

func TestStandingAnswersAreBounded(t *testing.T) {
	c := newClock()
	s := newStanding(c.now)
	for i := range maxStanding {
		s.grant("v", fmt.Sprint("a", i))
	}
	c.pass(time.Minute)
	s.grant("v", "b")
	assert.Equal(t, len(s.until), maxStanding, "%d are kept", len(s.until))
	assert.That(t, !s.covers("v", "b/c.md", false), "%d are kept", len(s.until))
	s.grant("v", "a1") // no new one
	c.pass(standingLife - time.Minute)
	s.grant("v", "b")
	assert.Equal(t, len(s.until), 2, "%d are kept", len(s.until))
	assert.That(t, s.covers("v", "a1/c.md", false), "%d are kept", len(s.until))
	assert.That(t, s.covers("v", "b/c.md", false), "%d are kept", len(s.until))
}

// What an agent was allowed before it was revoked covers nothing.
func TestVoidTakesStandingApprovalsBack(t *testing.T) {
	a := New("", nil)
	a.standing.grant("Notes", "Inbox")
	require.That(t, a.standing.covers("Notes", "Inbox/a.md", false), "it is not granted")
	a.Void("ann")
	assert.That(t, !a.standing.covers("Notes", "Inbox/a.md", false), "it covers the folder still")
}
