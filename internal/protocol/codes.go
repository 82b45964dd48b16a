package protocol

// The codes with which the embedded program fails. Programs rely on them.
const (
	CodeNotFound         = "not_found"
	CodeAlreadyExists    = "already_exists"
	CodeAmbiguous        = "ambiguous"
	CodeConflict         = "conflict"
	CodeAccessDenied     = "access_denied"
	CodeNotConfigured    = "not_configured"
	CodeBadValue         = "bad_value"
	CodeCLIError         = "cli_error"
	CodeNeedsApp         = "needs_app"
	CodeTargetRequired   = "target_required"
	CodeUnconfirmed      = "unconfirmed"
	CodeNotApplied       = "not_applied"
	CodePartlyApplied    = "partly_applied"
	CodeStateUnavailable = "state_unavailable"
	CodeVaultNotFound    = "vault_not_found"
	CodeVaultUnwritable  = "vault_unwritable"
	CodeTimeout          = "timeout"
	CodeOutputLimit      = "output_limit"
	CodeContentTooLong   = "content_too_long"
)

// HintAppDoesLess is the hint for a change of which the app would make only a part. The gateway
// recognizes it, and has the embedded CLI make the change if it may.
const HintAppDoesLess = "the embedded CLI can make the whole change: the user can set backend to auto"

// HintNotFound is the hint for a note that does not exist, and for a hidden one.
const HintNotFound = "names are case-sensitive; look the name up with files, tags or search"
