//go:build unix

package ownerfiles

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// unfit are files that must not be used, by what makes them so.
var unfit = map[string]struct {
	spoil func(t *testing.T, name string)
	want  Problem
}{
	"a link": {func(t *testing.T, name string) {
		require.NoError(t, os.Rename(name, name+"-away"))
		require.NoError(t, os.Symlink(name+"-away", name))
	}, NotRegular},
	"a link to nowhere": {func(t *testing.T, name string) {
		require.NoError(t, os.Remove(name))
		require.NoError(t, os.Symlink(name+"-nowhere", name))
	}, NotRegular},
	"a folder": {func(t *testing.T, name string) {
		require.NoError(t, os.Remove(name))
		require.NoError(t, os.Mkdir(name, 0o700))
	}, NotRegular},
	"a pipe": {func(t *testing.T, name string) {
		require.NoError(t, os.Remove(name))
		require.NoError(t, syscall.Mkfifo(name, 0o600))
	}, NotRegular},
	"readable by the group": {func(t *testing.T, name string) { require.NoError(t, os.Chmod(name, 0o640)) }, Accessible},
	"writable by the group": {func(t *testing.T, name string) { require.NoError(t, os.Chmod(name, 0o620)) }, Accessible},
	"readable by others":    {func(t *testing.T, name string) { require.NoError(t, os.Chmod(name, 0o604)) }, Accessible},
	"writable by others":    {func(t *testing.T, name string) { require.NoError(t, os.Chmod(name, 0o602)) }, Accessible},
	"executable by others":  {func(t *testing.T, name string) { require.NoError(t, os.Chmod(name, 0o601)) }, Accessible},
	"of another user": {func(t *testing.T, name string) {
		if os.Geteuid() != 0 {
			t.Skip("needs to give a file away")
		}
		require.NoError(t, os.Chown(name, 4711, -1))
	}, OtherOwner},
}

func TestAnUnfitFileIsRefused(t *testing.T) {
	for name, tt := range unfit {
		t.Run(name, func(t *testing.T) {
			path := newFile(t, "text")
			tt.spoil(t, path)
			for what, err := range useAll(path) {
				wantProblem(t, what, err, tt.want)
			}
			_, err := OpenLinked(path)
			wantProblem(t, "open with links", err, tt.want)
			for _, file := range []string{path, path + "-away"} {
				info, err := os.Lstat(file)
				assert.That(t, err != nil || !info.Mode().IsRegular() || text(t, file) == "text", "%s was changed", file)
			}
			_, err = os.Lstat(path + "-nowhere")
			assert.ErrorIs(t, err, fs.ErrNotExist, "something was made through a link")
		})
	}
}

func TestAnUnfitFolderIsRefused(t *testing.T) {
	for name, tt := range unfit {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Dir(newFile(t, ""))
			want := tt.want
			switch want {
			case NotRegular:
				require.NoError(t, os.RemoveAll(dir))
				require.NoError(t, os.WriteFile(dir, nil, 0o600))
				want = NotFolder
				if name == "a folder" {
					return // that is what it should be
				}
			case Accessible:
				require.NoError(t, os.Chmod(dir, 0o700))
			}
			tt.spoil(t, dir)
			wantProblem(t, "check", CheckFolder(dir), want)
			wantProblem(t, "make", MakeFolder(Disk{}, dir), want)
		})
	}
	dir := filepath.Dir(newFile(t, ""))
	require.NoError(t, os.Symlink(dir, dir+"-link"))
	wantProblem(t, "a link to a folder", CheckFolder(dir+"-link"), NotFolder)
}

// What changes between the check of a name and the opening is seen on the open file.
func TestAnUnfitFileIsRefusedWhenItAppearsLate(t *testing.T) {
	for name, tt := range unfit {
		t.Run(name, func(t *testing.T) {
			path := newFile(t, "text")
			late := func(string, fs.FileInfo) error {
				tt.spoil(t, path)
				return nil
			}
			if file, err := open(path, os.O_RDONLY, late, checkOpened); err == nil {
				file.Close()
				t.Error("it was opened")
			}
		})
	}
}

func TestCreateFollowsNoLink(t *testing.T) {
	name := newFile(t, "text")
	require.NoError(t, os.Symlink(name+"-nowhere", name+"-link"))
	_, err := (Disk{}).Create(name + "-link")
	assert.That(t, err != nil, "a file was made through a link")
	_, err = os.Lstat(name + "-nowhere")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	// A temporary file that another user has put there is not written through.
	require.NoError(t, os.Symlink(name, name+".half"))
	_, err = Replace(Disk{}, name+".half", name+"-other", []byte("new"), time.Time{})
	assert.NoError(t, err)
	assert.Equal(t, text(t, name), "text", "it was written through a link")
	assert.Equal(t, text(t, name+"-other"), "new", "it was written through a link")
}

// The lock is that of flock(2), which other versions of the program take.
func TestTheLockIsThatOfTheSystem(t *testing.T) {
	path := newFile(t, "")
	file := require.Value(os.Open(path))(t)
	defer file.Close()
	require.NoError(t, syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	_, err := Lock(context.Background(), path, time.Millisecond)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, syscall.Flock(int(file.Fd()), syscall.LOCK_UN))
	unlock := require.Value(Lock(context.Background(), path, 0))(t)
	assert.ErrorIs(t, syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
	unlock()
}

func TestReadingWhereNothingCanBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser writes everywhere")
	}
	name := newFile(t, "text")
	require.NoError(t, os.Chmod(filepath.Dir(name), 0o500))
	defer os.Chmod(filepath.Dir(name), 0o700)
	unlock := require.Value(LockToRead(name+"-lock", time.Second))(t)
	unlock()
	_, err := Lock(context.Background(), name+"-lock", time.Second)
	assert.ErrorIs(t, err, fs.ErrPermission)
}
