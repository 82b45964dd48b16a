package edit

import (
	"fmt"
	"strings"
)

// Candidate is a line that may have been meant.
type Candidate struct {
	Line int
	Text string
}

// NotFound says that a note has no such part.
type NotFound struct {
	What, Wanted string
	Near         []Candidate // lines on which a piece of it stands
}

func (n *NotFound) Error() string { return fmt.Sprintf("%s %q not found", n.What, n.Wanted) }

// Ambiguous says that several parts of a note fit.
type Ambiguous struct {
	What, Wanted string
	Count        int
	Candidates   []Candidate // the first of them
}

func (a *Ambiguous) Error() string {
	return fmt.Sprintf("%s %q is there %d times: %s", a.What, a.Wanted, a.Count, lines(a.Candidates))
}

// Refusal says why an edit was not made, and where it could be.
type Refusal struct {
	Line    int
	Reason  string
	Instead []Candidate
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("line %d: %s", r.Line, r.Reason)
	if len(r.Instead) > 0 {
		text += "; possible: " + lines(r.Instead)
	}
	return text
}

func lines(all []Candidate) string {
	var out []string
	for _, c := range all {
		out = append(out, fmt.Sprintf("line %d", c.Line))
	}
	return strings.Join(out, ", ")
}

// maxCandidates bounds what an error lists: whoever reads it picks one.
const maxCandidates = 10

// add notes one more candidate, as long as there is room.
func (a *Ambiguous) add(line int, text string) {
	a.Count++
	if len(a.Candidates) < maxCandidates {
		a.Candidates = append(a.Candidates, Candidate{line, text})
	}
}
