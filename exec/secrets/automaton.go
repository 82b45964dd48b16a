package secrets

import "sync"

// keywordAutomaton finds all keywords of all rules in one pass (Aho and Corasick, 1975).
// Letters of both cases are one class.
type keywordAutomaton struct {
	class   [256]uint8
	classes int
	// next is the state after a byte of a class: next[state*classes+class]. A state of a finished
	// automaton is a multiple of the number of classes, twice, and odd if hits has something for it.
	next []uint32
	hits [][]hit // the rules whose keywords end in a state
}

type hit struct {
	rule   *rule
	length int // of the keyword, in bytes
}

// automaton is made when the first text is searched: most processes search none.
var automaton = sync.OnceValue(func() *keywordAutomaton { return newAutomaton(allRules()) })

func newAutomaton(rules []*rule) *keywordAutomaton {
	a := &keywordAutomaton{classes: 1} // class 0: bytes of no keyword
	for _, r := range rules {
		for _, word := range r.keywords {
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
		for _, word := range r.keywords {
			state := 0
			for _, c := range []byte(word) {
				at := state*a.classes + int(a.class[c])
				if a.next[at] == 0 {
					a.next[at] = uint32(a.addState())
				}
				state = int(a.next[at])
			}
			a.hits[state] = append(a.hits[state], hit{r, len(word)})
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
// until it returns false.
func eachKeyword[T string | []byte](a *keywordAutomaton, text T, try func(r *rule, at int) bool) {
	state := uint32(0)
	for i := range len(text) {
		state = a.next[state>>1+uint32(a.class[text[i]])]
		if state&1 == 0 {
			continue
		}
		for _, hit := range a.hits[int(state>>1)/a.classes] {
			if !try(hit.rule, i+1-hit.length) {
				return
			}
		}
	}
}
