package vault

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
)

// BenchmarkPerform is one read on an opened vault: what a worker does between
// its two pipes.
func BenchmarkPerform(b *testing.B) {
	h := build(b, map[string]string{"Tides.md": strings.Repeat("Two high waters a day.\n", 50)})
	at := newHost(func(name string) string { return h.env[name] }, nil)
	defer at.close()
	out := bufio.NewWriterSize(io.Discard, 64<<10)
	b.ReportAllocs()
	for b.Loop() {
		if at.moved() {
			b.Fatal("it moved")
		}
		if status := at.perform(call{context.Background(), []string{h.dir, "--facts", "read", "path=Tides.md"}, nil, out, io.Discard}); status != done {
			b.Fatal(status)
		}
	}
}
