package protocol

import (
	"errors"
	"syscall"
)

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
	CodeVaultUnreadable  = "vault_unreadable"
	CodeTimeout          = "timeout"
	CodeOutcomeUnknown   = "outcome_unknown"
	CodeOutputLimit      = "output_limit"
	CodeContentTooLong   = "content_too_long"
)

// HintAppDoesLess is the hint for a change of which the app would make only a part. The gateway
// recognizes it, and has the embedded CLI make the change if it may.
const HintAppDoesLess = "the embedded CLI can make the whole change: the user can set backend to auto"

// HintNotFound is the hint for a note that does not exist, and for a hidden one.
const HintNotFound = "names are case-sensitive; list them with files, or use search"

// HintPrivacy is the hint for a place that macOS closes to a program. Consent belongs to the program that started this
// one, see https://support.apple.com/guide/mac-help/control-access-to-files-and-folders-on-mac-mchld5a35146/mac.
const HintPrivacy = "the user can allow it in System Settings, Privacy & Security, Files and Folders (or Full Disk Access) " +
	"for the program that started this one, the client or the terminal, and start that program again"

// IsClosedByMacOS reports whether an error on the system goos, a value of [runtime.GOOS], is that of a place that macOS
// closes to a program (EPERM), such as Documents, Desktop and iCloud Drive. The rights of a file or a folder have
// another one there (EACCES); package fs joins both.
func IsClosedByMacOS(goos string, err error) bool {
	return goos == "darwin" && errors.Is(err, syscall.EPERM)
}
