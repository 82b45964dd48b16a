package refactor

import (
	"bytes"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/regex"
)

// Limits of a search, besides those of the budget of the call.
const (
	maxSource  = 4 << 10 // bytes of an expression, as in a query
	maxMatches = 100_000 // in one note
)

// finder finds the matches of a text whose line ends are LF.
type finder interface {
	// mayBeIn reports whether a note can have a match: quickly, and true in doubt. It
	// is used by several goroutines.
	mayBeIn(note []byte) bool
	// each visits the matches, in their order, with what is put in the place of each.
	each(text string, visit func(start, end int, put string) error) error
}

// searchFor reads what a request looks for.
func searchFor(b *budget.Budget, p grammar.Values) (finder, error) {
	switch {
	case p.Has("new") == p.Has("remove"):
		return nil, answer.Misuse("Use new=<text> or remove, one of them.")
	case !utf8.ValidString(p["old"]) || !utf8.ValidString(p["new"]):
		return nil, answer.Misuse("old and new must be valid UTF-8.")
	}
	old, put := flatten([]byte(p["old"])).text, strings.ReplaceAll(p["new"], "\r\n", "\n")
	switch {
	case p.Has("regex"):
		return newPattern(b, old, put, p.Has("ignore-case"))
	case p.Has("ignore-case"):
		return newPattern(b, quoteRegex(old), strings.ReplaceAll(put, "$", "$$"), true)
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

func (e exactly) each(text string, visit func(start, end int, put string) error) error {
	for at := 0; ; {
		n := strings.Index(text[at:], e.old)
		if n < 0 {
			return nil
		}
		at += n
		if err := visit(at, at+len(e.old), e.put); err != nil {
			return err
		}
		at += len(e.old)
	}
}

// pattern finds a regular expression. It is used by several goroutines.
type pattern struct {
	budget   *budget.Budget
	source   string
	compiled *regex.Regexp
	put      []piece
}

func newPattern(b *budget.Budget, source, put string, ignoreCase bool) (*pattern, error) {
	if len(source) > maxSource {
		return nil, answer.Misuse("Invalid value for old: the expression is longer than %d bytes.", maxSource)
	}
	compiled, err := regex.Compile(source, regex.Flags{Multiline: true, IgnoreCase: ignoreCase, Unicode: true}, budget.Default.Match)
	if err != nil {
		return nil, answer.Misuse("Invalid value for old: no regular expression: %v", err)
	}
	pieces, err := template(put, compiled.GetGroupNumbers(), compiled.GetGroupNames())
	return &pattern{b, source, compiled, pieces}, err
}

// holding runs a match in a text, which the engine takes apart into characters, with the
// budget of the call.
func (p *pattern) holding(text int, match func(re *regex.Regexp, left time.Duration) error) error {
	size := 5 * int64(text)
	if err := p.budget.Hold(size); err != nil {
		return err
	}
	defer p.budget.Release(size)
	return p.budget.Match(p.source, func(left time.Duration) error { return match(regex.Within(p.compiled, left), left) })
}

// mayBeIn is false where the budget has run out, which is told at the end of the search.
func (p *pattern) mayBeIn(note []byte) (found bool) {
	_ = p.holding(len(note), func(re *regex.Regexp, _ time.Duration) (err error) {
		found, err = re.MatchString(flatten(note).text)
		return err
	})
	return found
}

func (p *pattern) each(text string, visit func(start, end int, put string) error) error {
	var failed error
	err := p.holding(len(text), func(re *regex.Regexp, left time.Duration) error {
		begun, limited := time.Now(), *re
		at := places{text: text}
		m, err := limited.FindRunesMatch([]rune(text))
		for n := 0; m != nil && err == nil; n++ {
			if n == maxMatches {
				failed = answer.Failure("More than %d places of one note match. Nothing was changed.", maxMatches)
				return nil
			}
			put, ok := expand(p.put, m, &at)
			if !ok {
				failed = errNoteTooLong
				return nil
			}
			if failed = visit(at.of(m.RuneIndex), at.of(m.RuneIndex+m.RuneLength), put); failed != nil {
				return nil
			}
			limited.MatchTimeout = max(0, left-time.Since(begun))
			m, err = limited.FindNextMatch(m)
		}
		return err
	})
	return errors.Join(failed, err)
}

// places tells where the characters of a text begin, in bytes. It is quick for one that is
// near to the one before.
type places struct {
	text       string
	char, byte int
}

func (p *places) of(char int) int {
	for ; p.char < char; p.char++ {
		_, size := utf8.DecodeRuneInString(p.text[p.byte:])
		p.byte += size
	}
	for ; p.char > char; p.char-- {
		_, size := utf8.DecodeLastRuneInString(p.text[:p.byte])
		p.byte -= size
	}
	return p.byte
}
