package gateway

import (
	"crypto/rand"
	"slices"

	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/pages"
)

// The methods Marked return an answer with each text of notes in it between two lines that
// nobody can write who does not know what is drawn for this one answer. They are called once,
// where the answer leaves the gateway: what is kept of an answer has no marks, because a note
// could repeat them by the time it is shown again.
//
// JSON is marked as a whole, and is text then: its quotation marks tell a program where a value
// ends, but a model reads what is in them. Names, such as the path of a note, stay as they are,
// because calls are made with them; sentences quote them.

// Marked returns the result with marks. What no program answered is unmarked: the words of
// vaultwicket itself are no text of notes.
func (r Result) Marked() Result {
	if r.Backend == "" {
		return r
	}
	if r.Stdout != "" {
		r.form = pages.Text
	}
	r.Stdout, r.Stderr = marked(r.Stdout), marked(r.Stderr)
	return r
}

// Marked returns the plan with marks around the difference. What is drawn of it for a person
// is left out.
func (d DryRun) Marked() DryRun {
	d.Diff, d.Shown = marked(d.Diff), nil
	return d
}

// Marked returns the result with marks in the answers of all operations.
func (r BatchResult) Marked() BatchResult {
	r.Results = slices.Clone(r.Results)
	for i, done := range r.Results {
		if done.Result == nil || done.Result.Backend == "" {
			continue
		}
		answer := *done.Result
		answer.Stdout, answer.Stderr = marked(answer.Stdout), marked(answer.Stderr)
		r.Results[i].Result = &answer
	}
	return r
}

// unmarkable stands for a text around which no marks can be put.
const unmarkable = "left out: the source of random numbers failed, so that the text could not be marked\n"

func marked(text string) string {
	if text == "" {
		return ""
	}
	fenced, err := clean.Fence(text, rand.Reader)
	if err != nil {
		return unmarkable
	}
	return fenced
}
