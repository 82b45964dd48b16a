package clean

import "testing"

func TestNotice(t *testing.T) {
	for _, test := range []struct {
		report Report
		want   string
	}{
		{Report{}, ""},
		{Report{Escapes: 1}, "stdout: 1 terminal control sequence is shown as an escape"},
		{Report{Bidi: 2}, "stdout: 2 direction controls are shown as escapes"},
		{Report{Escapes: 3, Invisible: 2}, "stdout: 3 terminal control sequences and 2 invisible characters are shown as escapes"},
		{Report{Escapes: 1, Controls: 1, Marks: 1}, "stdout: 1 terminal control sequence, 1 control character and 1 piled combining mark are shown as escapes"},
		{Report{Invalid: 1}, "stdout: bytes that are no UTF-8 are shown as U+FFFD in 1 place"},
		{Report{Invalid: 2, Controls: 1}, "stdout: 1 control character is shown as an escape; bytes that are no UTF-8 are shown as U+FFFD in 2 places"},
		{Report{BOM: 1}, "stdout: the byte order mark is left out"},
	} {
		if got := test.report.Notice("stdout"); got != test.want {
			t.Errorf("%+v: %q, want %q", test.report, got, test.want)
		}
		if test.report.None() != (test.want == "") {
			t.Errorf("%+v: None is %v", test.report, test.report.None())
		}
	}
}
