package sanitize

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"

	"pgregory.net/rapid"
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
		got, report := Text(in)
		assert.Equal(t, got, want, "%U", r)
		assert.That(t, report.None() != hide, "%U: %+q, %+v", r, got, report)
		assert.That(t, sum(report) <= 1, "%U: %+q, %+v", r, got, report)
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
		rapid.SampledFrom([]string{"\xff", "\xe2\x80", "\xf0\x9f", "\xf3\xa0\x81", "🏴" + tagsOfWales,
			"🏴" + tagsOfEngland[:12], tagsOfEngland, "a line of text, "}),
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
		in := strings.Repeat(rapid.StringOfN(rapid.SampledFrom([]rune("ab\u202e\x1b\u200d\ufeff🏴é")), 1, 12, -1).Draw(t,
			"in"), rapid.IntRange(1, 40).Draw(t, "times"))
		most := rapid.IntRange(maxEscape, 600).Draw(t, "most")
		out, read, report := Start(in, most)
		whole, _ := Text(in)
		if read == len(in) {
			again, all := Text(in)
			require.Equal(t, out, again, "Start(%+q, %d) = %+q", in, most, out)
			require.Equal(t, report, all, "Start(%+q, %d) = %+q", in, most, out)
			return
		}
		require.That(t, len(out) <= most, "Start(%+q, %d) = %+q after %d bytes", in, most, out, read)
		require.That(t, utf8.RuneStart(in[read]), "Start(%+q, %d) = %+q after %d bytes", in, most, out, read)
		require.That(t, strings.HasPrefix(whole, out), "Start(%+q, %d) = %+q after %d bytes", in, most, out, read)
	})
	long := strings.Repeat("\u202e", 5<<20)
	const most = 17 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, read, _ := Start(long, most)
	runtime.ReadMemStats(&after)
	took := after.TotalAlloc - before.TotalAlloc
	assert.That(t, len(out) <= most, "%d bytes of %d, from %d: %d bytes of memory", len(out), most, read, took)
	assert.That(t, read < len(long), "%d bytes of %d, from %d: %d bytes of memory", len(out), most, read, took)
	assert.That(t, took <= most+most/16, "%d bytes of %d, from %d: %d bytes of memory", len(out), most, read, took)
}

// corpus contains text as people write it. All of it is shown as it is. What is
// not seen is written as an escape of Go.
var corpus = []struct{ name, text string }{
	{"English", "“It’s 5 o’clock” — she said…\u00a0naïve café, €20, 3½″.\n\tIndented.\r\nWindows."},
	{"French", "L’été dernier, où étiez-vous\u202f? À la mer\u202f!"},
	{"Turkish", "İstanbul'da ılık bir akşam, ağaçların altında."},
	{"Czech", "Příliš žluťoučký kůň úpěl ďábelské ódy."},
	{"Vietnamese", "Tất cả mọi người sinh ra đều được tự do."},
	{"Vietnamese, decomposed", "Ta\u0302\u0301t ca\u0309 mo\u0323i ngu\u031bo\u031b\u0300i đe\u0302\u0300u tu\u031b\u0323 do."},
	{"phonetics", "ˌɪntəˈnæʃənəl t͡ʃ d̪̥ n̩̊ ã̤"},
	{"Greek", "Μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος"},
	{"Cyrillic", "Все люди рождаются свободными; ѣ, ї, ґ, ў, ҟ, въ нача\u0301лѣ."},
	{"Church Slavonic", "в\u0485 л\u0483 ꙗкоже"},
	{"Armenian", "Բոլոր մարդիկ ծնվում են ազատ։"},
	{"Georgian", "ყველა ადამიანი იბადება თავისუფალი. ႠႡႢ ᲐᲑᲒ"},
	{"Hebrew", "כל בני האדם נולדו בני חורין (א\u200f), שלום\u200f!"},
	{"Hebrew, pointed", "בְּרֵאשִׁ֖ית בָּרָ֣א אֱלֹהִ֑ים אֵ֥ת הַשָּׁמַ֖יִם וְאֵ֥ת הָאָֽרֶץ׃"},
	{"Hebrew, marks held in order", "יְרוּשָׁלַ\u034fִם"},
	{"Yiddish", "אַלע מענטשן ווערן געבוירן פֿרײַ"},
	{"Arabic", "يولد جميع الناس أحراراً، و\u200eABC\u200eد، ١٢٣؟"},
	{"Arabic, pointed", "بِسْمِ ٱللَّهِ ٱلرَّحْمَـٰنِ ٱلرَّحِيمِ \u06dd"},
	{"Arabic letter form", "ه\u200d، \u200dه، 1437 ه\u200d."},
	{"Persian", "کتاب\u200cها را می\u200cخوانیم؛ خانه\u200cای، ۵\u200cساله، PDF\u200cها."},
	{"Urdu", "تمام انسان آزاد پیدا ہوئے ہیں۔"},
	{"Pashto", "ټول انسانان ازاد زېږېدلي دي\u061c"},
	{"Syriac", "ܟܠ ܒܪܢܫܐ ܒܪܝܠܗ ܚܐܪܐ"},
	{"Thaana", "ހުރިހާ އިންސާނުން ވެސް"},
	{"N’Ko", "ߡߊ߬ ߞߊ߲߬ߠߌ߲ ߠߎ߬ ߓߊߡߊ߲߫"},
	{"Adlam", "𞤋𞤲𞥆𞤢𞤥𞤢 𞤢𞥄𞤣𞤫𞥅𞤶𞤭"},
	{"Ethiopic", "የሰው ልጅ ሁሉ ሲወለድ ነጻ ነው።"},
	{"Hindi", "क्\u200dष, क्\u200cष, र्\u200dय, सभी मनुष्यों को स्वतन्त्रता प्राप्त है।"},
	{"Marathi", "दर्\u200dया, वाऱ्\u200dयावर"},
	{"Nepali", "गर्\u200dयो, श्रीमान्\u200cको"},
	{"Bengali", "সমস্ত মানুষ স্বাধীন; র\u200d্যাব, ক্\u200cষ, ৎ"},
	{"Punjabi", "ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ"},
	{"Gujarati", "પ્રતિષ્ઠા અને અધિકારો"},
	{"Odia", "ସମସ୍ତ ମନୁଷ୍ୟ ସ୍ୱାଧୀନ"},
	{"Tamil", "மனிதப் பிறவியினர் சகலரும்; க்\u200cஷ, ஸ்ரீ"},
	{"Telugu", "ప్రతిపత్తిస్వత్వముల; సాఫ్ట్\u200cవేర్"},
	{"Kannada", "ಎಲ್ಲಾ ಮಾನವರೂ; ರ\u200d್ಯಾಂಕ್, ಸಾಫ್ಟ್\u200cವೇರ್"},
	{"Malayalam", "അവന്\u200d പറഞ്ഞു, അവള്\u200d കേട്ടു; തമിഴ്\u200cനാട്, ൻ ർ ൽ"},
	{"Sinhala", "ශ්\u200dරී ලංකා, ක්\u200dය, ක\u200d්ව"},
	{"Thai", "มนุษย์ทั้งหลายเกิดมามีอิสระ น้ำ\u200bใจ ที่"},
	{"Lao", "ມະນຸດ\u200bທຸກຄົນ ເກີດມາ"},
	{"Khmer", "មនុស្ស\u200bទាំងអស់\u200bកើតមក\u200bមាន\u200bសេរីភាព។"},
	{"Burmese", "လူတိုင်းသည်\u200bတူညီ၊ က္က ဂင်္ဂါ"},
	{"Burmese, dotted", "ၵ\ufe00ၢမ်း တ\ufe00"},
	{"Tibetan", "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས། ཧཱུྃ༔ རྡྷྭི"},
	{"Mongolian", "ᠬᠦᠮᠦᠨ ᠪᠦᠷ ᠲᠥᠷᠥᠵᠦ ᠭ\u180bᠠ ᠠ\u180c ᠨ\u180d᠂ ᠠᠪᠤ\u202fᠶᠢᠨ ᠬᠠᠨ\u180eᠠ ᠠ\u200d"},
	{"Phags-pa", "ꡂ\ufe00ꡋ ꡖꡟ"},
	{"Chinese", "人人生而自由，在尊严和权利上一律平等。“是”、〇、㐀、𠀋。"},
	{"ideographic variants", "葛\U000e0100城市と葛\U000e0101飾区、邊\U000e010f、辻\ufe00、𠮟\U000e0101る"},
	{"Chinese punctuation variants", "，\ufe00。\ufe01"},
	{"Bopomofo", "ㄅㄆㄇㄈ ㄓㄨˋ"},
	{"Japanese", "すべての人間は、ガ行のか\u3099も、ｶﾞ。㊗\ufe0f〽\ufe0f"},
	{"Korean", "모든 인간은 태어날 때부터 자유로우며"},
	{"Korean, conjoining jamo", "\u1112\u1161\u11ab\u1100\u1173\u11af \u115f\u1161 \u1102\u1160 \u1112\u119e\u11ab"},
	{"Yi", "ꋍꂷꇖꐥ"},
	{"Javanese", "ꦱꦧꦼꦤ꧀ꦲꦸꦮꦺꦴꦁ ꦲ꧀\u200cꦏ"},
	{"Balinese", "ᬲᬫᬶᬲᭂᬳᬮᬦ᭄ ᬢ᭄\u200cᬯ"},
	{"Tai Tham", "ᨲᩫ᩠ᩅᨾᩮᩬᩥᨦ"},
	{"Cherokee", "ᎠᏂᏴᏫ ꭰꮒ"},
	{"Canadian syllabics", "ᐃᓅᔪᓕᒫᑦ ᐊᓂᖅᑎᕆᔪᑦ"},
	{"Tifinagh", "ⵉⵎⴷⴰⵏⴻⵏ ⴰⴽⴽⵯ ⵜ⵿ⵜ"},
	{"Vai", "ꕉꕜꕮ ꔔꘋ ꖸ"},
	{"Runic", "ᛁᚳ᛫ᛗᚨᚷ᛫ᚷᛚᚨᛋ"},
	{"Ogham", "᚛ᚉᚑᚅᚔᚉᚉᚔᚋ\u1680᚜"},
	{"Gothic", "𐌼𐌰𐌲 𐌲𐌻𐌴𐍃"},
	{"Cuneiform", "𒀭𒂗𒍪 𒐫"},
	{"hieroglyphs", "𓊃\U00013430𓏏𓏤 𓉐\ufe00 𓂋\U00013431\U00013430𓏤"},
	{"shorthand", "𛰅\U0001bca0𛰆"},
	{"Braille with blanks", "⠓⠑⠇⠇⠕\u2800⠺⠕⠗⠇⠙ ⣿⡇\u2800\u2800⢸"},
	{"mathematics", "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, 𝔄 ≠ 𝐀, a⃗·b̂, ∑ₙ n⁻² = π²⁄6, ∩\ufe00 ≨\ufe00, 0\ufe00"},
	{"music", "𝄞 ♩♪♫ ♯♭♮ 𝅘𝅥𝅮 \U0001d173𝅘𝅥𝅮 𝅘𝅥𝅮\U0001d174 𝄀"},
	{"chess and cards", "♔\ufe00 ♟\ufe0e ♠\ufe0f 🂡 🀄\ufe0f"},
	{"text and emoji style", "❤\ufe0f ❤\ufe0e ☺\ufe0f ©\ufe0f ™\ufe0f ↩\ufe0e ℹ\ufe0f ‼\ufe0f"},
	{"keycaps", "1\ufe0f\u20e3 #\ufe0f\u20e3 *\ufe0f\u20e3 9\u20e3 🔟"},
	{"skin tones", "👍🏽 ☝🏿 ✌🏻 🤝🏾"},
	{"families", "👨\u200d👩\u200d👧\u200d👦 👩\u200d❤\ufe0f\u200d💋\u200d👨 🧑🏻\u200d🤝\u200d🧑🏿"},
	{"joined emoji",
		"👩🏽\u200d🚀 👩🏻\u200d🚀 👩🏿\u200d🚀 🕵\ufe0f\u200d♂\ufe0f 🕵🏽\u200d♀\ufe0f 🏳\ufe0f\u200d🌈 🏴\u200d☠\ufe0f 👁\ufe0f\u200d🗨\ufe0f 🐻\u200d❄\ufe0f ❤\ufe0f\u200d🔥 🧑\u200d🦰 🙂\u200d↔\ufe0f"},
	{"flags", "🇩🇪 🇺🇳 🏴 🏁"},
	{"flags of parts of a country",
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"},
	{"private and unassigned", "\ue000 \uf8ff \U000f0000 \U0010fffd \u0378 \U000323b0 \U0001fbff"},
	{"replacement and object", "\ufffd \ufffc"},
	{"its own escapes", `\u{1b}[31m \u{202e} \x1b \n \\`},
	{"empty", ""},
}

func TestOrdinaryWritingIsShownAsItIs(t *testing.T) {
	for _, test := range corpus {
		got, report := Text(test.text)
		assert.Equal(t, got, test.text, "%s: shown as %+q", test.name, got)
		assert.That(t, report.None(), "%s: shown as %+q, %+v", test.name, got, report)
	}
}

func TestOrdinaryWritingCostsNoMemory(t *testing.T) {
	for _, test := range corpus {
		n := testing.AllocsPerRun(10, func() { Text(test.text) })
		assert.That(t, n == 0, "%s: %v allocations", test.name, n)
	}
}
