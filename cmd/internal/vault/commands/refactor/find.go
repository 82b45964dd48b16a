package refactor

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/regex"
)

// Limits of a search. A regular expression is written by whoever calls, so what it
// costs is bounded: for one text, for all texts, and in what it finds.
const (
	matchTime  = time.Second
	searchTime = 8 * time.Second // of all processors together, within the time limit of a call
	maxSource  = 4 << 10         // bytes of an expression, as in a query
	maxMatches = 100_000         // in one note
)

// match is a piece of a text, and what is put in its place.
type match struct {
	start, end int
	put        string
}

// finder finds the matches of a text whose line ends are LF.
type finder interface {
	// mayBeIn reports whether a note can hold a match: quickly, and true in doubt. It
	// is used by several goroutines.
	mayBeIn(note []byte) bool
	all(text string) ([]match, error)
	// failed returns why the search had to end.
	failed() error
}

// searchFor reads what a request looks for.
func searchFor(p grammar.Values) (finder, error) {
	switch {
	case p.Has("new") == p.Has("remove"):
		return nil, answer.Misuse("Use new=<text> or remove, one of them.")
	case !utf8.ValidString(p["old"]) || !utf8.ValidString(p["new"]):
		return nil, answer.Misuse("old and new must be valid UTF-8.")
	}
	old, put := flatten([]byte(p["old"])).text, strings.ReplaceAll(p["new"], "\r\n", "\n")
	switch {
	case p.Has("regex"):
		return newPattern(old, put, p.Has("ignore-case"))
	case p.Has("ignore-case"):
		return newPattern(quoteRegex(old), strings.ReplaceAll(put, "$", "$$"), true)
	}
	return exactly{old, put}, nil
}

// quoteRegex returns the expression that matches a text and nothing else.
func quoteRegex(text string) string {
	var out strings.Builder
	for _, r := range text {
		if strings.ContainsRune(`\^$.*+?()[]{}|/`, r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// exactly finds a text as it is.
type exactly struct{ old, put string }

func (e exactly) mayBeIn(note []byte) bool {
	if strings.Contains(e.old, "\n") {
		line, _, _ := strings.Cut(e.old, "\n") // the rest may follow behind CRLF
		return bytes.Contains(note, []byte(line))
	}
	return bytes.Contains(note, []byte(e.old))
}

func (e exactly) all(text string) (found []match, err error) {
	for at := 0; ; {
		n := strings.Index(text[at:], e.old)
		if n < 0 {
			return found, nil
		}
		at += n
		found = append(found, match{at, at + len(e.old), e.put})
		at += len(e.old)
	}
}

func (exactly) failed() error { return nil }

// pattern finds a regular expression. It is used by several goroutines.
type pattern struct {
	source   string
	compiled *regex.Regexp
	put      []piece
	spent    atomic.Int64 // nanoseconds
	once     sync.Once
	err      error
}

func newPattern(source, put string, ignoreCase bool) (*pattern, error) {
	if len(source) > maxSource {
		return nil, answer.Misuse("Invalid value for old: the expression is longer than %d bytes.", maxSource)
	}
	compiled, err := regex.Compile(source, regex.Flags{Multiline: true, IgnoreCase: ignoreCase, Unicode: true}, matchTime)
	if err != nil {
		return nil, answer.Misuse("Invalid value for old: no regular expression: %v", err)
	}
	pieces, err := template(put, compiled.GetGroupNumbers(), compiled.GetGroupNames())
	return &pattern{source: source, compiled: compiled, put: pieces}, err
}

// fail notes the first reason for which the search ends.
func (p *pattern) fail(err error) error {
	p.once.Do(func() { p.err = err; p.spent.Store(int64(2 * searchTime)) })
	return p.failed()
}

func (p *pattern) failed() error {
	if p.spent.Load() <= int64(searchTime) {
		return nil
	}
	p.once.Do(func() { p.err = errTooLong(p.source) })
	return p.err
}

func errTooLong(source string) error {
	return answer.Misuse("Invalid value for old: the regular expression takes too long: %s. Nothing was changed. Simplify it, or narrow the notes with folder=<path>.", source)
}

func (p *pattern) mayBeIn(note []byte) bool {
	if p.failed() != nil {
		return false
	}
	begin := time.Now()
	found, err := p.compiled.MatchString(flatten(note).text)
	p.spent.Add(int64(time.Since(begin)))
	if err != nil {
		_ = p.fail(errTooLong(p.source))
	}
	return found
}

func (p *pattern) all(text string) (found []match, err error) {
	offsets := runeOffsets(text)
	begin := time.Now()
	defer func() { p.spent.Add(int64(time.Since(begin))) }()
	m, err := p.compiled.FindRunesMatch([]rune(text))
	for ; m != nil && err == nil; m, err = p.compiled.FindNextMatch(m) {
		if len(found) == maxMatches {
			return nil, answer.Failure("More than %d places of one note match. Nothing was changed.", maxMatches)
		}
		found = append(found, match{offsets[m.RuneIndex], offsets[m.RuneIndex+m.RuneLength], expand(p.put, m, text, offsets)})
		if time.Since(begin) > searchTime {
			err = errors.New("too long")
		}
	}
	if err != nil {
		return nil, p.fail(errTooLong(p.source))
	}
	return found, p.failed()
}

// runeOffsets returns where each character of a text begins, and its end.
func runeOffsets(text string) []int {
	offsets := make([]int, 0, len(text)+1)
	for at := range text {
		offsets = append(offsets, at)
	}
	return append(offsets, len(text))
}
