package approver

import (
	"errors"
	"time"

	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
)

// store is where questions wait.
type store struct {
	*consent.Store
	state string // the folder
}

// decide stores the answer to a question that was shown in this terminal.
func (d store) decide(code string, approve bool) (consent.StoredQuestion, error) {
	return consent.Decide(d.state, consent.Answer{Code: code, Approve: approve, By: settings.AtTerminal, Session: settings.Session()})
}

func openStore(std terminal.Streams) (store, error) {
	state, err := settings.StateFolder(std)
	if err != nil {
		return store{}, err
	}
	return store{consent.OpenStore(consent.Folder(state), time.Now), state}, nil
}

// questions returns the questions that have not expired, and says which cannot be
// read.
func (d store) questions(std terminal.Streams) ([]consent.StoredQuestion, error) {
	questions, damaged, err := d.List()
	if err != nil {
		return nil, storeError(err)
	}
	for _, bad := range damaged {
		terminal.Notef(std.Err, "%s; it is ignored", clean.Line(bad.Error()))
	}
	return questions, nil
}

// storeError says why a question could not be answered.
func storeError(err error) error {
	var answered *consent.Answered
	var unusable *consent.Unusable
	cause := &failure.Error{Code: "not_found", Message: err.Error(), Hint: `"vaultwicket approvals" lists the pending ones; repeat the call to request approval again`}
	switch {
	case errors.As(err, &unusable):
		return terminal.Fail(terminal.ExitNotReady, err.Error(), "it must be a folder that only you can access")
	case errors.As(err, &answered) && answered.State == consent.Approved:
		cause.Hint = "repeat the call: the approval is valid for one call"
	case errors.As(err, &answered):
		cause.Hint = "approval can be requested again after this one expires"
	}
	return terminal.FailureOf(cause)
}
