package guard

import (
	"bytes"
	"slices"
)

var (
	keyBegin = lazily(`^(?i)-{4,5} ?BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)? ?-{4,5}`)
	// keyEnds are the possible beginnings of the last line of a key.
	keyEnds = [][]byte{[]byte("-----END"), []byte("---- END"), []byte("Private-MAC")}
	// keyLine matches a line that contains only a part of a key.
	keyLine = lazily(`^[ \t>]*[A-Za-z0-9+/=\\]+\r?$`)
	// keyRun matches a piece of a key, whatever surrounds it: quotes, line numbers, table cells, list markers.
	keyRun = lazily(`[A-Za-z0-9+/=]+`)
	// keyHeader matches a header line of a key, such as "Proc-Type: …".
	keyHeader = lazily(`^[ \t>|"'*-]*[A-Za-z][A-Za-z-]{2,30}: `)
	// keyLayout matches runs that belong to the code, table or list around the pieces of a key.
	keyLayout = lazily(`^(?:\d{1,4}|[nrtspb+/]|br/?|/?li|/?td|/?tr|/?p|nbsp|=)$`)
)

// Limits of keys, in bytes.
const (
	minLongRun = 20 // of a run that shows that a text is a key
	minRun     = 3  // of any run in a key
	minLineRun = 16 // of a run that is most of a line of a key
	minKey     = 64 // of all runs of a key in groups
)

// privateKey finds the lines of a private key in any layout, except for the first and last line. A key without a last
// line is truncated: it continues to the first line that cannot be a part of a key.
func (s *scan) privateKey(at, _ int) {
	head := keyBegin().Find(s.text[at:min(len(s.text), at+160)])
	if head != nil {
		s.key(at + len(head))
	}
}

// puttyKey finds the lines of a private key in a PuTTY file, which follow their number.
func (s *scan) puttyKey(_, end int) {
	for end < len(s.text) && (s.text[end] == ' ' || isDecimal(s.text[end])) {
		end++
	}
	s.key(end)
}

// key finds the lines of a key whose first line ends at start.
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
	isTruncated := end < 0
	if isTruncated {
		end = min(len(rest), longestCut)
	}
	shape := shapeOf(rest[:end])
	isNext := func(run []byte) bool { return shape == inGroups || shape == inLines && !isWordRun(run) }
	first := true
	for line := range bytes.Lines(rest[:end]) {
		content := bytes.TrimRight(line, "\r\n")
		isTruncatedRest := isTruncated && !first
		switch {
		case keyLine().Match(content) && !first:
			s.add(start, start+len(content), "private-key")
		case isTruncatedRest && !s.continuesKey(content):
			s.keysEnd = start
			return
		default:
			minLength := minRun
			switch {
			case shape == noKey:
				minLength = minLongRun
			case keyHeader().Match(content):
				minLength = 2 * minLongRun
			case first && isTruncated:
				minLength = minLongRun
			}
			s.addRuns(start, content, minLength, isNext)
		}
		start += len(line)
		first = false
	}
	s.keysEnd = start
}

// shape is the way a key is split into runs.
type shape int

const (
	noKey    shape = iota // the text has only words about keys
	inLines               // at least one run is long
	inGroups              // all runs are groups of a few letters
)

// shapeOf returns the shape of the text between the first and the last line of a key.
func shapeOf(text []byte) shape {
	mixed := 0
	size := 0
	runs := keyRun().FindAll(text, -1)
	for _, run := range runs {
		if isMixedRun(run) {
			if len(run) >= minLongRun {
				return inLines
			}
			mixed++
			size += len(run)
		}
	}
	if size >= minKey && 2*mixed >= len(runs) {
		return inGroups
	}
	return noKey
}

// isWordRun reports whether a run may be a word.
func isWordRun(run []byte) bool { return wordRun().Match(run) }

var wordRun = lazily(`^[A-Za-z]?[a-z]{0,10}$`)

// isMixedRun reports whether a run has digits, or capitals after small letters, as words rarely have.
func isMixedRun(run []byte) bool {
	if bytes.ContainsAny(run, "0123456789+") {
		return true
	}
	for i := 1; i < len(run); i++ {
		if isCapitalLetter(run[i]) && isSmallLetter(run[i-1]) {
			return true
		}
	}
	return false
}

// addRuns adds the pieces of a key in the line that begins at start: runs of at least minLength bytes, and after the first of
// them also shorter runs for which isNext returns true.
func (s *scan) addRuns(start int, line []byte, minLength int, isNext func(run []byte) bool) {
	hasBegun := minLength == minRun
	for _, at := range keyRun().FindAllIndex(line, -1) {
		run := line[at[0]:at[1]]
		isPiece := len(run) >= max(minLength, minLongRun) || hasBegun && len(run) >= minRun && isNext(run)
		if isPiece && !keyLayout().Match(run) {
			hasBegun = true
			s.add(start+at[0], start+at[1], "private-key")
		}
	}
}

// continuesKey reports whether a line may be a part of a truncated key.
func (s *scan) continuesKey(line []byte) bool {
	splitLines := bytes.Trim(line, " \t>|`\"'")
	isIgnored := len(splitLines) == 0 || keyHeader().Match(line) || bytes.HasPrefix(splitLines, []byte("‹"))
	if isIgnored {
		return true
	}
	runs := slices.DeleteFunc(keyRun().FindAll(line, -1), func(run []byte) bool { return keyLayout().Match(run) })
	short := slices.IndexFunc(runs, func(run []byte) bool { return len(run) < minLineRun })
	return len(runs) == 1 || len(runs) > 0 && short < 0
}
