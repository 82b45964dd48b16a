// Package cache stores what a call has read of a vault for later calls: the path, stamp, text and facts of
// every note, and the filter with which a search skips it.
//
// The cache is in the cache folder of the user, never in the vault. It consists of two files. The table
// lists the notes; it is small, is read as a whole, and is replaced by renaming a new file. The pack
// contains texts, facts and filters. It is written only beyond the length that the current table states,
// so that readers of an older table are not disturbed. It is read in pieces and never mapped into memory:
// accessing a mapped file that was truncated kills the process (SIGBUS).
//
// The cache may be deleted at any time. Nothing is synced to the disk. Checksums detect damaged pieces,
// which count as missing and are never returned. The cache does not detect whether a file has changed: the
// caller compares stamps, and must not store anything under a stamp that is not settled.
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

// Cache is the cached state of a vault at one moment. It is immutable and safe for concurrent use.
type Cache struct {
	place   place
	program string
	tableID fileID // of the table file when the cache was opened
	table   *table
	pack    *pack // nil if the table needs none

	mu     sync.Mutex
	closed bool
}

// Open opens the cache in the folder dir of a vault, which is named by its absolute path. It never fails: it
// returns an empty cache if the cache is missing or damaged, belongs to another vault or another program,
// or is in a folder that others can write to.
func Open(dir, vault, program string) *Cache {
	c := &Cache{
		place:   newPlace(dir, vault),
		program: program,
		tableID: fileID{size: missing},
		table:   &table{},
	}
	if !system.IsPrivate(dir) {
		return c
	}
	// The pack may be replaced between opening the table and the pack, and then the table was, too.
	for range 3 {
		data, id := c.place.readTable(maxTable)
		c.tableID = id
		t, ok := parseTable(data, vault, program)
		if !ok {
			return c
		}
		if t.pack == (packID{}) {
			c.table = t
			return c
		}
		file, err := openRegular(c.place.random(t.pack, packSuffix), os.O_RDONLY)
		if err != nil {
			continue
		}
		info, err := file.Stat()
		if err != nil || uint64(info.Size()) < t.length {
			file.Close() // shorter than its table states
			continue
		}
		c.table = t
		c.pack = newPack(t.pack, file)
		return c
	}
	return c
}

// Share returns another handle of the same cache, which is closed separately.
func (c *Cache) Share() *Cache {
	return &Cache{place: c.place, program: c.program, tableID: c.tableID, table: c.table, pack: c.pack.share()}
}

// Close closes the cache. Records and their parts must not be read after that.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return c.pack.release()
}

// Len returns how many files are cached.
func (c *Cache) Len() int { return c.table.count }

// Record is a cached file. The zero Record is empty.
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

// Has reports whether a part is cached.
func (r Record) Has(part Part) bool { return r.entry().spans[part].isPresent() }

// markDamaged records that a part is damaged, so that the next update does not keep the record: otherwise it
// would stay damaged until the file changes.
func (r Record) markDamaged() { r.cache.table.damaged.Store(r.place, true) }

func (r Record) isDamaged() bool {
	_, isDamaged := r.cache.table.damaged.Load(r.place)
	return isDamaged
}

// Find returns the record of the file with exactly this path and stamp.
func (c *Cache) Find(path string, stamp system.Stamp) (Record, bool) {
	i, ok := c.table.find(path)
	if !ok || c.table.stamp(i) != stamp {
		return Record{}, false
	}
	return Record{c, i}, true
}

// Facts returns the facts of a file. ok is false if they are missing or damaged.
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

// Read reads a part of a file, into buf if that is large enough. ok is false if the part is missing or
// damaged; the caller then has to read the file and [Update.Put] it again.
func (c *Cache) Read(r Record, part Part, buf []byte) (data []byte, ok bool) {
	s := r.entry().spans[part]
	if !s.isPresent() || !c.hasPackOf(r) {
		return nil, false
	}
	data, ok = c.pack.read(s, buf)
	if !ok {
		r.markDamaged()
	}
	return data, ok
}

// hasPackOf reports whether c has the pack with the parts of r. It has another one if the pack was rewritten.
func (c *Cache) hasPackOf(r Record) bool { return c.pack != nil && c.pack == r.cache.pack }

// pack is an open pack file. It is shared by a cache and the caches made from it, and closed with the last
// of them.
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

// share adds a user and returns p, which may be nil.
func (p *pack) share() *pack {
	if p != nil {
		p.users.Add(1)
	}
	return p
}

// release removes a user, and closes the file with the last one.
func (p *pack) release() error {
	if p == nil || p.users.Add(-1) > 0 {
		return nil
	}
	return p.file.Close()
}

// read reads the bytes of s, into buf if they fit. ok is false if they are missing or damaged.
func (p *pack) read(s span, buf []byte) (data []byte, ok bool) {
	data = resize(buf, int(s.size))
	if _, err := p.file.ReadAt(data, int64(s.at)); err != nil {
		return nil, false
	}
	return data, checksum(data) == s.sum
}

// resize returns a slice of length size, which reuses buf if it fits.
func resize(buf []byte, size int) []byte {
	if cap(buf) < size {
		return make([]byte, size)
	}
	return buf[:size]
}

// maxScratch is the capacity in bytes up to which a buffer is reused.
const maxScratch = 1 << 20

// scratch is a reusable buffer.
type scratch struct{ bytes []byte }

var scratches = sync.Pool{New: func() any { return &scratch{} }}

func (s *scratch) put() {
	if cap(s.bytes) <= maxScratch {
		scratches.Put(s)
	}
}

// Extra is another file of a vault in the cache folder. It is always replaced as a whole.
type Extra struct {
	place  place
	suffix string
}

// NewExtra returns the file with a suffix, such as ".words". It opens nothing.
func NewExtra(dir, vault, suffix string) Extra { return Extra{newPlace(dir, vault), suffix} }

// maxExtra is the maximum size in bytes of an extra file, in case another program has written it.
const maxExtra = 1 << 30

// Open returns a reader of the current content, which a later [Extra.Write] does not change. It returns nil if
// there is no file that can be read. The garbage collector closes the file.
func (e Extra) Open() *io.SectionReader {
	if e.place.dir == "" {
		return nil
	}
	file, err := openRegular(e.place.fixed(e.suffix), os.O_RDONLY)
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
	defer file.Close() // Windows cannot replace an open file
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil
	}
	return io.NewSectionReader(bytes.NewReader(data), 0, info.Size())
}

// Read returns the content of the file, or nil if there is no file that can be read.
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

// Write atomically replaces the file. If it fails, the old file remains.
func (e Extra) Write(data []byte) error {
	if e.place.dir == "" {
		return errors.New("there is no folder of caches")
	}
	return e.place.replace(e.suffix, data)
}

// The suffixes of file names in the cache folder. Each name begins with a hash of the vault's path. The names
// of packs and half-written files continue with a random id.
const (
	tableSuffix = ".table"
	lockSuffix  = ".lock"
	packSuffix  = ".pack"
	halfSuffix  = ".half"
)

// place is the location of the files of one cache.
type place struct{ dir, vault, stem string }

func newPlace(dir, vault string) place {
	sum := sha256.Sum256([]byte(vault))
	return place{dir, vault, hex.EncodeToString(sum[:16])}
}

// fixed returns the path of the file with a suffix.
func (p place) fixed(suffix string) string { return filepath.Join(p.dir, p.stem+suffix) }

// random returns the path of the file with a random id and a suffix.
func (p place) random(id [16]byte, suffix string) string {
	return filepath.Join(p.dir, p.stem+"-"+hex.EncodeToString(id[:])+suffix)
}

func randomID() (id [16]byte) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

// fileID identifies a version of the table file: by its size, or by the fact that there is none, and by its
// head, which contains a random id.
type fileID struct {
	size int64
	head [headSize]byte
}

const (
	unreadable = -1 // sizes of a fileID
	missing    = -2
)

func fileIDOf(table []byte, size int64) fileID {
	id := fileID{size: size}
	copy(id.head[:], table)
	return id
}

// readTable returns up to limit bytes of the table file, and the version of the file. It returns no bytes if
// the file cannot be read.
func (p place) readTable(limit int64) ([]byte, fileID) {
	file, err := openRegular(p.fixed(tableSuffix), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fileID{size: missing}
	}
	if err != nil {
		return nil, fileID{size: unreadable}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fileID{size: unreadable}
	}
	data := make([]byte, min(info.Size(), limit))
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, fileID{size: unreadable}
	}
	return data, fileIDOf(data, info.Size())
}

// replacing retries while another process reads the file: Windows does not rename a file to one that is open.
var replacing = system.Patience{Sleep: time.Sleep, InUse: preventsRename}

// preventsRename reports whether an error from renaming may be caused by another process that has the file open.
func preventsRename(err error) bool {
	isDenied := runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission)
	return isDenied || system.IsInUse(err)
}

// replace atomically replaces the file with a suffix.
func (p place) replace(suffix string, data []byte) error {
	half := p.random(randomID(), halfSuffix)
	file, err := create(half)
	if err == nil {
		_, err = file.Write(data)
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		err = replacing.Repeat(half, func() error { return os.Rename(half, p.fixed(suffix)) })
	}
	if err != nil {
		_ = os.Remove(half)
	}
	return err
}

var errIrregular = errors.New("is not a regular file")

// openRegular opens a regular file. It does not follow a link.
func openRegular(name string, flag int) (*os.File, error) {
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	// On Windows, os.FileInfo looks up the identity of the file by name, but only when SameFile is called
	// first. The call here makes it keep the identity of this file, and not of one that replaces it.
	os.SameFile(seen, seen)
	if !seen.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	}
	file, err := os.OpenFile(name, flag|system.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil || !os.SameFile(seen, info) {
		file.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	}
	return file, nil
}

// create makes a file that only its owner can read. It never opens an existing one.
func create(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|system.NoFollow, 0o600)
}
