package admission

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

func TestAPauseLastsFromTheFirstTime(t *testing.T) {
	state := t.TempDir()
	require.That(t, PausedSince(state) == nil, "is paused without a pause")
	first := time.Date(2026, 11, 21, 9, 30, 0, 0, time.FixedZone("", 3600))
	for _, now := range []time.Time{first, first.Add(time.Hour)} {
		require.NoError(t, Pause(state, now))
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
		if err := Pause(state, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		assert.That(t, PausedSince(state) != nil, "%s has no time", name)
	}
}

func TestResumeSaysWhetherItWasPaused(t *testing.T) {
	state := t.TempDir()
	if was, err := Resume(state); was || err != nil {
		t.Errorf("%v, %v without a pause", was, err)
	}
	require.NoError(t, Pause(state, time.Now()))
	if was, err := Resume(state); !was || err != nil || PausedSince(state) != nil {
		t.Errorf("%v, %v after a pause", was, err)
	}
}
