package bench

import (
	"path/filepath"
	"testing"
	"time"
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
