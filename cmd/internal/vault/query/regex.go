package query

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"time"

	"vaultwicket/cmd/internal/vault/query/trigram"
	"vaultwicket/cmd/internal/vault/regex"
)

const (
	regexTime  = time.Second      // for one text: far more than a sensible regex needs for the longest note
	searchTime = 10 * time.Second // for all notes together: somebody waits for the answer
)

// regexTerm is a regular expression in the dialect of JavaScript, with the flag m.
//
// Two engines know it. The one of the standard library takes time linear in the
// text, so it is used for what means the same there; see translate. Everything
// else (look-around, back-references, flag u) goes to an engine that backtracks
// and is stopped when it takes too long. Both see characters, where JavaScript
// sees halves of those outside the basic plane unless told otherwise.
type regexTerm struct {
	source, flags string

	full     func() *regex.Regexp // compiled when first needed: it can take milliseconds
	linear   *regexp.Regexp       // nil if it would not mean the same
	anchored bool                 // linear means the same only where lines end in "\n"
	required *needle              // text without which there is no match; nil if not known
}

// newRegex compiles a regex. The flag i makes it ignore case, whatever exact
// says; g and d mean nothing here.
func newRegex(source, flags string, exact bool) (*regexTerm, error) {
	exact = exact && !strings.Contains(flags, "i")
	dotAll, unicode := strings.Contains(flags, "s"), strings.Contains(flags, "u")
	options := regex.Flags{Multiline: true, DotAll: dotAll, Unicode: unicode}
	// Whether it is a regex does not depend on case, and this is the fast way to know.
	plain, err := regex.Compile(source, options, regexTime)
	if err != nil {
		return nil, err
	}
	r := &regexTerm{source: source, flags: flags, full: func() *regex.Regexp { return plain }}
	if !exact {
		r.full = sync.OnceValue(func() *regex.Regexp {
			options.IgnoreCase = true
			folding, err := regex.Compile(source, options, regexTime)
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

func linearRegex(source string, exact, dotAll bool) (re *regexp.Regexp, anchored bool) {
	t := translator{source: source, exact: exact, dotAll: dotAll}
	if !t.run() {
		return nil, false
	}
	re, err := regexp.Compile(t.out.String())
	if err != nil {
		return nil, false // repeats more often than that engine allows
	}
	return re, t.anchored
}

func (r *regexTerm) each(cost *spent, text []byte, many bool, try func(start, end int) verdict) {
	if !r.possible(text) {
		return
	}
	most := 1
	if many {
		most = maxLines
	}
	for _, place := range r.places(cost, text, most) {
		if try(place[0], place[1]) == stop {
			return
		}
	}
}

func (r *regexTerm) places(cost *spent, text []byte, most int) [][]int {
	if r.linear != nil && (!r.anchored || endsLinesSimply(text)) {
		return r.linear.FindAllIndex(text, most)
	}
	if cost.stopped.Load() != nil {
		return nil
	}
	full := r.full()
	begin := time.Now()
	places, err := full.FindAllStringIndex(string(text), most)
	total := cost.time.Add(int64(time.Since(begin)))
	if err != nil || time.Duration(total) >= searchTime {
		cost.stopped.CompareAndSwap(nil, &r.source)
		return nil
	}
	return places
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
