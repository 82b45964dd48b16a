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
