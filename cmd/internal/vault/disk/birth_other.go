//go:build !linux

package disk

import "time"

// Born returns when the file was last changed: the time of its making is not
// asked for on this system.
func (f *File) Born() time.Time { return f.Info.ModTime() }
