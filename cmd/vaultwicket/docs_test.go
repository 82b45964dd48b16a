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
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
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
		testenv.GoldenFile(t, filepath.Join(docs, name), want)
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
		assert.Contains(t, content, "| `"+name+"` |", "the prompt %s is missing", name)
		assert.Contains(t, page(t, "prompts.md"), "\n## "+name+"\n", "the prompt %s is missing", name)
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
	b.WriteString("Every failure has one of these codes. They are stable: programs can rely on them, and on the exit status of `run` and `dry-run`.\n" +
		"Messages and hints are for people and may change; the hint of an answer is more specific than the last column here.\n")
	for _, class := range codeClasses {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", class.title, class.text, testenv.TableHead("code", "status", "means", "what to do"))
		for _, c := range failure.Codes() {
			if c.Class == class.class {
				b.WriteString(testenv.TableRow(testenv.TableCode(c.Name), fmt.Sprint(terminal.StatusOfClass(c.Class)), codeTexts[c.Name].meaning, codeTexts[c.Name].mend))
			}
		}
	}
	return b.String()
}

var codeClasses = []struct {
	class       failure.Class
	title, text string
}{
	{failure.BadRequest, "Invalid requests", "The caller can correct the request; nothing was started."},
	{failure.Refused, "Denials", "Denied by the policy; the user can change a setting."},
	{failure.Surroundings, "Environment", "The Obsidian CLI, the app, the vault or the state folder is not ready."},
	{failure.Answered, "Failures", "The command ran and failed."},
	{failure.Halted, "Interruptions", "The call was stopped before its answer was complete."},
	{failure.Bug, "Internal errors", "vaultwicket itself failed."},
}

// codeText is what a code means and how it is mended.
type codeText struct{ meaning, mend string }

var codeTexts = map[string]codeText{
	"unknown_command":    {"there is no command of that name", "use the name in the hint, or one from [commands](commands.md)"},
	"unknown_param":      {"the command has no parameter of that name", "use the name in the hint"},
	"missing_param":      {"a required parameter is missing, or one that another parameter needs", "add it"},
	"bad_value":          {"a value has the wrong format, or is out of range", "see the message for what is expected"},
	"conflicting_params": {"two parameters exclude each other, or one is given twice", "leave one out"},
	"target_required":    {"the call does not name its note; the note that is open in the app is not used", "name the note with `path=` or `file=`"},
	"content_unsafe":     {"the Obsidian CLI would alter the text", "the user can set vault to the folder of the vault, so that the embedded CLI can write it"},
	"content_too_long": {"the text is too long for the arguments of the Obsidian CLI, or the change for one call",
		"the user can set vault to the folder of the vault; or write in parts"},
	"bad_request": {"the request itself cannot be understood", "see the message"},

	"tier_closed":        {"the command requires a higher tier", "the user can raise `tier`"},
	"restricted_command": {"the command is permanently disabled", "use the Obsidian app for this"},
	"command_disabled":   {"the command is disabled by `disable`, `enable-only` or `allow-ui`", "the user can change that setting"},
	"mutations_off":      {"the call would change or publish something, and that is disabled", "the user can set `allow-mutations`, or `allow-publish`"},
	"agent_denied":       {"the agent is not defined, has expired, or may not use the vault", "the user can change the tables `[agents.NAME]`"},
	"insufficient_scope": {"the access token of the client was not issued for such a call", "the user can sign in again in the client and grant the scope"},
	"secret_found": {"the answer contains keys, tokens or passwords, and `secrets` is `block`",
		"read another part; the user can set `secrets` to `redact`"},
	"access_denied": {"the access rules do not allow this for that path", "the user can raise the level in `[vaults.access]`"},
	"unconfirmed": {"the call requires approval by the user",
		"the user can list pending approvals with `vaultwicket approvals` and approve in a terminal; then send the same call again"},
	"rate_limited": {"too many calls, or too many changes", "wait for the time that the hint says"},
	"paused": {"vaultwicket is paused, or disabled by the setting `enabled`",
		"the user can end that with `vaultwicket resume`, or with the setting `enabled`"},

	"cli_not_found":        {"the Obsidian CLI was not found", "install the app, set `cli`, or the user can set vault to the folder of the vault"},
	"cli_unsuitable":       {"the program that was found is not safe to start, or cannot be started", "see the message; `cli` names another program"},
	"cli_too_old":          {"the app is older than the call needs, or than `min-cli-version`", "update the app"},
	"cli_disabled":         {"the command line interface of the app is switched off", "switch it on in the settings of the app"},
	"cli_crashed":          {"the Obsidian CLI crashed", "try again; a read can be repeated"},
	"app_not_running":      {"the Obsidian CLI cannot reach the app", "start the app, or the user can set vault to the folder of the vault"},
	"vault_not_found":      {"there is no such vault, or its folder is not known", "use one of the names in the hint, or give the folder"},
	"vault_starting":       {"the app is still opening the vault", "try again in a moment"},
	"unsupported_platform": {"programs cannot be started on this system", "run vaultwicket elsewhere"},
	"needs_app":            {"only the app can answer this, and the embedded CLI was asked", "start the app, with `backend` at `auto` or `obsidian`"},
	"state_unavailable": {"the change cannot be recorded in the journal or the audit log (full, read-only, unsafe), so it was not made",
		"see the message; the user can repair the state folder; a full journal accepts changes again later"},

	"vault_unwritable": {"the disk of the vault does not accept the change (full, read-only, faulty, or no permission), so nothing was changed; if the disk failed in the middle of a change, `made` lists the notes that are changed until the next call takes them back",
		"the user can free space or grant permission; then send the call again"},
	"vault_unreadable": {"the folder of the vault, a note, or one of the notes that a change concerns cannot be read (faulty disk, no permission, or only in the cloud); this does not mean that it is missing",
		"try again; if that does not help, `vaultwicket doctor` tells the user why"},

	"not_found":      {"there is no such note, heading, tag and so on", "look the name up with a listing"},
	"already_exists": {"the note or file to create already exists", "use another name, or `overwrite`"},
	"ambiguous":      {"a name matches several notes, or a text several places in a note", "give the whole path, or more of the surrounding text"},
	"conflict":       {"the note was changed by somebody else", "re-read it and retry"},
	"not_configured": {"a setting of the vault or a folder on the machine is missing", "see the hint"},
	"empty_output":   {"the Obsidian CLI printed nothing, which it does not do for this command", "see the hint, and try again"},
	"not_applied":    {"nothing was changed, although the Obsidian CLI reports success or the call was interrupted", "look at the note before you try again"},
	"partly_applied": {"other programs changed notes at the same time, so a change of several notes could be neither completed nor taken back: `made` and `notMade` list the notes",
		"`undo id=` with the id of the change takes back the part that was made"},
	"cli_error": {"the program failed for another reason, which is in the message", "see the message"},

	"timeout":   {"the call took longer than `timeout`, or needs more steps or more matching time than one call may use", "ask for less, or try again"},
	"cancelled": {"the caller cancelled the call", "–"},
	"outcome_unknown": {"it is not known whether the change was made: the call was interrupted or not confirmed, or the note has neither its old nor its new text",
		"read the note before you try again"},
	"output_limit": {"the output, or the memory that the call needs for it, exceeds the maximum", "ask for less"},

	"internal": {"vaultwicket failed", "report it; the log has the details"},
}

// cliPage is the page about the subcommands, from the table that help and manual pages are
// made from.
func cliPage() string {
	var b strings.Builder
	b.WriteString("# Command line\n\n" + generated)
	b.WriteString("`vaultwicket COMMAND [flags] [arguments]`. `vaultwicket help COMMAND` prints the same, and `vaultwicket man` prints it as manual pages. `-h` and `--help`, `-V` and `--version` work after every command.\n" +
		"Where it says \"It has the settings as flags\", every [setting](settings.md) is also a flag of the command.\n")
	group := ""
	for _, c := range subcommands() {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(&b, "\n## %s\n", group)
		}
		b.WriteString(subcommandSection(c.description))
	}
	b.WriteString("\n## Exit status\n\n" + testenv.TableHead("status", "meaning"))
	for _, one := range terminal.ExitMeanings {
		b.WriteString(testenv.TableRow(fmt.Sprint(one.Status), one.Meaning))
	}
	b.WriteString("\n[Codes](codes.md) lists the codes of failures. `doctor` has its own statuses, see above.\n" +
		"\n## Colours and widths\n\n" +
		"On a terminal, lists have headers and relative times, and columns are cut to its width, except for ids. In a file or a pipe they have no header and exact times, and nothing is cut.\n" +
		"`--color always` and `--color never` turn colours on and off. Without them, `NO_COLOR` turns them off, `CLICOLOR_FORCE` on, and otherwise they are used on a terminal. JSON and CSV never have colours.\n")
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
		b.WriteString("\n" + testenv.TableHead("flag", ""))
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

func flagRow(f terminal.Flag) string { return testenv.TableRow(testenv.TableCode(f.Form()), f.Usage) }
