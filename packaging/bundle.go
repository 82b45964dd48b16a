package packaging

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// BundleFile is an entry of the bundle.
type BundleFile struct {
	Content []byte
	Program bool // whether it is executable
}

// epoch is the earliest time that an entry of a ZIP file can have.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// WriteBundle writes files, given by slash-separated path, as an MCP bundle (.mcpb), which clients
// install: a ZIP file with a manifest and the program for each system. The same files result in the
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

// alignBits is the binary logarithm of the alignment of programs in a universal file: 16 KiB, the page size of Apple
// processors.
const alignBits = 14

// architecture is one program of a universal file, with the processor that its entry in the header names.
type architecture struct {
	cpu     macho.Cpu
	sub     uint32
	content []byte
}

// Universal joins macOS programs for several processors into one file that runs on all of them. In contrast to other
// tools, it sorts the programs by processor, so that their order does not matter. It returns an error if there are
// no programs, if one is not a 64-bit macOS program, or if two are for the same processor.
func Universal(programs ...[]byte) ([]byte, error) {
	if len(programs) == 0 {
		return nil, errors.New("no programs are given")
	}
	var all []architecture
	for _, content := range programs {
		file, err := macho.NewFile(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("not a macOS program: %w", err)
		}
		if file.Magic != macho.Magic64 {
			return nil, fmt.Errorf("the macOS program for %v is not 64-bit", file.Cpu)
		}
		all = append(all, architecture{file.Cpu, file.SubCpu, content})
	}
	slices.SortFunc(all, func(a, b architecture) int { return cmp.Compare(a.cpu, b.cpu) })
	for i := 1; i < len(all); i++ {
		if all[i].cpu == all[i-1].cpu {
			return nil, fmt.Errorf("two macOS programs are for %v", all[i].cpu)
		}
	}
	var header, body bytes.Buffer
	put := func(values ...uint32) {
		for _, v := range values {
			header.Write(binary.BigEndian.AppendUint32(nil, v))
		}
	}
	put(macho.MagicFat, uint32(len(all)))
	const headerSize, entrySize = 8, 20
	at := padded(headerSize + entrySize*len(all))
	first := at
	for _, s := range all {
		put(uint32(s.cpu), s.sub, uint32(at), uint32(len(s.content)), alignBits)
		body.Write(make([]byte, at-first-body.Len()))
		body.Write(s.content)
		at = padded(at + len(s.content))
	}
	return slices.Concat(header.Bytes(), make([]byte, first-header.Len()), body.Bytes()), nil
}

func padded(n int) int { return (n + 1<<alignBits - 1) &^ (1<<alignBits - 1) }
