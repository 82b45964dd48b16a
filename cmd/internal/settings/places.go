package settings

import (
	"errors"
	"fmt"
	"path/filepath"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec"
	"vaultwicket/gateway/state/private"
)

// UnsafePathError says why the state folder, the client or the managed settings must not be used.
type UnsafePathError struct{ code, reason, hint string }

func (e *UnsafePathError) Error() string { return e.reason }

// Code puts it with what is wrong on the machine, or with wrong settings.
func (e *UnsafePathError) Code() string { return e.code }

// Hint says what to do.
func (e *UnsafePathError) Hint() string { return e.hint }

const codeState = "state_unavailable"

const hintState = "set XDG_STATE_HOME to a private folder outside all vaults"

// CheckState is an error for a state folder in which another user, or an agent, could pause, resume, approve or
// forge. The warning is for one that nothing can be kept in: notes can be read then, and no change is made.
func (s Settings) CheckState(std terminal.Streams) (warning string, err error) {
	state := private.StateFolder(std.Getenv, "")
	if state == "" {
		return "no location for the state folder: changes and pause are unavailable", nil
	}
	if vault := s.VaultAround(std, state); vault != "" {
		return "", &UnsafePathError{codeState, fmt.Sprintf("state folder %q: is inside the vault %q, where an agent may write", state, vault), hintState}
	}
	if reason := private.WhyUnsafe(state); reason != "" {
		hint := hintState
		if unsafe, ok := errors.AsType[*private.Unsafe](private.CheckFolder(state)); ok && unsafe.Remedy() != "" {
			hint = fmt.Sprintf("restrict it to your user (%s), or %s", unsafe.Remedy(), hintState)
		}
		return "", &UnsafePathError{codeState, fmt.Sprintf("state folder %q: %s", state, reason), hint}
	}
	if err := private.Unwritable(state); err != nil {
		return fmt.Sprintf("state folder %q: not writable, changes are unavailable: %v", state, err), nil
	}
	return "", nil
}

// CheckCLI refuses a client that is in a vault: an agent may write there.
func (s Settings) CheckCLI(f *Flags, std terminal.Streams) error {
	r := f.raws[settingIndex("cli")]
	if !filepath.IsAbs(s.CLI) {
		return nil // a name is looked up, and where it is found is looked at
	}
	if vault := s.VaultAround(std, s.CLI); vault != "" {
		return &UnsafePathError{exec.CodeUnsuitable, fmt.Sprintf("setting %q (%s): %q is inside the vault %q, where an agent may write", "cli", r.origin, s.CLI, vault), "move the CLI out of the vault"}
	}
	return nil
}

// StateFolder returns the folder of the pause, the audit log and the approvals.
func StateFolder(std terminal.Streams) (string, error) {
	if state := private.StateFolder(std.Getenv, ""); state != "" {
		return state, nil
	}
	return "", terminal.Fail(terminal.ExitNotReady, "no location for the state folder", "set HOME or XDG_STATE_HOME to an absolute path")
}

// SecretsFolder returns the state folder for what no agent may read, such as tokens.
func (s Settings) SecretsFolder(std terminal.Streams) (string, error) {
	state, err := StateFolder(std)
	if vault := s.VaultAround(std, state); err == nil && vault != "" {
		err = terminal.Fail(terminal.ExitNotReady, fmt.Sprintf("the state folder is inside the vault %q, where an agent may read", vault), "set XDG_STATE_HOME to a private folder outside all vaults")
	}
	return state, err
}
