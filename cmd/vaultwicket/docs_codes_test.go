package main

import (
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/failure"
)

func codesPage() string {
	var b strings.Builder
	b.WriteString("# Codes\n\n" + generated)
	b.WriteString("A failure carries one of these codes. They are stable: programs may rely on them, and on the exit status with which `run` and `dry-run` end.\n" +
		"Messages and hints are for people and may change; the hint of an answer says more than the last column here.\n")
	for _, class := range codeClasses {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", class.title, class.text, tableHead("code", "status", "means", "what to do"))
		for _, c := range failure.Codes() {
			if c.Class == class.class {
				b.WriteString(tableRow(code(c.Name), fmt.Sprint(terminal.StatusOfClass(c.Class)), codeTexts[c.Name].meaning, codeTexts[c.Name].mend))
			}
		}
	}
	return b.String()
}

var codeClasses = []struct {
	class       failure.Class
	title, text string
}{
	{failure.BadRequest, "Wrong requests", "The caller can ask differently; nothing was started."},
	{failure.Refused, "Denials", "Denied by the policy; the user can change a setting."},
	{failure.Surroundings, "Environment", "The Obsidian CLI, the app, the vault or the state folder is not as it should be."},
	{failure.Answered, "Failures", "The command ran and failed."},
	{failure.Halted, "Interruptions", "The call was stopped before its answer was complete."},
	{failure.Bug, "Internal errors", "vaultwicket itself failed."},
}

// codeText is what a code means and how it is mended.
type codeText struct{ meaning, mend string }

var codeTexts = map[string]codeText{
	"unknown_command":    {"there is no command of that name", "take the name that the hint gives, or one of [commands](commands.md)"},
	"unknown_param":      {"the command has no parameter of that name", "take the name that the hint gives"},
	"missing_param":      {"a required parameter is missing, or one that another parameter needs", "add it"},
	"bad_value":          {"a value has the wrong form, or is out of its bounds", "give what the message asks for"},
	"conflicting_params": {"two parameters exclude each other, or one is given twice", "leave one out"},
	"target_required":    {"the call does not name its note; the note that is open in the app is not used", "name the note with `path=` or `file=`"},
	"content_unsafe":     {"the Obsidian CLI would alter the text", "the user can set vault to the folder of the vault, so that the embedded CLI can write it"},
	"content_too_long":   {"the text does not fit the arguments of the Obsidian CLI", "the user can set vault to the folder of the vault, or write in parts"},
	"bad_request":        {"the request itself cannot be understood", "see the message"},

	"tier_closed":        {"the command requires a higher tier", "the user can raise `tier`"},
	"restricted_command": {"the command is permanently disabled", "use the Obsidian app for this"},
	"command_disabled":   {"the command is disabled by `disable`, `enable-only` or `allow-ui`", "the user can change that setting"},
	"mutations_off":      {"the call would change or publish something, and that is disabled", "the user can set `allow-mutations`, or `allow-publish`"},
	"agent_denied":       {"the agent is not defined, has expired, or may not use the vault", "the user can change the tables `[agents.NAME]`"},
	"insufficient_scope": {"the access token of the client was not issued for such a call", "the user can sign in again in the client and grant the scope"},
	"secret_found":       {"the answer has keys, tokens or passwords, and `secrets` is `block`", "read another part; the user can set `secrets` to `redact`"},
	"access_denied":      {"the access rules do not allow this for that path", "the user can raise it in `[vaults.access]`"},
	"unconfirmed":        {"the call requires approval by the user", "the user can list pending approvals with `vaultwicket approvals` and approve in a terminal; then send the same call again"},
	"rate_limited":       {"there were too many calls, or too many changes", "wait as long as the hint says"},
	"paused":             {"vaultwicket is paused, or switched it off", "the user can end that with `vaultwicket resume`, or with the setting `enabled`"},

	"cli_not_found":        {"the Obsidian CLI was not found", "install the app, set `cli`, or the user can set vault to the folder of the vault"},
	"cli_unsuitable":       {"the program that was found is not safe to start, or cannot be started", "see the message; `cli` names another program"},
	"cli_too_old":          {"the app is older than the call needs, or than `min-cli-version`", "update the app"},
	"cli_disabled":         {"the command line interface of the app is switched off", "switch it on in the settings of the app"},
	"cli_crashed":          {"the Obsidian CLI crashed", "try again; a read can be repeated"},
	"app_not_running":      {"the Obsidian CLI cannot reach the app", "start the app, or the user can set vault to the folder of the vault"},
	"vault_not_found":      {"there is no such vault, or its folder is not known", "take one of the names in the hint, or give the folder"},
	"vault_starting":       {"the app is still opening the vault", "try again in a moment"},
	"unsupported_platform": {"programs cannot be started on this system", "run vaultwicket elsewhere"},
	"needs_app":            {"only the app can answer this, and the embedded CLI was asked", "start the app, with `backend` at `auto` or `obsidian`"},
	"state_unavailable":    {"the journal or the audit log cannot take the record of a change (full, read-only, unsafe), so nothing was changed", "see the message; the user can repair the state folder, and a full journal takes changes again later"},

	"not_found":      {"there is no such note, heading, tag or other thing", "look the name up with a listing"},
	"already_exists": {"the note or file to create already exists", "use another name, or `overwrite`"},
	"ambiguous":      {"a name matches several notes, or a text several places in one", "give the whole path, or more of the surrounding text"},
	"conflict":       {"the note was changed by somebody else", "re-read it and retry"},
	"not_configured": {"a setting of the vault or a place on the machine is missing", "see the hint"},
	"empty_output":   {"the Obsidian CLI printed nothing where it always prints something", "see the hint, and try again"},
	"not_applied":    {"the Obsidian CLI reports success, but the change was not made", "look at the note before you try again"},
	"cli_error":      {"the program failed for another reason, which the message repeats", "see the message"},

	"timeout":         {"the call took longer than `timeout`, or needs more steps or time of matching than a call has", "ask for less, or try again"},
	"cancelled":       {"the caller cancelled the call", "–"},
	"outcome_unknown": {"a change was broken off, and whether it was made is not known", "read the note before you try again"},
	"output_limit":    {"the output, or what the call has in memory for it, is larger than the maximum", "ask for less"},

	"internal": {"vaultwicket failed", "report it; the log has the details"},
}
