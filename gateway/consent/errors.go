package consent

import (
	"fmt"
	"time"

	"vaultwicket/gateway/state/private"
)

// Reason says why a state was refused. It is for programs and never renamed.
type Reason string

// The reasons of a *[Refused].
const (
	SealForged    Reason = "forged"     // it has not the form of a state
	SealChanged   Reason = "changed"    // it has the form, and another seal: altered, or of another process
	SealOtherCall Reason = "other_call" // it was made for another call, vault or caller
	SealExpired   Reason = "expired"
	SealUsed      Reason = "used"
	SealFull      Reason = "full" // too many were used lately to tell whether this one was
)

// said are the sentences for people.
var said = map[Reason]string{
	SealForged:    "was not made by this server",
	SealChanged:   "was changed, or was made by another run of the server",
	SealOtherCall: "was made for another call",
	SealExpired:   "has expired",
	SealUsed:      "was used before",
	SealFull:      "cannot be accepted: too many were used recently",
}

// Refused says that a state does not approve the call that it came with.
type Refused struct{ Reason Reason }

// Code returns the name of the error for programs.
func (*Refused) Code() string { return "approval_refused" }

func (e *Refused) Error() string { return "the state of the question " + said[e.Reason] }

// Ungranted says that nobody has approved a call.
type Ungranted struct {
	State    State     // Pending, Denied, Expired or Unasked
	Question string    // its code, "" if Unasked
	Expires  time.Time // when the question does
}

// codes are the names of the states for programs.
var codes = map[State]string{
	Unasked: "approval_unasked", Pending: "approval_pending",
	Denied: "approval_denied", Expired: "approval_expired",
}

// Code returns the name of the error for programs: approval_unasked,
// approval_pending, approval_denied or approval_expired.
func (e *Ungranted) Code() string { return codes[e.State] }

func (e *Ungranted) Error() string {
	if e.State == Unasked {
		return "no approval was requested for this call in this session"
	}
	return fmt.Sprintf("approval %s is %s", e.Question, e.State)
}

// Unknown says that there is no question with a code; it may have expired, or
// its answer may have been used.
type Unknown struct{ What string } // the code as it was given

// Code returns the name of the error for programs.
func (*Unknown) Code() string { return "approval_unknown" }

func (e *Unknown) Error() string { return fmt.Sprintf("no approval has the code %.40q", e.What) }

// Answered says that a question has its answer.
type Answered struct {
	Question string // its code
	State    State  // Approved or Denied
}

// Code returns the name of the error for programs.
func (*Answered) Code() string { return "approval_answered" }

func (e *Answered) Error() string {
	return fmt.Sprintf("approval %s was already answered: %s", e.Question, e.State)
}

// StillOpen says that a session has as many questions that were not answered yet as it may.
type StillOpen struct{ Questions int }

// Code returns the name of the error for programs.
func (*StillOpen) Code() string { return "approval_open" }

func (e *StillOpen) Error() string {
	return fmt.Sprintf("%d approvals of this session are still pending", e.Questions)
}

// Full says that there is no room for one more question, or one more standing
// approval.
type Full struct {
	What  string
	Limit int
}

// Code returns the name of the error for programs.
func (*Full) Code() string { return "approval_full" }

func (e *Full) Error() string {
	return fmt.Sprintf("limit of %d %s reached", e.Limit, e.What)
}

// Invalid says that a caller gave what cannot be asked or granted.
type Invalid struct{ Field, Reason string }

// Code returns the name of the error for programs.
func (*Invalid) Code() string { return "approval_invalid" }

func (e *Invalid) Error() string { return fmt.Sprintf("approval: %s %s", e.Field, e.Reason) }

// Damaged says that a file is not what was written. It counts as no answer, and
// is left where it is.
type Damaged struct{ Name, Reason string }

// Code returns the name of the error for programs.
func (*Damaged) Code() string { return "approval_damaged" }

func (e *Damaged) Error() string { return fmt.Sprintf("question file %q: %s", e.Name, e.Reason) }

// Unusable says that the folder cannot be written or read: the disk is full, the
// folder is a link or accessible to others, or its lock is held.
type Unusable struct {
	Path   string
	Reason string
	Cause  error // may be nil
}

// Code returns the name of the error for programs.
func (*Unusable) Code() string { return "approvals_unusable" }

func (e *Unusable) Error() string { return fmt.Sprintf("approvals %q: %s", e.Path, e.Reason) }

func (e *Unusable) Unwrap() error { return e.Cause }

// unusable returns an error of this package for one of the system.
func unusable(path string, err error) error {
	if err == nil {
		return nil
	}
	path, reason := private.Describe(path, err)
	return &Unusable{Path: path, Reason: reason, Cause: err}
}
