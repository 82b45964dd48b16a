package cache

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"vaultwicket/cmd/internal/vault/disk/system"
)

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

// openPack opens a pack for reading; it is nil unless the pack is as long as its table
// says.
func (p place) openPack(id packID, length uint64) *pack {
	file, err := openRegular(p.random(id, packEnd), os.O_RDONLY)
	if err != nil {
		return nil
	}
	if info, err := file.Stat(); err != nil || uint64(info.Size()) < length {
		file.Close()
		return nil
	}
	return newPack(id, file)
}

// replacing waits while another process reads the table: on Windows that denies a rename
// onto it.
var replacing = system.Retrying{Sleep: time.Sleep, InUse: func(err error) bool {
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

// lock keeps other processes from updating this cache until the file that it returns is
// closed. It is nil if another process has the lock, or the system has no locks: two
// concurrent updates would damage the cache, though only that.
func (p place) lock() *os.File {
	file, err := openRegular(p.fixed(lockEnd), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = create(p.fixed(lockEnd))
		if errors.Is(err, fs.ErrExist) {
			file, err = openRegular(p.fixed(lockEnd), os.O_RDWR)
		}
	}
	if err != nil {
		return nil
	}
	if system.TryLock(file) != nil {
		file.Close()
		return nil
	}
	return file
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
