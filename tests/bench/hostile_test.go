package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// hostileCalls are calls that each asked for more than a gigabyte, or kept every other
// caller waiting for more than ten seconds, before a call had one budget.
var hostileCalls = []struct {
	name, command string
	params        map[string]any
}{
	{"expand a replacement", "query", map[string]any{"where": `"x".repeat(8000000).replace(/x+/,"$&".repeat(35)) == "y"`}},
	{"nest lists", "query", map[string]any{"where": `"a".repeat(1000000).split("").map([value,[value]]).length > 0`}},
	{"nest links", "query", map[string]any{"where": `file.links.map([value,file.links.map([value,file.links.map([value,file.links])])]).length > 0`}},
	{"large rows", "query", map[string]any{"select": `x: "x".repeat(9000000)`, "limit": 25}},
	{"backtrack in an expression", "query", map[string]any{"where": `/(a+)+b/.matches("` + strings.Repeat("a", 60) + `")`}},
	{"match in a long note", "search", map[string]any{"query": `/(?:[a-z ]{0,90}){9}Q1/`}},
	{"plan by a slow pattern", "property:set", map[string]any{"query": `/[a-z ]{90}Q1/`, "name": "x", "value": "1"}},
	{"replace by a slow pattern", "vault:replace", map[string]any{"old": `(?:[a-z ]{0,90}){9}Q1`, "new": "x", "regex": true}},
	{"many columns", "query", map[string]any{"select": strings.Repeat("file.backlinks,", 199) + "file.backlinks"}},
	{"expand a change", "vault:replace", map[string]any{"old": "(word)", "new": strings.Repeat("$1", 5000), "regex": true}},
	{"rename a tag of all notes", "tag:rename", map[string]any{"name": "all", "to": "each"}},
	{"groups in groups", "canvas:read", map[string]any{"path": "Groups.canvas"}},
	{"edges of one card", "canvas:read", map[string]any{"path": "Edges.canvas"}},
	{"invisible text", "read", map[string]any{"path": "Invisible.md"}},
	{"an image", "attachment:read", map[string]any{"path": "Noise.png"}},
}

// BenchmarkHostile reports for each hostile call of one caller the longest time that another
// caller waited for a read and for a write meanwhile, and the most memory that the
// server and its worker took (Linux).
func BenchmarkHostile(b *testing.B) {
	for _, hostile := range hostileCalls {
		b.Run(strings.ReplaceAll(hostile.name, " ", "-"), func(b *testing.B) {
			b.Setenv("XDG_CACHE_HOME", b.TempDir())
			s := serveHTTP(b, "--backend=embedded", "--vault="+hostileVault(b), "--tier=v2", "--allow-mutations", "--confirm=never",
				"--rate-mutations=0", "--rate-mutations-hour=0", "--timeout=30s")
			attacker, other := s.connect(b), s.connect(b)
			read := func() []byte { return other.command(b, "read", map[string]any{"path": "Small.md"}) }
			write := func() []byte {
				return other.command(b, "append", map[string]any{"path": "Log.md", "content": "a line"})
			}
			for range 5 {
				read()
				write()
			}
			var worker atomic.Int64
			stop := make(chan struct{})
			go func() { // a worker that is stopped takes its figures with it
				for {
					select {
					case <-stop:
						return
					case <-time.After(5 * time.Millisecond):
						worker.Store(max(worker.Load(), int64(memoryOfChildren(s.process.Process.Pid))))
					}
				}
			}()
			var longestRead, longestWrite, took time.Duration
			for b.Loop() {
				done := make(chan struct{})
				began := time.Now()
				go func() {
					defer close(done)
					attacker.command(b, hostile.command, hostile.params)
					took = max(took, time.Since(began))
				}()
				for running := true; running; {
					longestRead = max(longestRead, timed(func() { succeeded(b, read()) }))
					longestWrite = max(longestWrite, timed(func() { succeeded(b, write()) }))
					select {
					case <-done:
						running = false
					case <-time.After(20 * time.Millisecond):
					}
				}
			}
			close(stop)
			b.ReportMetric(took.Seconds(), "hostile-s")
			b.ReportMetric(ms(longestRead), "read-ms")
			b.ReportMetric(ms(longestWrite), "write-ms")
			b.ReportMetric(float64(worker.Load())/1024, "worker-MiB")
			b.ReportMetric(float64(memory(s.process.Process.Pid, "VmHWM"))/1024, "server-MiB")
		})
	}
}

func (c *httpClient) command(b *testing.B, command string, params map[string]any) []byte {
	_, answer := c.post(b, "tools/call", map[string]any{"name": "obsidianCli", "arguments": map[string]any{"command": command, "params": params}})
	return answer
}

func succeeded(b *testing.B, answer []byte) {
	assert.That(b, bytes.Contains(answer, []byte(`"ok":true`)), "another caller was answered with %.400s", answer)
}

// memoryOfChildren returns the most memory that the largest child of a process has taken, in KiB.
func memoryOfChildren(parent int) (most int) {
	for _, pid := range childrenOf(parent) {
		most = max(most, memory(pid, "VmHWM"))
	}
	return most
}

// hostileVault makes a vault of 1,000 notes and of files that were made to cost much.
func hostileVault(b *testing.B) string {
	folder := b.TempDir()
	words := strings.Repeat("some words of a line that goes on ", 30) + "\n"
	files := map[string]string{
		"Small.md": "a small note\n", "Log.md": "log\n", "Long.md": strings.Repeat(words, 3000),
		"Invisible.md": strings.Repeat("\u202e", 5_000_000), "Noise.png": "\x89PNG\r\n\x1a\n" + strings.Repeat("noise and more noise ", 95_000),
	}
	var links strings.Builder
	for i := range 1000 {
		name := fmt.Sprintf("Note %d", i)
		fmt.Fprintf(&links, "[[%s]] ", name)
		files[name+".md"] = "#all and a word of " + name + "\n" + strings.Repeat("text with a word or two\n", 100)
	}
	files["Hub.md"] = links.String()
	var groups, edges []string
	for i := range 500 {
		groups = append(groups, fmt.Sprintf(`{"id":"g%d","type":"group","x":%d,"y":%d,"width":%d,"height":%d,"label":%q}`, i, i, i, 3000-2*i, 3000-2*i, strings.Repeat("label ", 340)))
	}
	for i := range 20_000 {
		edges = append(edges, fmt.Sprintf(`{"id":"e%d","fromNode":"a","toNode":"b"}`, i))
	}
	files["Groups.canvas"] = `{"nodes":[` + strings.Join(groups, ",") + `],"edges":[]}`
	files["Edges.canvas"] = `{"nodes":[{"id":"a","type":"text","x":0,"y":0,"width":10,"height":10,"text":"a"},{"id":"b","type":"text","x":50,"y":0,"width":10,"height":10,"text":` +
		strconv.Quote(strings.Repeat("card ", 20_000)) + `}],"edges":[` + strings.Join(edges, ",") + `]}`
	for name, text := range files {
		require.NoError(b, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder
}
