package packaging

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"debug/macho"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// BundleFile is an entry of the bundle.
type BundleFile struct {
	Content []byte
	Program bool // is started
}

// epoch is the earliest time that a ZIP file can have.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// WriteBundle writes the files, by their slash paths, as an MCP bundle (.mcpb): a ZIP file with
// a manifest and the program for each system, which a client installs. The same content gives the
// same bytes: entries are sorted and have a fixed time.
func WriteBundle(w io.Writer, files map[string]BundleFile) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(
		zip.Deflate,
		func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) },
	)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := zip.FileHeader{Name: name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(0o644)
		if files[name].Program {
			header.SetMode(0o755)
		}
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

// alignment is the power of two at which the programs in a universal file begin: a page
// of the processors of Apple.
const alignment = 14

// slice is one program of a universal file, and how the header names it.
type slice struct {
	cpu     macho.Cpu
	sub     uint32
	content []byte
}

// Universal joins programs of macOS for several processors into one file that runs on all of them. They are in
// the order of their processors, whatever the order that they are given in: other tools write them as they
// come. An error is a program that is not one of macOS with 64 bits, or a processor that is there twice.
func Universal(programs ...[]byte) ([]byte, error) {
	var all []slice
	for _, content := range programs {
		file, err := macho.NewFile(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("a program of macOS: %w", err)
		}
		if file.Magic != macho.Magic64 {
			return nil, fmt.Errorf("a program of macOS for %v has no 64 bits", file.Cpu)
		}
		all = append(all, slice{file.Cpu, file.SubCpu, content})
	}
	slices.SortFunc(all, func(a, b slice) int { return int(int64(a.cpu) - int64(b.cpu)) })
	for i := 1; i < len(all); i++ {
		if all[i].cpu == all[i-1].cpu {
			return nil, fmt.Errorf("two programs of macOS are for %v", all[i].cpu)
		}
	}
	var header, body bytes.Buffer
	put := func(values ...uint32) {
		for _, v := range values {
			header.Write(binary.BigEndian.AppendUint32(nil, v))
		}
	}
	put(macho.MagicFat, uint32(len(all)))
	at := padded(8 + 20*len(all)) // the header and its entries
	first := at
	for _, s := range all {
		put(uint32(s.cpu), s.sub, uint32(at), uint32(len(s.content)), alignment)
		body.Write(s.content)
		at = padded(at + len(s.content))
		body.Write(make([]byte, at-first-body.Len()))
	}
	last := all[len(all)-1].content
	end := body.Len() - (padded(len(last)) - len(last)) // nothing follows the last one
	return slices.Concat(header.Bytes(), make([]byte, first-header.Len()), body.Bytes()[:end]), nil
}

func padded(n int) int { return (n + 1<<alignment - 1) &^ (1<<alignment - 1) }
