package query

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/query/trigram"
	"vaultwicket/cmd/internal/vault/regex"
)

// regexTerm is a regular expression in the dialect of JavaScript, with the flag m.
//
// Two engines know it. The one of the standard library takes time linear in the
// text, so it is used for what means the same there; see translate. Everything
// else (look-around, back-references, flag u) goes to an engine that backtracks.
// Both are stopped when the budget of the call is used up, and see characters, where
// JavaScript sees halves of those outside the basic plane unless told otherwise.
type regexTerm struct {
	source, flags string

	full     func() *regex.Regexp // compiled when first needed: it can take milliseconds
	linear   *linear              // nil if it would not mean the same
	anchored bool                 // linear means the same only where lines end in "\n"
	alone    sync.Mutex           // held while the other engine has a large text
	required *needle              // text without which there is no match; nil if not known
}

// newRegex compiles a regex. The flag i makes it ignore case, whatever exact
// says; g and d mean nothing here.
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
		r.linear, r.anchored = linearRegex(source, exact, dotAll)
	}
	return r, nil
}

func linearRegex(source string, exact, dotAll bool) (l *linear, anchored bool) {
	t := translator{source: source, exact: exact, dotAll: dotAll}
	if !t.run() {
		return nil, false
	}
	return newLinear(t.out.String()), t.anchored
}

func (r *regexTerm) each(b *budget.Budget, text []byte, many bool, try func(start, end int) verdict) {
	if !r.possible(text) {
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
	_ = r.eachBacktracking(b, text, many, visit)
}

// largeText is from when on the backtracking engine has one text at a time: it takes five times
// its size.
const largeText = 256 << 10

// eachBacktracking visits the places of the regex until visit returns false.
func (r *regexTerm) eachBacktracking(b *budget.Budget, text []byte, many bool, visit func(start, end int) bool) error {
	if len(text) > largeText {
		r.alone.Lock()
		defer r.alone.Unlock()
	}
	size := int64(len(text)) * 5
	if err := b.Hold(size); err != nil {
		return err
	}
	defer b.Release(size)
	return b.Match(r.source, func(left time.Duration) error {
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

// endsLinesSimply reports whether text has none of the other characters that
// end a line in JavaScript.
func endsLinesSimply(text []byte) bool {
	return bytes.IndexByte(text, '\r') < 0 && !bytes.Contains(text, []byte("\u2028")) && !bytes.Contains(text, []byte("\u2029"))
}

func (r *regexTerm) possible(text []byte) bool { return r.required == nil || r.required.in(text) }

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
