package cache

import (
	"errors"
	"io"
	"os"
)

// Extra is one more file of a vault in the folder of caches. It is read and replaced as a whole.
type Extra struct {
	place place
	end   string
}

// NewExtra returns the file with a suffix, such as ".words". It opens nothing.
func NewExtra(dir, vault, end string) Extra { return Extra{newPlace(dir, vault), end} }

// maxExtra bounds what is read of a file that another program made.
const maxExtra = 1 << 30

// Read returns what the file has, nil if there is none that can be read.
func (e Extra) Read() []byte {
	if e.place.dir == "" {
		return nil
	}
	file, err := openRegular(e.place.fixed(e.end), os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() > maxExtra {
		return nil
	}
	data := make([]byte, info.Size())
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
