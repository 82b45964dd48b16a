// Package folding gives tests a folder in which a file answers to several
// spellings of its name, as on Windows and macOS.
package folding

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// Kind is a file system whose names fold.
type Kind string

const (
	// APFS finds a name in every case and normal form, and lists it as it was
	// written.
	APFS Kind = ""
	// HFS is APFS that stores names decomposed.
	HFS Kind = "-nfd"
	// NTFS is APFS with short names.
	NTFS Kind = "-short"
)

// Dir returns an empty folder on a file system of this kind, or on the one of the
// machine if that folds names. The test is skipped where there is neither.
func Dir(t testing.TB, kind Kind) string {
	t.Helper()
	if dir := t.TempDir(); Folds(t, dir) {
		return dir
	}
	if runtime.GOOS != "linux" {
		t.Skip("this file system tells the spellings of a name apart, and there is no other here")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("no FUSE: ", err)
	}
	if _, err := exec.LookPath("fusermount3"); err != nil && os.Geteuid() != 0 {
		t.Skip("only root mounts without fusermount3")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the file system is built for the test: ", err)
	}
	return mount(t, kind)
}

// Folds reports whether a folder takes spellings of a name for the same.
func Folds(t testing.TB, dir string) bool {
	t.Helper()
	probe := filepath.Join(dir, "Probe")
	require.NoError(t, os.WriteFile(probe, nil, 0o600))
	defer os.Remove(probe)
	_, err := os.Stat(filepath.Join(dir, "pROBE"))
	return err == nil
}

func mount(t testing.TB, kind Kind) string {
	t.Helper()
	args := []string{"run", "vaultwicket/tests/foldfs"}
	if kind != APFS {
		args = append(args, string(kind))
	}
	point := t.TempDir()
	cmd := exec.Command("go", append(args, t.TempDir(), point)...)
	cmd.Env = append(os.Environ(), "GOOS=", "GOARCH=", "GOFLAGS=")
	cmd.Stderr = os.Stderr
	stdin := require.Value(cmd.StdinPipe())(t)
	stdout := require.Value(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	said, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || strings.TrimSpace(said) != "mounted" {
		stdin.Close()
		t.Fatalf("the folding file system says %q, %v: %v", said, err, cmd.Wait())
	}
	t.Cleanup(func() {
		stdin.Close()
		assert.NoError(t, cmd.Wait(), "the folding file system")
	})
	return point
}
