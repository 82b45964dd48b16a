package disk

import (
	"errors"
	"io/fs"
	"os"
)

// hardLinked is the reason of a [Refusal] that [IsHardLinked] knows.
const hardLinked = "has more than one hard link"

// IsHardLinked reports whether err refuses a file because it has further names.
// Which these are nobody knows: one may be hidden, or outside the vault. So a
// folder in which something is hidden ([Folder.Behind]) neither lists such a file
// nor reads or changes it.
func IsHardLinked(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Reason == hardLinked
}

// single refuses a file that has further names.
func single(name string, links uint64) error {
	if links > 1 {
		return &Refusal{Path: name, Reason: hardLinked}
	}
	return nil
}

// statIn is the function of that name, for what a call names: see [IsHardLinked].
func (f *Folder) statIn(dir *os.Root, name string) (fs.FileInfo, error) {
	return rooted{dir, f.view != nil}.info(name)
}

// openIn is the function of that name, for what a call names: see [IsHardLinked].
func (f *Folder) openIn(dir *os.Root, name string) (*File, error) {
	return rooted{dir, f.view != nil}.open(name)
}
