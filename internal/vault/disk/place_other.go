//go:build !linux

package disk

import (
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

func native(r rooted) (place, error) { return r, nil }

// Born returns the creation time of the file, or the time of its last change if the system does not record
// that.
func (f *File) Born() time.Time {
	if born, ok := system.BornOf(f.Info); ok {
		return born
	}
	return f.Info.ModTime()
}
