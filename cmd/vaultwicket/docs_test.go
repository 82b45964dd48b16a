package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/golden"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

const docs = "../../docs"

// pages are the generated pages of docs/, by name.
func pages(t *testing.T) map[string]string {
	return map[string]string{
		"cli.md":      cliPage(),
		"commands.md": commandsPage(t),
		"codes.md":    codesPage(),
		"prompts.md":  promptsPage(t),
		"mcp.md":      mcpPage(t),
	}
}

func TestDocsHoldWhatTheCodeKnows(t *testing.T) {
	for name, want := range pages(t) {
		golden.File(t, filepath.Join(docs, name), want)
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	return string(require.Value(os.ReadFile(filepath.Join(docs, name)))(t))
}

// exampleLine is a line of the page of commands that can be pasted.
var exampleLine = regexp.MustCompile("(?m)^Example: `vaultwicket run (.*)`$")

func TestDocsExamplesParse(t *testing.T) {
	var shown []string
	for _, line := range exampleLine.FindAllStringSubmatch(page(t, "commands.md"), -1) {
		words := shellWords(t, line[1])
		if _, err := allowlist.ParseWords(words[0], words[1:]); err != nil {
			t.Errorf("%s: %v", line[1], err)
		}
		shown = append(shown, words[0])
	}
	var want []string
	for c := range allowlist.Commands() {
		if c.Tier != tiers.Restricted {
			want = append(want, c.Name)
		}
	}
	slices.Sort(shown)
	slices.Sort(want)
	assert.That(t, slices.Equal(shown, want), "there are examples of %q, want of %q", shown, want)
}

// shellWords splits a line as a shell does that knows plain words and double
// quotes.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	require.That(t, !strings.ContainsAny(line, `$\'*?;&|<>`), "a shell would make something else of %s", line)
	var words []string
	word, quoted := "", false
	for _, r := range line + " " {
		switch {
		case r == '"':
			quoted = !quoted
		case r == ' ' && !quoted:
			words, word = append(words, word), ""
		default:
			word += string(r)
		}
	}
	require.That(t, !quoted, "a quote is open in %s", line)
	return words
}

func TestDocsNameEveryCode(t *testing.T) {
	content := page(t, "codes.md")
	for _, c := range failure.Codes() {
		want := fmt.Sprintf("\n| `%s` | %d | ", c.Name, terminal.StatusOfClass(c.Class))
		assert.That(t, strings.Count(content, want) == 1, "%q is not there once", want)
	}
	assert.That(t, len(codeTexts) == len(failure.Codes()), "%d codes are explained, there are %d", len(codeTexts), len(failure.Codes()))
	for name, text := range codeTexts {
		if text.meaning == "" || text.mend == "" || failure.ClassOf(name) == failure.Bug && name != "internal" {
			t.Errorf("%s is explained as %+v", name, text)
		}
	}
}

func TestDocsNameEveryPartOfAResult(t *testing.T) {
	content := page(t, "mcp.md")
	cause := &failure.Error{Code: "x", Message: "x", Hint: "x", Rule: "x"}
	for _, value := range []any{
		gateway.Result{Backend: "x", Vault: "x", Path: "x", Hash: "x", Truncated: &gateway.Truncated{}, Notices: []string{"x"},
			Change: &gateway.Change{ID: "x", Before: "x", After: "x"}, Error: cause},
		gateway.DryRun{Tier: "x", Effect: "x", Backend: "x", Vault: "x", Program: "x", Argv: []string{"x"}, Stdin: &gateway.Stdin{}, Shell: "x",
			Rules: []gateway.Rule{{}}, Files: []consent.PlannedFile{{From: "x", Before: "x", After: "x"}}, Diff: "x", Notices: []string{"x"}, Error: cause},
	} {
		encoded := require.Value(json.Marshal(value))(t)
		for _, key := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(string(encoded), -1) {
			assert.Contains(t, content, "`"+key[1]+"`", "docs/mcp.md does not name the field %s", key[1])
		}
	}
	for _, name := range mcpserver.PromptNames() {
		assert.That(t, strings.Contains(content, "| `"+name+"` |") && strings.Contains(page(t, "prompts.md"), "\n## "+name+"\n"), "the prompt %s is missing", name)
	}
}

func TestDocsLinkToWhatIsThere(t *testing.T) {
	front := require.Value(os.ReadFile("../../README.md"))(t)
	for name := range pages(t) {
		assert.That(t, strings.Contains(string(front), "(docs/"+name+")"), "README.md has no link to docs/%s", name)
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(page(t, name), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			_, err := os.Stat(filepath.Join(docs, link[1]))
			assert.NoError(t, err, "docs/%s", name)
		}
	}
}

// generated is at the beginning of each page.
const generated = "<!-- Made by go generate ./cmd/vaultwicket; a test fails when it is stale. -->\n\n"

// sortedKeys returns the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func codesPage() string {
	var b strings.Builder
	b.WriteString("# Codes\n\n" + generated)
	b.WriteString("A failure carries one of these codes. They are stable: programs may rely on them, and on the exit status with which `run` and `dry-run` end.\n" +
		"Messages and hints are for people and may change; the hint of an answer says more than the last column here.\n")
	for _, class := range codeClasses {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", class.title, class.text, golden.Head("code", "status", "means", "what to do"))
		for _, c := range failure.Codes() {
			if c.Class == class.class {
				b.WriteString(golden.Row(golden.Code(c.Name), fmt.Sprint(terminal.StatusOfClass(c.Class)), codeTexts[c.Name].meaning, codeTexts[c.Name].mend))
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

	"vault_unwritable": {"the disk of the vault does not take the change (full, read-only, faulty, or without the right to write there), so nothing was changed; where the disk failed in the middle of a change, `made` has the notes that are changed for now, which the next call takes back", "the user can make room, or let the program write there; then send the call again"},
	"vault_unreadable": {"the folder of the vault, a note, or one of the notes that a change concerns cannot be read (the disk is faulty, there is no right to read it, or it is in the cloud only); nothing is missing", "try again; if it stays so, the user can look at what `vaultwicket doctor` names"},

	"not_found":      {"there is no such note, heading, tag or other thing", "look the name up with a listing"},
	"already_exists": {"the note or file to create already exists", "use another name, or `overwrite`"},
	"ambiguous":      {"a name matches several notes, or a text several places in one", "give the whole path, or more of the surrounding text"},
	"conflict":       {"the note was changed by somebody else", "re-read it and retry"},
	"not_configured": {"a setting of the vault or a place on the machine is missing", "see the hint"},
	"empty_output":   {"the Obsidian CLI printed nothing where it is not known to do so", "see the hint, and try again"},
	"not_applied":    {"the change was not made, though the Obsidian CLI reports success or the call was broken off; nothing was changed", "look at the note before you try again"},
	"partly_applied": {"other programs changed notes at the same time, so that a change of several could neither be completed nor be taken back: `made` and `notMade` list the notes", "`undo id=` with the id of the change takes back what was made"},
	"cli_error":      {"the program failed for another reason, which the message repeats", "see the message"},

	"timeout":         {"the call took longer than `timeout`, or needs more steps or time of matching than a call has", "ask for less, or try again"},
	"cancelled":       {"the caller cancelled the call", "–"},
	"outcome_unknown": {"a call was broken off or not confirmed, or the note is neither as it was nor as it was to be, and whether the change was made is not known", "read the note before you try again"},
	"output_limit":    {"the output, or what the call has in memory for it, is larger than the maximum", "ask for less"},

	"internal": {"vaultwicket failed", "report it; the log has the details"},
}

// cliPage is the page about the subcommands, from the table that help and manual pages are
// made from.
func cliPage() string {
	var b strings.Builder
	b.WriteString("# Command line\n\n" + generated)
	b.WriteString("`vaultwicket COMMAND [flags] [arguments]`. The same is printed by `vaultwicket help COMMAND`, and as manual pages by `vaultwicket man`. `-h` and `--help`, `-V` and `--version` work behind every command.\n" +
		"Every [setting](settings.md) is a flag, too, of the commands that have settings.\n")
	group := ""
	for _, c := range subcommands() {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(&b, "\n## %s\n", group)
		}
		b.WriteString(subcommandSection(c.description))
	}
	b.WriteString("\n## Exit status\n\n" + golden.Head("status", "meaning"))
	for _, one := range terminal.ExitMeanings {
		b.WriteString(golden.Row(fmt.Sprint(one.Status), one.Meaning))
	}
	b.WriteString("\nThe codes of failures are in [codes](codes.md). `doctor` has statuses of its own, see above.\n" +
		"\n## Colours and widths\n\n" +
		"On a terminal, lists have headers and relative times, and columns are cut to its width; ids are whole. Everywhere else lines are as scripts need them: no header, nothing cut, exact times.\n" +
		"`--color always` and `--color never` decide on colours. Without them `NO_COLOR` turns them off, `CLICOLOR_FORCE` on, and otherwise a terminal has them. JSON and CSV never do.\n")
	return b.String()
}

func subcommandSection(c description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n`%s`\n\n%s.\n", c.Name, strings.TrimSpace("vaultwicket "+c.Name+" "+c.Usage), strings.ToUpper(c.Summary[:1])+c.Summary[1:])
	for _, paragraph := range c.About {
		b.WriteString("\n" + paragraph + "\n")
	}
	f := ownAndSettings(flagsOf(c.Name))
	if len(f.Own) > 0 {
		b.WriteString("\n" + golden.Head("flag", ""))
		for _, one := range f.Own {
			b.WriteString(flagRow(one))
		}
	}
	if len(f.Settings) > 0 {
		b.WriteString("\nIt has the settings as flags.\n")
	}
	b.WriteString("\n```console\n")
	for _, e := range c.Examples {
		fmt.Fprintf(&b, "# %s\n$ %s\n", e.What, e.Line)
	}
	b.WriteString("```\n")
	return b.String()
}

func flagRow(f terminal.Flag) string { return golden.Row(golden.Code(f.Form()), f.Usage) }
