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

// maxSentence is the longest answer that can be an error or a remark of the
// client: the longest recorded one is two lines.
const maxSentence = 4 << 10

// question is what judge needs to know about a call to understand its answer.
type question struct {
	name      string
	reply     allowlist.Reply
	values    []string // what an error may repeat
	fallsBack bool
	note      bool   // the answer is the text of a whole note
	probes    bool   // the answer is a version
	printed   bool   // the answer is the text of the file that the call names
	draws     bool   // it is the text of a random note
	acts      bool   // it does something: to notes, to the app, to what is published or shown
	changes   bool   // it changes more than what is shown
	ofNotes   bool   // that is files of the vault
	versions  bool   // it is about a history of the app, of which nothing was recorded
	version   string // the number that it names, "" for none
	embedded  bool
	windows   bool
}

// repeated are the parameters whose values the client repeats in an error.
var repeated = [...]string{"path", "file", "name", "template", "view", "folder", "to", "ref", "id"}

func questionOf(permit policy.Grant, p Program) question {
	call := permit.Call()
	q := question{
		name: call.Name(), reply: call.Reply(), fallsBack: call.UsesOpenNote(),
		probes: call.IsProbe(), printed: call.PrintsNamed(), note: call.PrintsNote(),
		draws: call.DrawsNote() || call.OpensRandom(),
		acts:  call.Effect() != tiers.Reads, changes: call.Effect().Mutates(), ofNotes: call.Effect().ChangesNotes(),
		versions: call.VersionsOf() != "", version: versionIn(call),
		embedded: p.backend == embeddedBackend, windows: runtime.GOOS == "windows",
	}
	for _, key := range repeated {
		if value, given := call.Param(key); given {
			q.values = append(q.values, value)
		}
	}
	return q
}

type answer struct {
	stdout, stderr string
	cut            bool
	gap            int
	exit           int
	reported       protocol.Failure // by the embedded program
	explained      bool             // it reported why the answer is empty
}

// verdict is the meaning of an answer: success unless one of failure, unavailable and cold is set.
type verdict struct {
	answer
	notices     []string
	failure     *Failure
	unavailable *Unavailable
	// cold says that the Obsidian CLI did not know the command at all, or gave another
	// answer than a version: its vault may still be opening. Nothing was run.
	cold bool
	// headed says that the answer was the text of a version after a line that names it.
	headed bool
}

// judge classifies an answer. It is a pure function, and it removes nothing from the text of a
// note but noise and, on Windows, an empty line before it.
func (q question) judge(a answer) verdict {
	v := verdict{answer: a}
	if q.embedded {
		// Its exit status is reliable, and it reports the code of a failure. Its texts are for people.
		switch {
		case a.exit == 0:
			q.settle(&v, v.sentence())
		case a.reported.Code == CodeVaultNotFound:
			v.unavailable = vaultNotFound()
		case a.reported.Code != "":
			v.failure = &Failure{
				fact: fact{code: a.reported.Code, reason: plainly(a.reported.Reason), hint: a.reported.Hint},
			}
		default:
			v.failure = endedWithStatus(a.exit)
		}
		return v
	}
	var out, err []string
	v.stdout, out = cutNoise(v.stdout, isNoise)
	v.stderr, err = cutNoise(v.stderr, isErrorNoise)
	v.notices = append(out, err...)
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
	if v.unavailable = q.surroundings(text, v); v.unavailable != nil {
		return v
	}
	if head.line != "" {
		v.headed = true
		v.notices = append(v.notices, "the app answered with "+head.line)
		if !q.names(head) {
			v.failure = &Failure{fact: fact{code: CodeCLIError, hint: "repeat the call",
				reason: "the Obsidian CLI answered with " + excerpt.Quoted(head.line) +
					", which is not the version that was asked for"}}
		}
		return v // all of the rest is the text of a note
	}
	v.cold = q.unknownCommand(text)
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
	case text != "" && !confirms(q.reply, text) && q.isErrorReply(text):
		v.failure = q.refusal(text, 0)
	default:
		q.settle(&v, text)
	}
	return v
}

// sentence is the answer when it is short enough to be a remark of the client.
func (a answer) sentence() string {
	if a.cut || len(a.stdout) > maxSentence {
		return ""
	}
	return trimmed(a.stdout)
}

// surroundings recognises answers about the app instead of the call. On standard error the text
// counts anywhere, because notes are not printed there.
func (q question) surroundings(text string, v verdict) *Unavailable {
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

// unknownCommand recognises the complete answer of a vault that does not have the command (yet).
func (q question) unknownCommand(text string) bool {
	tail, found := strings.CutPrefix(text, fmt.Sprintf("Error: Command %q not found.", q.name))
	if !found || !isLine(tail) {
		return false
	}
	return tail == "" || tail == tailPlugin || strings.HasPrefix(tail, prefixSuggestions)
}

// isErrorReply reports whether the answer of a call that ended with status 0 is an error.
// Entries of a listing may look like one, such as a file "Error: retry.md": there an error is
// the only line, or the first of two of which the second explains it.
func (q question) isErrorReply(text string) bool {
	isError := strings.HasPrefix(text, prefixError)
	switch q.reply.Kind {
	case allowlist.Content:
		return q.isErrorInContent(text)
	case allowlist.Paths, allowlist.Lines:
		looksLikeError := isError || exception(text)
		isWhole := isLine(text) || usage(text, q.name) || explained(text)
		if !looksLikeError || !isWhole {
			return false
		}
		known := isError && shapeOf(text) != nil
		return known || q.reply.Kind == allowlist.Lines || !looksLikePath(firstLine(text))
	}
	return isError || exception(text)
}

// isErrorInContent is for text of notes, which may be anything. A line that looks like an error of the app is taken
// for one: it is the text only if that is shown, see [Failure.Text]. Where a whole note is printed only a complete
// answer that repeats what this very call asked for is an error: the note itself shows what another line is.
func (q question) isErrorInContent(text string) bool {
	if usage(text, q.name+" ") {
		return true
	}
	isMatch := q.reply.Form == allowlist.Matches && hasForm(q.reply.Form, text)
	looksLikeError := strings.HasPrefix(text, prefixError) || exception(text)
	if !q.note {
		return looksLikeError && isLine(text) && !isMatch
	}
	return text == textNoActiveFile && q.fallsBack || q.repeatsCall(text)
}

// repeatsCall reports whether text is an error about something that this very call named.
func (q question) repeatsCall(text string) bool {
	rest, found := strings.CutPrefix(text, prefixError)
	what, rest, quoted := strings.Cut(rest, ` "`)
	if !found || !quoted || !isWord(what) {
		return false
	}
	for _, value := range q.values {
		if tail, found := strings.CutPrefix(rest, value+`" not found.`); found && isLine(tail) {
			return true // the tail may suggest other notes
		}
	}
	return false
}

// refusal is the failure that an error of the app stands for. An error that does not say why is none that nothing was
// changed.
func (q question) refusal(text string, exit int) *Failure {
	mayBe := ""
	if q.reply.Kind == allowlist.Content && exit == 0 && isLine(text) {
		mayBe = text + "\n"
	}
	if s := shapeOf(text); s != nil {
		return &Failure{fact{code: s.code, reason: plainly(firstLine(text)), hint: s.hint}, mayBe}
	}
	answered := "the Obsidian CLI answered " + excerpt.Quoted(firstLine(text))
	switch {
	case q.changes && text == "":
		return q.unproven(endedWithStatus(exit).reason)
	case q.changes:
		return q.unproven(answered)
	case text == "":
		return endedWithStatus(exit)
	}
	return &Failure{fact{code: CodeCLIError, reason: answered}, mayBe}
}

// unproven is the failure of a call that did something, or did not: the answer does not say which.
func (q question) unproven(reason string) *Failure {
	hint := "the user can see in the app whether it was done, before it is asked for again"
	if q.ofNotes {
		hint = hintReadBack
	}
	return &Failure{fact: fact{code: CodeOutcomeUnknown, reason: reason, hint: hint}}
}

// endedWithStatus is the failure of a program that did not report a reason.
func endedWithStatus(exit int) *Failure {
	return &Failure{fact: fact{code: CodeCLIError, reason: fmt.Sprintf("the Obsidian CLI ended with status %d", exit),
		hint: "what it printed on standard error is in the result"}}
}

const hintReadBack = "read the note to see whether it changed before asking again"

// settle completes an answer that is not an error: empty results, missing answers, unconfirmed changes, unknown
// forms.
func (q question) settle(v *verdict, text string) {
	// A file such as an image or a PDF. A note may contain a NUL after a crash of the system that wrote it.
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
	case q.drawsNothing(text): // the app does not say that a folder is missing
		v.stdout = ""
		v.failure = &Failure{
			fact: fact{
				code:   CodeNoSuchNote,
				reason: "the folder has no notes, or does not exist",
				hint:   protocol.HintNotFound,
			},
		}
	case q.saysNothing(text):
		if !v.explained {
			v.notices = append(v.notices, text)
		}
		v.stdout = ""
		if q.reply.JSON {
			v.stdout = "[]"
		}
	case q.embedded:
	case v.stdout == "" && q.acts:
		v.failure = q.unproven(printedNothing)
	case v.stdout == "" && !q.reply.Silent:
		v.failure = &Failure{fact: fact{code: CodeEmptyOutput, reason: printedNothing,
			hint: "the vault may still be opening, the app may have crashed, or on Windows Obsidian.exe was called in place of Obsidian.com"}}
	case q.acts && !confirms(q.reply, text):
		v.failure = q.unproven("the Obsidian CLI did not confirm it but answered " + excerpt.Quoted(firstLine(v.stdout)))
	case q.changes && !q.ofNotes && !q.confirmsWhatWasAsked(text):
		v.failure = q.unproven("the Obsidian CLI confirmed something else: it answered " + excerpt.Quoted(text))
	case q.versions && isLine(text) && nothingFound(text):
		v.failure = &Failure{fact: fact{code: CodeNoSuchNote, reason: plainly(text), hint: protocol.HintNotFound}}
	case q.reply.JSON && !v.cut && !json.Valid([]byte(v.stdout)):
		v.failure = &Failure{fact: fact{code: CodeCLIError, hint: "repeat the call, or leave out format=json",
			reason: "the answer of the Obsidian CLI is not one complete JSON value"}}
	case v.stdout != "" && !q.hasForm(v.stdout):
		v.failure = &Failure{fact: fact{
			code:   CodeCLIError,
			reason: "the Obsidian CLI answered " + excerpt.Quoted(firstLine(v.stdout)) + ", which is not what this command prints",
			hint:   "repeat the call; the installed Obsidian CLI may be one that vaultwicket does not know",
		}}
	}
}

const printedNothing = "the Obsidian CLI printed nothing at all"

// drawsNothing reports whether the app says that there is no note to choose from, where the call names some.
func (q question) drawsNothing(text string) bool {
	if !q.draws || q.embedded {
		return false
	}
	isNarrowed := len(q.values) > 0 || q.acts
	return isNarrowed && text == q.reply.Empty
}

// saysNothing reports whether text is the sentence by which the app says that there is nothing. In the text of a note
// only the exact sentence counts.
func (q question) saysNothing(text string) bool {
	if text == "" || q.reply.Empty == "" {
		return false
	}
	if text == q.reply.Empty {
		return true
	}
	return q.reply.Kind != allowlist.Content && nothingFound(text)
}

// confirmsWhatWasAsked reports whether a confirmation names what the call names. Of a change of notes the notes say
// more.
func (q question) confirmsWhatWasAsked(text string) bool {
	for _, prefix := range q.reply.Confirms {
		if rest, found := strings.CutPrefix(text, prefix); found {
			named := strings.TrimSpace(rest)
			isNamed := func(value string) bool { return named == value || named == path.Base(value) }
			return slices.ContainsFunc(q.values, isNamed)
		}
	}
	return false
}

// confirms reports whether an answer is one line that says that the call was carried out.
func confirms(reply allowlist.Reply, text string) bool {
	return isLine(text) &&
		slices.ContainsFunc(reply.Confirms, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}
