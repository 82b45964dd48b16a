package admission

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func codeOf(err error) string {
	var coded failure.CodedError
	if errors.As(err, &coded) {
		return coded.Code()
	}
	return ""
}

func TestOneAgentIsPausedOrRevoked(t *testing.T) {
	state := t.TempDir()
	cursor, other, nobody := New("cursor", Limits{}, false, state, nil), New("cursor.2", Limits{}, false, state, nil), New("", Limits{}, false, state, nil)
	check := func(what, want string) {
		t.Helper()
		assert.Equal(t, codeOf(cursor.Open()), want, "%s", what)
		if cursor.Paused() != (want != "") || other.Open() != nil || nobody.Open() != nil || other.Paused() || nobody.Paused() {
			t.Errorf("%s: others: %v, %v", what, other.Open(), nobody.Open())
		}
	}
	must := func(err error) {
		t.Helper()
		require.NoError(t, err)
	}
	check("at first", "")
	must(Pause(state, "cursor", time.Now()))
	must(Pause(state, "cursor", time.Now()))
	check("paused", "paused")
	must(RevokeAgent(state, "cursor", time.Now()))
	check("revoked too", "agent_denied")
	was, err := Resume(state, "cursor")
	assert.That(t, was && err == nil, "%v, %v", was, err)
	check("revoked", "agent_denied")
	was, err = RestoreAgent(state, "cursor")
	assert.That(t, was && err == nil, "%v, %v", was, err)
	check("restored", "")
	was, err = RestoreAgent(state, "cursor")
	assert.That(t, !was && err == nil, "%v, %v", was, err)
	must(os.RemoveAll(state))
	must(os.WriteFile(state, nil, 0o600))
	assert.Equal(t, codeOf(cursor.Open()), failure.CodeState, "without a state folder")
}

// A call under way ends soon after its agent is paused.
func TestACallEndsWithItsAgent(t *testing.T) {
	state := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := New("cursor", Limits{}, false, state, nil).Follow(t.Context(), func() bool { return false })
		defer cancel()
		time.Sleep(10 * time.Second)
		require.That(t, ctx.Err() == nil, "it ended by itself")
		require.NoError(t, Pause(state, "cursor", time.Now()))
		time.Sleep(2 * lookAgain)
		assert.That(t, errors.Is(ctx.Err(), context.Canceled), "it goes on")
		again, cancelAgain := New("other", Limits{}, false, state, nil).Follow(t.Context(), func() bool { return false })
		time.Sleep(time.Second)
		assert.That(t, again.Err() == nil, "the call of another agent ended")
		cancelAgain()
	})
}

// A call ends soon after the rights of its agent, and one whose agent has some goes on.
func TestACallEndsWithTheRightsOfItsAgent(t *testing.T) {
	var over atomic.Bool
	a := New("cursor", Limits{}, false, "", nil)
	ending, end := a.Follow(t.Context(), over.Load)
	defer end()
	going, end := a.Follow(t.Context(), func() bool { return false })
	defer end()
	over.Store(true)
	select {
	case <-ending.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the call goes on")
	}
	assert.That(t, going.Err() == nil, "another call has ended")
}

func TestAPauseLastsFromTheFirstTime(t *testing.T) {
	state := t.TempDir()
	require.That(t, PausedSince(state) == nil, "is paused without a pause")
	first := time.Date(2026, 11, 21, 9, 30, 0, 0, time.FixedZone("", 3600))
	for _, now := range []time.Time{first, first.Add(time.Hour)} {
		require.NoError(t, Pause(state, "", now))
		since := PausedSince(state)
		assert.That(t, since != nil && since.Equal(first), "paused since %v, want %v", since, first)
	}
}

// A pause is that something has the name. The time in it may be missing, and then
// that of the file stands for it.
func TestWhateverHasTheNameIsAPause(t *testing.T) {
	for name, make := range map[string]func(string) error{
		"an empty file":           func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"a file without a time":   func(name string) error { return os.WriteFile(name, []byte("yesterday"), 0o600) },
		"a folder":                func(name string) error { return os.Mkdir(name, 0o700) },
		"a link that leads to it": func(name string) error { return os.Symlink(filepath.Dir(name), name) },
		"a link that leads away":  func(name string) error { return os.Symlink("nowhere", name) },
	} {
		state := t.TempDir()
		if err := make(PauseFile(state)); err != nil {
			t.Skip(err)
		}
		assert.NoError(t, Pause(state, "", time.Now()), "%s", name)
		assert.That(t, PausedSince(state) != nil, "%s has no time", name)
	}
}

func TestResumeSaysWhetherItWasPaused(t *testing.T) {
	state := t.TempDir()
	was, err := Resume(state, "")
	assert.That(t, !was && err == nil, "%v, %v without a pause", was, err)
	require.NoError(t, Pause(state, "", time.Now()))
	was, err = Resume(state, "")
	assert.That(t, was && err == nil && PausedSince(state) == nil, "%v, %v after a pause", was, err)
}
