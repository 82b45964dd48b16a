package clean

import (
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// usesJoiners reports whether r is of a script in which joiners shape letters:
// the cursive ones of ArabicShaping.txt and those with a virama.
func usesJoiners(r rune) bool {
	return unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa,
		unicode.Manichaean, unicode.Psalter_Pahlavi, unicode.Hanifi_Rohingya, unicode.Sogdian, unicode.Old_Uyghur,
		unicode.Chorasmian, unicode.Adlam,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan, unicode.Myanmar,
		unicode.Khmer, unicode.Tai_Tham, unicode.Balinese, unicode.Javanese, unicode.Sundanese, unicode.Meetei_Mayek,
		unicode.Brahmi, unicode.Grantha, unicode.Sharada, unicode.Newa, unicode.Tirhuta, unicode.Siddham, unicode.Modi,
		unicode.Chakma, unicode.Kaithi, unicode.Syloti_Nagri, unicode.Saurashtra, unicode.Nandinagari)
}

// unspaced reports whether r is of a script that writes words without spaces
// and marks their borders, where it does, with U+200B.
func unspaced(r rune) bool {
	return unicode.In(r,
		unicode.Khmer, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Tai_Tham, unicode.Tai_Viet,
		unicode.New_Tai_Lue, unicode.Tai_Le, unicode.Javanese, unicode.Balinese)
}

// rightToLeft reports whether r is strongly right-to-left.
func rightToLeft(r rune) bool {
	if r < 0x590 {
		return false
	}
	properties, _ := bidi.LookupRune(r)
	return properties.Class() == bidi.R || properties.Class() == bidi.AL
}

// variable reports whether r may have one of the three variants that
// StandardizedVariants.txt gives to ideographs, mathematical and chess symbols,
// East Asian punctuation and some letters.
func variable(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case 0x3000 < r && r < 0x3020, 0xff00 < r && r < 0xff20, 0x2018 <= r && r <= 0x201d:
		return true
	case 0x2600 <= r && r < 0x2700:
		return true
	}
	return unicode.In(r, unicode.Unified_Ideograph, unicode.Sm, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean)
}
