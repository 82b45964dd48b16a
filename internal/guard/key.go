package guard

import (
	"bytes"
	"slices"
)

var (
	keyBegins = lazily(`^(?i)-{4,5} ?BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)? ?-{4,5}`)
	// keyEnds are how the last line of a key begins.
	keyEnds = [][]byte{[]byte("-----END"), []byte("---- END"), []byte("Private-MAC")}
	// keyLine is a line with nothing but a part of a key.
	keyLine = lazily(`^[ \t>]*[A-Za-z0-9+/=\\]+\r?$`)
	// keyRun is a piece of a key, whatever is around it: quotes, numbers of lines, cells, signs of lists.
	keyRun = lazily(`[A-Za-z0-9+/=]+`)
	// keyHeader is a line of a key that says something about it.
	keyHeader = lazily(`^[ \t>|"'*-]*[A-Za-z][A-Za-z-]{2,30}: `)
	// keyLayout are the runs that are around a piece of a key in code, tables and lists.
	keyLayout = lazily(`^(?:\d{1,4}|[nrtspb+/]|br/?|/?li|/?td|/?tr|/?p|nbsp|=)$`)
)

// Limits of keys, in bytes.
const (
	leastRun  = 20 // of one that a key has at least
	leastPart = 3  // of one that is a part of a key for sure
	leastLine = 16 // of one that is most of a line of a key
	leastKey  = 64
)

// privateKey finds the lines of a private key, without the first and the last one, in any layout. A key that has
// no last line was cut off: it continues to the first line that cannot be a part of a key.
func (s *scan) privateKey(at, _ int) {
	head := keyBegins().Find(s.text[at:min(len(s.text), at+160)])
	if head != nil {
		s.key(at + len(head))
	}
}

// puttyKey finds the lines of a private key in a file of PuTTY, which follow how many they are.
func (s *scan) puttyKey(_, end int) {
	for end < len(s.text) && (s.text[end] == ' ' || '0' <= s.text[end] && s.text[end] <= '9') {
		end++
	}
	s.key(end)
}

// key finds the lines of a key whose first line ends at a place.
func (s *scan) key(start int) {
	if start < s.keysEnd {
		return
	}
	s.charge(min(len(s.text)-start, longestKey))
	rest := s.text[start:min(len(s.text), start+longestKey)]
	end := -1
	if start+len(rest) > s.noEnd {
		for _, mark := range keyEnds {
			if n := bytes.Index(rest, mark); n >= 0 && (end < 0 || n < end) {
				end = n
			}
		}
		if end < 0 {
			s.noEnd = start + len(rest) - len("Private-MAC")
		}
	}
	isCut := end < 0
	if isCut {
		end = min(len(rest), longestCut)
	}
	shape := shapeOf(rest[:end])
	first := true
	for line := range bytes.Lines(rest[:end]) {
		bare := bytes.TrimRight(line, "\r\n")
		isCutRest := isCut && !first
		switch {
		case keyLine().Match(bare) && !first:
			s.add(start, start+len(bare), "private-key")
		case isCutRest && !s.continuesKey(bare):
			s.keysEnd = start
			return
		default:
			least := leastPart
			switch {
			case shape == noKey:
				least = leastRun
			case keyHeader().Match(bare):
				least = 2 * leastRun
			case first && isCut:
				least = leastRun
			}
			s.runs(
				start,
				bare,
				least,
				func(run []byte) bool { return shape == inGroups || shape == inLines && !isWordRun(run) },
			)
		}
		start += len(line)
		first = false
	}
	s.keysEnd = start
}

// shape is how a key is divided.
type shape int

const (
	noKey    shape = iota // there are only words about keys
	inLines               // in pieces of which at least one is long
	inGroups              // of a few letters
)

// shapeOf returns how the key is divided that is between a first and a last line.
func shapeOf(text []byte) shape {
	mixed := 0
	size := 0
	runs := keyRun().FindAll(text, -1)
	for _, run := range runs {
		if isMixedRun(run) {
			if len(run) >= leastRun {
				return inLines
			}
			mixed++
			size += len(run)
		}
	}
	if size >= leastKey && 2*mixed >= len(runs) {
		return inGroups
	}
	return noKey
}

// isWordRun reports whether a run is a word, or may be one.
func isWordRun(run []byte) bool { return wordRun().Match(run) }

var wordRun = lazily(`^[A-Za-z]?[a-z]{0,10}$`)

// isMixedRun reports whether a run has digits, or capitals after small letters, as words hardly have.
func isMixedRun(run []byte) bool {
	if bytes.ContainsAny(run, "0123456789+") {
		return true
	}
	for i := 1; i < len(run); i++ {
		if 'A' <= run[i] && run[i] <= 'Z' && 'a' <= run[i-1] && run[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// runs adds the pieces of a key in a line that begins at start: of at least some bytes, and behind the first one those
// that isNext says are pieces, too.
func (s *scan) runs(start int, line []byte, least int, isNext func(run []byte) bool) {
	begun := least == leastPart
	for _, at := range keyRun().FindAllIndex(line, -1) {
		run := line[at[0]:at[1]]
		isPiece := len(run) >= max(least, leastRun) || begun && len(run) >= leastPart && isNext(run)
		if isPiece && !keyLayout().Match(run) {
			begun = true
			s.add(start+at[0], start+at[1], "private-key")
		}
	}
}

// continuesKey reports whether a line can be a part of a key that was cut off.
func (s *scan) continuesKey(line []byte) bool {
	trimmed := bytes.Trim(line, " \t>|`\"'")
	isAbout := len(trimmed) == 0 || keyHeader().Match(line) || bytes.HasPrefix(trimmed, []byte("‹"))
	if isAbout {
		return true
	}
	runs := slices.DeleteFunc(keyRun().FindAll(line, -1), func(run []byte) bool { return keyLayout().Match(run) })
	short := slices.IndexFunc(runs, func(run []byte) bool { return len(run) < leastLine })
	return len(runs) == 1 || len(runs) > 0 && short < 0
}
