package journal

import (
	"os"
	"time"
)

// writingFile is in the folder of a vault while notes of it are written. One that
// is there before belongs to a writer that was killed.
const writingFile = "writing"

// Writing notes that notes are about to be written, and returns the function that
// notes the end of it. The caller holds [Journal.Lock]. It is a help for
// [Journal.Interrupted] and not needed to undo anything, so an error is none.
func (j *Journal) Writing() (written func()) {
	file, err := j.sys.Create(j.folder.file(writingFile))
	if err != nil {
		return func() {} // a killed writer's stays as it is
	}
	_ = file.Close()
	return j.Swept
}

// Interrupted reports whether a writer was killed between the two, and since when
// that is known. The caller holds [Journal.Lock].
func (j *Journal) Interrupted() (since time.Time, killed bool) {
	info, err := os.Lstat(j.folder.file(writingFile))
	if err != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// Swept notes that nothing is left of killed writers. The caller holds
// [Journal.Lock].
func (j *Journal) Swept() { _ = j.sys.Remove(j.folder.file(writingFile)) }
