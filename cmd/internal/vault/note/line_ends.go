package note

import "bytes"

// KeepLineEnds returns the text of a note after a change in which what was put in
// has the line ends that the note had before, and whether that made a difference.
// It is for a note most of whose lines end in CRLF; others are returned as they
// are.
func KeepLineEnds(before, after []byte) (kept []byte, converted bool) {
	if !endsInCRLF(before) {
		return after, false
	}
	start := commonPrefix(before, after)
	end := len(after) - commonSuffix(before[start:], after[start:])
	put := withCRLF(after[start:end], start > 0 && after[start-1] == '\r')
	if len(put) == end-start {
		return after, false
	}
	kept = append(make([]byte, 0, len(after)+len(put)-(end-start)), after[:start]...)
	kept = append(kept, put...)
	return append(kept, after[end:]...), true
}

// endsInCRLF reports whether most lines of a text end in CRLF.
func endsInCRLF(text []byte) bool {
	all, long := bytes.Count(text, []byte("\n")), bytes.Count(text, []byte("\r\n"))
	return 2*long > all
}

// withCRLF returns a text with CRLF in place of each LF. behind says that a CR is
// in front of it.
func withCRLF(text []byte, behind bool) []byte {
	out := make([]byte, 0, len(text)+bytes.Count(text, []byte("\n")))
	for _, b := range text {
		if b == '\n' && !behind {
			out = append(out, '\r')
		}
		out = append(out, b)
		behind = b == '\r'
	}
	return out
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
