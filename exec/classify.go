package exec

import (
	"encoding/json"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// maxSentence is the longest answer, in bytes, that can be an error or a message of the Obsidian CLI. The longest
// recorded one has two lines.
const maxSentence = 4 << 10

// question describes a call as far as judge needs it to understand the answer.
type question struct {
	name      string
	reply     allowlist.Reply
	values    []string // the parameter values that an error may repeat
	fallsBack bool     // the call uses the open note if it names none
	note      bool     // the answer is the text of a whole note
	probes    bool     // the answer is a version
	printed   bool     // the answer is the content of the file that the call names
	draws     bool     // the call picks a random note
	acts      bool     // the call has an effect on notes, the app, or what is published or shown
	changes   bool     // the call changes more than what is shown
	ofNotes   bool     // the call changes files of the vault
	versions  bool     // the call is about a version history of the app, of which no answer was recorded
	version   string   // the version number that the call names, "" if none
	embedded  bool     // the embedded program answers
	windows   bool
}

// repeated are the parameters whose values the Obsidian CLI repeats in an error.
var repeated = [...]string{"path", "file", "name", "template", "view", "folder", "to", "ref", "id"}

func newQuestion(permit policy.Grant, p Program) question {
	call := permit.Call()
	q := question{
		name:      call.Name(),
		reply:     call.Reply(),
		fallsBack: call.UsesOpenNote(),
		probes:    call.IsProbe(),
		printed:   call.PrintsNamed(),
		note:      call.PrintsNote(),
		draws:     call.DrawsNote() || call.OpensRandom(),
		acts:      call.Effect() != tiers.Reads,
		changes:   call.Effect().Mutates(),
		ofNotes:   call.Effect().ChangesNotes(),
		versions:  call.VersionsOf() != "",
		version:   versionIn(call),
		embedded:  p.backend == embeddedBackend,
		windows:   runtime.GOOS == "windows",
	}
	for _, key := range repeated {
		if value, ok := call.Param(key); ok {
			q.values = append(q.values, value)
		}
	}
	return q
}

type answer struct {
	// stdout and stderr are what was kept of the streams.
	stdout, stderr string
	cut            bool             // stdout lacks its middle
	gap            int              // the offset in stdout at which the middle was dropped
	exit           int              // exit status
	reported       protocol.Failure // the failure that the embedded program reported
	explained      bool             // the embedded program reported why the answer is empty
}

// verdict is the meaning of an answer. The call succeeded unless failure, unavailable or cold is set.
type verdict struct {
	answer
	notices     []string
	failure     *Failure
	unavailable *Unavailable
	// cold means that the Obsidian CLI did not know the command at all, or answered a probe with something other than
	// a version: its vault may still be opening. Nothing was run.
	cold bool
	// headed means that the answer was the text of a version after a line that names the version.
	headed bool
}

// judge classifies an answer. It is a pure function. From the text of a note it removes only noise lines and, on
// Windows, an empty first line.
func (q question) judge(a answer) verdict {
	if q.embedded {
		return q.judgeEmbedded(a)
	}
	v := verdict{answer: a}
	var noise, errorNoise []string
	v.stdout, noise = cutNoise(v.stdout, isNoise)
	v.stderr, errorNoise = cutNoise(v.stderr, isStderrNoise)
	v.notices = append(noise, errorNoise...)
	if q.reply.Kind != allowlist.Content || q.windows {
		v.stdout = cutBlank(v.stdout)
	}
	var head versionHead
	if q.versions && v.exit == 0 {
		v.stdout, head = cutVersionHead(v.stdout)
	}
	if v.cut {
		v.gap = max(v.gap-(len(a.stdout)-len(v.stdout)), 0)
	}
	text := v.sentence()
	v.unavailable = q.environmentProblem(text, v)
	if v.unavailable != nil {
		return v
	}
	if head.line != "" {
		v.headed = true
		v.notices = append(v.notices, "the app answered with "+head.line)
		if !q.names(head) {
			v.failure = &Failure{
				fact: fact{
					code: CodeCLIError,
					reason: "the Obsidian CLI answered with " + excerpt.Quoted(head.line) +
						", which is not the version that was asked for",
					hint: "repeat the call",
				},
			}
		}
		return v // all of the rest is the text of a note
	}
	v.cold = q.isUnknownCommand(text)
	if q.probes && v.stdout != "" && v.exit == 0 { // while it starts it may answer something else (recorded on 1.12.7)
		_, isVersion := parseRelease(text)
		v.cold = v.cold || !isVersion
	}
	if v.cold {
		return v
	}
	switch {
	case v.exit != 0:
		if text == "" && v.stdout == "" && len(v.stderr) <= maxSentence {
			text = trimmed(v.stderr)
		}
		v.failure = q.refusal(text, v.exit)
	case text != "" && !isConfirmation(q.reply, text) && q.isErrorReply(text):
		v.failure = q.refusal(text, 0)
	default:
		q.settle(&v, text)
	}
	return v
}

// judgeEmbedded classifies an answer of the embedded program. Its exit status is reliable, and it reports
// the code of a failure. Its error texts are for people only.
func (q question) judgeEmbedded(a answer) verdict {
	v := verdict{answer: a}
	switch {
	case a.exit == 0:
		q.settle(&v, v.sentence())
	case a.reported.Code == CodeVaultNotFound:
		v.unavailable = vaultNotFound()
	case a.reported.Code != "":
		v.failure = &Failure{
			fact: fact{code: a.reported.Code, reason: reasonFrom(a.reported.Reason), hint: a.reported.Hint},
		}
	default:
		v.failure = endedWithStatus(a.exit)
	}
	return v
}

// sentence returns the answer if it is short enough to be a message of the Obsidian CLI, otherwise "".
func (a answer) sentence() string {
	if a.cut || len(a.stdout) > maxSentence {
		return ""
	}
	return trimmed(a.stdout)
}

// environmentProblem recognises answers that are about the app instead of the call. On standard error such a text
// may be on any line, because notes are never printed there.
func (q question) environmentProblem(text string, v verdict) *Unavailable {
	strict := q.reply.Kind == allowlist.Content && v.exit == 0
	switch {
	case text == textNotRunning,
		isLine(text) && strings.HasPrefix(text, prefixNotRunning) && !strict,
		hasLine(v.stderr, prefixNotRunning):
		return &Unavailable{code: CodeNotRunning, reason: "the Obsidian CLI cannot reach the Obsidian app",
			hint: "the user can start Obsidian; if it runs, this process may be kept from it by a sandbox, " +
				"or may have another HOME or XDG_RUNTIME_DIR than the app"}
	case text == textDisabled,
		isLine(text) && strings.HasPrefix(text, prefixDisabled) && !strict,
		hasLine(v.stderr, prefixDisabled):
		return &Unavailable{
			code:   CodeDisabled,
			reason: "the command line interface of the Obsidian app is switched off",
			hint:   "the user can switch it on in Obsidian under Settings > General > Advanced > Command line interface",
		}
	case text == textVaultNotFound, hasLine(v.stderr, textVaultNotFound):
		return vaultNotFound()
	}
	return nil
}

func hasLine(text, prefix string) bool {
	return strings.HasPrefix(text, prefix) || strings.Contains(text, "\n"+prefix)
}

// isUnknownCommand reports whether text is the complete answer of a vault that does not have the command (yet).
func (q question) isUnknownCommand(text string) bool {
	tail, ok := strings.CutPrefix(text, fmt.Sprintf("Error: Command %q not found.", q.name))
	if !ok || !isLine(tail) {
		return false
	}
	return tail == "" || tail == tailPlugin || strings.HasPrefix(tail, tailSuggestions)
}

// isErrorReply reports whether the answer of a call that ended with status 0 is an error. Entries of a listing may
// look like one, such as a file "Error: retry.md". So in a listing an error must be the only line, or be followed by
// a single line that explains it.
func (q question) isErrorReply(text string) bool {
	isError := strings.HasPrefix(text, prefixError)
	switch q.reply.Kind {
	case allowlist.Content:
		return q.isErrorInContent(text)
	case allowlist.Paths, allowlist.Lines:
		looksLikeError := isError || isException(text)
		isWhole := isLine(text) || isUsageError(text, q.name) || isExplainedError(text)
		if !looksLikeError || !isWhole {
			return false
		}
		isKnownError := isError && shapeOf(text) != nil
		return isKnownError || q.reply.Kind == allowlist.Lines || !looksLikePath(firstLine(text))
	}
	return isError || isException(text)
}

// isErrorInContent is for answers with text of notes, which may look like anything. A line that looks like an error
// of the app counts as one: the text is shown only if that is requested, see [Failure.Text]. If a whole note is
// printed, only a complete answer that repeats what this call asked for is an error: any other line is shown by the
// note itself.
func (q question) isErrorInContent(text string) bool {
	if isUsageError(text, q.name+" ") {
		return true
	}
	isMatch := q.reply.Form == allowlist.Matches && hasForm(q.reply.Form, text)
	looksLikeError := strings.HasPrefix(text, prefixError) || isException(text)
	if !q.note {
		return looksLikeError && isLine(text) && !isMatch
	}
	return text == textNoActiveFile && q.fallsBack || q.repeatsCall(text)
}

// repeatsCall reports whether text is an error about something that this very call named.
func (q question) repeatsCall(text string) bool {
	rest, isError := strings.CutPrefix(text, prefixError)
	what, rest, quoted := strings.Cut(rest, ` "`)
	if !isError || !quoted || !isWord(what) {
		return false
	}
	for _, value := range q.values {
		if tail, ok := strings.CutPrefix(rest, value+`" not found.`); ok && isLine(tail) {
			return true // the tail may suggest other notes
		}
	}
	return false
}

// refusal returns the failure for an error of the app. An error that does not say why does not prove that nothing was
// changed.
func (q question) refusal(text string, exit int) *Failure {
	possibleText := ""
	if q.reply.Kind == allowlist.Content && exit == 0 && isLine(text) {
		possibleText = text + "\n"
	}
	if s := shapeOf(text); s != nil {
		return &Failure{fact{code: s.code, reason: reasonFrom(firstLine(text)), hint: s.hint}, possibleText}
	}
	answered := "the Obsidian CLI answered " + excerpt.Quoted(firstLine(text))
	switch {
	case q.changes && text == "":
		return q.outcomeUnknown(endedWithStatus(exit).reason)
	case q.changes:
		return q.outcomeUnknown(answered)
	case text == "":
		return endedWithStatus(exit)
	}
	return &Failure{fact{code: CodeCLIError, reason: answered}, possibleText}
}

// outcomeUnknown returns the failure of a call that may or may not have done something: the answer does not say
// which.
func (q question) outcomeUnknown(reason string) *Failure {
	hint := "the user can see in the app whether it was done, before it is asked for again"
	if q.ofNotes {
		hint = hintReadBack
	}
	return &Failure{fact: fact{code: CodeOutcomeUnknown, reason: reason, hint: hint}}
}

// endedWithStatus returns the failure of a program that reported no reason.
func endedWithStatus(exit int) *Failure {
	return &Failure{fact: fact{code: CodeCLIError, reason: fmt.Sprintf("the Obsidian CLI ended with status %d", exit),
		hint: "what it printed on standard error is in the result"}}
}

const hintReadBack = "read the note to see whether it changed before asking again"

// settle completes a verdict whose answer is not an error: it handles empty results, missing answers, unconfirmed
// changes and unknown forms.
func (q question) settle(v *verdict, text string) {
	// isBinary is true for a file such as an image or a PDF. A note may contain a NUL after a system crash.
	isMarkdown := func(name string) bool { return path.Ext(name) == ".md" || path.Ext(name) == "" }
	isBinary := q.printed &&
		(strings.Contains(v.stdout[:min(len(v.stdout), 8000)], "\x00") || strings.HasPrefix(v.stdout, "%PDF-"))
	switch {
	case isBinary && !slices.ContainsFunc(q.values, isMarkdown):
		v.stdout = ""
		v.failure = &Failure{
			fact: fact{
				code:   CodeCLIError,
				reason: "the file is not a text",
				hint:   "attachment:read shows an image, attachment:text the text of a PDF; of other files attachment:read tells type and size",
			},
		}
	case q.hasNothingToDraw(text): // the app does not report that a folder is missing
		v.stdout = ""
		v.failure = &Failure{
			fact: fact{
				code:   CodeNoSuchNote,
				reason: "the folder has no notes, or does not exist",
				hint:   protocol.HintNotFound,
			},
		}
	case q.isEmptyAnswer(text):
		if !v.explained {
			v.notices = append(v.notices, text)
		}
		v.stdout = ""
		if q.reply.JSON {
			v.stdout = "[]"
		}
	case q.embedded:
	case v.stdout == "" && q.acts:
		v.failure = q.outcomeUnknown(printedNothing)
	case v.stdout == "" && !q.reply.Silent:
		v.failure = &Failure{
			fact: fact{
				code:   CodeEmptyOutput,
				reason: printedNothing,
				hint: "the vault may still be opening, the app may have crashed, " +
					"or on Windows Obsidian.exe was called in place of Obsidian.com",
			},
		}
	case q.acts && !isConfirmation(q.reply, text):
		v.failure = q.outcomeUnknown("the Obsidian CLI did not confirm it but answered " + excerpt.Quoted(firstLine(v.stdout)))
	case q.changes && !q.ofNotes && !q.confirmsNamedTarget(text):
		v.failure = q.outcomeUnknown("the Obsidian CLI confirmed something else: it answered " + excerpt.Quoted(text))
	case q.versions && isLine(text) && isNothingFound(text):
		v.failure = &Failure{fact: fact{code: CodeNoSuchNote, reason: reasonFrom(text), hint: protocol.HintNotFound}}
	case q.reply.JSON && !v.cut && !json.Valid([]byte(v.stdout)):
		v.failure = &Failure{
			fact: fact{
				code:   CodeCLIError,
				reason: "the answer of the Obsidian CLI is not one complete JSON value",
				hint:   "repeat the call, or leave out format=json",
			},
		}
	case v.stdout != "" && !q.hasForm(v.stdout):
		v.failure = &Failure{fact: fact{
			code:   CodeCLIError,
			reason: "the Obsidian CLI answered " + excerpt.Quoted(firstLine(v.stdout)) + ", which is not what this command prints",
			hint:   "repeat the call; the installed Obsidian CLI may be one that vaultwicket does not know",
		}}
	}
}

const printedNothing = "the Obsidian CLI printed nothing at all"

// hasNothingToDraw reports whether the app answered a call that limits the choice of notes with the message that
// there are none to choose from.
func (q question) hasNothingToDraw(text string) bool {
	if !q.draws || q.embedded {
		return false
	}
	isNarrowed := len(q.values) > 0 || q.acts
	return isNarrowed && text == q.reply.Empty
}

// isEmptyAnswer reports whether text is the message of the app that there are no results. For commands that print
// the text of notes only the exact message counts.
func (q question) isEmptyAnswer(text string) bool {
	if text == "" || q.reply.Empty == "" {
		return false
	}
	if text == q.reply.Empty {
		return true
	}
	return q.reply.Kind != allowlist.Content && isNothingFound(text)
}

// confirmsNamedTarget reports whether a confirmation names what the call named. Changes of notes are checked on the
// notes themselves.
func (q question) confirmsNamedTarget(text string) bool {
	for _, prefix := range q.reply.Confirms {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			named := strings.TrimSpace(rest)
			isNamed := func(value string) bool { return named == value || named == path.Base(value) }
			return slices.ContainsFunc(q.values, isNamed)
		}
	}
	return false
}

// isConfirmation reports whether an answer is a single line that confirms that the call was carried out.
func isConfirmation(reply allowlist.Reply, text string) bool {
	return isLine(text) &&
		slices.ContainsFunc(reply.Confirms, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}
