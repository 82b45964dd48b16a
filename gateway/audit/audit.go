// Package audit keeps a log of each decision and of how each call ended: one line of JSON for each,
// in files that are only ever appended to.
//
// Lines are numbered consecutively, and each contains the SHA-256 of the line before it. A record
// next to the files, the head, stores where the log ends and where its retained part begins. So
// [Verify] detects a line that was altered, removed, inserted or moved, a truncated end, and a
// missing file. It cannot detect that someone with write access rewrote the whole log, or restored
// an older copy of all of it: to rule that out, keep the number and hash of [Report] elsewhere.
//
// The log contains no note text and no paths: a [Line] has only names, numbers and hashes, and a
// value is replaced by its HMAC under a random key that stays in the folder.
//
// A torn line, left by a process or machine that stopped while writing, is never removed: the next
// write terminates it, and records that in a line of the kind "gap". Any other damage is recorded
// in a line of the kind "break", and the log counts as broken from then on. Writing continues:
// later lines are evidence too.
//
// Lines that cannot be written, for example because the disk is full, are counted, and refusals are
// stored in a file that was allocated for them in advance. Once there is room, the next lines
// report how many are missing, and which calls were refused.
//
// Before each write, under a lock that all writers share, the log checks for changes by others: in
// the folder, which must belong to this user alone, and at the end of the file. Nothing is written
// to a file that was made accessible to others or has a second hard link.
//
// [Logs] combines two such logs: one for lines that must not be lost, one for the many calls that
// change nothing. [Records] writes the lines of each call to them and notifies observers: a call
// that changes something is logged before it runs, and is refused if that fails.
//
// An [Exporter] sends the lines to a collector, syslog or a file.
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

// Limits bounds how much of the log is kept. The zero Limits keeps 32 files of 8 MiB.
type Limits struct {
	// FileSize is the size in bytes at which a file is rotated. Only a single longer line makes a
	// file exceed it.
	FileSize int64
	// Files is the number of files to keep, including the current one. Beyond it the oldest is
	// removed, unless a line in it is younger than MinAge.
	Files int
	// MinAge is the minimum time for which every line is kept; 0 for no minimum.
	MinAge time.Duration
	// MaxFiles bounds the files that are kept because of MinAge; 0 means 256. Once that many exist
	// and the oldest must be kept, writing fails.
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
	current string // path of the file that is appended to
	limits  Limits
	sys     ownerfiles.System
	now     func() time.Time
	// keepOpen reports whether files stay open between writes. They do not on systems where an open
	// file cannot be renamed, because that would keep other processes from rotating it.
	keepOpen bool

	mu   sync.Mutex // serializes writers in this process
	tail *tail      // the open current file and its state, nil if not open
	seen point      // the last line that this process knows to be in the log
	buf  []byte

	queueMu sync.Mutex
	queue   []*pendingWrite // written by the first goroutine that gets mu

	// hasReserve enables counting lines that cannot be written, see [reserve]. hasLate reports whether
	// there may be such lines, unreserved counts those that the reserve file does not include, and
	// missed counts all that this process could not write.
	hasReserve bool
	hasLate    bool
	unreserved reserve
	missed     atomic.Uint64

	key      atomic.Pointer[key]
	prepared atomic.Bool // the folder exists and was checked
}

// Open returns the log in the folder dir, an absolute path. It does not touch the disk: the first
// line or digest creates the folder and its files.
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

// Close closes the open files. The log remains usable and reopens them when it needs them.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closeTail()
}

// closeTail closes the current file and forgets its state, so that the next write reads it again.
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

// Unusable is the error of a log that cannot be read or written; Busy that of a log that another
// process has locked.
type (
	Unusable = ownerfiles.Unusable
	Busy     = ownerfiles.Busy
)

var store = ownerfiles.Store{Name: "audit log", Code: "audit"}

func unusable(path string, err error) error { return store.Unusable(path, err) }

// Invalid is the error of a line with a field that the log cannot store. Nothing was written.
type Invalid struct{ Field, Value, Reason string }

// Code returns the name of the error for programs.
func (*Invalid) Code() string { return "audit_invalid" }

func (e *Invalid) Error() string {
	return fmt.Sprintf("audit log: %s %.100q: %s", e.Field, e.Value, e.Reason)
}

// Damaged is the error of a line that cannot be parsed.
type Damaged struct {
	File string // its name in the folder
	Line int    // counted from 1
}

// Code returns the name of the error for programs.
func (*Damaged) Code() string { return "audit_damaged" }

func (e *Damaged) Error() string {
	return fmt.Sprintf("audit log: %q, line %d: is not a line of this log", e.File, e.Line)
}
