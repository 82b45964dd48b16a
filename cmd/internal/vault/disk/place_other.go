//go:build !linux

package disk

import (
	"os"
	"time"
)

func openPlace(root *os.Root, single bool) (place, error) {
	dir, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return rooted{dir, single}, nil
}

// Born returns when the file was last changed: the time of its creation is not read on
// this system.
func (f *File) Born() time.Time { return f.Info.ModTime() }
