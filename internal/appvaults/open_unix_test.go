//go:build unix

package appvaults

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// soon runs do, which must not wait for anybody who opens the other end of a pipe.
func soon(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: still waits", what)
	}
}

func TestAListThatIsNoRegularFileIsNone(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "list.json")
	require.NoError(t, os.WriteFile(elsewhere, []byte(`{"vaults": {"a": {"path": "/notes/A"}}}`), 0o600))
	for _, tt := range []struct {
		name string
		make func(list string) error
		want int
	}{
		{"a pipe", func(list string) error { return syscall.Mkfifo(list, 0o600) }, 0},
		{"a link to a pipe", func(list string) error {
			if err := syscall.Mkfifo(list+".pipe", 0o600); err != nil {
				return err
			}
			return os.Symlink(list+".pipe", list)
		}, 0},
		{"a device", func(list string) error { return os.Symlink("/dev/zero", list) }, 0},
		{"a folder", func(list string) error { return os.Mkdir(list, 0o700) }, 0},
		{"a link to a list", func(list string) error { return os.Symlink(elsewhere, list) }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := filepath.Join(t.TempDir(), "obsidian.json")
			require.NoError(t, tt.make(list))
			soon(t, tt.name, func() { assert.Equal(t, len(readFile(list)), tt.want) })
		})
	}
}
