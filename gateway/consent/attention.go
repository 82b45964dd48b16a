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
	// answerWithin is how long a question counts as open while its answer is awaited in another request, which may
	// never come.
	answerWithin = 2 * time.Minute
	// maxRemembered bounds each of the two maps of calls.
	maxRemembered = 4096
)

// attention limits the dialogs of clients: each caller has at most one open, and none about a call that the user has
// declined, or whose dialog the client has closed.
type attention struct {
	now func() time.Time

	mu       sync.Mutex
	open     map[string]openQuestion // by caller
	declined map[callKey]time.Time   // until when the call is refused
	closed   map[callKey]time.Time   // calls whose dialog was closed without an answer of the user
}

// openQuestion is a question that the user has not answered yet.
type openQuestion struct {
	call  CallDigest
	until time.Time // zero while the request that asks is waiting for the answer
}

// callKey is a call of a caller.
type callKey struct {
	caller string
	call   CallDigest
}

// isDeclined reports whether the user declined one of the calls within declinedFor.
func (a *attention) isDeclined(caller string, calls ...CallDigest) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, call := range calls {
		if until, ok := a.declined[callKey{caller, call}]; ok && a.now().Before(until) {
			return true
		}
	}
	return false
}

// begin opens the dialog about a call, which may be known by several digests; the first one is its own. end takes the
// reply. end is nil if no dialog may be opened: another one of the caller is open, or the client has closed or
// abandoned one about this call. The user can still answer the question elsewhere.
func (a *attention) begin(caller string, calls []CallDigest) (end func(Reply)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	open, isOpen := a.open[caller]
	isShown := isOpen && open.until.IsZero()
	isAwaited := isOpen && !isShown && now.Before(open.until)
	switch {
	case isAwaited && open.call == calls[0]: // the call came again, without the answer
		delete(a.open, caller)
		a.remember(a.closed, caller, calls)
		return nil
	case isShown, isAwaited:
		return nil
	case now.Before(a.closed[callKey{caller, calls[0]}]):
		return nil
	}
	a.open[caller] = openQuestion{call: calls[0]}
	return func(r Reply) {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.open, caller)
		switch r {
		case Later:
			a.open[caller] = openQuestion{calls[0], a.now().Add(answerWithin)}
		case Left:
			a.remember(a.closed, caller, calls)
		case No:
			a.remember(a.declined, caller, calls)
		}
	}
}

// remember keeps calls of a caller in list for declinedFor. When list is full, the oldest calls are forgotten.
func (a *attention) remember(list map[callKey]time.Time, caller string, calls []CallDigest) {
	now := a.now()
	for _, call := range calls {
		if len(list) >= maxRemembered {
			maps.DeleteFunc(list, func(_ callKey, until time.Time) bool { return !now.Before(until) })
		}
		if len(list) >= maxRemembered {
			delete(list, oldestOf(list))
		}
		list[callKey{caller, call}] = now.Add(declinedFor)
	}
}

// oldestOf returns the call that is forgotten first. list is not empty.
func oldestOf(list map[callKey]time.Time) (oldest callKey) {
	var first time.Time
	for key, until := range list {
		if first.IsZero() || until.Before(first) {
			oldest = key
			first = until
		}
	}
	return oldest
}

// closeAnswered closes the question about a call whose answer came with a request, even if
// the call then fails before the answer is read.
func (a *attention) closeAnswered(caller string, call CallDigest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if open, ok := a.open[caller]; ok && open.call == call && !open.until.IsZero() {
		delete(a.open, caller)
	}
}
