package query

import (
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"sync"
	"time"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/budget"
)

// linear is a regex for the engine of the standard library. That takes time in proportion to
// the text times the size of the regex, and cannot be interrupted, except where it asks for the
// text character by character. So a search in little text is one call of it, and one in much
// text is given the characters until the call is cancelled or its time is up.
type linear struct {
	first  *regexp.Regexp
	onward func() *regexp.Regexp // that matches one character, which is known already, and then from there on
	size   int                   // instructions
}

const (
	// maxInstructions bounds what one character of a text takes, and the memory of a match.
	maxInstructions = 1 << 14
	// littleWork is how many instructions a call of the engine may look at without being
	// interruptible: a few milliseconds. Above it the engine is as slow by itself.
	littleWork = 1 << 18
	// lookEvery is how many instructions pass before the time and the context are looked at.
	lookEvery = 1 << 15
)

// newLinear compiles a regex. It is nil for one that repeats more often than the engine allows,
// or is too large.
func newLinear(source string) *linear {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	l := &linear{size: instructions(parsed)}
	if l.size > maxInstructions {
		return nil
	}
	l.first = regexp.MustCompile(source)
	l.onward = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + source + ")") })
	return l
}

// instructions is about how many a regex has.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	if re.Op == syntax.OpLiteral {
		n = 1 + len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += 1 + instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min+1, re.Max)
	}
	return n
}

// each visits the places in a text, until visit returns false, as FindAllIndex finds them. The
// errors are those of [budget.Budget.Match].
func (l *linear) each(b *budget.Budget, source string, text []byte, visit func(start, end int) bool) error {
	for at, behind := 0, -1; at <= len(text); {
		var place []int
		err := b.Match(source, func(left time.Duration) (err error) {
			place, err = l.next(b, left, text, at)
			return err
		})
		if err != nil || place == nil {
			return err
		}
		start, end := place[0], place[1]
		isNew := start < end || start != behind
		behind = end
		if end == at {
			_, size := utf8.DecodeRune(text[at:])
			end += max(size, 1)
		}
		at = end
		if isNew && !visit(start, behind) {
			return nil
		}
	}
	return nil
}

// next returns the first place at or behind an offset, nil if there is none.
func (l *linear) next(b *budget.Budget, left time.Duration, text []byte, at int) (place []int, err error) {
	re, group, from := l.first, 0, 0
	if at > 0 { // what is before decides whether a word or a line begins
		_, size := utf8.DecodeLastRune(text[:at])
		re, group, from = l.onward(), 2, at-size
	}
	if rest := text[from:]; len(rest) <= littleWork/l.size {
		place = re.FindSubmatchIndex(rest)
	} else {
		begun := time.Now()
		in := &interruptible{text: rest, every: lookEvery/l.size + 1, over: func() bool { return b.Err() != nil || time.Since(begun) >= left }}
		if place = re.FindReaderSubmatchIndex(in); in.stopped {
			return nil, errStopped
		}
	}
	if place == nil {
		return nil, nil
	}
	return []int{from + place[group], from + place[group+1]}, nil
}

var errStopped = errors.New("the match was stopped")

// interruptible is a text that ends when a match has to.
type interruptible struct {
	text        []byte
	every, left int // characters, until over is asked again
	over        func() bool
	stopped     bool
}

// ReadRune implements [io.RuneReader].
func (t *interruptible) ReadRune() (rune, int, error) {
	if t.left--; t.left < 0 {
		t.left, t.stopped = t.every, t.over()
	}
	if t.stopped || len(t.text) == 0 {
		return 0, 0, io.EOF
	}
	r, size := utf8.DecodeRune(t.text)
	t.text = t.text[size:]
	return r, size, nil
}
