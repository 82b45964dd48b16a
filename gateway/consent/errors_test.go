package consent

import (
	"strings"
	"testing"
)

// The codes are for programs and never change.
func TestTheCodesAndSentences(t *testing.T) {
	for _, test := range []struct {
		err interface {
			error
			Code() string
		}
		code, sentence string
	}{
		{&Refused{SealUsed}, "approval_refused", "the state of the question was used before"},
		{&Ungranted{}, "approval_unasked", "no approval was requested for this call in this session"},
		{&Ungranted{State: Pending, Question: "2222-2222"}, "approval_pending", "approval 2222-2222 is pending"},
		{&Ungranted{State: Denied, Question: "2222-2222"}, "approval_denied", "approval 2222-2222 is denied"},
		{&Ungranted{State: Expired, Question: "2222-2222"}, "approval_expired", "approval 2222-2222 is expired"},
		{&Unknown{"x\n"}, "approval_unknown", `no approval has the code "x\n"`},
		{&Answered{"2222-2222", Denied}, "approval_answered", "approval 2222-2222 was already answered: denied"},
		{&Full{"questions", 64}, "approval_full", "limit of 64 questions reached"},
		{&Invalid{"text", "is empty"}, "approval_invalid", "approval: text is empty"},
		{&Damaged{"a.json", "is not what was written"}, "approval_damaged", `question file "a.json": is not what was written`},
		{&Unusable{Store: store, Path: "/a", Reason: "is not a folder"}, "approvals_unusable", `approvals "/a": is not a folder`},
	} {
		if test.err.Code() != test.code || test.err.Error() != test.sentence {
			t.Errorf("%s: %s", test.err.Code(), test.err)
		}
	}
	for _, state := range []State{Unasked, Pending, Approved, Denied, Expired, 200} {
		if name := state.String(); name == "" || name != strings.ToLower(name) {
			t.Errorf("state %d is %q", state, name)
		}
	}
}
