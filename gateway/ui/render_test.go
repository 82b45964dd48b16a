package ui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vaultwicket/gateway/consent"
)

func TestTimesInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "just now", 4 * time.Second: "just now", 59 * time.Second: "59 s ago", time.Minute: "1 min ago", 119 * time.Minute: "1 h ago",
		47 * time.Hour: "47 h ago", 48 * time.Hour: "2 days ago",
	} {
		if got := ago(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0 s", 61 * time.Second: "1 min", 90 * time.Minute: "1 h 30 min", 72 * time.Hour: "3 days"} {
		if got := lasted(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for bytes, want := range map[int64]string{0: "0 B", 1500: "1.5 kB", 2_000_000: "2.0 MB"} {
		if got := size(bytes); got != want {
			t.Errorf("%d bytes are %q, want %q", bytes, got, want)
		}
	}
}

// What a row is does not depend on its text, and a line that takes several rows has its sign
// on each.
func TestRowsOfQuestions(t *testing.T) {
	for _, test := range []struct {
		line consent.Line
		want []questionRow
	}{
		{consent.Line{Text: "+ not added"}, []questionRow{{"", "+ not added"}}},
		{consent.Line{Kind: consent.Quoted, Text: "-x"}, []questionRow{{"quoted", "> -x"}}},
		{consent.Line{Kind: consent.Same, Text: "-x"}, []questionRow{{"quoted", "│  -x"}}},
		{consent.Line{Kind: consent.Removed, Text: "+x"}, []questionRow{{"removed", "│ -+x"}}},
		{consent.Line{Kind: consent.Added, Text: strings.Repeat("a", 76) + "-b"}, []questionRow{{"added", "│ +" + strings.Repeat("a", 76)}, {"added", "│…+-b"}}},
		{consent.Line{Kind: consent.Added, Text: "-b", More: true}, []questionRow{{"added", "│…+-b"}}},
	} {
		if got := questionRows([]consent.Line{test.line}); !slices.Equal(got, test.want) {
			t.Errorf("%+v: %+q", test.line, got)
		}
	}
}

func TestEveryPathHasOneTemplate(t *testing.T) {
	for _, name := range []string{"overview", "activity", "call", "approvals", "changes", "change", "policy", "try", "access", "health", "settings", "missing"} {
		if views()[name] == nil {
			t.Errorf("no view is called %q", name)
		}
	}
}

func TestTheOverviewNamesProblems(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	const banner = `2 problems found`
	v.page.Health = func(context.Context) []Finding {
		return []Finding{{Level: "problem", What: "one"}, {Level: "warning"}, {Level: "ok"}, {Level: "problem"}}
	}
	if view := v.see(""); strings.Contains(view, "problems found") {
		t.Errorf("before a check: %s", view)
	}
	<-v.page.health.begin()
	if view := v.see(""); !strings.Contains(view, banner) || !strings.Contains(view, `href="`+v.base[strings.Index(v.base[8:], "/")+8:]+`health">Health</a></p>`) {
		t.Errorf("after it: %s", view)
	}
}
