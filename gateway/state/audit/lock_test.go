package audit

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"

	"vaultwicket/tests/require"
)

func TestALockThatIsHeldIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(t, Limits{})
		writeAll(t, l, 1, 1)
		unlock, err := again(t, l).lock()
		require.NoError(t, err)
		var busy *Busy
		if err := l.Write(sample(2), false); !errors.As(err, &busy) {
			t.Errorf("write: %v", err)
		}
		if _, err := Verify(l.folder.dir); !errors.As(err, &busy) {
			t.Errorf("verify: %v", err)
		}
		for _, err := range List(l.folder.dir, Filter{}) {
			if !errors.As(err, &busy) {
				t.Errorf("list: %v", err)
			}
		}
		unlock()
		writeAll(t, l, 2, 2)
		wantWhole(t, l, 2)
	})
}

func TestAFolderThatGoesAwayIsMadeAnew(t *testing.T) {
	l := newLog(t, Limits{})
	digest := l.Digest("text")
	require.NoError(t, os.RemoveAll(l.folder.dir))
	writeAll(t, l, 1, 1)
	wantWhole(t, l, 1)
	if l.Digest("text") != digest || again(t, l).Digest("text") != digest {
		t.Error("another key")
	}
}
