package search

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
)

// regexTerm is a JavaScript regular expression with the flag m. It matches characters, whereas
// JavaScript without the flag u matches UTF-16 code units. The budget of the call limits its time.
type regexTerm struct {
	body, flags string

	full     func() *formula.Regexp // compiled when first needed: it can take milliseconds
	required *needle                // text that every match contains; nil if not known
}

// newRegex compiles a regex. The flag i makes it ignore case, whatever letters is; g and d have no effect.
func newRegex(source, flags string, letters letterCase) (*regexTerm, error) {
	if strings.Contains(flags, "i") {
		letters = ignoreCase
	}
	options := formula.RegexFlags{
		Multiline: true,
		DotAll:    strings.Contains(flags, "s"),
		Unicode:   strings.Contains(flags, "u"),
	}
	// Compiling without case folding is fast and finds the same syntax errors.
	plain, err := formula.CompileRegex(source, options, budget.Default.Match)
	if err != nil {
		return nil, err
	}
	r := &regexTerm{body: source, flags: flags, full: func() *formula.Regexp { return plain }}
	if letters == ignoreCase {
		r.full = sync.OnceValue(func() *formula.Regexp {
			options.IgnoreCase = true
			folding, err := formula.CompileRegex(source, options, budget.Default.Match)
			if err != nil {
				return plain // cannot happen: only the case differs
			}
			return folding
		})
	}
	if !options.Unicode {
		r.required = requiredText(source, letters)
	}
	return r, nil
}

const (
	// maxWindow is how many bytes of a text are matched at once: the engine needs several times as much memory.
	maxWindow = 512 << 10
	// overlap is how many bytes before and after its beginning a match in a long text can depend on.
	overlap = 64 << 10
)

func (r *regexTerm) each(b *budget.Budget, text []byte, try func(start, end int) verdict) {
	r.find(b, text, everyMatch, try)
}

func (r *regexTerm) first(b *budget.Budget, text []byte) (start int, found bool) {
	r.find(b, text, firstMatch, func(from, _ int) verdict {
		start = from
		found = true
		return stop
	})
	return start, found
}

// extent selects which matches of a regex are found.
type extent bool

const (
	firstMatch extent = false
	everyMatch extent = true
)

// find calls try for the wanted matches in text, from left to right, until try returns stop.
func (r *regexTerm) find(b *budget.Budget, text []byte, wanted extent, try func(start, end int) verdict) {
	if !r.mayOccur(text) {
		return
	}
	left := maxLines
	for at := 0; left > 0 && at <= len(text); {
		from := nextRune(text, max(0, at-overlap))
		to := min(at+maxWindow, len(text))
		next := to + 1 // where the matches of the next window begin
		if to < len(text) {
			next = nextRune(text, to-overlap)
		}
		size := int64(to-from) * 5
		if b.Hold(size) != nil {
			return
		}
		eachInWindow := func(limit time.Duration) error {
			window := string(text[from:to])
			if wanted == firstMatch && len(window) == len(text) { // takes half the time
				places, err := formula.WithinLimit(r.full(), limit).FindAllStringIndex(window, 1)
				if len(places) > 0 {
					try(places[0][0], places[0][1])
				}
				return err
			}
			return formula.EachMatch(r.full(), window, at-from, limit, func(m *formula.Match) bool {
				start, length := m.ByteRange()
				start += from
				if start >= next {
					return false
				}
				next = max(next, start+length)
				left--
				if wanted == firstMatch {
					left = 0
				}
				return try(start, start+length) != stop && left > 0
			})
		}
		err := b.Match(r.body, eachInWindow)
		b.Release(size)
		if err != nil {
			return // Query.Err reports the end of the budget
		}
		at = next
	}
}

func (r *regexTerm) mayOccur(text []byte) bool { return r.required == nil || r.required.occursIn(text) }

func (r *regexTerm) grams() index.WordTrigrams {
	if r.required == nil {
		return nil
	}
	return r.required.grams
}

func (r *regexTerm) cost() cost { return runsRegex }

func (r *regexTerm) source() string { return "/" + r.body + "/" + r.flags }

// minRequired is the minimum length in bytes of a required text. Shorter ones are in almost every note.
const minRequired = 2

// requiredText returns the longest text that it finds to be in every match of a regex, or nil. It
// considers only ASCII outside groups, because it is only an optimization.
func requiredText(source string, letters letterCase) *needle {
	var runs []string
	var run []byte
	endRun := func() {
		runs = append(runs, string(run))
		run = nil
	}
	depth := 0
	for at := 0; at < len(source); at = formula.NextInRegex(source, at) {
		c := source[at]
		switch {
		case c == '(':
			depth++
			endRun()
		case c == ')':
			depth--
			endRun()
		case depth > 0:
		case c == '|':
			return nil
		case c == '*' || c == '?':
			run = run[:max(len(run)-1, 0)]
			endRun()
		case c == '{':
			run = run[:max(len(run)-1, 0)]
			endRun()
			if rest := strings.TrimLeft(source[at+1:], "0123456789,"); strings.HasPrefix(rest, "}") {
				at = len(source) - len(rest)
			}
		case c == '\\':
			switch escaped := source[at+1]; {
			case strings.IndexByte("dDwWsSbBtnvfr", escaped) >= 0:
				endRun()
			case isWordRune(rune(escaped)) || escaped < ' ' || escaped >= utf8.RuneSelf:
				return nil // what follows may belong to the escape
			default:
				run = append(run, escaped)
			}
		case strings.IndexByte("+^$.[]}", c) >= 0 || c >= utf8.RuneSelf:
			endRun()
		default:
			run = append(run, c)
		}
	}
	endRun()
	best := slices.MaxFunc(runs, func(a, b string) int { return len(a) - len(b) })
	if len(best) < minRequired {
		return nil
	}
	return newNeedle(best, letters)
}
