package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

const (
	figuresFile = "figures.json"
	pageFile    = "../../../docs/performance.md"
)

// The page shows the table of the last measurement.
func TestThePageIsFresh(t *testing.T) {
	kept := require.Value(readTable(figuresFile))(t)
	content := require.Value(os.ReadFile(pageFile))(t)
	testenv.GoldenFile(t, pageFile, testenv.PageBetween(t, string(content), "figures", kept.markdown()))
}

// What was measured last are the rows that there are, so none is kept that is not measured.
func TestTheLastMeasurementHasEveryRow(t *testing.T) {
	kept := require.Value(readTable(figuresFile))(t)
	for i, want := range newTable(nil, "").Rows {
		if i >= len(kept.Rows) || kept.Rows[i].What != want.What || kept.Rows[i].Unit != want.Unit || kept.Rows[i].Aim != want.Aim {
			t.Fatalf("row %d, %q, was not measured: go run ./tests/bench/figures", i, want.What)
		}
	}
	extra := len(kept.Rows) - len(bare) - len(promises)
	assert.That(t, extra <= 0, "%d rows are measured no longer", extra)
}

func TestRowsAreFilledFromAllRounds(t *testing.T) {
	first, second := result{}, result{}
	first.parse("goos: linux\nBenchmarkCall-2   \t 400\t 1234 ns/op\t 0.50 bare-ms\t 0.61 call-ms\t 1.22 call/bare\nBenchmarkTools/v0-8 1 5 ns/op 371.0 tokens\nPASS\n")
	second.parse("BenchmarkCall 400 1234 ns/op 0.50 bare-ms 0.66 call-ms 1.32 call/bare\n")
	call := ratio("a call", "≤ 1.2", "Call", "call", "bare", "a bare start").fill([]result{first, second})
	tokens := plain("tokens", "", "", "Tools/v0", "tokens").fill([]result{first, second})
	missing := plain("missing", "ms", "", "Tools/v1", "tokens").fill([]result{first, second})
	got := table{Machine: "m", Rows: []filled{call, tokens, missing}}.markdown()
	want := []string{
		"| a call | 1.22 to 1.32 × | ≤ 1.2 | 0.61 to 0.66 ms against 0.50 ms: a bare start |",
		"| tokens | 371 |  |  |", "| missing | not here |  |  |",
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	assert.That(t, slices.Equal(lines[len(lines)-3:], want), "%s", got)
}
