package consent

import (
	"strings"
	"testing"
)

func TestTheSentences(t *testing.T) {
	for _, test := range []struct {
		err      error
		sentence string
	}{
		{&Ungranted{}, "no approval was requested for this call in this session"},
		{&Ungranted{State: Pending, Question: "2222-2222"}, "approval 2222-2222 is pending"},
		{&Ungranted{State: Denied, Question: "2222-2222"}, "approval 2222-2222 is denied"},
		{&Ungranted{State: Expired, Question: "2222-2222"}, "approval 2222-2222 is expired"},
		{&Unknown{"x\n"}, `no approval has the code "x\n"`},
		{&Answered{"2222-2222", Denied}, "approval 2222-2222 was already answered: denied"},
		{&Full{"questions", 64}, "limit of 64 questions reached"},
		{&Invalid{"text", "is empty"}, "approval: text is empty"},
		{&Damaged{"a.json", "is not what was written"}, `question file "a.json": is not what was written`},
		{&Unusable{Store: store, Path: "/a", Reason: "is not a folder"}, `approvals "/a": is not a folder`},
	} {
		if test.err.Error() != test.sentence {
			t.Errorf("%s", test.err)
		}
	}
	for _, state := range []State{Unasked, Pending, Approved, Denied, Expired, 200} {
		if name := state.String(); name == "" || name != strings.ToLower(name) {
			t.Errorf("state %d is %q", state, name)
		}
	}
}
