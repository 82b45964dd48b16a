package admission

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vaultwicket/gateway/state/private"
)

// PauseFile returns the file in the state folder that exists while the gateway is
// paused. Every server looks for it at every call, so it reaches all of them at once and
// outlives them.
func PauseFile(state string) string { return filepath.Join(state, "paused") }

// Pause has every server of the state folder, which must exist, refuse every call. Who
// pauses twice has paused since the first time. The file counts by its name, which comes
// to be in one step; the time in it may be missing, as on a full disk.
func Pause(state string, now time.Time) error {
	file, err := os.OpenFile(PauseFile(state), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(file, now.UTC().Format(time.RFC3339))
	_ = file.Sync()
	_ = file.Close()
	return nil
}

// Resume ends a pause. was says whether there was one.
func Resume(state string) (was bool, err error) {
	err = os.Remove(PauseFile(state))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// IsPaused reports whether the gateway with a state folder is paused. The error says why
// that cannot be told; it names no path.
func IsPaused(state string) (bool, error) { return isThere(PauseFile(state)) }

// isThere reports whether there is a pause file.
func isThere(pauseFile string) (bool, error) {
	_, err := os.Lstat(pauseFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isBelowFile(pauseFile):
		return false, errNoFolder
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, errors.Unwrap(err)
	}
	return true, nil
}

// errNoFolder is what Unix says of a path below a file. Windows says that there is nothing.
var errNoFolder = errors.New("not a directory")

// isBelowFile reports whether what is nearest above a path is there and no folder.
func isBelowFile(path string) bool {
	for parent := filepath.Dir(path); parent != path; path, parent = parent, filepath.Dir(parent) {
		if info, err := os.Stat(parent); err == nil {
			return !info.IsDir()
		}
	}
	return false
}

// PausedSince returns the time in the pause file, or else that of the file, nil if there
// is none.
func PausedSince(state string) *time.Time {
	name := PauseFile(state)
	info, err := os.Lstat(name)
	if err != nil {
		return nil
	}
	since := info.ModTime().UTC().Truncate(time.Second)
	file, err := private.Open(name, os.O_RDONLY) // it may be a pipe or a link
	if err != nil {
		return &since
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, int64(len(time.RFC3339)+1)))
	if written, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text))); err == nil {
		since = written
	}
	return &since
}
