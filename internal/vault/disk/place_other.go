//go:build !linux

package disk

import "time"

func native(r rooted) (place, error) { return r, nil }

// Born returns when the file was last changed: the time of its creation is not read on
// this system.
func (f *File) Born() time.Time { return f.Info.ModTime() }
