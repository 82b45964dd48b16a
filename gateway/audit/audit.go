// Package audit keeps a log of what was decided and how each call ended: one
// line of JSON for each, in files that are only ever appended to.
//
// Every line has a number that rises by one, and the SHA-256 of the line before it. A record next
// to the files, the head, says where the log ends and where what is still kept begins. So [Verify]
// finds a line that was altered, removed, inserted or moved, a truncated end, and a missing file.
// It cannot find that someone with write access rewrote all of the log, or restored an older copy
// of all of it: to rule that out, keep the number and hash of [Report] elsewhere.
//
// The log has no text of notes and no path: a [Line] has only names, numbers and hashes, and a
// value is replaced by its HMAC under a random key that stays in the folder.
//
// A torn line, of a process or machine that stopped while writing, is never removed: the next
// write ends it, and records that in a line of the kind "gap". Any other damage is recorded in a
// line of the kind "break", and the log counts as broken from then on. It is still written to:
// later lines are evidence too.
//
// When lines cannot be written, as on a full disk, they are counted, and refusals are kept in a
// file that was made for that: the first lines once there is room say how many are missing, and
// which calls were refused.
//
// Before each line, under a lock of all writers, the log checks for changes by others: in the
// folder, which must be this user's alone, and at the end of the file. A file that was made
// accessible to others, or got a second hard link, takes no more lines.
//
// [Logs] are two such logs: one for lines that must not be lost, one for the many calls that
// change nothing. [Records] writes the lines of each call to them and notifies observers: a call
// that changes something is written before it runs, and is refused if that fails.
//
// An [Exporter] sends the lines to where a team keeps them.
//
// The package never reads a vault.
package audit

import (
	"cmp"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Limits say how much is kept. The zero Limits keep 32 files of 8 MiB.
type Limits struct {
	// FileSize is the maximum size of a file in bytes, after which it is rotated; only a single
	// longer line makes a longer file.
	FileSize int64
	// Files is how many files are kept, with the current one. Beyond it the oldest is removed,
	// unless a line in it is younger than MinAge.
	Files int
	// MinAge is how long every line is kept at least; 0 keeps none for its age.
	MinAge time.Duration
	// MaxFiles bounds the files that are kept because of MinAge; 0 means 256. When they are full
	// and the oldest may not be removed, nothing more is written.
	MaxFiles int
}

const (
	defaultFileSize = 8 << 20 // some twenty thousand lines: a week of steady use
	defaultFiles    = 32
	defaultMaxFiles = 256 // 2 GiB; a line a minute fills one file in two weeks
)

// Log is the audit log in a folder. It is safe for concurrent use by goroutines and processes.
type Log struct {
	folder  folder
	current string // the path of the file that is written to
	limits  Limits
	sys     ownerfiles.System
	now     func() time.Time
	// keepOpen says that files stay open between lines; not where an open file cannot be renamed,
	// which would stop other processes from rotating it.
	keepOpen bool

	mu   sync.Mutex // one that writes at a time, in this process
	tail *tail      // what is known of the file that is written to, nil if nothing
	seen point      // the last line that this process knows to be in the log
	buf  []byte

	queueMu sync.Mutex
	queue   []*waiting // written by the first goroutine that gets mu

	// hasReserve says that what cannot be written is counted, see [reserve]. late says that there may be something, unkept
	// is what is not in the file, and missed what this process could not write in all.
	hasReserve bool
	late       bool
	unkept     reserve
	missed     atomic.Uint64

	key      atomic.Pointer[key]
	prepared atomic.Bool // the folder was found, or made, and checked
}

// Open returns the log in the folder dir, an absolute path. It reads nothing; the first line or
// digest creates the folder and its files.
func Open(dir string, limits Limits) *Log {
	limits.FileSize = cmp.Or(max(0, limits.FileSize), defaultFileSize)
	limits.Files = cmp.Or(max(0, limits.Files), defaultFiles)
	limits.MaxFiles = max(cmp.Or(max(0, limits.MaxFiles), defaultMaxFiles), limits.Files)
	p := folder{dir}
	return &Log{
		folder: p, current: p.file(currentFile), limits: limits,
		sys: ownerfiles.Disk{}, now: time.Now, keepOpen: ownerfiles.CanRenameOpen,
	}
}

// Close closes the files that are open. The log can be used afterwards; it opens them again.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closeTail()
}

// closeTail lets the next write read everything again.
func (l *Log) closeTail() error {
	if l.tail == nil {
		return nil
	}
	t := l.tail
	l.tail = nil
	return t.close()
}

// folder is the folder of a log.
type folder struct{ dir string }

func (p folder) file(name string) string { return filepath.Join(p.dir, name) }

// The errors of a log that could not be written or read, or whose lock another process held.
type (
	Unusable = ownerfiles.Unusable
	Busy     = ownerfiles.Busy
)

var store = ownerfiles.Store{Name: "audit log", Code: "audit"}

func unusable(path string, err error) error { return store.Unusable(path, err) }

// Invalid says that a caller gave what no line can hold. Nothing was written.
type Invalid struct{ Field, Value, Reason string }

// Code returns the name of the error for programs.
func (*Invalid) Code() string { return "audit_invalid" }

func (e *Invalid) Error() string {
	return fmt.Sprintf("audit log: %s %.100q: %s", e.Field, e.Value, e.Reason)
}

// Damaged says that a line cannot be read.
type Damaged struct {
	File string // its name in the folder
	Line int    // counted from 1
}

// Code returns the name of the error for programs.
func (*Damaged) Code() string { return "audit_damaged" }

func (e *Damaged) Error() string {
	return fmt.Sprintf("audit log: %q, line %d: is not a line of this log", e.File, e.Line)
}
