package streamable

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const (
	// maxSocket is the longest path of a socket on every system we run on, in bytes.
	maxSocket = 103

	// whileMade is the longest that the folder of a socket is followed by while it
	// is made, see [listenSocket].
	whileMade = len("/.vaultwicket-4294967295/s")
)

// canSocket refuses a path where no socket can be.
func canSocket(path string) error {
	switch {
	case runtime.GOOS == "windows":
		return &SettingError{Setting: "http", Value: "unix:" + path, Reason: "is not supported on Windows", hint: `use "127.0.0.1:8765"`}
	case !filepath.IsAbs(path):
		return &SettingError{Setting: "http", Value: "unix:" + path, Reason: "is not an absolute path", hint: `such as "unix:/run/user/1000/vaultwicket.sock"`}
	case max(len(path), len(filepath.Dir(path))+whileMade) > maxSocket:
		return &SettingError{Setting: "http", Value: "unix:" + path, Reason: "is too long for a socket", hint: "choose a shorter path"}
	}
	return nil
}

// socket is a listener on a path. It removes the path when it closes, if it is
// still its own.
type socket struct {
	net.Listener
	path string
	own  fs.FileInfo
}

// listenSocket makes a socket that only this user can connect to. It is made in a
// folder of its own and moved to its place, so there is no moment in which others
// could, and none without a socket when an old one is replaced.
func listenSocket(path string) (net.Listener, error) {
	if err := canReplace(path); err != nil {
		return nil, err
	}
	wrong := func(err error) error {
		return &SettingError{Setting: "http", Value: "unix:" + path, Reason: "cannot listen", cause: err, hint: "the folder must exist and belong to you"}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".vaultwicket-")
	if err != nil {
		return nil, wrong(err)
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, wrong(err)
	}
	l.SetUnlinkOnClose(false)
	s, err := place(l, made, path)
	if err != nil {
		l.Close()
		return nil, wrong(err)
	}
	return s, nil
}

// place moves a socket to its path.
func place(l net.Listener, made, path string) (*socket, error) {
	if err := os.Chmod(made, 0o600); err != nil {
		return nil, err
	}
	own, err := os.Lstat(made)
	if err != nil {
		return nil, err
	}
	return &socket{l, path, own}, os.Rename(made, path)
}

// canReplace refuses a path at which something is that is no socket, or one that
// somebody listens on.
func canReplace(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &SettingError{Setting: "http", Value: "unix:" + path, Reason: "cannot be accessed", cause: err}
	case info.Mode().Type() != fs.ModeSocket:
		return &SettingError{Setting: "http", Value: "unix:" + path, Reason: "already exists and is not a socket", hint: "choose another path; only an old socket is replaced"}
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		c.Close()
		return &SettingError{Setting: "http", Value: "unix:" + path, Reason: "is in use by another server", hint: "stop that one, or choose another path"}
	case !refused(err):
		return &SettingError{Setting: "http", Value: "unix:" + path, Reason: "already exists and may be in use", cause: err, hint: "remove it if it is not in use"}
	}
	return nil
}

// Close stops listening and removes the path.
func (s *socket) Close() error {
	if info, err := os.Lstat(s.path); err == nil && os.SameFile(info, s.own) {
		_ = os.Remove(s.path) // an old socket is no harm
	}
	return s.Listener.Close()
}
