package private

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// A rename is tried again for half a second while another process has the file open: a
// reader of ours, or a virus scanner that looks at what is new.
const (
	renameTries = 50
	renamePause = 10 * time.Millisecond
)

// Rename implements [System].
func (Disk) Rename(from, to string) error {
	for try := 1; ; try++ {
		err := os.Rename(from, to)
		inUse := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, fs.ErrPermission)
		if !inUse || try == renameTries {
			return err
		}
		time.Sleep(renamePause)
	}
}
