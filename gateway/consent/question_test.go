package consent

import (
	"strings"
	"testing"
)

func TestQuotedShowsBothEnds(t *testing.T) {
	for in, want := range map[string]string{
		"a.md": `"a.md"`, `a"b`: `"a\"b"`, "a\nb": `"a\nb"`, "\x1b[2J": `"\x1b[2J"`, "\u202ex": `"\u202ex"`,
	} {
		if got := quoted(in); got != want {
			t.Errorf("%q is shown as %s, want %s", in, got, want)
		}
	}
	for _, fill := range []string{"x", "字", "\x00", "\U000e0041", `"`} {
		got := quoted("first/" + strings.Repeat(fill, 5000) + "/last.md")
		if len(got) > maxShownName+10 || !strings.HasPrefix(got, `"first/`) || !strings.HasSuffix(got, `/last.md"`) || strings.ContainsAny(strings.ReplaceAll(got[1:len(got)-1], `\"`, ""), "\n\"") {
			t.Errorf("a long one is shown as %s", got)
		}
	}
}

func TestFolderOfAll(t *testing.T) {
	for _, test := range []struct {
		files []PlannedFile
		want  string
	}{
		{nil, ""},
		{[]PlannedFile{{Path: "a.md"}}, ""},
		{[]PlannedFile{{Path: "In/a.md"}}, "In"},
		{[]PlannedFile{{Path: "In/a.md"}, {Path: "In/Deep/b.md"}}, "In"},
		{[]PlannedFile{{Path: "In/Deep/b.md"}, {Path: "In/a.md"}}, ""},
		{[]PlannedFile{{Path: "In/a.md"}, {Path: "In2/a.md"}}, ""},
		{[]PlannedFile{{Path: "In/a.md"}, {Path: "In"}}, ""},
		{[]PlannedFile{{Path: "In/a.md", From: "In/b.md"}}, "In"},
		{[]PlannedFile{{Path: "In/a.md", From: "Out/a.md"}}, ""},
		{[]PlannedFile{{Path: "a.md", From: "In/a.md"}}, ""},
	} {
		if got := FolderOfAll(test.files); got != test.want {
			t.Errorf("%v: %q, want %q", test.files, got, test.want)
		}
	}
}

// What the owner is told has no name or text of a note, and nothing that another program could take
// for markup, an option, a link or another line.
func TestToldIsPlainAndShort(t *testing.T) {
	gone, moved := PlannedFile{Path: "secret.md", Before: "1"}, PlannedFile{Path: "b.md", From: "a.md", Before: "1", After: "1"}
	changed, made := PlannedFile{Path: "c.md", Before: "1", After: "2"}, PlannedFile{Path: "d.md", After: "2"}
	for _, test := range []struct {
		caller, client, vault string
		files                 []PlannedFile
		want                  string
	}{
		{"1-a", "Cursor", "Work", []PlannedFile{gone}, "Cursor asks to delete 1 note in Work"},
		{"nightly/1-a", "Cursor", "Work", []PlannedFile{gone, moved, moved, changed, made}, "nightly asks to delete 1 note, move 2 notes, change 1 note and create 1 note in Work"},
		{"1-a", "", "", nil, "An agent asks to run delete in the vault of the app"},
		{"1-a", "-rf --x=<b>evil.example/\n\x1b[0m", "My \"vault\"", []PlannedFile{changed, {Path: "x.canvas", After: "2"}}, "rf --x b evil example 0m asks to change 1 file and create 1 file in My vault"},
		{"1-a", strings.Repeat("字", 500), "V", []PlannedFile{gone}, strings.Repeat("字", 20) + "… asks to delete 1 note in V"},
	} {
		q := Question{Vault: test.vault, Does: Does("delete", test.files)}
		if got := q.told(Requester{Caller: test.caller, Client: test.client}); got != test.want {
			t.Errorf("told %q, want %q", got, test.want)
		}
	}
}
