package vault

import (
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
	b.ReportAllocs()
	for b.Loop() {
		if at.moved() {
			b.Fatal("it moved")
		}
		j := &job{words: []string{"--facts", "read", "path=Tides.md"}, out: &outlet{to: io.Discard}}
		if status := at.perform(call{context.Background(), append([]string{h.dir}, j.words...), nil, j.stdout(), j.stderr()}); status != done {
			b.Fatal(status)
		}
		j.release()
	}
}
