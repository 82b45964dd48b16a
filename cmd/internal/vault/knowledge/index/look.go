package index

import (
	"sync"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/cmd/internal/vault/query/trigram"
	"vaultwicket/cmd/internal/vault/tally"
)

// look collects the files of a vault as they are. It is used by several
// goroutines.
type look struct {
	old    *Index // may be nil
	known  map[disk.Path]*File
	memory Memory
	begun  time.Time
	tally  *tally.Tally // may be nil
	first  bool         // at this vault: nearly all files are read, and stay

	mu    sync.Mutex
	files []*File
}

func newLook(old *Index, memory Memory, begun time.Time) *look {
	l := &look{old: old, memory: memory, begun: begun}
	if old != nil {
		l.known = make(map[disk.Path]*File, len(old.Files))
		for _, f := range old.Files {
			l.known[f.Path] = f
		}
	}
	return l
}

func (l *look) visit(e disk.Entry) {
	if e.IsDir {
		return
	}
	l.add(l.at(e.Path, e))
	l.tally.Done()
}

func (l *look) add(f *File) {
	if f == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = append(l.files, f)
}

// source is a file that can be looked at and read: a [disk.Entry].
type source interface {
	Stamp() (system.Stamp, error)
	ReadInto([]byte) ([]byte, system.Stamp, error)
}

// at returns the file at a path as it is now, by the least work that will do.
// It is nil if the file is gone.
func (l *look) at(path disk.Path, from source) *File {
	known := l.known[path]
	if !IsRead(path) {
		if known != nil {
			return known
		}
		return newFile(path, system.Stamp{}, "", false)
	}
	if known == nil && !l.memory.HasAny() {
		return l.read(path, from) // no stamp can save the read
	}
	now, err := from.Stamp()
	if err != nil {
		return nil
	}
	if known != nil && known.settled && known.Stamp == now {
		return known
	}
	if facts, ok := l.memory.Recall(path, now); ok {
		return newFile(path, now, facts, true)
	}
	return l.read(path, from)
}

// buffers hold the texts of files while they are looked through.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the largest buffer that is kept for the next file.
const maxBuffer = 256 << 10

func (l *look) read(path disk.Path, from source) *File {
	buf := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= maxBuffer {
			buffers.Put(buf)
		}
	}()
	text, state, err := from.ReadInto(*buf)
	if err != nil {
		if _, err := from.Stamp(); err != nil {
			return nil
		}
		return newFile(path, system.Stamp{}, "", false) // it is there, and stays without facts
	}
	*buf = text
	f := newFile(path, state, l.facts(path, text), state.Settled(l.begun))
	if f.IsNote() && l.memory.WantsFilters() {
		f.Filter = trigram.Of(text)
	}
	if f.settled {
		l.memory.Learn(f, text)
	}
	return f
}

func (l *look) facts(path disk.Path, text []byte) Facts {
	if l.first {
		return readTogether(path, text)
	}
	return Read(path, text)
}
