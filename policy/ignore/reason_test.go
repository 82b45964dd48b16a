package ignore

import "testing"

func TestTheReason(t *testing.T) {
	list := New("\ufeff# private\n\nDiary/\n*.tmp.md\r\n!keep.tmp.md\nWork/**/Draft*.md  \n")
	for _, test := range []struct {
		path   string
		folder bool
		want   Reason
	}{
		{"Diary/2026/a.md", false, Reason{3, "Diary/", "Diary"}},
		{"Diary", true, Reason{3, "Diary/", "Diary"}},
		{"diary/a.md", false, Reason{3, "Diary/", "diary"}}, // another spelling
		{"a.tmp.md", false, Reason{4, "*.tmp.md", "a.tmp.md"}},
		{"Work/x/Draft 1.md", false, Reason{6, "Work/**/Draft*.md", "Work/x/Draft 1.md"}},
		{"keep.tmp.md", false, Reason{}},
		{"Diary", false, Reason{}},
		{"a.md", false, Reason{}},
	} {
		got, ok := list.Reason(test.path, test.folder)
		if got != test.want || ok != (test.want != Reason{}) || ok != list.Hides(test.path, test.folder) {
			t.Errorf("%s, a folder %v: %+v, %v", test.path, test.folder, got, ok)
		}
	}
	if got, ok := New("").Reason("a.md", false); ok {
		t.Errorf("no patterns: %+v", got)
	}
}
