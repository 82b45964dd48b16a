package fake

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Whichever call fails, a file that is replaced has all of its old content or all
// of its new one, and replaced tells which.
func TestReplaceSurvivesEveryFault(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		for n := 1; ; n++ {
			dir := filepath.Join(t.TempDir(), "state")
			sys := &FailingDisk{N: n, Lasting: lasting}
			name := filepath.Join(dir, "file")
			err := ownerfiles.MakeFolder(sys, dir)
			if err == nil {
				require.NoError(t, os.WriteFile(name, []byte("before"), 0o600))
				var replaced bool
				replaced, err = ownerfiles.Replace(sys, name+".half", name, []byte("after"), time.Time{})
				text, readErr := ownerfiles.Read(name, 100)
				if readErr != nil || replaced && string(text) != "after" || !replaced && string(text) != "before" {
					t.Errorf("call %d: replaced %v: %q, %v", n, replaced, text, readErr)
				}
				_, left := os.Lstat(name + ".half")
				assert.That(t, left != nil || lasting, "call %d: the temporary file is left", n)
			}
			if sys.Calls < n {
				if err != nil || n != 9 { // mkdir, sync; create, write, sync, close, rename, sync
					t.Errorf("%d calls, %v", n-1, err)
				}
				break
			}
			assert.That(t, errors.Is(err, ErrDisk), "call %d: %v", n, err)
		}
	}
}
