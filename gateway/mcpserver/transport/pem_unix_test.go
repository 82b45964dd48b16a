//go:build unix

package transport

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestACertificateIsReadFromARegularFileOnly(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(path string) error
		want string
	}{
		{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is not a regular file"},
		{"a device", func(path string) error { return os.Symlink("/dev/zero", path) }, "is not a regular file"},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, "is not a regular file"},
		{"too large", func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<20+1))
		}, "is larger than"},
		{"nothing", func(string) error { return nil }, "cannot be read"},
		{"a link to a file", func(path string) error {
			return errors.Join(os.WriteFile(path+".real", []byte("no PEM"), 0o600), os.Symlink(path+".real", path))
		}, "cannot be used with its key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file.pem")
			require.NoError(t, tt.make(path))
			answer := make(chan error, 1)
			go func() {
				_, err := certificate(HTTPConfig{Addr: "127.0.0.1:0", TLSCert: path, TLSKey: path})
				answer <- err
			}()
			select {
			case err := <-answer:
				var setting *SettingError
				require.That(t, errors.As(err, &setting), "%v; want %q", err, tt.want)
				assert.Contains(t, err.Error(), tt.want)
			case <-time.After(20 * time.Second):
				t.Error("still waits")
			}
		})
	}
}
