package vault

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/resident"
)

// BenchmarkPerform is one read on an opened vault: what a worker does between
// its two pipes.
func BenchmarkPerform(b *testing.B) {
	h := build(b, map[string]string{"Tides.md": strings.Repeat("Two high waters a day.\n", 50)})
	at := command.NewHost(func(name string) string { return h.env[name] }, nil)
	defer at.Close()
	out := bufio.NewWriterSize(io.Discard, 64<<10)
	b.ReportAllocs()
	for b.Loop() {
		if at.FolderMoved() {
			b.Fatal("it moved")
		}
		if status := perform(at, resident.Call{Ctx: context.Background(), Args: []string{h.dir, "--facts", "read", "path=Tides.md"}, Stdin: nil, Stdout: out, Stderr: io.Discard}); status != command.ExitDone {
			b.Fatal(status)
		}
	}
}
