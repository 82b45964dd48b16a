package object

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"sync"
)

// The compression is DEFLATE at its fastest: it costs a start nothing, and most
// of what is kept are differences, which are short.
const level = flate.BestSpeed

// leastPacked is the length from which compressing is tried.
const leastPacked = 128

var writers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(io.Discard, level) // the level is one that exists
	return w
}}

// pack returns data compressed, or nil if that is not shorter.
func pack(data []byte) []byte {
	if len(data) < leastPacked {
		return nil
	}
	var out bytes.Buffer
	compressor := NewCompressor(&out)
	_, err := compressor.Write(data)
	if err = errors.Join(err, compressor.Close()); err != nil || out.Len() >= len(data) {
		return nil
	}
	return out.Bytes()
}

// Compressor compresses what is written to it. It is to be closed, and not used
// afterwards.
type Compressor struct{ flate *flate.Writer }

// NewCompressor returns a Compressor that writes to out.
func NewCompressor(out io.Writer) Compressor {
	w := writers.Get().(*flate.Writer)
	w.Reset(out)
	return Compressor{w}
}

// Write implements [io.Writer].
func (p Compressor) Write(data []byte) (int, error) { return p.flate.Write(data) }

// Close writes what is left, and makes the Compressor useless.
func (p Compressor) Close() error {
	err := p.flate.Close()
	p.flate.Reset(io.Discard)
	writers.Put(p.flate)
	return err
}

// unpack returns what was compressed to data, if that is exactly so long.
func unpack(data []byte, size int) ([]byte, bool) {
	out := make([]byte, size)
	in := flate.NewReader(bytes.NewReader(data))
	if _, err := io.ReadFull(in, out); err != nil {
		return nil, false
	}
	n, err := in.Read(make([]byte, 1))
	return out, n == 0 && err == io.EOF
}
