package journal

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"vaultwicket/tests/require"
)

// A writer that ended is not told of, and one that was killed is, since when it
// was, until a process has looked at it.
func TestInterrupted(t *testing.T) {
	j := openAt(filepath.Join(t.TempDir(), "journal"), t.TempDir(), Limits{})
	unlock, err := j.Lock(context.Background())
	require.NoError(t, err)
	defer unlock()
	expect := func(when string, want bool) {
		t.Helper()
		if since, killed := j.Interrupted(); killed != want || killed == since.IsZero() || killed && time.Since(since) > time.Hour {
			t.Errorf("%s: %v since %v", when, killed, since)
		}
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
