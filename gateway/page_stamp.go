package gateway

import (
	"crypto/sha256"
	"time"
)

// stamp tells a note from the same note after a change, without reading it. The
// zero stamp is of no note.
type stamp struct {
	size     int64
	modified time.Time
}

// stampOf returns the stamp of what is at a path in the vault, the zero one where
// there is no note or the folder of the vault is not known.
func stampOf(folder, path string) stamp {
	info := noteInfo(folder, path)
	if info == nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// settled is how long ago the last change of a note must have been for its stamp to
// be different after another one: file systems count time in steps of up to two
// seconds.
const settled = 2 * time.Second

// before returns the stamp of a note that was read from a moment on, the zero one
// where it may have been changed since.
func (s stamp) before(begun time.Time) stamp {
	if s.modified.After(begun.Add(-settled)) {
		return stamp{}
	}
	return s
}

// sumOf is the digest of a text, which is not copied as a whole for it.
func sumOf(text string) [sha256.Size]byte {
	hash := sha256.New()
	chunk := make([]byte, 0, 32<<10)
	for len(text) > 0 {
		n := min(len(text), cap(chunk))
		hash.Write(append(chunk, text[:n]...))
		text = text[n:]
	}
	return [sha256.Size]byte(hash.Sum(nil))
}
