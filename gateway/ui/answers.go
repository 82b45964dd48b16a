package ui

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

const (
	answerField = "answer"
	maxAnswers  = 32 // the oldest goes first; a page of one is a plan, or a question before an undo
)

// answers are what forms were answered with, until the view that they lead to shows it. A
// note or a problem is shown once: it is about what has just happened. A page can be
// loaded again.
type answers struct {
	mu   sync.Mutex
	list []keptAnswer
}

type keptAnswer struct {
	id string
	view
}

// keep returns the path that shows an answer.
func (a *answers) keep(v view) (path string) {
	if v.template == "" && v.note == "" && v.problem == nil {
		return v.goTo
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	one := keptAnswer{rand.Text(), v}
	a.list = append(a.list[max(0, len(a.list)+1-maxAnswers):], one)
	sign := "?"
	if strings.Contains(v.goTo, sign) {
		sign = "&"
	}
	return v.goTo + sign + url.Values{answerField: {one.id}}.Encode()
}

// take returns the answer that a request is for, the zero view if there is none.
func (a *answers) take(r *http.Request) view {
	id := r.URL.Query().Get(answerField)
	if id == "" || r.Method != http.MethodGet {
		return view{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.list {
		if one := &a.list[i]; one.id == id {
			kept := one.view
			if kept.template == "" {
				one.view = view{}
			}
			return kept
		}
	}
	return view{}
}
