package bench

import (
	"encoding/json"
	"testing"

	"vaultwicket/tests/require"
)

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
