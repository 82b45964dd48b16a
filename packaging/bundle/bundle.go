// Package bundle makes an MCP bundle (.mcpb): a ZIP file with a manifest and the program
// for each system, which a client installs by a click. The same content gives the same
// bytes: entries are sorted and have a fixed time.
package bundle

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// File is an entry of the bundle.
type File struct {
	Content []byte
	Program bool // is started
}

// epoch is the earliest time that a ZIP file can have.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Write writes the files, by their slash paths, as a bundle.
func Write(w io.Writer, files map[string]File) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := zip.FileHeader{Name: name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(mode(files[name]))
		entry, err := z.CreateHeader(&header)
		if err != nil {
			return err
		}
		if _, err := io.Copy(entry, bytes.NewReader(files[name].Content)); err != nil {
			return err
		}
	}
	return z.Close()
}

func mode(f File) fs.FileMode {
	if f.Program {
		return 0o755
	}
	return 0o644
}
