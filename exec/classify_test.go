package exec

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// asked is the question of a call of the table to the app.
func asked(t testing.TB, name string, given params) question {
	t.Helper()
	call := require.Value(allowlist.Parse(name, wordsOf(given)))(t)
	return newQuestion(require.Value(everything.Decide(call, policy.ClearFacts(time.Now())).Permit())(t), Program{backend: appBackend})
}

func wordsOf(given params) allowlist.Params {
	all := allowlist.Params{}
	for key, value := range given {
		all[key] = allowlist.Text(value)
	}
	return all
}

// codeOfVerdict is "" for a success and "cold" for a command that was not
// known.
func codeOfVerdict(v verdict) string {
	switch {
	case v.cold:
		return "cold"
	case v.unavailable != nil:
		return v.unavailable.Code()
	case v.failure != nil:
		return v.failure.Code()
	}
	return ""
}

var note = params{"path": "a.md"}

// Every text here was recorded from the client, or reported by more than one
// person.
func TestRecordedErrors(t *testing.T) {
	tests := []struct {
		name, call string
		params     params
		text, want string
	}{
		{"a missing file, for a command that prints notes", "read", note, `Error: File "a.md" not found.`, CodeNoSuchNote},
		{"a missing file by name", "read", params{"file": "Notes"}, `Error: File "Notes" not found.`, CodeNoSuchNote},
		{"a missing file, for facts", "file", note, `Error: File "a.md" not found.`, CodeNoSuchNote},
		{"a missing file, for a listing", "backlinks", note, `Error: File "a.md" not found.`, CodeNoSuchNote},
		{"a missing file, for a change", "append", params{"path": "a.md", "content": "x"}, `Error: File "a.md" not found.`, CodeNoSuchNote},
		{"an unknown vault", "read", note, "Vault not found.", CodeVaultNotFound},
		{"an unknown vault behind an empty line", "files", nil, "\nVault not found.", CodeVaultNotFound},
		{"an unknown command without a near name", "read", note, `Error: Command "read" not found. It may require a plugin to be enabled.`, "cold"},
		{"an unknown command with near names", "read", note, `Error: Command "read" not found. Did you mean: sync:read, daily:read, template:read?`, "cold"},
		{"an unknown command for a listing", "templates", nil, `Error: Command "templates" not found. It may require a plugin to be enabled.`, "cold"},
		{"an unknown command for a change", "delete", note, `Error: Command "delete" not found.`, "cold"},
		{"an unknown command id", "hotkey", params{"id": "x"}, `Error: Command "x" not found. Use "commands" to list available command IDs.`, CodeNoSuchNote},
		{"a missing parameter, for a change", "move", params{"path": "a.md", "to": "b.md"},
			"Error: Missing required parameter: to=<path>\nUsage: move [file=<name>] [path=<path>] to=<path>",
			CodeCLIError},
		{"a missing parameter, for a note", "template:read", params{"name": "x"},
			"Error: Missing required parameter: name=<template>\nUsage: template:read name=<template>", CodeCLIError},
		{"a missing parameter, for a listing", "search", params{"query": "x"},
			"Error: Missing required parameter: query=<text>\nUsage: search query=<text>", CodeCLIError},
		{"nothing open, for a note", "read", nil, "Error: No active file. Use file=<name> or path=<path> to specify a file.", CodeTargetRequired},
		{"nothing open, for facts", "file", nil, "Error: No active file. Use file=<name> or path=<path> to specify a file.", CodeTargetRequired},
		{"no editor open", "outline", nil, "Error: No active editor found", CodeTargetRequired},
		{"an unknown tag", "tag", params{"name": "Alpha"}, `Error: Tag "#Alpha" not found.`, CodeNoSuchNote},
		{"no template folder, for a listing", "templates", nil, "Error: No template folder configured.", CodeNotConfigured},
		{"no template folder, for a note", "template:read", params{"name": "x"}, "Error: No template folder configured.", CodeNotConfigured},
		{"a bad date", "property:set", params{"name": "d", "value": "x", "path": "a.md"}, "Error: Invalid date format. Use YYYY-MM-DD", CodeNotApplied},
		{"a missing base", "base:query", params{"path": "a.base"}, "Error: Base file not found: a.base", CodeNoSuchNote},
		{"a missing view with a second line", "base:query", params{"path": "a.base", "view": "v"},
			"Error: View not found: v\nAvailable views: Table, Cards", CodeNoSuchNote},
		{"a destination that is taken", "rename", params{"path": "a.md", "name": "b"}, "Error: Destination file already exists!", CodeAlreadyExists},
		{"an exception nobody caught, for a change", "create", params{"path": "a.md"},
			"TypeError: Cannot read properties of undefined (reading 'path')", CodeOutcomeUnknown},
		{"an exception nobody caught, for facts", "file", note, "TypeError: Cannot read properties of null", CodeCLIError},
		{"an exception nobody caught, for a listing", "tags", nil, "TypeError: x is not a function", CodeCLIError},
		{"a wrong file type", "outline", params{"path": "a.png"}, "Error: File is not a markdown file.", CodeCLIError},
		{"the CLI is switched off", "read", note, textDisabled, CodeDisabled},
		{"the CLI is switched off, in other words", "files", nil,
			"Command line interface is not enabled. Please turn it on in Settings > General.", CodeDisabled},
		{"the app cannot be found, on standard output", "read", note, textNotRunning, CodeNotRunning},
		{"no confirmation", "create", params{"path": "a.md"}, "Done.", CodeOutcomeUnknown},
		{"another confirmation than that of the command", "append", params{"path": "a.md", "content": "x"}, "Created: a.md", CodeOutcomeUnknown},
		{"an error of no known form, for what is shown", "open", note, "Error: Something went wrong.", CodeCLIError},
		{"an error of no known form, for lines of notes", "search:context", params{"query": "x"}, "Error: Something went wrong.", CodeCLIError},
		{"an error of no known form, for a version", "history:read", params{"path": "a.md", "version": "1"}, "Error: Something went wrong.", CodeCLIError},
		{"an error of no known form, for versions of Sync", "sync:history", note, "Error: Something went wrong.", CodeCLIError},
		{"an error of no known form, for a property", "property:read", params{"name": "x", "path": "a.md"}, "Error: Something went wrong.", CodeCLIError},
		{"an error of no known form, for a template", "template:read", params{"name": "x"}, "Error: Something went wrong.", CodeCLIError},
		{"an error of no known form, for a random note", "random:read", nil, "Error: Something went wrong.", CodeCLIError},
		{"an error of no known form, for a change that no note shows", "publish:add", note, "Error: Something went wrong.", CodeOutcomeUnknown},
		{"an error of a known form, for a change that no note shows", "publish:add", note, `Error: File "a.md" not found.`, CodeNoSuchNote},
		{"a confirmation of another note", "publish:add", note, "Published: b.md", CodeOutcomeUnknown},
		{"a confirmation with a second line", "publish:add", note, "Published: a.md\nError: The server is away.", CodeOutcomeUnknown},
		{"a confirmation of another layout", "workspace:save", params{"name": "Main"}, "Saved workspace: Other", CodeOutcomeUnknown},
		{"no random note to open", "random", nil, "No markdown files found.", CodeNoSuchNote},
		{"no versions", "history:read", params{"path": "a.md", "version": "1"}, "No history found for this file.", CodeNoSuchNote},
		{"the text of another note", "history:read", params{"path": "a.md", "version": "1"}, "b.md (version 1, 2026-08-16 02:38)\n---\nx", CodeCLIError},
		{"the text of another version", "sync:read", params{"path": "a.md", "version": "1"}, "a.md (version 2, 2026-08-16 02:38:11)\n---\nx", CodeCLIError},
		{"no answer to a change", "create", params{"path": "a.md"}, "", CodeOutcomeUnknown},
		{"no answer with a note", "read", note, "", CodeEmptyOutput},
		{"no answer with facts", "vault", nil, "", CodeEmptyOutput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, ending := range []string{"\n", "\r\n", ""} {
				text := tt.text
				if text != "" {
					text += ending
				}
				assert.Equal(t, codeOfVerdict(asked(t, tt.call, tt.params).judge(answer{stdout: text})), tt.want, "%q", text)
			}
		})
	}
}

func TestRecordedEmptyAnswers(t *testing.T) {
	tests := []struct {
		call   string
		params params
		text   string
	}{
		{"search", params{"query": "x"}, "No matches found."},
		{"search", params{"query": "x", "format": "json"}, "\nNo matches found."},
		{"search:context", params{"query": "x", "format": "json"}, "No matches found."},
		{"tasks", nil, "No tasks found."},
		{"backlinks", note, "No backlinks found."},
		{"links", note, "No links found."},
		{"unresolved", nil, "No unresolved links found."},
		{"orphans", nil, "No orphan files found."},
		{"orphans", nil, "No orphans found."},
		{"deadends", nil, "No dead-end files found."},
		{"deadends", nil, "No dead-ends found."},
		{"tags", nil, "No tags found."},
		{"properties", note, "No frontmatter found."},
		{"outline", note, "No headings found."},
		{"outline", params{"path": "a.md", "format": "json"}, "No headings found."},
		{"bases", nil, "No base files found in vault"},
		{"random:read", nil, "No markdown files found."},
	}
	for _, tt := range tests {
		q := asked(t, tt.call, tt.params)
		v := q.judge(answer{stdout: tt.text + "\n"})
		want := ""
		if q.reply.JSON {
			want = "[]"
		}
		if codeOfVerdict(v) != "" || v.stdout != want || !slices.Contains(v.notices, strings.TrimSpace(tt.text)) {
			t.Errorf("%s: %q: %q, stdout %q, notices %q", tt.call, tt.text, codeOfVerdict(v), v.stdout, v.notices)
		}
	}
	for _, silent := range []string{"files", "folders"} {
		assert.Equal(t, codeOfVerdict(asked(t, silent, nil).judge(answer{})), "", "%s without output", silent)
	}
}

// What a note or a file name says is no error.
func TestFalseFriends(t *testing.T) {
	tests := []struct {
		name, call string
		params     params
		text       string
	}{
		{"a note that quotes the very error and goes on", "read", note, "Error: File \"a.md\" not found.\nI saw this today.\n"},
		{"a note that begins like an error", "read", note, "Error: something\n"},
		{"a note about another missing file", "read", note, "Error: File \"b.md\" not found.\n"},
		{"a note that quotes an exception", "read", note, "TypeError: x\n"},
		{"a note that says that nothing is open", "read", note, textNoActiveFile + "\n"},
		{"a note about another command", "read", note, "Error: Command \"search\" not found.\n"},
		{"a note about templates", "read", note, textNoTemplates + "\n"},
		{"a note that says nothing was found", "read", note, "No matches found.\n"},
		{"a note that begins with the switch", "read", note, "Command line interface is not enabled. Why?\n"},
		{"a note with a usage", "read", note, "Error: Missing required parameter: to=<path>\nUsage: move to=<path>\n"},
		{"an empty note", "read", note, "\n"},
		{"a note with an empty first line", "read", note, "\nx\n"},
		{"a line of a file called like an error", "search:context", params{"query": "x"}, "Error: retry logic.md:3: x\n"},
		{"a text of two lines that begins like an error", "history:read", params{"path": "a.md", "version": "1"}, "Error: 5\nand more\n"},
		{"a file called like an error", "search", params{"query": "x"}, "Error: retry logic.md\n"},
		{"files called like an error", "files", nil, "Error: a.md\nError: b.md\n"},
		{"a file and no usage", "orphans", nil, "Error: a.md\nb.md\n"},
		{"a tag list of one", "tags", nil, "#No-tags-found\n"},
		{"an empty property", "property:read", params{"name": "x", "path": "a.md"}, "(empty)\n"},
		{"a confirmation with a name like an error", "create", params{"path": "a.md"}, "Created: Error: a.md\n"},
		{"a number of files", "files", params{"total": "true"}, "0\n"},
		{"an object for properties", "properties", params{"path": "a.md", "format": "json"}, "{\"Error\": 1}\n"},
		{"a version with its head", "history:read", params{"path": "a.md", "version": "2"}, "# Text (version 1, today)\nx\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := asked(t, tt.call, tt.params)
			q.windows = false // where a blank first line is that of the client
			v := q.judge(answer{stdout: tt.text})
			assert.Equal(t, codeOfVerdict(v), "")
			assert.Equal(t, v.stdout, tt.text)
		})
	}
}

// A line that looks like an error cannot be told from one: it is an error, until the file shows that it is the text. Of a whole
// note that is so where it repeats what the call named.
func TestLinesThatMayBeText(t *testing.T) {
	for _, line := range []string{
		"Error: something", `Error: File "b.md" not found.`, `Error: File "a.md" not found.`, "TypeError: x", textNoActiveFile, textNoTemplates,
	} {
		repeats := line == `Error: File "a.md" not found.`
		for name, given := range map[string]params{"property:read": {"name": "x", "path": "a.md"}, "template:read": {"name": "x"}, "read": note} {
			v := asked(t, name, given).judge(answer{stdout: line + "\n"})
			isError := name != "read" || repeats
			assert.Equal(t, v.failure != nil, isError, "%s: %q: %q", name, line, codeOfVerdict(v))
			assert.That(t, !isError || v.failure.Text() == line+"\n", "%s: %q is not kept", name, line)
			v = asked(t, name, given).judge(answer{stdout: line + "\n", exit: 1})
			require.That(t, v.failure != nil, "%s: %q with status 1", name, line)
			assert.Equal(t, v.failure.Text(), "", "%s: %q with status 1", name, line)
		}
		v := asked(t, "tags", nil).judge(answer{stdout: line + "\n"})
		require.That(t, v.failure != nil, "%q as a listing", line)
		assert.Equal(t, v.failure.Text(), "", "%q as a listing", line)
	}
}

// What the app prints before the text of a version is none of the text.
func TestHeadsOfVersions(t *testing.T) {
	for _, test := range []struct{ call, text, want string }{
		{"history:read", "a.md (version 2, 2026-08-16 02:38)\n---\n---\ntitle: x\n---\ntext\n", "---\ntitle: x\n---\ntext\n"},
		{"sync:read", "a.md (version 2, 2026-08-16 02:38:11)\r\n---\r\nError: text\n", "Error: text\n"},
		{"history:read", "a.md (version 2, today)\ntext\n", "a.md (version 2, today)\ntext\n"},
		{"history:read", "---\ntitle: x\n---\n", "---\ntitle: x\n---\n"},
	} {
		q := asked(t, test.call, params{"path": "a.md", "version": "2"})
		v := q.judge(answer{stdout: test.text})
		assert.Equal(t, codeOfVerdict(v), "", "%s: %q", test.call, test.text)
		assert.Equal(t, v.stdout, test.want, "%s: %q", test.call, test.text)
		assert.Equal(t, len(v.notices) == 1, test.text != test.want, "%q: %q", test.text, v.notices)
	}
}

// anyText are the commands of the app of which an answer may be any text: names and contents that people have chosen.
var anyText = []string{
	"aliases", "bookmarks", "diff", "help", "history", "history:read", "hotkey", "links", "outline", "properties",
	"property:read", "publish:status", "random:read",
	"read", "snippets", "snippets:enabled", "sync:deleted", "sync:history", "sync:read", "template:read", "templates",
	"theme", "themes", "unresolved", "vaults", "workspace", "workspaces", "daily:read",
}

// Whatever an app says that does not do what it was asked to: no command takes silence, an error or an unknown text for a
// success, but for listings of which silence was recorded, for whole notes, which are compared with their files, and for texts that
// may be anything.
func TestUnknownAnswersAreNoSuccess(t *testing.T) {
	for command := range allowlist.Commands() {
		if command.EmbeddedOnly || command.Tier == tiers.Restricted {
			continue
		}
		given := params{}
		for _, word := range allowlist.Example(command.Name)[1:] {
			key, value, _ := strings.Cut(word, "=")
			given[key] = value
		}
		call, err := allowlist.Parse(command.Name, wordsOf(given))
		if err != nil {
			continue // a flag
		}
		permit, err := everything.Decide(call, policy.ClearFacts(time.Now())).Permit()
		if err != nil {
			continue
		}
		q := newQuestion(permit, Program{backend: appBackend})
		isText := slices.Contains(anyText, command.Name) || command.Name == "task" && !call.Effect().Mutates()
		acts := call.Effect() != tiers.Reads
		for _, answered := range []struct {
			text string
			ok   bool
		}{
			{"", command.Name == "files" || command.Name == "folders"},
			{"Error: Something went wrong.\n", call.PrintsNote()},
			{"TypeError: x is undefined\n", call.PrintsNote()},
			{"All of it was taken care of.\n", isText},
		} {
			v := q.judge(answer{stdout: answered.text})
			assert.Equal(t, codeOfVerdict(v) == "", answered.ok, "%s: %q: %q", command.Name, answered.text, codeOfVerdict(v))
			if call.Effect().Mutates() {
				assert.Equal(t, codeOfVerdict(v), CodeOutcomeUnknown, "%s: %q", command.Name, answered.text)
			}
			assert.That(t, !acts || !answered.ok, "%s does something, and %q is a success", command.Name, answered.text)
		}
	}
}

// The garbage of an image or a PDF is no answer. A note is printed, even one with a NUL.
func TestFilesThatAreNoText(t *testing.T) {
	for _, tt := range []struct {
		key, name, text, want string
	}{
		{"path", "x.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", CodeCLIError},
		{"file", "x.pdf", "%PDF-1.7\n%\xe2\xe3", CodeCLIError},
		{"path", "table.csv", "a,b\n", ""},
		{"path", "a.md", "x\x00y\n", ""},
		{"file", "a", "x\x00y\n", ""},
	} {
		for _, backend := range []bool{false, true} {
			q := asked(t, "read", params{tt.key: tt.name})
			q.embedded = backend
			v := q.judge(answer{stdout: tt.text})
			if codeOfVerdict(v) != tt.want || tt.want != "" && v.stdout != "" {
				t.Errorf("%s, embedded %v: %q, stdout %q", tt.name, backend, codeOfVerdict(v), v.stdout)
			}
		}
	}
}

func TestConfirmations(t *testing.T) {
	for _, tt := range []struct {
		call   string
		params params
		text   string
	}{
		{"create", note, "Created: a 1.md"},
		{"delete", params{"path": "a.md", "permanent": "true"}, "Deleted permanently: a.md"},
		{"move", params{"path": "a.md", "to": "b.md"}, "Moved: a.md → b.md"},
		{"property:set", params{"name": "x", "value": "y", "path": "a.md"}, "Set x: y"},
	} {
		assert.Equal(t, codeOfVerdict(asked(t, tt.call, tt.params).judge(answer{stdout: tt.text + "\n"})), "", "%s", tt.text)
	}
}

func TestStatusAndStandardError(t *testing.T) {
	tests := []struct {
		name string
		a    answer
		want string
	}{
		{"the app cannot be found", answer{exit: 1, stderr: textNotRunning + "\n"}, CodeNotRunning},
		{"the app cannot be found, with status 0", answer{stderr: "x\n" + textNotRunning + "\n"}, CodeNotRunning},
		{"a status and a known text", answer{exit: 1, stdout: "Error: File \"b.md\" not found.\n"}, CodeNoSuchNote},
		{"a status and a text on standard error", answer{exit: 1, stderr: "Error: File \"b.md\" not found.\n"}, CodeNoSuchNote},
		{"a status and nothing else", answer{exit: 1}, CodeCLIError},
		{"a status and a note", answer{exit: 1, stdout: strings.Repeat("x\n", maxSentence)}, CodeCLIError},
		{"remarks on standard error", answer{stdout: "x\n", stderr: "warning\n"}, ""},
		{"a cut answer is never a remark", answer{stdout: "Vault not found.\n", cut: true}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, codeOfVerdict(asked(t, "read", note).judge(tt.a)), tt.want)
		})
	}
}

func TestReasons(t *testing.T) {
	for text, want := range map[string]string{
		`Error: File "a.md" not found.`:                       `file "a.md" not found`,
		"Error: Destination file already exists!":             "destination file already exists",
		"Error: Base file not found: \x1b[31m.base":           `the Obsidian CLI answered "Error: Base file not found: \x1b[31m.base"`,
		"Error: Élan not found.":                              "élan not found",
		"TypeError: x":                                        `the Obsidian CLI answered "TypeError: x"`,
		"Error: " + strings.Repeat("x", 1500) + " not found.": `the Obsidian CLI answered "Error: ` + strings.Repeat("x", excerpt.Limit-len("Error: ")) + `…"`,
	} {
		assert.Equal(t, asked(t, "file", note).refusal(text, 1).Error(), want, "%q", text)
	}
}

func TestNoiseMovesTheGap(t *testing.T) {
	v := asked(t, "read", note).judge(answer{stdout: noise1 + "headtail", cut: true, gap: len(noise1) + 4})
	assert.Equal(t, v.stdout, "headtail", "%q, gap %d", v.stdout, v.gap)
	assert.Equal(t, v.gap, 4, "%q, gap %d", v.stdout, v.gap)
	assert.Equal(t, len(v.notices), 2, "%q, gap %d", v.stdout, v.gap)
}

func TestEmptyLineBeforeANoteOnWindows(t *testing.T) {
	q := asked(t, "read", note)
	q.windows = true
	assert.Equal(t, q.judge(answer{stdout: "\r\nx\n"}).stdout, "x\n")
}

var (
	answerCodes = []string{
		CodeNoSuchNote, CodeAlreadyExists, CodeAmbiguous, CodeNotConfigured, CodeEmptyOutput, CodeNotApplied, CodeCLIError, CodeOutcomeUnknown,
		CodeNeedsApp, CodeTargetRequired,
	}
	awayCodes = []string{
		CodeNotFound, CodeUnsuitable, CodeTooOld, CodeDisabled, CodeCrashed, CodeNotRunning, CodeVaultNotFound,
		CodeVaultStarting, CodePlatform,
	}
)

// Whatever is printed, judging it never panics, says one thing at most, uses a
// code of the lists, and takes nothing from the text of a note but noise.
func FuzzClassify(f *testing.F) {
	for _, text := range []string{"", "\n", "x\n", noise1 + "x", "Error: File \"a.md\" not found.\n", "Error: \n",
		"No x found", cold("read", tailPlugin), "vaultwicket-facts: {}", "\xff\n",
		"Error: Missing required parameter: \nUsage: read "} {
		f.Add(text, "", 0, false)
		f.Add(text, text, 1, true)
	}
	var questions []question
	for command := range allowlist.Commands() {
		call, err := allowlist.Parse(command.Name, nil)
		if err != nil {
			continue // it needs parameters; its kind is played by others
		}
		if permit, err := everything.Decide(call, policy.ClearFacts(time.Now())).Permit(); err == nil {
			questions = append(questions, newQuestion(permit, Program{backend: appBackend}), newQuestion(permit, Program{backend: embeddedBackend}))
		}
	}
	f.Fuzz(func(t *testing.T, stdout, stderr string, exit int, cut bool) {
		for _, q := range questions {
			a := answer{stdout: stdout, stderr: stderr, exit: exit, cut: cut, gap: len(stdout) / 2}
			if q.embedded {
				a.stderr, a.reported = "", protocol.NewFailure(stderr[:min(len(stderr), 5)], "", stderr)
			}
			v := q.judge(a)
			checkVerdict(t, q, v)
			assert.That(t, !v.cut || v.gap >= 0, "gap %d in %d bytes", v.gap, len(v.stdout))
			assert.That(t, !v.cut || v.gap <= len(v.stdout), "gap %d in %d bytes", v.gap, len(v.stdout))
			if q.reply.Kind == allowlist.Content && v.stdout != "" && v.stdout != "[]" && !strings.HasSuffix(stdout, v.stdout) {
				t.Errorf("%s: %q became %q", q.name, stdout, v.stdout)
			}
			if q.reply.Kind == allowlist.Content && len(v.notices) == 0 && v.stdout != stdout {
				t.Errorf("%s: %q became %q without a notice", q.name, stdout, v.stdout)
			}
		}
	})
}

func checkVerdict(t *testing.T, q question, v verdict) {
	t.Helper()
	said := 0
	for _, is := range []bool{v.cold, v.unavailable != nil, v.failure != nil} {
		if is {
			said++
		}
	}
	assert.That(t, said <= 1, "%s: %d verdicts at once", q.name, said)
	reported := q.embedded && v.reported.Code != "" && v.failure != nil && v.failure.Code() == v.reported.Code
	if v.failure != nil && (!reported && !slices.Contains(answerCodes, v.failure.Code()) || v.failure.Error() == "") {
		t.Errorf("%s: code %q, reason %q", q.name, v.failure.Code(), v.failure.Error())
	}
	if v.unavailable != nil && (!slices.Contains(awayCodes, v.unavailable.Code()) || v.unavailable.Error() == "" || v.unavailable.Hint() == "") {
		t.Errorf("%s: code %q, reason %q", q.name, v.unavailable.Code(), v.unavailable.Error())
	}
}

func TestCutNoise(t *testing.T) {
	tests := []struct {
		name, text, rest string
		noise            int
	}{
		{"both recorded lines", noise1 + "x\n", "x\n", 2},
		{"a main package", "2026-05-04 13:56:24 Loading main app package /a/obsidian.asar\nx", "x", 1},
		{"loaded instead of loading", "2026-05-04 13:56:24 Loaded main app package /a\n2026-05-04 13:56:24 Loaded updated app package /b\nx", "x", 2},
		{"a leading carriage return", "\r2026-05-04 13:56:24 Loading updated app package C:\\o.asar\r\nx", "x", 1},
		{"the sentence on two lines", "Your Obsidian installer is out of date.\nPlease download the latest installer\nx", "x", 2},
		{"the updater", "2026-05-04 13:56:24 Ignored: Error: net::ERR_FAILED\nIgnored: Error: y\nx", "x", 2},
		{"only at the start", "x\n" + noise1, "x\n" + noise1, 0},
		{"an entry of a diary is no noise", "2026-05-04 13:56:24 Loading the car\n", "2026-05-04 13:56:24 Loading the car\n", 0},
		{"a time that is none", "2026-05-04T13:56:24 Loading main app package\n", "2026-05-04T13:56:24 Loading main app package\n", 0},
		{"a word that goes on", "Loading main app packages\n", "Loading main app packages\n", 0},
		{"nothing", "", "", 0},
		{"no more than a client prints", strings.Repeat("Ignored: Error: x\n", maxNoise+1), "Ignored: Error: x\n", maxNoise},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rest, noise := cutNoise(tt.text, isNoise)
			assert.Equal(t, rest, tt.rest, "rest %q, noise %q", rest, noise)
			assert.Equal(t, len(noise), tt.noise, "rest %q, noise %q", rest, noise)
		})
	}
}

func TestWarningsOfTheRuntime(t *testing.T) {
	lines := []string{
		"[4711:1120/135624.123456:ERROR:bus.cc(407)] Failed to connect to the bus",
		"(electron) 'x' is deprecated", "(node:4711) Warning: x",
	}
	for _, line := range lines {
		assert.That(t, isStderrNoise(line),
			"%q: noise on stderr %v, on stdout %v", line, isStderrNoise(line), isNoise(line))
		assert.That(t, !isNoise(line), "%q: noise on stderr %v, on stdout %v", line, isStderrNoise(line), isNoise(line))
	}
	assert.That(t, !isStderrNoise("[draft] ERROR: x"), "a line of a person was taken for noise")
}

func TestCutBlank(t *testing.T) {
	for text, want := range map[string]string{"\nx\n": "x\n", "\r\nx": "x", "\n": "\n", "": "", "x\n\n": "x\n\n", "\n\nx": "\nx"} {
		assert.Equal(t, cutBlank(text), want, "%q", text)
	}
}

// A failure without a text gets a reason that can be read.
func TestAReasonIsNeverEmpty(t *testing.T) {
	for _, line := range []string{"", "Error: ", "Error: ."} {
		reason := reasonFrom(line)
		assert.That(t, reason != "", "%q has no reason", line)
		assert.That(t, !strings.ContainsRune(reason, utf8.RuneError), "%q becomes %q", line, reason)
	}
}
