package ignore

import "strings"

// Reason is why something is hidden: a line of the file of patterns, and what it matches,
// which is the note itself or a folder around it.
type Reason struct {
	Line    int // its number, from 1
	Pattern string
	Path    string
}

// Reason returns why a file or folder is hidden; ok is false for one that is not.
func (l *List) Reason(name string, folder bool) (reason Reason, ok bool) {
	if !l.Hides(name, folder) {
		return Reason{}, false
	}
	for end := 0; end < len(name); end++ {
		next := strings.IndexByte(name[end:], '/')
		if next < 0 {
			break
		}
		end += next
		if reason, ok = l.matching(name[:end], true); ok {
			return reason, true
		}
	}
	return l.matching(name, folder)
}

// matching returns the line that hides one name, not regarding the folders around it.
func (l *List) matching(name string, folder bool) (Reason, bool) {
	decides := l.written.decides(name, folder)
	if decides == nil || decides.negated {
		decides = l.plain.decides(plainly(name), folder)
	}
	if decides == nil || decides.negated {
		return Reason{}, false
	}
	for _, own := range l.written.lines { // as it is written
		if own.line == decides.line {
			decides = &own
		}
	}
	return Reason{Line: decides.line, Pattern: decides.text, Path: name}, true
}
