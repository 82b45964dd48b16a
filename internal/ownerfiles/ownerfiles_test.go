package ownerfiles

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// newFile returns the name of a file in a folder, both of this user alone.
func newFile(t testing.TB, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "private")
	require.NoError(t, os.Mkdir(dir, 0o700))
	name := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func wantProblem(t testing.TB, what string, err error, want Problem) {
	t.Helper()
	var unsafe *Unsafe
	if !errors.As(err, &unsafe) || unsafe.Problem != want || unsafe.Reason() == "" {
		t.Errorf("%s: %v, want %q", what, err, reasons[want])
	}
}

func text(t testing.TB, name string) string {
	t.Helper()
	return string(require.Value(os.ReadFile(name))(t))
}

func TestASecondHardLinkIsRefused(t *testing.T) {
	name := newFile(t, "text")
	require.NoError(t, os.Link(name, name+"-second"))
	for what, err := range useAll(name) {
		wantProblem(t, what, err, HardLinked)
	}
	assert.That(t, text(t, name) == "text", "it was changed")
	file := require.Value(OpenLinked(name))(t)
	require.NoError(t, file.Close())
}

// useAll uses the file at name in every way that checks it, and returns the errors.
func useAll(name string) map[string]error {
	_, open := Open(name, os.O_RDONLY)
	_, read := Read(name, 10)
	_, opened := Disk{}.Open(name, os.O_RDWR)
	_, lock := Lock(context.Background(), name, time.Second)
	_, lockToRead := LockToRead(name, time.Second)
	return map[string]error{
		"open": open, "read": read, "open to write": opened, "truncate": Disk{}.Truncate(name, 0),
		"lock": lock, "lock to read": lockToRead,
	}
}

func TestAFileThatIsReplacedWhileItIsOpenedIsRefused(t *testing.T) {
	name := newFile(t, "text")
	require.NoError(t, os.WriteFile(name+"-other", nil, 0o600))
	replace := func(name string, info fs.FileInfo) error {
		return errors.Join(os.Rename(name+"-other", name), CheckFile(name, info))
	}
	_, err := open(name, os.O_RDONLY, replace, checkOpened)
	wantProblem(t, "open", err, Replaced)
}

func TestAnOrdinaryFileIsUsed(t *testing.T) {
	name := newFile(t, "text")
	data, err := Read(name, 2)
	require.Equal(t, err, nil, "%q, %v: want one byte more than the limit", data, err)
	assert.Equal(t, string(data), "tex", "%q, %v: want one byte more than the limit", data, err)
	require.NoError(t, Disk{}.Truncate(name, 2))
	assert.That(t, text(t, name) == "te", "it has another size")
	_, err = Open(name+"-missing", os.O_RDONLY)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestCreateNeverOpensWhatExists(t *testing.T) {
	name := newFile(t, "text")
	_, err := (Disk{}).Create(name)
	assert.ErrorIs(t, err, fs.ErrExist)
	file := require.Value(Disk{}.Create(name + "-new"))(t)
	_, err = file.Write([]byte("new"))
	require.NoError(t, errors.Join(err, file.Close()))
	if info, err := os.Stat(name + "-new"); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestReplace(t *testing.T) {
	name := newFile(t, "before")
	half := name + ".half"
	require.NoError(t, os.WriteFile(half, []byte("left behind by a process that was killed"), 0o600))
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	replaced, err := Replace(Disk{}, half, name, []byte("after"), then)
	require.That(t, replaced, "%v %v", replaced, err)
	require.NoError(t, err)
	if info, err := os.Stat(name); err != nil || !info.ModTime().Equal(then) {
		t.Errorf("%v, %v", info.ModTime(), err)
	}
	_, err = os.Lstat(half)
	assert.Equal(t, text(t, name), "after", "%v %v", text(t, name), err)
	assert.ErrorIs(t, err, fs.ErrNotExist, "%v %v", text(t, name), err)
}

func TestMakeFolder(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "a", "b")
	require.NoError(t, MakeFolder(Disk{}, dir))
	require.NoError(t, MakeFolder(Disk{}, dir))
	for _, name := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	wantProblem(t, "a relative path", MakeFolder(Disk{}, "a"), NotAbsolute)
	wantProblem(t, "a file", MakeFolder(Disk{}, newFile(t, "")), NotFolder)
	assert.ErrorIs(t, CheckFolder(filepath.Join(base, "none")), fs.ErrNotExist)
}

func TestALockExcludesOthers(t *testing.T) {
	path := newFile(t, "") + "-lock"
	inside, most := 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				unlock, err := Lock(context.Background(), path, time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				mu.Lock()
				inside--
				mu.Unlock()
				unlock()
			}
		})
	}
	all.Wait()
	assert.That(t, most == 1, "%d had the lock at once", most)
}

func TestALockIsNotWaitedForForever(t *testing.T) {
	path := newFile(t, "") + "-lock"
	unlock := require.Value(Lock(context.Background(), path, 0))(t)
	_, err := Lock(context.Background(), path, time.Millisecond)
	assert.ErrorIs(t, err, context.DeadlineExceeded, "patience")
	_, err = LockToRead(path, time.Millisecond)
	assert.ErrorIs(t, err, context.DeadlineExceeded, "to read")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Lock(ctx, path, 0)
	assert.ErrorIs(t, err, context.Canceled, "context")
	unlock()
	unlock, err = Lock(ctx, path, 0)
	require.NoError(t, err) // there is nothing to wait for
	unlock()
	_, err = Lock(context.Background(), filepath.Join(path, "in", "none"), 0)
	assert.That(t, err != nil, "a lock in no folder was taken")
}

func TestAnErrorSaysItsPathOnce(t *testing.T) {
	_, err := os.Open("/none/file")
	about, reason := Describe("/other", err)
	assert.Equal(t, about, "/other")
	assert.That(t, reason == "open: no such file or directory" || runtime.GOOS == "windows", "%q, %q", about, reason)
	about, reason = Describe("/other", &Unsafe{Path: "/a", Problem: Accessible, Mode: 0o640})
	assert.Equal(t, about, "/a")
	assert.Equal(t, reason, "is accessible to other users (mode 0640)")
	about, reason = Describe("/other", context.Canceled)
	assert.Equal(t, about, "/other")
	assert.Equal(t, reason, context.Canceled.Error())
}

func TestACallerNamesItsAgent(t *testing.T) {
	for _, test := range []struct{ agent, session, caller string }{
		{"", "", ""}, {"", "19707-78e706c6", "19707-78e706c6"}, {"cursor", "", "cursor/"},
		{"cursor", "19707-78e706c6", "cursor/19707-78e706c6"}, {"a", "b/c", "a/b/c"},
	} {
		caller := CallerOf(test.agent, test.session)
		if caller != test.caller || AgentOf(caller) != test.agent || SessionOf(caller) != test.session {
			t.Errorf("%q for %q is %q: agent %q, session %q", test.session, test.agent, caller, AgentOf(caller), SessionOf(caller))
		}
	}
}

func TestKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	key := Key(dir, "a.key")
	again := Key(dir, "a.key")
	assert.Equal(t, len(key), keySize)
	assert.That(t, bytes.Equal(again, key), "%x and %x", key, again)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.key"), []byte("short"), 0o600))
	assert.That(t, !bytes.Equal(Key(dir, "a.key"), Key(dir, "a.key")), "a key that cannot be read is the same twice")
}
