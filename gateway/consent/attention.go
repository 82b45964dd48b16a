package consent

import (
	"maps"
	"sync"
	"time"
)

const (
	// declinedFor is how long a declined call is refused without asking, so that repeating it
	// gains nothing.
	declinedFor = 10 * time.Minute
	// answerWithin is how long a question counts as open whose answer comes with another request,
	// or never.
	answerWithin = 2 * time.Minute
	// maxDeclined bounds the memory: each of them was declined one by one.
	maxDeclined = 4096
	// maxDismissed questions within dismissedFor may be closed without an answer before a caller
	// has to wait.
	maxDismissed = 3
	dismissedFor = time.Minute
)

// attention limits the questions to the user: each caller has at most one open dialog, and does
// not ask again for a declined call, nor at once after repeated dismissals.
type attention struct {
	now func() time.Time

	mu        sync.Mutex
	open      map[string]openQuestion // by caller
	declined  map[declined]time.Time
	dismissed map[string][]dismissal // by caller, the last ones
}

// dismissal is a dialog that was closed without an answer: by the user, or by a client that has
// dropped it and shows no dialog, as far as can be told.
type dismissal struct {
	at      time.Time
	dropped bool
}

// openQuestion is one that the user has not answered yet.
type openQuestion struct {
	call  CallDigest
	until time.Time // zero while the request that asks is waiting for the answer
}

// declined is a call of a caller that the user did not want.
type declined struct {
	caller string
	call   CallDigest
}

// isDeclined reports whether the user declined one of the calls a short time ago.
func (a *attention) isDeclined(caller string, calls ...CallDigest) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, call := range calls {
		if until, ok := a.declined[declined{caller, call}]; ok && a.now().Before(until) {
			return true
		}
	}
	return false
}

// begin opens the dialog about a call, which may be recognised by more than one digest. end
// takes what came of it. Where a client has dropped the dialog about this call, which its
// answer would have closed, it opens again. end is nil while another dialog of the caller is open, and
// where the client drops them: the question is left for the user elsewhere. dismissed says that the user
// has closed too many.
func (a *attention) begin(caller string, calls []CallDigest) (end func(Reply), dismissed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, isOpen := a.open[caller]
	switch {
	case !isOpen || !before.until.IsZero() && !a.now().Before(before.until):
	case before.until.IsZero() || before.call != calls[0]:
		return nil, false
	default:
		a.dismiss(caller, true)
	}
	recent, dropped := 0, false
	for _, d := range a.dismissed[caller] {
		if a.now().Sub(d.at) < dismissedFor {
			recent, dropped = recent+1, dropped || d.dropped
		}
	}
	switch {
	case recent >= maxDismissed && dropped:
		delete(a.open, caller)
		return nil, false
	case recent >= maxDismissed:
		return nil, true
	}
	a.open[caller] = openQuestion{call: calls[0]}
	return func(r Reply) {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.open, caller)
		switch r {
		case Later:
			a.open[caller] = openQuestion{calls[0], a.now().Add(answerWithin)}
		case Dismissed, Misfit:
			a.dismiss(caller, false)
		case No:
			now := a.now()
			for _, call := range calls {
				if len(a.declined) >= maxDeclined {
					maps.DeleteFunc(a.declined, func(_ declined, until time.Time) bool { return !now.Before(until) })
				}
				if len(a.declined) >= maxDeclined {
					var oldest declined
					for d, until := range a.declined {
						if first, ok := a.declined[oldest]; !ok || until.Before(first) {
							oldest = d
						}
					}
					delete(a.declined, oldest)
				}
				a.declined[declined{caller, call}] = now.Add(declinedFor)
			}
		}
	}, false
}

// dismiss notes that a dialog of a caller was closed without an answer.
func (a *attention) dismiss(caller string, dropped bool) {
	if len(a.dismissed) >= maxDeclined {
		clear(a.dismissed)
	}
	all := append(a.dismissed[caller], dismissal{a.now(), dropped})
	a.dismissed[caller] = all[max(0, len(all)-maxDismissed):]
}

// answered closes the question about a call whose answer came with a request, also
// where the call then fails before the answer is looked at.
func (a *attention) answered(caller string, call CallDigest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if open, ok := a.open[caller]; ok && open.call == call && !open.until.IsZero() {
		delete(a.open, caller)
	}
}
