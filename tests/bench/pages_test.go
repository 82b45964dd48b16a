package bench

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
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
	require.Equal(b, json.Unmarshal(answer, &message), nil, "no cursor in %.400s", answer)
	require.That(b, message.Result.StructuredContent.Truncated.Cursor != "", "no cursor in %.400s", answer)
	return message.Result.StructuredContent.Truncated.Cursor
}

// BenchmarkTools reports the size of tools/list: what every conversation pays.
// Four bytes count as a token.
func BenchmarkTools(b *testing.B) {
	for _, test := range []struct {
		name  string
		flags []string
	}{
		{"v0", nil},
		{"v2-mutations", []string{"--tier=v2", "--allow-mutations"}},
		{"everything", []string{"--tier=v3", "--allow-mutations", "--allow-publish"}},
	} {
		b.Run(test.name, func(b *testing.B) {
			s := serve(b, append([]string{"--backend=embedded", "--vault=" + smallVault(b)}, test.flags...)...)
			var answer []byte
			for b.Loop() {
				answer = s.ask("tools/list", map[string]any{})
			}
			b.ReportMetric(float64(len(answer))/4, "tokens")
		})
	}
}

// BenchmarkAnswer reports the size of what a model is shown of a read, over that of the note itself.
// Four bytes count as a token.
func BenchmarkAnswer(b *testing.B) {
	for _, form := range []string{"json", "text"} {
		b.Run(form, func(b *testing.B) {
			s := serve(b, "--backend=embedded", "--vault="+smallVault(b), "--tier=v1", "--result-format="+form)
			var answer []byte
			for b.Loop() {
				answer = s.ask("tools/call", map[string]any{"name": "obsidianCli", "arguments": readTides})
			}
			b.ReportMetric(float64(len(seen(b, answer))-len(tides))/4, "tokens-over")
		})
	}
}

// seen returns what a model is shown of an answer.
func seen(b *testing.B, answer []byte) (text string) {
	var message struct {
		Result struct{ Content []struct{ Text string } }
	}
	require.NoError(b, json.Unmarshal(answer, &message))
	for _, part := range message.Result.Content {
		text += part.Text
	}
	return text
}
