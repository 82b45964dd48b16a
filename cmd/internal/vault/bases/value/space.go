package value

import "unicode"

// IsSpace reports whether JavaScript's trim() removes r.
func IsSpace(r rune) bool { return unicode.IsSpace(r) && r != '\u0085' || r == '\ufeff' }
