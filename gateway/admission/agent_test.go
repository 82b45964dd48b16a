package admission

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
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
	cursor, other, nobody := New("cursor", Limits{}, state, nil), New("cursor.2", Limits{}, state, nil), New("", Limits{}, state, nil)
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
	assert.That(t, was, "%v, %v", was, err)
	assert.NoError(t, err)
	check("revoked", "agent_denied")
	must(RenewAgent(state, "cursor"))
	check("renewed", "")
	must(RenewAgent(state, "cursor"))
	check("renewed again", "")
	must(os.RemoveAll(state))
	must(os.WriteFile(state, nil, 0o600))
	assert.Equal(t, codeOf(cursor.Open()), failure.CodeState, "without a state folder")
}

// A call under way ends soon after its agent is paused.
func TestACallEndsWithItsAgent(t *testing.T) {
	state := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := New("cursor", Limits{}, state, nil).Follow(t.Context(), func() bool { return false })
		defer cancel()
		time.Sleep(10 * time.Second)
		require.That(t, ctx.Err() == nil, "it ended by itself")
		require.NoError(t, Pause(state, "cursor", time.Now()))
		time.Sleep(2 * checkInterval)
		assert.That(t, errors.Is(ctx.Err(), context.Canceled), "it goes on")
		again, cancelAgain := New("other", Limits{}, state, nil).Follow(t.Context(), func() bool { return false })
		time.Sleep(time.Second)
		assert.That(t, again.Err() == nil, "the call of another agent ended")
		cancelAgain()
	})
}

// A call ends soon after the rights of its agent, and one whose agent has some goes on.
func TestACallEndsWithTheRightsOfItsAgent(t *testing.T) {
	var over atomic.Bool
	a := New("cursor", Limits{}, "", nil)
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
		require.That(t, since != nil, "paused since %v, want %v", since, first)
		assert.That(t, since.Equal(first), "paused since %v, want %v", since, first)
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
	assert.That(t, !was, "a pause was ended, and there was none")
	assert.NoError(t, err, "without a pause")
	require.NoError(t, Pause(state, "", time.Now()))
	was, err = Resume(state, "")
	assert.That(t, was, "after a pause")
	require.Equal(t, err, nil, "after a pause")
	assert.That(t, PausedSince(state) == nil, "paused since %v", PausedSince(state))
}

// Each renewal, and each revocation, ends what came before, also in a process that is running.
func TestEachRenewalIsAnotherGeneration(t *testing.T) {
	state := t.TempDir()
	standings, voided := NewStandings(state), 0
	a := New("cursor", Limits{}, state, nil)
	a.OnRenewal(func() { voided++ })
	seen := map[string]bool{"": true}
	assert.Equal(t, a.Generation(), "", "at first")
	for i, change := range []func() error{
		func() error { return RenewAgent(state, "cursor") },
		func() error { return RenewAgent(state, "cursor") },
		func() error {
			return errors.Join(RevokeAgent(state, "cursor", time.Now()), RenewAgent(state, "cursor"))
		},
	} {
		require.NoError(t, change())
		require.NoError(t, a.Open())
		known, err := standings.Of("cursor")
		require.NoError(t, err)
		assert.That(t, !known.Revoked, "change %d: revoked", i)
		assert.That(t, !known.Since.IsZero(), "change %d: it has no time", i)
		assert.That(t, !seen[known.Generation], "change %d: the generation %q again", i, known.Generation)
		seen[known.Generation] = true
		assert.Equal(t, a.Generation(), known.Generation, "change %d: of the calls", i)
		assert.Equal(t, voided, i+1, "change %d: times that what the agent had was voided", i)
	}
	assert.Equal(t, New("cursor", Limits{}, state, nil).Generation(), a.Generation(), "of a server that is started later")
	other, err := standings.Of("other")
	require.Equal(t, err, nil, "another agent")
	assert.Equal(t, other, Standing{}, "another agent")
	if runtime.GOOS == "windows" {
		return // modes are made up there
	}
	require.NoError(t, os.Chmod(agentRevokedFile(state, "cursor"), 0o644))
	_, err = standings.Of("cursor")
	assert.NoError(t, err, "a mark that was seen before")
	assert.Equal(t, codeOf(New("cursor", Limits{}, state, nil).Open()), failure.CodeState, "a mark that others can read")
}

// A call that was made with the credentials of before ends soon after they were renewed.
func TestACallEndsWithItsCredentials(t *testing.T) {
	state := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := New("cursor", Limits{}, state, nil)
		before, end := a.Follow(t.Context(), func() bool { return false })
		defer end()
		require.NoError(t, RevokeAgent(state, "cursor", time.Now()))
		require.NoError(t, RenewAgent(state, "cursor")) // sooner than anything has looked
		time.Sleep(2 * checkInterval)
		assert.That(t, errors.Is(before.Err(), context.Canceled), "it goes on")
		after, end := a.Follow(t.Context(), func() bool { return false })
		defer end()
		time.Sleep(10 * time.Second)
		assert.NoError(t, after.Err(), "a call that was made later")
	})
}
