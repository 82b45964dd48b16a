package clean

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"a message", `command "daily:append": path C:\notes`, `command "daily:append": path C:\notes`},
		{"line ends", "a\r\nb\tc", `a\r\nb\tc`},
		{"terminal control", "\x1b[31m\u009b\x7f\a", `\x1b[31m\u009b\x7f\a`},
		{"direction", "a\u202eb א\u200f", `a\u202eb א\u200f`},
		{"letters of all scripts", "Заметки/日記 é ﷽ 😀🏴", "Заметки/日記 é ﷽ 😀🏴"},
		{"joiners", "می\u200cخوانیم 👩\u200d🚀 ❤\ufe0f", `می\u200cخوانیم 👩\u200d🚀 ❤\ufe0f`},
		{"spaces and blanks", "a\u00a0b\u2003c\u3000d\u2800e\u3164", `a\u00a0b\u2003c\u3000d\u2800e\u3164`},
		{"separators", "a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"tags and private use", "\U000e0041\ue000\U0010ffff", `\U000e0041\ue000\U0010ffff`},
		{"bytes", "a\xff\xe2\x82b\ufffd", `a\xff\xe2\x82b` + "\ufffd"},
		{"marks", "a" + strings.Repeat("\u0301", 9), "a" + strings.Repeat("\u0301", 8) + `\u0301`},
		{"empty", "", ""},
	} {
		if got := Line(test.in); got != test.want {
			t.Errorf("%s: %+q, want %+q", test.name, got, test.want)
		}
	}
}

func checkLine(t interface{ Fatalf(string, ...any) }, text string) {
	line := Line(text)
	for _, r := range line {
		if !unicode.IsPrint(r) || ignorable(r) || unicode.IsSpace(r) && r != ' ' {
			t.Fatalf("Line(%+q) = %+q: %U", text, line, r)
		}
	}
	if !utf8.ValidString(line) || forbidden(line) != "" || Line(line) != line {
		t.Fatalf("Line(%+q) = %+q, and of that %+q", text, line, Line(line))
	}
}
