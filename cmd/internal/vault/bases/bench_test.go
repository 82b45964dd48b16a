package bases

import (
	"context"
	"fmt"
	"testing"

	"vaultwicket/tests/require"
)

// BenchmarkQuery answers views over 10,000 notes whose index is in memory.
func BenchmarkQuery(b *testing.B) {
	files := map[string]string{}
	for i := range 10_000 {
		files[fmt.Sprintf("Area %d/Note %d.md", i%40, i)] = fmt.Sprintf(
			"---\nstatus: %s\nrating: %d\ndue: 2026-%02d-%02d\nproject: \"[[Note %d]]\"\ntags: [area/%d, note]\n---\n# Note\n\nText with [[Note %d]] and [[Note %d]].\n",
			[]string{"open", "done", "waiting"}[i%3], i%7, i%12+1, i%28+1, i/10, i%40, i/2, i/3)
	}
	v := newVault(b, files, "")
	for _, bench := range []struct{ name, base string }{
		{"Table", "filters:\n  and: ['status != \"done\"', 'rating > 2']\nformulas: {left: '(due - now()).days.round()'}\nviews:\n  - order: [file.name, status, rating, due, formula.left]\n    sort: [{property: due, direction: ASC}]\n"},
		{"Groups", "filters:\n  and: ['status != \"done\"', 'rating > 2']\nviews:\n  - order: [file.name, status, rating]\n    groupBy: {property: project, direction: ASC}\n    summaries: {rating: Average}\n"},
		{"Backlinks", "filters: file.backlinks.length > 3 && !file.hasLink(\"Note 7\")\nviews:\n  - order: [file.name, rating]\n"},
		{"Tags", "filters: file.hasTag(\"area/7\")\nviews:\n  - order: [file.name, rating]\n"},
	} {
		base := require.Value(Read([]byte(bench.base)))(b)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table, err := base.Run(context.Background(), v.memory.New(v.Config).Source(), Query{})
				if err != nil || len(table.Rows) == 0 {
					b.Fatal(err, "no rows")
				}
				require.That(b, table.Print(JSON) != "", "nothing is printed")
			}
		})
	}
}
