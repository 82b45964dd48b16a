package main

import (
	"errors"

	"vaultwicket/gateway"
)

// The exit statuses. Scripts rely on them.
const (
	statusDone         = 0
	statusAnswered     = 1  // the CLI answered with a failure
	statusBadRequest   = 2  // the request or a setting is wrong
	statusRefused      = 3  // the policy says no
	statusSurroundings = 4  // the client, the app, the vault or the state folder is not ready
	statusHalted       = 5  // timeout, cancelled, outcome unknown
	statusBug          = 70 // EX_SOFTWARE of sysexits.h
)

// statuses says which failure ends with which status.
var statuses = [...]int{
	gateway.Bug:          statusBug,
	gateway.BadRequest:   statusBadRequest,
	gateway.Refused:      statusRefused,
	gateway.Surroundings: statusSurroundings,
	gateway.Answered:     statusAnswered,
	gateway.Halted:       statusHalted,
}

func statusOfCode(code string) int { return statuses[gateway.ClassOf(code)] }

func statusOf(err error) int {
	var coded interface{ Code() string }
	if errors.As(err, &coded) {
		return statusOfCode(coded.Code())
	}
	return statusBug
}

// statusError ends a command with a status when everything has been said.
type statusError int

func (statusError) Error() string { return "" }

// wrongUse is a command line or a setting that cannot be understood.
type wrongUse struct{ reason, hint string }

func (e *wrongUse) Error() string { return e.reason }

// Code puts a wrong command line with the wrong requests.
func (e *wrongUse) Code() string { return "bad_request" }

func (e *wrongUse) Hint() string { return e.hint }

func usageError(reason string) error {
	return &wrongUse{reason: reason, hint: `"vaultwicket help" shows the commands`}
}
