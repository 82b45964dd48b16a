package disk

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of a path. Common file systems of Linux accept names of up to 255 bytes; those of Windows and macOS
// accept up to 255 UTF-16 units, which take three times as many bytes in Chinese or Japanese. The other limits
// bound a walk and its open descriptors.
const (
	maxSegment  = 255
	maxPath     = 4096
	maxSegments = 200
)

// Path is a canonical path in a vault: segments joined by slashes, none of them empty, hidden, or special. The
// zero Path is the root of the vault. Only [ParsePath], [ParseFolder] and [Bookmarks] return other paths.
type Path struct{ text string }

// ParsePath parses the path of a file.
func ParsePath(text string) (Path, error) {
	if len(text) > maxPath {
		return Path{}, fmt.Errorf("path of %d bytes: at most %d", len(text), maxPath)
	}
	segments := strings.Split(text, "/")
	if len(segments) > maxSegments {
		return Path{}, fmt.Errorf("path of %d segments: at most %d", len(segments), maxSegments)
	}
	for _, segment := range segments {
		if reason := flaw(segment); reason != "" {
			return Path{}, fmt.Errorf("path %q: %s", text, reason)
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(text)) {
		return Path{}, fmt.Errorf("path %q: names something else on this system", text)
	}
	return Path{text: text}, nil
}

// ParseFolder parses the path of a folder. It may end with one slash; "/" and "" are the root.
func ParseFolder(text string) (Path, error) {
	if text == "" || text == "/" {
		return Path{}, nil
	}
	return ParsePath(strings.TrimSuffix(text, "/"))
}

// Bookmarks returns the path of the only settings file of the app that is written. No other path leads to a
// hidden file.
func Bookmarks() Path { return Path{text: configFolder + "/bookmarks.json"} }

// flaw returns what is wrong with a segment, "" if nothing is.
func flaw(segment string) string {
	switch {
	case segment == "":
		return "has an empty segment"
	case segment[0] == '.':
		return "has a hidden segment"
	case isTooLong(runtime.GOOS, segment):
		return "has a segment that is too long"
	case strings.Contains(segment, `\`):
		return "has a backslash"
	case runtime.GOOS == "windows" && strings.Contains(segment, ":"):
		return "has a colon, which opens a stream on this system"
	case !utf8.ValidString(segment):
		return "is not UTF-8"
	case strings.ContainsFunc(segment, forgesLines):
		return "has a control character"
	}
	return ""
}

// isTooLong reports whether no file of the system goos, a value of [runtime.GOOS], can have the name.
func isTooLong(goos, segment string) bool {
	if len(segment) <= maxSegment {
		return false // almost every name
	}
	countsUnits := goos == "windows" || goos == "darwin"
	return !countsUnits || len(utf16.Encode([]rune(segment))) > maxSegment
}

// forgesLines reports whether r could make one line of a listing look like several lines, or like another line.
func forgesLines(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f // almost every name, and a walk checks all of them
	}
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// unportable returns why a segment should not be the name of a new file, "" if it may be. Vaults are synced
// between systems, and some names do not survive that or cannot be used in links. Existing files may keep such
// a name.
func unportable(segment string) string {
	if i := strings.IndexAny(segment, `:*?"<>|#^`); i >= 0 {
		return fmt.Sprintf("contains %q, which not every system and link can carry", segment[i])
	}
	for _, mark := range []string{"[[", "]]", "%%"} {
		if strings.Contains(segment, mark) {
			return fmt.Sprintf("contains %q, which no link can carry", mark)
		}
	}
	if len(segment) > maxSegment {
		return fmt.Sprintf("is longer than %d bytes, which not every system can carry", maxSegment)
	}
	if strings.HasSuffix(segment, ".") || strings.TrimSpace(segment) != segment {
		return "begins with a blank, or ends with one or with a dot"
	}
	if isDevice(segment) {
		return "is the name of a device on Windows"
	}
	return ""
}

// isDevice reports whether Windows treats the name as a device.
func isDevice(segment string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(segment), ".")
	switch stem = strings.TrimSpace(stem); stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	number, isPort := strings.CutPrefix(stem, "COM")
	if !isPort {
		number, isPort = strings.CutPrefix(stem, "LPT")
	}
	return isPort && utf8.RuneCountInString(number) == 1 && strings.ContainsAny(number, "123456789¹²³")
}

// String returns the path with slashes; "" for the root.
func (p Path) String() string { return p.text }

// Ext returns the extension without its dot. A name without a dot has none.
func (p Path) Ext() string { return strings.TrimPrefix(path.Ext(p.text), ".") }

// Stem returns the last segment without its extension.
func (p Path) Stem() string { return strings.TrimSuffix(p.Base(), path.Ext(p.text)) }

// child returns the path of the name in the folder p, and false if the path is invalid. It is [ParsePath]
// without checking p again.
func (p Path) child(name string) (Path, bool) {
	if flaw(name) != "" || strings.Contains(name, "/") || !filepath.IsLocal(name) {
		return Path{}, false
	}
	if p.text == "" {
		return Path{text: name}, true
	}
	isShortEnough := len(p.text)+1+len(name) <= maxPath
	isShallowEnough := strings.Count(p.text, "/")+2 <= maxSegments
	return Path{text: p.text + "/" + name}, isShortEnough && isShallowEnough
}

// Base returns the last segment.
func (p Path) Base() string { return p.text[strings.LastIndexByte(p.text, '/')+1:] }

// Folder returns the path of the folder that contains p, "" for the root.
func (p Path) Folder() string { return p.text[:max(0, strings.LastIndexByte(p.text, '/'))] }

func (p Path) segments() []string {
	if p.text == "" {
		return nil
	}
	return strings.Split(p.text, "/")
}

// Below reports whether p is in a folder, at any depth. Every path is below the root.
func (p Path) Below(folder Path) bool {
	n := len(folder.text)
	return n == 0 || len(p.text) > n && p.text[:n] == folder.text && p.text[n] == '/'
}

// parents returns the segments of the folder that contains p.
func (p Path) parents() []string {
	segments := p.segments()
	return segments[:max(0, len(segments)-1)]
}
