package sanitize

import (
	"strings"
	"testing"
)

// benchTexts are repeated up to a megabyte.
var benchTexts = []struct{ name, text string }{
	{"ascii", "A line of an ordinary note, about as long as lines are wont to be.\n"},
	{"crlf", "A line of an ordinary note, about as long as lines are wont to be.\r\n"},
	{"french", "L’été dernier, nous étions à la mer ; où êtes-vous allés, vous et vos élèves ?\n"},
	{"russian", "Все люди рождаются свободными и равными в своём достоинстве и правах.\n"},
	{"arabic", "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.\n"},
	{"persian", "کتاب\u200cها را می\u200cخوانیم و نامه\u200cای می\u200cنویسیم.\n"},
	{"hindi", "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।\n"},
	{"chinese", "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。\n"},
	{"emoji", "👩🏽\u200d🚀 und ❤\ufe0f, 👨\u200d👩\u200d👧\u200d👦 und 1\ufe0f\u20e3.\n"},
	{"hostile", "\x1b[31mred\x1b[0m \u202eevil\u202c a\u200bb\xff\xfe.\n"},
}

func megabyte(s string) string { return strings.Repeat(s, 1<<20/len(s)) }

func BenchmarkText(b *testing.B) {
	for _, bench := range benchTexts {
		b.Run(bench.name, func(b *testing.B) {
			text := megabyte(bench.text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Text(text)
			}
		})
	}
}
