package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// afterStart is when a server has given back what only its start needed.
const afterStart = 2 * time.Second

// afterPause is when a server that is not called has given back what its calls needed.
const afterPause = 21 * time.Second

// BenchmarkMemory reports the memory of the server two seconds after its start, after as many
// calls as the benchmark makes, and after a pause, in all and the part that no file
// backs (Linux; run it with -benchtime 10000x).
func BenchmarkMemory(b *testing.B) {
	s := serve(b, "--backend=obsidian", "--cli="+program(b, "obsidian"))
	time.Sleep(afterStart) // until it is at rest
	report := func(when string) {
		b.ReportMetric(s.mebibytes("VmRSS"), when+"-MiB")
		b.ReportMetric(s.mebibytes("RssAnon"), when+"-anon-MiB")
	}
	rest, restAnon := s.mebibytes("VmRSS"), s.mebibytes("RssAnon")
	for b.Loop() {
		s.call("random:read")
	}
	report("after")
	time.Sleep(afterPause) // the pause that is measured
	report("paused")
	b.ReportMetric(rest, "rest-MiB") // ReportMetric before the loop would be forgotten
	b.ReportMetric(restAnon, "rest-anon-MiB")
}

// BenchmarkLarge reports the most memory that the server, which does not just start, ever took
// for a note of 20 MB, for a note of one line of 100 MB, and for a batch of 100 reads of 1 MB
// each (Linux).
func BenchmarkLarge(b *testing.B) {
	vault := b.TempDir()
	for name, size := range map[string]int{"Long.md": 20 << 20, "Line.md": 100 << 20, "Large.md": 1 << 20} {
		line := "A line of a long note, such as a log.\n"
		if name == "Line.md" {
			line = "one line without an end "
		}
		require.NoError(b, os.WriteFile(filepath.Join(vault, name), []byte(strings.Repeat(line, size/len(line))), 0o644))
	}
	read := func(path string) map[string]any {
		return map[string]any{"command": "read", "params": map[string]any{"path": path}}
	}
	s := serve(b, "--backend=embedded", "--vault="+vault, "--tier=v2", "--allow-mutations")
	time.Sleep(afterStart) // until it is at rest
	for b.Loop() {
		for _, name := range []string{"Long.md", "Line.md"} {
			s.succeed("obsidianCli", read(name))
		}
		operations := make([]map[string]any, 100)
		for i := range operations {
			operations[i] = read("Large.md")
			operations[i]["clientId"] = strconv.Itoa(i)
		}
		s.succeed("obsidianBatch", map[string]any{"operations": operations})
	}
	b.ReportMetric(s.mebibytes("VmHWM"), "most-MiB")
}
