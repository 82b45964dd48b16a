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
