package clean

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// checkShown checks what Text promises about any text, without asking the rules.
func checkShown(t require.T, in string) {
	out, report := Text(in)
	require.That(t, utf8.ValidString(out), "Text(%+q) = %+q: no UTF-8", in, out)
	require.Equal(t, forbidden(out), "", "Text(%+q) = %+q", in, out)
	if again, none := Text(out); again != out || !none.None() {
		t.Fatalf("Text(%+q) = %+q, and of that %+q, %+v", in, out, again, none)
	}
	if changed, ok := compare(in, out); !ok || changed != sum(report) {
		t.Fatalf("Text(%+q) = %+q: %d changes, in order: %v, report %+v", in, out, changed, ok, report)
	}
	require.That(t, (out == in) == report.None(), "Text(%+q) = %+q, report %+v", in, out, report)
}

func sum(r Report) int {
	return r.Invalid + r.Controls + r.Escapes + r.Invisible + r.Bidi + r.Marks + r.BOM
}

// compare walks through both texts and counts what is not the same. It is false
// when something of in is neither there nor an escape in out.
func compare(in, out string) (changed int, ok bool) {
	valid := strings.ToValidUTF8(in, "\x00\ufffd") // NUL is always an escape, so this is no text
	if rest, found := strings.CutPrefix(valid, "\ufeff"); found {
		valid, changed = rest, 1
	}
	for valid != "" {
		if rest, found := strings.CutPrefix(valid, "\x00\ufffd"); found && strings.HasPrefix(out, "\ufffd") {
			valid, out, changed = rest, out[len("\ufffd"):], changed+1
			continue
		}
		r, size := utf8.DecodeRuneInString(valid)
		valid = valid[size:]
		if rest, found := strings.CutPrefix(out, string(r)); found {
			out = rest
			continue
		}
		rest, found := strings.CutPrefix(out, fmt.Sprintf(`\u{%x}`, r))
		if !found {
			return changed, false
		}
		out, changed = rest, changed+1
	}
	return changed, out == ""
}

// forbidden names what must be in no clean text.
func forbidden(s string) string {
	s = strings.NewReplacer("🏴"+tagsOfEngland, "x", "🏴"+tagsOfScotland, "x", "🏴"+tagsOfWales, "x", "\r\n", "\n").Replace(s)
	marks, prev := 0, rune(0)
	for _, r := range s {
		switch {
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return fmt.Sprintf("control %U", r)
		case unicode.In(r, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point, unicode.Cs):
			return fmt.Sprintf("separator or noncharacter %U", r)
		case ignorable(r) && !mayBelong(r):
			return fmt.Sprintf("invisible %U", r)
		case unicode.Is(unicode.Join_Control, r) && unicode.Is(unicode.Join_Control, prev):
			return fmt.Sprintf("joiners %U %U", prev, r)
		case unicode.Is(unicode.Variation_Selector, r) && (prev < '#' || unicode.Is(unicode.Variation_Selector, prev)):
			return fmt.Sprintf("selectors %U %U", prev, r)
		case unicode.Is(unicode.Latin, prev) && mayBelong(r):
			if !unicode.Is(unicode.Bidi_Control, r) && !unicode.Is(unicode.Join_Control, r) && r != cgj && r < 0x10000 && r != choseong {
				return fmt.Sprintf("%U behind Latin", r)
			}
		}
		switch {
		case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Cf, r):
		case unicode.In(r, unicode.Mn, unicode.Me):
			marks++
		default:
			marks = 0
		}
		if marks > maxMarks {
			return "too many marks"
		}
		prev = r
	}
	return ""
}

// ignorable is Default_Ignorable_Code_Point as DerivedCoreProperties.txt derives
// it, and what else has no glyph of its own.
func ignorable(r rune) bool {
	switch {
	case 0xfff9 <= r && r <= 0xfffb, 0x13430 <= r && r < 0x13440:
		return true
	case unicode.Is(unicode.White_Space, r), unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector)
}

// mayBelong reports whether r is shown in some places.
func mayBelong(r rune) bool {
	switch r {
	case cgj, choseong, jungseong, mvs, zwsp, zwnj, zwj, lrm, rlm, alm:
		return true
	}
	return unicode.Is(unicode.Variation_Selector, r) ||
		0x13430 <= r && r < 0x13440 || 0x1bca0 <= r && r < 0x1bca4 || 0x1d173 <= r && r < 0x1d17b
}

// In Latin text nothing that is not seen is shown, whatever Unicode says of it.
func TestEveryCodePointInLatin(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if 0xd800 <= r && r < 0xe000 {
			continue
		}
		in := "a" + string(r) + "b"
		hide := ignorable(r) || unicode.IsControl(r) && r != '\n' && r != '\t' ||
			unicode.In(r, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point)
		want := in
		if hide {
			want = fmt.Sprintf(`a\u{%x}b`, r)
		}
		if got, report := Text(in); got != want || report.None() == hide || sum(report) > 1 {
			t.Errorf("%U: %+q, %+v", r, got, report)
		}
	}
}

// interesting are the characters on which rules turn, and some that none minds.
var interesting = []rune("a1#0 \n\r\t\x00\x1b\x7f\u0080\u0085\u009b\u009c\u00a0\u00ad\u00e9\u0301\u034f\u0489\u05d0\u05b7\u061c\u0628\u064e\u06f5" +
	"\u0915\u094d\u0e01\u1000\u1780\u17b4\u1100\u115f\u1160\u1161\u11a8\u1820\u180b\u180e\u180f\u2002\u200b\u200c\u200d\u200e\u200f\u2028" +
	"\u202e\u2060\u2066\u20e3\u2229\u2764\u2800\u3001\u3164\u845b\ufdd0\ufe00\ufe01\ufe06\ufe0e\ufe0f\ufeff\uffa0\ufff9\ufffd\uffff" +
	"\U00013000\U00013430\U0001bc00\U0001bca0\U0001d158\U0001d165\U0001d173\U0001f1e9\U0001f3f4\U0001f3fd\U0001f469\U0001f680" +
	"\U000e0001\U000e0067\U000e0062\U000e007f\U000e0100\U000e01ef\U000f0000\U0010ffff\\{}")

// drawText draws text in which neighbours matter, flags occur and bytes are missing.
func drawText(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.Map(rapid.SampledFrom(interesting), func(r rune) string { return string(r) }),
		rapid.Map(rapid.SampledFrom(interesting), func(r rune) string { return strings.Repeat(string(r), 5) }),
		rapid.SampledFrom([]string{"\xff", "\xe2\x80", "\xf0\x9f", "\xf3\xa0\x81", "🏴" + tagsOfWales, "🏴" + tagsOfEngland[:12], tagsOfEngland, "a line of text, "}),
		rapid.String(),
	)
	return strings.Join(rapid.SliceOf(piece).Draw(t, "text"), "")
}

func TestTextKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkShown(t, drawText(t)) })
}

func FuzzText(f *testing.F) {
	for _, test := range corpus {
		f.Add(test.text, 3)
	}
	for _, bench := range benchTexts {
		f.Add(bench.text, 1)
	}
	f.Add(string(interesting), 2)
	f.Add("\ufeff\ufeff\r\r\n\xff\xfe🏴"+tagsOfWales+"🏴"+tagsOfWales[:7], 5)
	f.Fuzz(func(t *testing.T, text string, size int) {
		checkShown(t, text)
		checkLine(t, text)
		checkPieces(t, text, func() int { return min(max(size, 1), 64) })
	})
}

// A bounded text is Text of a beginning of whole characters, ends only where the bound is
// near, and takes no more memory than its bound.
func TestTheStartOfATextKeepsToItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Repeat(rapid.StringOfN(rapid.SampledFrom([]rune("ab\u202e\x1b\u200d\ufeff🏴é")), 1, 12, -1).Draw(t, "in"), rapid.IntRange(1, 40).Draw(t, "times"))
		most := rapid.IntRange(maxEscape, 600).Draw(t, "most")
		out, read, report := Start(in, most)
		whole, _ := Text(in)
		if read == len(in) {
			if again, all := Text(in); out != again || report != all {
				t.Fatalf("Start(%+q, %d) = %+q, %+v", in, most, out, report)
			}
			return
		}
		require.That(t, len(out) <= most && utf8.RuneStart(in[read]) && strings.HasPrefix(whole, out), "Start(%+q, %d) = %+q after %d bytes", in, most, out, read)
	})
	long := strings.Repeat("\u202e", 5<<20)
	const most = 17 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, read, _ := Start(long, most)
	runtime.ReadMemStats(&after)
	took := after.TotalAlloc - before.TotalAlloc
	assert.That(t, len(out) <= most && read < len(long) && took <= most+most/16, "%d bytes of %d, from %d: %d bytes of memory", len(out), most, read, took)
}
