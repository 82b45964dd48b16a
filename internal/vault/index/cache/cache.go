// Package cache keeps what a call has read of a vault for the calls after it: of every
// note its path, its stamp, its text, its facts, and the filter by which a search skips it.
//
// It is in the user's own folder of caches, never in the vault, in two files. The table
// names the notes; it is small, read whole, and replaced by renaming a new one. The pack
// has texts, facts and filters; it is only ever written after the length that the current
// table states, so readers of an older table are not disturbed. It is read piece by piece
// and never mapped: truncating a mapped file kills the process (SIGBUS).
//
// The cache is not the truth and may be deleted at any time. Nothing is synced to the
// disk; checksums show what arrived there: damaged pieces count as missing and are never
// returned. It does not detect whether a file has changed. The caller compares stamps, and
// puts nothing under a stamp that is not settled.
package cache

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// Cache is the kept state of a vault at one moment. It does not change; it is safe for
// concurrent use.
type Cache struct {
	place   place
	program string
	seen    sight // of the table, as it was at Open
	table   *table
	pack    *pack // nil if the table needs none

	mu     sync.Mutex
	closed bool
}

// Open reads the cache of the vault at an absolute path, which is kept in the folder dir.
// It never fails: a cache that is missing, damaged, of another vault, of another program,
// or in a folder that others can write to is empty.
func Open(dir, vault, program string) *Cache {
	c := &Cache{place: newPlace(dir, vault), program: program, seen: sight{size: missing}, table: &table{}}
	if !system.IsPrivate(dir) {
		return c
	}
	// The pack may be replaced between the two openings; then the table was too.
	for range 3 {
		data, seen := c.place.readTable(maxTable)
		c.seen = seen
		t, ok := parseTable(data, vault, program)
		if !ok {
			return c
		}
		if t.pack == (packID{}) {
			c.table = t
			return c
		}
		file, err := openRegular(c.place.random(t.pack, packEnd), os.O_RDONLY)
		if err != nil {
			continue
		}
		if info, err := file.Stat(); err != nil || uint64(info.Size()) < t.length {
			file.Close() // it is not as long as its table says
			continue
		}
		c.table, c.pack = t, newPack(t.pack, file)
		return c
	}
	return c
}

// Share returns another handle of the same cache, which is closed separately.
func (c *Cache) Share() *Cache {
	return &Cache{place: c.place, program: c.program, seen: c.seen, table: c.table, pack: c.pack.share()}
}

// Close closes the files. Records and texts cannot be read any more.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return c.pack.release()
}

// Len returns how many files are kept.
func (c *Cache) Len() int { return c.table.count }

// Record is one file as it was kept. The zero Record is empty.
type Record struct {
	cache *Cache
	place int // in the table
}

func (r Record) entry() entry {
	if r.cache == nil {
		return entry{spans: noSpans}
	}
	return r.cache.table.entry(r.place)
}

// Has reports whether a part is kept.
func (r Record) Has(what Part) bool { return r.entry().spans[what].isKept() }

// harm notes that a part is damaged, so that the next update does not keep the record: otherwise
// it would stay damaged for as long as the file is the same.
func (r Record) harm() { r.cache.table.harmed.Store(r.place, true) }

func (r Record) isHarmed() bool {
	_, is := r.cache.table.harmed.Load(r.place)
	return is
}

// Find returns the record of the file with exactly this path and stamp.
func (c *Cache) Find(path string, stamp system.Stamp) (Record, bool) {
	i, ok := c.table.find(path)
	if !ok || c.table.stamp(i) != stamp {
		return Record{}, false
	}
	return Record{c, i}, true
}

// Facts returns the facts of a file. ok is false if they are not kept, or damaged.
func (c *Cache) Facts(r Record) (facts string, ok bool) {
	scratch := scratches.Get().(*scratch)
	defer scratch.put()
	data, ok := c.Read(r, FactsPart, scratch.bytes)
	if !ok {
		return "", false
	}
	scratch.bytes = data[:0]
	return string(data), true
}

// Read reads a part of a file into buf, which is reused if it is large enough. ok is false if it is not
// kept, or damaged: then the file has to be read, and put in again.
func (c *Cache) Read(r Record, what Part, buf []byte) (data []byte, ok bool) {
	s := r.entry().spans[what]
	if !s.isKept() || c.pack == nil || c.pack != r.cache.pack { // or the pack was rewritten
		return nil, false
	}
	if data, ok = c.pack.read(s, buf); !ok {
		r.harm()
	}
	return data, ok
}

// pack is an open pack. It is shared by a cache and those made from it, and closed by the
// last of them.
type pack struct {
	id    packID
	file  *os.File
	users atomic.Int32
}

func newPack(id packID, file *os.File) *pack {
	p := &pack{id: id, file: file}
	p.users.Store(1)
	return p
}

// share returns p for one more user.
func (p *pack) share() *pack {
	if p != nil {
		p.users.Add(1)
	}
	return p
}

func (p *pack) release() error {
	if p == nil || p.users.Add(-1) > 0 {
		return nil
	}
	return p.file.Close()
}

// read returns the bytes of s, in buf if they fit. ok is false if they are missing or not
// those that were written.
func (p *pack) read(s span, buf []byte) (data []byte, ok bool) {
	data = resize(buf, int(s.size))
	if _, err := p.file.ReadAt(data, int64(s.at)); err != nil {
		return nil, false
	}
	return data, checksum(data) == s.sum
}

// resize returns a slice of that length, in buf if it fits.
func resize(buf []byte, size int) []byte {
	if cap(buf) < size {
		return make([]byte, size)
	}
	return buf[:size]
}

// maxScratch is the largest buffer that is kept for the next use.
const maxScratch = 1 << 20

// scratch is a reusable buffer.
type scratch struct{ bytes []byte }

var scratches = sync.Pool{New: func() any { return &scratch{} }}

func (s *scratch) put() {
	if cap(s.bytes) <= maxScratch {
		scratches.Put(s)
	}
}

// Extra is one more file of a vault in the folder of caches. It is replaced as a whole.
type Extra struct {
	place place
	end   string
}

// NewExtra returns the file with a suffix, such as ".words". It opens nothing.
func NewExtra(dir, vault, end string) Extra { return Extra{newPlace(dir, vault), end} }

// maxExtra bounds what is read of a file that another program made.
const maxExtra = 1 << 30

// Open returns the file as it is: a later [Extra.Write] replaces another one. It is nil if there is none that can
// be read, and closed once it cannot be reached.
func (e Extra) Open() *io.SectionReader {
	if e.place.dir == "" {
		return nil
	}
	file, err := openRegular(e.place.fixed(e.end), os.O_RDONLY)
	if err != nil {
		return nil
	}
	info, err := file.Stat()
	if err != nil || info.Size() > maxExtra {
		file.Close()
		return nil
	}
	if runtime.GOOS != "windows" {
		return io.NewSectionReader(file, 0, info.Size())
	}
	defer file.Close() // there a file that is open cannot be replaced
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil
	}
	return io.NewSectionReader(bytes.NewReader(data), 0, info.Size())
}

// Read returns what the file has, nil if there is none that can be read.
func (e Extra) Read() []byte {
	file := e.Open()
	if file == nil {
		return nil
	}
	data := make([]byte, file.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil
	}
	return data
}

// Write replaces the file in one step. An error leaves the one before.
func (e Extra) Write(data []byte) error {
	if e.place.dir == "" {
		return errors.New("there is no folder of caches")
	}
	return e.place.replace(e.end, data)
}

// The suffixes of names in the folder of caches. Each name begins with that of the vault's
// cache; those of packs and half-written tables continue with a random id.
const (
	tableEnd = ".table"
	lockEnd  = ".lock"
	packEnd  = ".pack"
	halfEnd  = ".half"
)

// place is the location of the files of one cache.
type place struct{ dir, vault, stem string }

func newPlace(dir, vault string) place {
	sum := sha256.Sum256([]byte(vault))
	return place{dir, vault, hex.EncodeToString(sum[:16])}
}

func (p place) fixed(end string) string { return filepath.Join(p.dir, p.stem+end) }

func (p place) random(id [16]byte, end string) string {
	return filepath.Join(p.dir, p.stem+"-"+hex.EncodeToString(id[:])+end)
}

func randomID() (id [16]byte) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

// sight tells one state of the table's file from another: its size, or that there is none,
// and its head, which has a random id.
type sight struct {
	size int64
	head [headSize]byte
}

const (
	unreadable = -1
	missing    = -2
)

func sightOf(table []byte, size int64) sight {
	s := sight{size: size}
	copy(s.head[:], table)
	return s
}

// readTable returns the first bytes of the table's file, up to a limit, nothing if it
// cannot be a table.
func (p place) readTable(limit int64) ([]byte, sight) {
	file, err := openRegular(p.fixed(tableEnd), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sight{size: missing}
	}
	if err != nil {
		return nil, sight{size: unreadable}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, sight{size: unreadable}
	}
	data := make([]byte, min(info.Size(), limit))
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, sight{size: unreadable}
	}
	return data, sightOf(data, info.Size())
}

// replacing waits while another process reads the table: on Windows that denies a rename
// onto it.
var replacing = system.Patience{Sleep: time.Sleep, InUse: func(err error) bool {
	return system.IsInUse(err) || runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission)
}}

// replace replaces the file with a suffix in one step.
func (p place) replace(end string, data []byte) error {
	half := p.random(randomID(), halfEnd)
	file, err := create(half)
	if err == nil {
		_, err = file.Write(data)
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		err = replacing.Repeat(half, func() error { return os.Rename(half, p.fixed(end)) })
	}
	if err != nil {
		_ = os.Remove(half)
	}
	return err
}

var errIrregular = errors.New("is not a regular file")

// openRegular opens a regular file, and no link to one.
func openRegular(name string, flag int) (*os.File, error) {
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	// On Windows SameFile looks up later, by the name, which file was seen, and finds one
	// that replaced it; a first call makes it remember.
	os.SameFile(seen, seen)
	if !seen.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	}
	file, err := os.OpenFile(name, flag|system.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !os.SameFile(seen, info) {
		file.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	}
	return file, nil
}

// create makes a file that only its owner can read. It never opens an existing one.
func create(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|system.NoFollow, 0o600)
}
