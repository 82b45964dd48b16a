package gateway

import (
	"fmt"

	"vaultwicket/allowlist"
)

// Request is what a caller asks for, before anything is known about it.
type Request struct {
	Command string
	// Params are the parameters by name; Words are the same as a command line
	// gives them. Only one of the two is set.
	Params allowlist.Params
	Words  []string
}

func (r Request) parse() (allowlist.Call, error) {
	if r.Words != nil {
		return allowlist.ParseWords(r.Command, r.Words)
	}
	return allowlist.Parse(r.Command, r.Params)
}

// Codes that the gateway itself answers with, besides those of the packages
// below it.
const (
	codeVaultNotFound = "vault_not_found"
	codeAlreadyExists = "already_exists"
	codeNotFound      = "not_found"
	codeNotApplied    = "not_applied"
	codeCLIError      = "cli_error"
	codeCancelled     = "cancelled"
	codeInternal      = "internal"
)

// RequestError is a failure that the gateway itself finds.
type RequestError struct {
	code, reason, hint string
}

// Code returns the stable code of the failure.
func (e *RequestError) Code() string { return e.code }

// Hint says how to mend it, "" when the error says it all.
func (e *RequestError) Hint() string { return e.hint }

func (e *RequestError) Error() string { return e.reason }

func refuse(code, hint, format string, args ...any) *RequestError {
	return &RequestError{code: code, hint: hint, reason: fmt.Sprintf(format, args...)}
}
