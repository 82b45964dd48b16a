package edit

import (
	"bytes"
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// Replace returns the note with new in place of old, which must stand there
// exactly once, with the line ends it has; overlapping places are several. The
// errors are *[NotFound], *[Ambiguous] and, if old is empty or differs in its
// line ends alone, *[Refusal].
func Replace(text []byte, old, new string) ([]byte, error) {
	if old == "" {
		return nil, &Refusal{Line: 1, Reason: "there is no text to look for"}
	}
	d := read(text)
	at := bytes.Index(text, []byte(old))
	switch {
	case at < 0:
		return nil, d.without(old)
	case d.splitsEnd(at, len(old)):
		return nil, &Refusal{Line: d.line(at), Reason: "the text begins or ends within a line break, which is CRLF there"}
	}
	if bytes.Contains(text[at+1:], []byte(old)) {
		return nil, d.several(old)
	}
	return d.splice(markdown.Span{Start: at, End: at + len(old)}, new), nil
}

// without explains why a text is not there: it may be, but for its line ends,
// or the line with which it begins may be.
func (d *doc) without(old string) error {
	for _, end := range [...]string{"\r\n", "\n"} {
		if at := bytes.Index(d.text, []byte(withEnds(old, end))); at >= 0 {
			return &Refusal{Line: d.line(at), Reason: "the text is there with other line ends: " + strings.NewReplacer("\r\n", "CRLF", "\n", "LF").Replace(end)}
		}
	}
	missing := &NotFound{What: "text", Wanted: old}
	first, _, _ := strings.Cut(strings.TrimSpace(old), "\n")
	for at := 0; at < len(d.text) && len(missing.Near) < maxNearest; at = d.next(at) {
		if line := d.lineAt(at); strings.Contains(line, strings.TrimSpace(first)) {
			missing.Near = append(missing.Near, Candidate{d.line(at), line})
		}
	}
	return missing
}

// splitsEnd reports whether a text begins or ends between the two characters of
// a line break.
func (d *doc) splitsEnd(at, size int) bool {
	splits := func(at int) bool {
		return at > 0 && at < len(d.text) && d.text[at-1] == '\r' && d.text[at] == '\n'
	}
	return splits(at) || splits(at+size)
}

// several lists the places where a text stands.
func (d *doc) several(wanted string) *Ambiguous {
	all := &Ambiguous{What: "text", Wanted: wanted}
	for from := 0; len(all.Candidates) < maxCandidates; {
		n := bytes.Index(d.text[from:], []byte(wanted))
		if n < 0 {
			break
		}
		start := bytes.LastIndexByte(d.text[:from+n], '\n') + 1
		all.add(d.line(from+n), d.lineAt(start))
		from += n + 1
	}
	all.Count = max(all.Count, bytes.Count(d.text, []byte(wanted)))
	return all
}
