package clean

import (
	"testing"

	"vaultwicket/tests/assert"
)

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
	{"joined emoji", "👩🏽\u200d🚀 👩🏻\u200d🚀 👩🏿\u200d🚀 🕵\ufe0f\u200d♂\ufe0f 🕵🏽\u200d♀\ufe0f 🏳\ufe0f\u200d🌈 🏴\u200d☠\ufe0f 👁\ufe0f\u200d🗨\ufe0f 🐻\u200d❄\ufe0f ❤\ufe0f\u200d🔥 🧑\u200d🦰 🙂\u200d↔\ufe0f"},
	{"flags", "🇩🇪 🇺🇳 🏴 🏁"},
	{"flags of parts of a country", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"},
	{"private and unassigned", "\ue000 \uf8ff \U000f0000 \U0010fffd \u0378 \U000323b0 \U0001fbff"},
	{"replacement and object", "\ufffd \ufffc"},
	{"its own escapes", `\u{1b}[31m \u{202e} \x1b \n \\`},
	{"empty", ""},
}

func TestOrdinaryWritingIsShownAsItIs(t *testing.T) {
	for _, test := range corpus {
		got, report := Text(test.text)
		assert.That(t, got == test.text && report.None(), "%s: shown as %+q, %+v", test.name, got, report)
	}
}

func TestOrdinaryWritingCostsNoMemory(t *testing.T) {
	for _, test := range corpus {
		if n := testing.AllocsPerRun(10, func() { Text(test.text) }); n != 0 {
			t.Errorf("%s: %v allocations", test.name, n)
		}
	}
}
