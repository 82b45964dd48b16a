package access

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPath is the maximum length of the path of a rule in bytes: longer than that of any note.
const maxPath = 4096

// parsePath returns the path of a rule without its trailing slash, "" for the vault. It
// refuses a path that no note can have, because such a rule would protect nothing.
func parsePath(written string) (string, error) {
	if written == "/" {
		return "", nil
	}
	path := strings.TrimSuffix(written, "/")
	switch {
	case path == "":
		return "", fmt.Errorf("path %q is empty; the whole vault is %q", written, "/")
	case len(path) > maxPath:
		return "", fmt.Errorf("path of %d bytes: at most %d", len(path), maxPath)
	case strings.HasPrefix(path, "/"):
		return "", fmt.Errorf("path %q begins with a slash; paths are relative to the vault", written)
	case strings.ContainsAny(path, "\\\x00"):
		return "", fmt.Errorf("path %q contains a backslash or NUL; paths are written with /", written)
	case strings.ContainsAny(path, "*?[]"):
		return "", fmt.Errorf(
			"path %q looks like a pattern; a rule names a folder or a note, and patterns go into .vaultwicketignore",
			written,
		)
	case !utf8.ValidString(path):
		return "", fmt.Errorf("path %q is not UTF-8", written)
	case strings.ContainsFunc(path, unicode.IsControl):
		return "", fmt.Errorf("path %q contains a control character", written)
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch {
		case segment == "":
			return "", fmt.Errorf("path %q has an empty segment", written)
		case segment == "." || segment == "..":
			return "", fmt.Errorf("path %q has the segment %q; paths have no relative segments", written, segment)
		case strings.TrimSpace(segment) != segment:
			return "", fmt.Errorf("path %q has the segment %q with a blank at its end", written, segment)
		}
	}
	return path, nil
}

// Path returns the path of a folder or note in the form of rules, "/" for the vault. It returns an error for a path
// that no note can have.
func Path(text string) (string, error) {
	path, err := parsePath(text)
	return written(path), err
}

// Fold returns the same text for all spellings of a path that some system treats as one file. It
// equates more than any system does: compatible characters (Unicode normal form KC), all cases of
// a letter, invisible characters and nothing, ß and ss (Unicode 16, CaseFolding.txt, status F).
// golang.org/x/text/cases would cost a tenth of a millisecond at every start.
func Fold(path string) string {
	if isPlain(path) {
		return path
	}
	if isASCII(path) {
		return strings.ToLower(path)
	}
	var b strings.Builder
	for _, r := range norm.NFKC.String(path) {
		if isIgnorable(r) {
			continue
		}
		if r == 'ß' || r == 'ẞ' {
			b.WriteString("ss")
			continue
		}
		b.WriteRune(foldRune(r))
	}
	return norm.NFKC.String(b.String())
}

// isIgnorable reports whether file systems that ignore case also ignore a character in names.
func isIgnorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// foldRune returns the same letter for all cases of a letter.
func foldRune(r rune) rune {
	smallest := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		smallest = min(smallest, other)
	}
	return unicode.ToLower(smallest)
}

// isPlain is a fast check whether a path folds to itself: it is ASCII without capitals.
func isPlain(path string) bool {
	for i := range len(path) {
		if c := path[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

func isASCII(path string) bool {
	for i := range len(path) {
		if path[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
