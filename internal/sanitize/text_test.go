package sanitize

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

type textTest struct {
	name, in, want string
	report         Report
}

func checkText(t *testing.T, tests []textTest) {
	t.Helper()
	for _, test := range tests {
		got, report := Text(test.in)
		assert.Equal(t, got, test.want, "%s: Text(%+q) = %+q", test.name, test.in, got)
		assert.Equal(t, report, test.report, "%s: Text(%+q) = %+q", test.name, test.in, got)
	}
}

// Unicode 3.9, table 3-7, names the well-formed sequences.
func TestInvalidBytes(t *testing.T) {
	checkText(t, []textTest{
		{"one byte", "a\xffb", "a\ufffdb", Report{Invalid: 1}},
		{"a run is one", "a\xff\xfe\x80b", "a\ufffdb", Report{Invalid: 1}},
		{"two runs", "\xffa\xff", "\ufffda\ufffd", Report{Invalid: 2}},
		{"a C1 control as a byte", "\x9b31m", "\ufffd31m", Report{Invalid: 1}},
		{"overlong", "\xc0\xafa\xe0\x80\xaf", "\ufffda\ufffd", Report{Invalid: 2}},
		{"a surrogate", "\xed\xa0\x80", "\ufffd", Report{Invalid: 1}},
		{"beyond Unicode", "\xf4\x90\x80\x80", "\ufffd", Report{Invalid: 1}},
		{"cut off", "a\xe2\x82", "a\ufffd", Report{Invalid: 1}},
		{"cut off, then a letter", "\xf0\x9f\x98a", "\ufffda", Report{Invalid: 1}},
		{"a first byte, then a letter", "\xc3a\xd0é", "\ufffda\ufffdé", Report{Invalid: 2}},
		{"beside a replacement character", "\ufffd\xff", "\ufffd\ufffd", Report{Invalid: 1}},
		{"marks behind it", "\xff\u0301", "\ufffd\u0301", Report{Invalid: 1}},
	})
}

// ECMA-48: sections 5.2 and 5.3 (C0 and C1), 5.4 (control sequences), 5.6
// (command and character strings), 9 (two-character sequences).
func TestTerminalControl(t *testing.T) {
	checkText(t, []textTest{
		{"CSI", "\x1b[31mred\x1b[0m", `\u{1b}[31mred\u{1b}[0m`, Report{Escapes: 2}},
		{"CSI in one character", "\u009b2J", `\u{9b}2J`, Report{Escapes: 1}},
		{"OSC ended by BEL", "\x1b]0;title\a", `\u{1b}]0;title\u{7}`, Report{Escapes: 1, Controls: 1}},
		{"OSC ended by ST", "\x1b]52;c;YQ==\x1b\\", `\u{1b}]52;c;YQ==\u{1b}\`, Report{Escapes: 2}},
		{"OSC and ST in one character", "\u009d0;x\u009c", `\u{9d}0;x\u{9c}`, Report{Escapes: 2}},
		{"DCS, SOS, PM, APC", "\x1bP\x1bX\x1b^\x1b_", `\u{1b}P\u{1b}X\u{1b}^\u{1b}_`, Report{Escapes: 4}},
		{"the same in one character", "\u0090\u0098\u009e\u009f", `\u{90}\u{98}\u{9e}\u{9f}`, Report{Escapes: 4}},
		{"two characters", "\x1bc", `\u{1b}c`, Report{Escapes: 1}},
		{"ESC at the end", "a\x1b", `a\u{1b}`, Report{Escapes: 1}},
		{"C0", "\x00\x08\x0b\x0c\x0e\x1f", `\u{0}\u{8}\u{b}\u{c}\u{e}\u{1f}`, Report{Controls: 6}},
		{"delete", "a\x7f", `a\u{7f}`, Report{Controls: 1}},
		{"C1", "\u0080\u0085\u0091\u0099\u009a", `\u{80}\u{85}\u{91}\u{99}\u{9a}`, Report{Controls: 5}},
		{"newline and tab", "a\n\tb", "a\n\tb", Report{}},
		{"a line end of Windows", "a\r\nb\r\n", "a\r\nb\r\n", Report{}},
		{"a return that overwrites", "safe\revil", `safe\u{d}evil`, Report{Controls: 1}},
		{"two returns", "a\r\r\nb\r", "a\\u{d}\r\nb\\u{d}", Report{Controls: 2}},
		{"line separators (Unicode 23.2)", "a\u2028b\u2029", `a\u{2028}b\u{2029}`, Report{Controls: 2}},
	})
}

// UAX #9 sections 2.1 to 2.6, UTR #36 section 2.5, CVE-2021-42574.
func TestDirection(t *testing.T) {
	checkText(t, []textTest{
		{"embeddings and overrides", "\u202a\u202b\u202c\u202d\u202e", `\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}`, Report{Bidi: 5}},
		{"isolates", "\u2066\u2067\u2068\u2069", `\u{2066}\u{2067}\u{2068}\u{2069}`, Report{Bidi: 4}},
		{"an override in Hebrew", "א\u202eב", `א\u{202e}ב`, Report{Bidi: 1}},
		{"marks in Latin", "a\u200eb\u200fc\u061cd", `a\u{200e}b\u{200f}c\u{61c}d`, Report{Bidi: 3}},
		{"a mark alone", "\u200f", `\u{200f}`, Report{Bidi: 1}},
		{"a mark away from letters", "א! \u200f!", `א! \u{200f}!`, Report{Bidi: 1}},
		{"a mark behind a letter", "א\u200f!", "א\u200f!", Report{}},
		{"a mark behind a pointed letter", "אַ\u200f!", "אַ\u200f!", Report{}},
		{"a mark before a letter", "!\u200eب", "!\u200eب", Report{}},
		{"more marks than sides", "א\u200f\u200f\u200f\u200fב", "א\u200f" + `\u{200f}\u{200f}` + "\u200fב", Report{Bidi: 2}},
	})
}

// Unicode 5.21 and 23.2, UTR #36 section 2.10.
func TestZeroWidth(t *testing.T) {
	checkText(t, []textTest{
		{"a space in Latin", "pass\u200bword", `pass\u{200b}word`, Report{Invisible: 1}},
		{"a space in Khmer", "មាន\u200bសេរី", "មាន\u200bសេរី", Report{}},
		{"a space at a border of Khmer", "មាន\u200b x", `មាន\u{200b} x`, Report{Invisible: 1}},
		{"two spaces in Khmer", "ន\u200b\u200bស", `ន\u{200b}\u{200b}ស`, Report{Invisible: 2}},
		{"word joiner, operators, deprecated", "a\u2060\u2061\u2064\u2065\u206a\u206f",
			`a\u{2060}\u{2061}\u{2064}\u{2065}\u{206a}\u{206f}`, Report{Invisible: 6}},
		{"soft hyphen", "Wort\u00adende", `Wort\u{ad}ende`, Report{Invisible: 1}},
		{"byte order mark at the start", "\ufeffa", "a", Report{BOM: 1}},
		{"byte order mark alone", "\ufeff", "", Report{BOM: 1}},
		{"two at the start", "\ufeff\ufeffa", `\u{feff}a`, Report{BOM: 1, Invisible: 1}},
		{"byte order mark inside", "a\ufeffb", `a\u{feff}b`, Report{Invisible: 1}},
		{"annotations", "\ufff9漢\ufffaかん\ufffb", `\u{fff9}漢\u{fffa}かん\u{fffb}`, Report{Invisible: 3}},
		{"noncharacters", "\ufffe\uffff\ufdd0\U0001ffff\U0010fffe", `\u{fffe}\u{ffff}\u{fdd0}\u{1ffff}\u{10fffe}`, Report{Invisible: 5}},
		{"Khmer inherent vowels", "ក\u17b4\u17b5", `ក\u{17b4}\u{17b5}`, Report{Invisible: 2}},
	})
}

// UAX #31 section 2.3; Unicode 9.2, 12.1, 23.2; UAX #29 rule GB11.
func TestJoiners(t *testing.T) {
	checkText(t, []textTest{
		{"in Latin", "a\u200db\u200cc", `a\u{200d}b\u{200c}c`, Report{Invisible: 2}},
		{"in Hebrew", "א\u200cב", `א\u{200c}ב`, Report{Invisible: 1}},
		{"in Chinese", "人\u200d人", `人\u{200d}人`, Report{Invisible: 1}},
		{"behind digits", "1\u200d2", `1\u{200d}2`, Report{Invisible: 1}},
		{"piled in Persian", "ب\u200c\u200c\u200c\u200dب", "ب\u200c" + `\u{200c}\u{200c}` + "\u200dب", Report{Invisible: 2}},
		{"behind a virama", "ന\u0d4d\u200d ", "ന\u0d4d\u200d ", Report{}},
		{"behind a mark of Latin", "a\u0301\u200db", "a\u0301" + `\u{200d}b`, Report{Invisible: 1}},
		{"before a mark that is too many", "a" + strings.Repeat("\u0301", 8) + "\u200d\u094d",
			"a" + strings.Repeat("\u0301", 8) + `\u{200d}` + "\u094d", Report{Invisible: 1}},
		{"between emoji", "👩\u200d🚀", "👩\u200d🚀", Report{}},
		{"behind an emoji, before a letter", "👩\u200da", `👩\u{200d}a`, Report{Invisible: 1}},
		{"before an emoji", "a\u200d🚀", `a\u{200d}🚀`, Report{Invisible: 1}},
		{"two between emoji", "👩\u200d\u200d🚀", `👩\u{200d}\u{200d}🚀`, Report{Invisible: 2}},
		{"non-joiner between emoji", "👩\u200c🚀", `👩\u{200c}🚀`, Report{Invisible: 1}},
		{"between flags", "🇩🇪\u200d🇩🇪", `🇩🇪\u{200d}🇩🇪`, Report{Invisible: 1}},
		{"grapheme joiner between letters", "a\u034fb", `a\u{34f}b`, Report{Invisible: 1}},
		{"grapheme joiners piled", "a\u0301\u034f\u034f\u0302", "a\u0301" + `\u{34f}` + "\u034f\u0302", Report{Invisible: 1}},
	})
}

// Unicode 23.4, UTS #37, UTS #51 section 2.
func TestVariationSelectors(t *testing.T) {
	checkText(t, []textTest{
		{"behind a letter", "a\ufe0f\ufe00", `a\u{fe0f}\u{fe00}`, Report{Invisible: 2}},
		{"behind a letter, plane 14", "a\U000e0100b\U000e01ef", `a\u{e0100}b\u{e01ef}`, Report{Invisible: 2}},
		{"bytes in a row behind an emoji", "😀\ufe0f\U000e0138\U000e0155", "😀\ufe0f" + `\u{e0138}\u{e0155}`, Report{Invisible: 2}},
		{"ideographic behind an emoji", "😀\U000e0100", `😀\u{e0100}`, Report{Invisible: 1}},
		{"two behind an emoji", "❤\ufe0f\ufe0f", "❤\ufe0f" + `\u{fe0f}`, Report{Invisible: 1}},
		{"two behind an ideograph", "葛\U000e0100\U000e0101", "葛\U000e0100" + `\u{e0101}`, Report{Invisible: 1}},
		{"a digit without its keycap", "1\ufe0f2", `1\u{fe0f}2`, Report{Invisible: 1}},
		{"one that nothing has", "人\ufe05", `人\u{fe05}`, Report{Invisible: 1}},
		{"a keycap that is none", "a\ufe0f\u20e3", "a" + `\u{fe0f}` + "\u20e3", Report{Invisible: 1}},
		{"the first and the last digit", "0\ufe0f\u20e39\ufe0e\u20e3", "0\ufe0f\u20e39\ufe0e\u20e3", Report{}},
		{"a fourth behind an ideograph", "人\ufe02人\ufe03", "人\ufe02人" + `\u{fe03}`, Report{Invisible: 1}},
		{"an eighth behind a hieroglyph", "𓉐\ufe06𓉐\ufe07", "𓉐\ufe06𓉐" + `\u{fe07}`, Report{Invisible: 1}},
		{"behind a wide space", "\u3000\ufe00é\ufe00", "\u3000" + `\u{fe00}é\u{fe00}`, Report{Invisible: 2}},
		{"at the start", "\ufe0fa", `\u{fe0f}a`, Report{Invisible: 1}},
		{"behind a space", " \ufe0f", ` \u{fe0f}`, Report{Invisible: 1}},
		{"Mongolian behind Latin", "a\u180b\u180fb", `a\u{180b}\u{180f}b`, Report{Invisible: 2}},
		{"Mongolian piled", "ᠠ\u180b\u180c", "ᠠ\u180b" + `\u{180c}`, Report{Invisible: 1}},
		{"vowel separator at a border of Mongolian", "ᠠ\u180ea\u180eᠠ", "ᠠ" + `\u{180e}a\u{180e}` + "ᠠ", Report{Invisible: 2}},
		{"vowel separator in Latin", "a\u180eb", `a\u{180e}b`, Report{Invisible: 1}},
	})
}

// UTS #51 annex C and ED-14a; Unicode 23.9 (tags are deprecated otherwise).
func TestTags(t *testing.T) {
	hidden := strings.NewReplacer("i", "\U000e0069", "g", "\U000e0067", "b", "\U000e0062")
	checkText(t, []textTest{
		{"a word in tags", "a" + hidden.Replace("big"), `a\u{e0062}\u{e0069}\u{e0067}`, Report{Invisible: 3}},
		{"language tag", "\U000e0001a", `\u{e0001}a`, Report{Invisible: 1}},
		{"behind another emoji", "🏳" + tagsOfWales, `🏳\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}`, Report{Invisible: 6}},
		{"a flag that is none", "🏴" + hidden.Replace("big") + "\U000e007f", `🏴\u{e0062}\u{e0069}\u{e0067}\u{e007f}`, Report{Invisible: 4}},
		{"a flag without its end", "🏴" + hidden.Replace("gb"), `🏴\u{e0067}\u{e0062}`, Report{Invisible: 2}},
		{"tags behind a flag", "🏴" + tagsOfEngland + "\U000e0067", "🏴" + tagsOfEngland + `\u{e0067}`, Report{Invisible: 1}},
		{"reserved in plane 14", "\U000e0000\U000e0080\U000e01f0\U000e0fff", `\u{e0000}\u{e0080}\u{e01f0}\u{e0fff}`, Report{Invisible: 4}},
	})
}

// Unicode 3.12 and 18.6 (Hangul), 11.4, 21.2, 21.6 (notations).
func TestFillersAndNotations(t *testing.T) {
	checkText(t, []textTest{
		{"Hangul fillers in Latin", "a\u115fb\u1160c\u3164d\uffa0", `a\u{115f}b\u{1160}c\u{3164}d\u{ffa0}`, Report{Invisible: 4}},
		{"a syllable of fillers", "\u115f\u1160", `\u{115f}\u{1160}`, Report{Invisible: 2}},
		{"fillers behind a consonant", "\u1112\u1160\u1160", "\u1112\u1160" + `\u{1160}`, Report{Invisible: 1}},
		{"the first and the last jamo", "\u1100\u1160\ua960\u1160\u115f\u11a7\u115f\ud7c6", "\u1100\u1160\ua960\u1160\u115f\u11a7\u115f\ud7c6", Report{}},
		{"music behind what is beyond it", "\U0001d200\U0001d173", "\U0001d200" + `\u{1d173}`, Report{Invisible: 1}},
		{"music in Latin", "a\U0001d173\U0001d17ab", `a\u{1d173}\u{1d17a}b`, Report{Invisible: 2}},
		{"music piled", "𝅘\U0001d173\U0001d174\U0001d175", "𝅘\U0001d173" + `\u{1d174}\u{1d175}`, Report{Invisible: 2}},
		{"shorthand in Latin", "a\U0001bca0b", `a\u{1bca0}b`, Report{Invisible: 1}},
		{"hieroglyph joiner in Latin", "a\U00013430b", `a\u{13430}b`, Report{Invisible: 1}},
	})
}

// UAX #15 section 13 (stream-safe text), UTS #39 section 5.4 (nonspacing marks).
func TestMarks(t *testing.T) {
	acute := func(n int) string { return strings.Repeat("\u0301", n) }
	checkText(t, []textTest{
		{"eight", "a" + acute(8) + "b", "a" + acute(8) + "b", Report{}},
		{"ten", "a" + acute(10) + "b", "a" + acute(8) + `\u{301}\u{301}b`, Report{Marks: 2}},
		{"twenty stay too many", "a" + acute(20), "a" + acute(8) + strings.Repeat(`\u{301}`, 12), Report{Marks: 12}},
		{"joiners do not start again", "ن" + acute(8) + "\u200d" + acute(1), "ن" + acute(8) + "\u200d" + `\u{301}`, Report{Marks: 1}},
		{"grapheme joiners count", "a" + strings.Repeat("\u0301\u034f", 4) + acute(2),
			"a" + strings.Repeat("\u0301\u034f", 3) + "\u0301" + `\u{34f}` + acute(2), Report{Invisible: 1}},
		{"at the start", acute(9), acute(8) + `\u{301}`, Report{Marks: 1}},
	})
}

// A long text with something to escape is copied once, not again and again while the
// copy grows.
func TestALongTextIsCopiedOnce(t *testing.T) {
	text := strings.Repeat(strings.Repeat("a line of a note\n", 50)+"\a", 2000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, _ := Text(text)
	runtime.ReadMemStats(&after)
	bytes := after.TotalAlloc - before.TotalAlloc
	assert.That(t, bytes <= uint64(len(text))*5/4, "%d bytes were allocated for a text of %d", bytes, len(text))
	assert.That(t, len(got) > len(text), "%d bytes were allocated for a text of %d", bytes, len(text))
}

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
		assert.Equal(t, test.report.Notice("stdout"), test.want, "%+v", test.report)
		assert.Equal(t, test.report.None(), (test.want == ""), "%+v: None", test.report)
	}
}

// checkPieces compares a stream with Text, with pieces as long as next says.
func checkPieces(t require.T, text string, next func() int) {
	var got strings.Builder
	stream := NewStream(&got)
	for rest := text; rest != ""; {
		n := min(next(), len(rest))
		if m, err := stream.Write([]byte(rest[:n])); m != n || err != nil {
			t.Fatalf("Write = %d, %v", m, err)
		}
		require.That(t, len(stream.pending) < maxPending, "%+q: %d bytes kept back", text, len(stream.pending))
		rest = rest[n:]
	}
	if err := stream.Flush(); err != nil {
		t.Fatalf("Flush: %v", err)
	}
	want, report := Text(text)
	if got.String() != want || stream.cleaner.report != report {
		t.Fatalf("%+q in pieces: %+q, %+v; whole: %+q, %+v", text, got.String(), stream.cleaner.report, want, report)
	}
}

func TestPiecesMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 9)
		checkPieces(t, drawText(t), func() int { return size.Draw(t, "size") })
	})
}

func TestEachByteAlone(t *testing.T) {
	for _, test := range corpus {
		checkPieces(t, test.text, func() int { return 1 })
	}
	for _, text := range []string{string(interesting), "\ufeffa", "\ufeff\ufeff", "\r\ufeff"} {
		checkPieces(t, text, func() int { return 1 })
	}
}

func TestFlushBeginsAnotherText(t *testing.T) {
	var got strings.Builder
	stream := NewStream(&got)
	for _, text := range []string{"\ufeffa\r", "\ufeffb\xe2"} {
		require.Value(stream.Write([]byte(text)))(t)
		require.NoError(t, stream.Flush())
	}
	want := Report{BOM: 2, Controls: 1, Invalid: 1}
	if got.String() != "a\\u{d}b\ufffd" || stream.cleaner.report != want {
		t.Errorf("%+q, %+v", got.String(), stream.cleaner.report)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("the pipe is broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestTheErrorOfTheWriterIsReturned(t *testing.T) {
	stream := NewStream(brokenWriter{})
	_, err := stream.Write([]byte("\r"))
	assert.NoError(t, err, "nothing was to be written")
	_, err = stream.Write([]byte("a"))
	assert.ErrorIs(t, err, errBroken, "Write")
}
