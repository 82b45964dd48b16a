package protocol

import (
	"errors"
	"syscall"
)

// Codes of the errors of the embedded program. Other programs rely on them, so they never change.
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

// HintAppDoesLess is the hint for a change that the app would make only in part. The gateway
// recognizes this hint, and lets the embedded CLI make the change if the settings permit it.
const HintAppDoesLess = "the embedded CLI can make the whole change: the user can set backend to auto"

// HintNotFound is the hint for a note that does not exist or is hidden. It is the same for both, so
// that it does not reveal hidden notes.
const HintNotFound = "names are case-sensitive; list them with files, or use search"

// HintPrivacy is the hint for a folder to which macOS denies the program access. The user's consent applies to the
// program that started this one, see
// https://support.apple.com/guide/mac-help/control-access-to-files-and-folders-on-mac-mchld5a35146/mac.
const HintPrivacy = "the user can allow it in System Settings, Privacy & Security, Files and Folders (or Full Disk Access) " +
	"for the program that started this one, the client or the terminal, and start that program again"

// IsClosedByMacOS reports whether err means that macOS denies the program access to a protected folder, such as
// Documents, Desktop or iCloud Drive (EPERM). goos is a value of [runtime.GOOS]. Missing file permissions have a
// different error (EACCES); package fs maps both to the same one.
func IsClosedByMacOS(goos string, err error) bool {
	return goos == "darwin" && errors.Is(err, syscall.EPERM)
}
