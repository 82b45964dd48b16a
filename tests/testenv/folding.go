package testenv

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// FileSystem is a file system whose names fold.
type FileSystem string

const (
	// APFS finds a name in every case and normal form, and lists it as it was
	// written.
	APFS FileSystem = "APFS"
	// HFS is APFS that stores names decomposed.
	HFS FileSystem = "HFS+"
	// NTFS is APFS with short names.
	NTFS FileSystem = "NTFS"
)

// FoldingDir returns an empty folder on a file system of this kind, or on the one of the
// machine if that folds names. The test is skipped where there is neither.
func FoldingDir(t testing.TB, kind FileSystem) string {
	t.Helper()
	if dir := t.TempDir(); FoldsNames(t, dir) {
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
	at := require.Value(mounts[kind]())(t)
	dir := require.Value(os.MkdirTemp(at.folder, ""))(t)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// FoldsNames reports whether a folder takes spellings of a name for the same.
func FoldsNames(t testing.TB, dir string) bool {
	t.Helper()
	probe := filepath.Join(dir, "Probe")
	require.NoError(t, os.WriteFile(probe, nil, 0o600))
	defer os.Remove(probe)
	_, err := os.Stat(filepath.Join(dir, "pROBE"))
	return err == nil
}

// mounts has the file systems that the tests of this process share.
var mounts = map[FileSystem]func() (mounted, error){
	APFS: sync.OnceValues(func() (mounted, error) { return mount() }),
	HFS:  sync.OnceValues(func() (mounted, error) { return mount("-nfd") }),
	NTFS: sync.OnceValues(func() (mounted, error) { return mount("-short") }),
}

// mounted is a file system that is there until this process ends, which closes stdin.
type mounted struct {
	folder string
	stdin  io.Closer
}

func mount(args ...string) (m mounted, err error) {
	cmd := exec.Command("go", append([]string{"run", "github.com/vaultwicket/vaultwicket/tests/programs/foldfs"}, args...)...)
	cmd.Env = append(os.Environ(), "GOOS=", "GOARCH=", "GOFLAGS=")
	cmd.Stderr = os.Stderr
	stdin, inErr := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return mounted{}, err
	}
	if err := cmd.Start(); err != nil {
		return mounted{}, err
	}
	said, err := bufio.NewReader(stdout).ReadString('\n')
	return mounted{strings.TrimSuffix(said, "\n"), stdin}, err
}
