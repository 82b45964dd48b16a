package query

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/query/trigram"
	"vaultwicket/cmd/internal/vault/regex"
)

// regexTerm is a regular expression of JavaScript with the flag m.
//
// There are two engines. That of the standard library takes linear time and is used for regexes
// with the same meaning there, see translator. Everything else (look-around, back-references,
// flag u) is matched by a backtracking engine. Both are stopped by the budget of the call, and
// work on characters, where JavaScript without the flag u works on UTF-16 code units.
type regexTerm struct {
	source, flags string

	full     func() *regex.Regexp // compiled when first needed: it can take milliseconds
	linear   *linear              // nil if it would not mean the same
	anchored bool                 // linear means the same only where lines end in "\n"
	alone    sync.Mutex           // held while the other engine has a large text
	required *needle              // text without which there is no match; nil if not known
}

// newRegex compiles a regex. The flag i overrides exact; g and d have no effect.
func newRegex(source, flags string, exact bool) (*regexTerm, error) {
	exact = exact && !strings.Contains(flags, "i")
	dotAll, unicode := strings.Contains(flags, "s"), strings.Contains(flags, "u")
	options := regex.Flags{Multiline: true, DotAll: dotAll, Unicode: unicode}
	// Whether it is a regex does not depend on case, and this is the fast way to know.
	plain, err := regex.Compile(source, options, budget.Default.Match)
	if err != nil {
		return nil, err
	}
	r := &regexTerm{source: source, flags: flags, full: func() *regex.Regexp { return plain }}
	if !exact {
		r.full = sync.OnceValue(func() *regex.Regexp {
			options.IgnoreCase = true
			folding, err := regex.Compile(source, options, budget.Default.Match)
			if err != nil {
				return plain // cannot happen: only the case differs
			}
			return folding
		})
	}
	if !unicode {
		r.required = requiredText(source, exact)
		if t := (translator{source: source, exact: exact, dotAll: dotAll}); t.run() {
			r.linear, r.anchored = newLinear(t.out.String()), t.anchored
		}
	}
	return r, nil
}

func (r *regexTerm) each(b *budget.Budget, text []byte, many bool, try func(start, end int) verdict) {
	if !r.mayOccur(text) {
		return
	}
	left := 1
	if many {
		left = maxLines
	}
	visit := func(start, end int) bool {
		left--
		return try(start, end) != stop && left > 0
	}
	if r.linear != nil && (!r.anchored || endsLinesSimply(text)) {
		_ = r.linear.each(b, r.source, text, visit) // the query tells of the end of its budget
		return
	}
	if len(text) > largeText {
		r.alone.Lock()
		defer r.alone.Unlock()
	}
	size := int64(len(text)) * 5
	if b.Hold(size) != nil {
		return
	}
	defer b.Release(size)
	_ = b.Match(r.source, func(left time.Duration) error {
		full := regex.Within(r.full(), left)
		if many {
			return regex.EachPlace(full, string(text), visit)
		}
		places, err := full.FindAllStringIndex(string(text), 1)
		if len(places) > 0 {
			visit(places[0][0], places[0][1])
		}
		return err
	})
}

// largeText is the size above which the backtracking engine processes one text at a time: it
// takes five times the size.
const largeText = 256 << 10

// endsLinesSimply reports whether text has no line end of JavaScript other than "\n".
func endsLinesSimply(text []byte) bool {
	return bytes.IndexByte(text, '\r') < 0 && !bytes.Contains(text, []byte("\u2028")) && !bytes.Contains(text, []byte("\u2029"))
}

func (r *regexTerm) mayOccur(text []byte) bool { return r.required == nil || r.required.in(text) }

func (r *regexTerm) grams() trigram.Word {
	if r.required == nil {
		return nil
	}
	return r.required.grams
}

func (r *regexTerm) cost() cost { return runsRegex }

func (r *regexTerm) write(to []byte) []byte {
	to = append(append(append(to, '/'), r.source...), '/')
	return append(to, r.flags...)
}

// linear is a regex for the engine of the standard library, which takes time proportional to
// text times regex and can be interrupted only where it reads character by character. So a
// short text is matched in one call, and a long one through a reader that stops at the time
// limit.
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

// newLinear compiles a regex. It returns nil if the engine refuses its repetitions or it is too
// large.
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

// instructions estimates the number of instructions of a regex.
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

// each visits the matches in a text as FindAllIndex does, until visit returns false. The errors
// are those of [budget.Budget.Match].
func (l *linear) each(b *budget.Budget, source string, text []byte, visit func(start, end int) bool) error {
	for at, behind := 0, -1; at <= len(text); {
		re, group, from := l.first, 0, 0
		if at > 0 { // what is before decides whether a word or a line begins
			_, size := utf8.DecodeLastRune(text[:at])
			re, group, from = l.onward(), 2, at-size
		}
		rest := text[from:]
		var place []int
		err := b.Match(source, func(left time.Duration) error {
			if len(rest) <= littleWork/l.size {
				place = re.FindSubmatchIndex(rest)
				return nil
			}
			begun := time.Now()
			in := &interruptible{text: rest, every: lookEvery/l.size + 1, over: func() bool { return b.Err() != nil || time.Since(begun) >= left }}
			if place = re.FindReaderSubmatchIndex(in); in.stopped {
				return errStopped
			}
			return nil
		})
		if err != nil || place == nil {
			return err
		}
		start, end := from+place[group], from+place[group+1]
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

var errStopped = errors.New("the match was stopped")

// interruptible is a reader that stops when the match has to end.
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

// minRequired is the length from which a required text is searched first.
const minRequired = 2

// requiredText returns the longest text that every match of a regex contains, nil if none is
// found. It considers only ASCII outside groups: it is an optimization.
func requiredText(source string, exact bool) *needle {
	var runs []string
	var run []byte
	end := func() { runs, run = append(runs, string(run)), nil }
	depth := 0
	for at := 0; at < len(source); at = regex.Next(source, at) {
		c := source[at]
		switch {
		case c == '(':
			depth++
			end()
		case c == ')':
			depth--
			end()
		case depth > 0:
		case c == '|':
			return nil
		case c == '*' || c == '?':
			run = run[:max(len(run)-1, 0)]
			end()
		case c == '{':
			run = run[:max(len(run)-1, 0)]
			end()
			at += max(repetition(source[at:])-1, 0)
		case c == '\\':
			r, class, size := readEscape(source[at:])
			if size != 2 {
				return nil // what follows may belong to the escape
			}
			if class != 0 {
				end()
				break
			}
			run = append(run, byte(r))
		case strings.IndexByte("+^$.[]}", c) >= 0 || c >= utf8.RuneSelf:
			end()
		default:
			run = append(run, c)
		}
	}
	end()
	best := slices.MaxFunc(runs, func(a, b string) int { return len(a) - len(b) })
	if len(best) < minRequired {
		return nil
	}
	return newNeedle(best, exact)
}
