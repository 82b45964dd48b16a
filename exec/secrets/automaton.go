package secrets

import (
	"slices"
	"sync"
)

// keywordAutomaton finds all keywords of all rules in one pass (Aho and Corasick, 1975).
// Letters of both cases are one class.
type keywordAutomaton struct {
	class   [256]uint8
	classes int
	// next is the state after a byte of a class: next[state*classes+class]. A state of a finished
	// automaton is a multiple of the number of classes, twice, and odd if hits has something for it.
	next []uint32
	hits [][]hit // the rules whose keywords end in a state
	// starts says that of words that begin with a letter only those count that no letter, digit or _ is before.
	starts bool
}

type hit struct {
	rule   *rule
	length int  // of the word, in bytes
	needed bool // it is one that the rule needs after its keyword
}

// automaton is made when the first text is searched: most processes search none.
var automaton = sync.OnceValue(func() *keywordAutomaton { return newAutomaton(allRules()) })

func newAutomaton(rules []*rule) *keywordAutomaton {
	a := &keywordAutomaton{classes: 1} // class 0: bytes of no keyword
	for _, r := range rules {
		for _, word := range slices.Concat(r.keywords, r.needs) {
			for _, c := range []byte(word) {
				if a.class[c] == 0 {
					a.class[c] = uint8(a.classes)
					a.classes++
				}
			}
		}
	}
	for c := 'A'; c <= 'Z'; c++ {
		a.class[c] = a.class[c|0x20]
	}
	a.addState()
	for _, r := range rules {
		for i, word := range slices.Concat(r.keywords, r.needs) {
			state := 0
			for _, c := range []byte(word) {
				at := state*a.classes + int(a.class[c])
				if a.next[at] == 0 {
					a.next[at] = uint32(a.addState())
				}
				state = int(a.next[at])
			}
			a.hits[state] = append(a.hits[state], hit{r, len(word), i >= len(r.keywords)})
		}
	}
	a.complete()
	return a
}

func (a *keywordAutomaton) addState() int {
	a.next = append(a.next, make([]uint32, a.classes)...)
	a.hits = append(a.hits, nil)
	return len(a.hits) - 1
}

// complete adds the transitions to the longest suffix that is the start of a keyword.
func (a *keywordAutomaton) complete() {
	fail := make([]uint32, len(a.hits))
	var queue []int
	for class := range a.classes {
		if to := a.next[class]; to != 0 {
			queue = append(queue, int(to))
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		a.hits[state] = append(a.hits[state], a.hits[fail[state]]...)
		for class := range a.classes {
			at, back := state*a.classes+class, a.next[int(fail[state])*a.classes+class]
			if to := a.next[at]; to != 0 {
				fail[to] = back
				queue = append(queue, int(to))
			} else {
				a.next[at] = back
			}
		}
	}
	for i, to := range a.next {
		a.next[i] = to * uint32(a.classes) << 1
		if len(a.hits[to]) > 0 {
			a.next[i] |= 1
		}
	}
}

// eachKeyword calls try with the rules whose keywords are in the text, and where the keyword begins,
// until it returns false. A rule that needs a word is tried where one follows its keyword in time.
func eachKeyword[T string | []byte](a *keywordAutomaton, text T, try func(r *rule, at int) bool) {
	type place struct {
		rule *rule
		at   int
	}
	var waiting []place // keywords of rules that need a word
	next, class, starts, state := a.next, &a.class, a.starts, uint32(0)
	for i := 0; i < len(text); i++ {
		state = next[state>>1+uint32(class[text[i]])]
		if state == 0 && starts {
			for isWordByte[text[i]] && i+1 < len(text) && isWordByte[text[i+1]] {
				i++
			}
			continue
		}
		if state&1 == 0 {
			continue
		}
		for _, hit := range a.hits[int(state>>1)/a.classes] {
			at := i + 1 - hit.length
			switch {
			case hit.needed:
				for k, w := range waiting {
					if w.rule == hit.rule && w.at <= at && i < w.at+w.rule.most {
						waiting[k].rule = nil
						if !try(w.rule, w.at) {
							return
						}
					}
				}
			case len(hit.rule.needs) == 0:
				if !try(hit.rule, at) {
					return
				}
			default:
				if len(waiting) == cap(waiting) {
					waiting = slices.DeleteFunc(waiting, func(w place) bool { return w.rule == nil || i >= w.at+w.rule.most })
				}
				waiting = append(waiting, place{hit.rule, at})
			}
		}
	}
}
