package bench

import (
	"encoding/json"
	"testing"
	"time"
)

// BenchmarkPages measures the first page of a long listing of 10,000 notes through the
// server, and the page after it, next to the whole listing at the pipe of a worker.
func BenchmarkPages(b *testing.B) {
	vault := largeVault(b, 10_000)
	s := serve(b, "--backend=embedded", "--vault="+vault, "--tier=v1")
	w := filledWorker(b, vault)
	tasks := map[string]any{"command": "tasks", "params": map[string]any{"todo": true}}
	s.succeed("obsidianCli", tasks)
	var first, next, pipe []time.Duration
	for b.Loop() {
		var answer []byte
		first = append(first, timed(func() { answer = s.succeed("obsidianCli", tasks) }))
		cursor := cursorOf(b, answer)
		next = append(next, timed(func() {
			s.succeed("obsidianCli", map[string]any{"command": "tasks", "cursor": cursor})
		}))
		pipe = append(pipe, timed(func() { w.call([]string{"tasks", "todo"}) }))
	}
	against(b, "first", first, "pipe", pipe)
	b.ReportMetric(ms(p50(next)), "next-ms")
}

// cursorOf returns the cursor of the next page of an answer.
func cursorOf(b *testing.B, answer []byte) string {
	var message struct {
		Result struct {
			StructuredContent struct{ Truncated struct{ Cursor string } }
		}
	}
	if err := json.Unmarshal(answer, &message); err != nil || message.Result.StructuredContent.Truncated.Cursor == "" {
		b.Fatalf("no cursor in %.400s", answer)
	}
	return message.Result.StructuredContent.Truncated.Cursor
}
