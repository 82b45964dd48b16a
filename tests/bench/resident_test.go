package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// BenchmarkResidentRead measures one note read with the resident worker: through
// the server, and at the worker's own pipe, next to a process for one call and
// to a server that reads the note and does nothing else.
func BenchmarkResidentRead(b *testing.B) {
	ours, vault := program(b, "vaultwicket"), smallVault(b)
	s := serve(b, "--backend=embedded", "--vault="+vault, "--tier=v1")
	s.succeed("obsidianCli", readTides) // the first call starts the worker
	floor := start(b, program(b, "noop"), filepath.Join(vault, "Tides.md"))
	w := startWorker(b, ours, vault)
	words := []string{"--facts", "read", "path=Tides.md"}
	w.call(words)
	var whole, pipe, oneShot, least []time.Duration
	for range 50 { // apart, because a start of a process takes the caches from what comes after it
		oneShot = append(oneShot, timed(func() { bareStart(b, ours, append([]string{"vault", vault}, words...)...) }))
	}
	for b.Loop() {
		whole = append(whole, timed(func() { s.succeed("obsidianCli", readTides) }))
		pipe = append(pipe, timed(func() { w.call(words) }))
		least = append(least, timed(func() { floor.ask("tools/call", map[string]any{"name": "x"}) }))
	}
	against(b, "call", whole, "floor", least)
	against(b, "one-shot", oneShot, "pipe", pipe)
}

// BenchmarkResidentFifty measures 50 reads at once with the resident worker, next to a
// server that reads the note 50 times and does nothing else.
func BenchmarkResidentFifty(b *testing.B) {
	vault := smallVault(b)
	s := serve(b, "--backend=embedded", "--vault="+vault, "--tier=v1", "--max-parallel=64")
	s.succeed("obsidianCli", readTides)
	floor := start(b, program(b, "noop"), filepath.Join(vault, "Tides.md"))
	fifty := func(s *session) time.Duration {
		return timed(func() {
			for range 50 {
				s.send("tools/call", map[string]any{"name": "obsidianCli", "arguments": readTides})
			}
			for range 50 {
				s.read()
			}
		})
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, fifty(s))
		theirs = append(theirs, fifty(floor))
	}
	against(b, "fifty", ours, "floor", theirs)
}

// BenchmarkReadBehindSearch measures a read that is sent right after a search of 10,000
// notes, next to a read alone.
func BenchmarkReadBehindSearch(b *testing.B) {
	s := serve(b, "--backend=embedded", "--vault="+largeVault(b, 10_000), "--tier=v1", "--max-parallel=64")
	search := map[string]any{"name": "obsidianCli", "arguments": map[string]any{"command": "search", "params": map[string]any{"query": rare}}}
	read := map[string]any{"name": "obsidianCli", "arguments": map[string]any{"command": "read", "params": map[string]any{"path": "Measured.md"}}}
	for range 3 {
		s.ask("tools/call", search)
	}
	var alone, behind []time.Duration
	for b.Loop() {
		alone = append(alone, timed(func() { s.ask("tools/call", read) }))
		s.send("tools/call", search)
		found := s.id
		early := false
		behind = append(behind, timed(func() {
			s.send("tools/call", read)
			early = s.until(s.id, found)
		}))
		if !early {
			s.until(found, 0)
		}
	}
	against(b, "behind", behind, "alone", alone)
	b.ReportMetric(ms(p50(behind)-p50(alone)), "slower-ms")
}

// BenchmarkTextRules measures what the rules about texts cost: a note of 5 KB of prose, one of documentation about
// keys and tokens, and the first page of a listing of 1.5 MB, each with the rules as they are by default and without.
func BenchmarkTextRules(b *testing.B) {
	documents := require.Value(os.ReadFile("../../docs/remote.md"))(b)
	vault := largeVault(b, 10_000)
	read := func(name, text string) map[string]any {
		require.NoError(b, os.WriteFile(filepath.Join(vault, name), []byte(text)[:5000], 0o600))
		b.Cleanup(func() { _ = os.Remove(filepath.Join(vault, name)) })
		return map[string]any{"command": "read", "params": map[string]any{"path": name}}
	}
	calls := map[string]map[string]any{
		"prose":     read("Prose.md", strings.Repeat("The boat was painted in spring, and sold before summer came to the harbour.\n", 70)),
		"documents": read("Documents.md", string(documents)),
		"listing":   {"command": "tasks", "params": map[string]any{"todo": true}},
	}
	common := []string{"--backend=embedded", "--vault=" + vault, "--tier=v1"}
	guarded, plain := serve(b, common...), serve(b, append(common, "--secrets=allow", "--suspicious=off")...)
	for name, call := range calls {
		b.Run(name, func(b *testing.B) {
			guarded.succeed("obsidianCli", call)
			plain.succeed("obsidianCli", call)
			var with, without []time.Duration
			for b.Loop() {
				with = append(with, timed(func() { guarded.succeed("obsidianCli", call) }))
				without = append(without, timed(func() { plain.succeed("obsidianCli", call) }))
			}
			against(b, "guarded", with, "plain", without)
		})
	}
}
