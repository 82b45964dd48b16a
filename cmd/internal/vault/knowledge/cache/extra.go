package cache

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
)

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
