package ui

import (
	"strings"
	"testing"
	"time"
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

// classes are the classes of rows, in a word each.
func classes(rows []questionRow) string {
	var list []string
	for _, r := range rows {
		if r.Class == "" {
			r.Class = "-"
		}
		list = append(list, r.Class)
	}
	return strings.Join(list, " ")
}

// Only what is behind a bar is text of a note, and only of a difference are lines added or
// removed: the words of this program never look like either.
func TestLinesOfQuestions(t *testing.T) {
	for text, want := range map[string]string{
		"Allow?\n+ not added\n│ --- a/x.md\n│ +++ b/x.md\n│ @@ -1 +1 @@\n│ -one\n│ +two\n│  three": "- - quoted quoted quoted removed added quoted",
		"│ --- a list\n│ +++ more": "removed added",
		"":                         "",
	} {
		if got := classes(questionRows(text)); got != want {
			t.Errorf("%q has the classes %q, want %q", text, got, want)
		}
	}
	if got := classes(differenceRows("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n c")); got != "- - - removed added -" {
		t.Errorf("a difference has the classes %q", got)
	}
	if rows := questionRows("a\x1b[2Jb\u202e"); strings.ContainsAny(rows[0].Text, "\x1b\u202e") {
		t.Errorf("%q is not clean", rows[0].Text)
	}
}

func TestEveryPathHasOneTemplate(t *testing.T) {
	for _, name := range []string{"overview", "activity", "call", "approvals", "changes", "change", "policy", "try", "access", "health", "settings", "missing"} {
		if views()[name] == nil {
			t.Errorf("no view is called %q", name)
		}
	}
}
