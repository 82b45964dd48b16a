package exec

import (
	"fmt"
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/exec/process"
	"vaultwicket/policy"
)

// withhold takes from an answer of the app what could name a note that the
// caller may not see. The app knows nothing of the rules: its error texts suggest
// other notes, and anything can be on its standard error. What was asked for stays,
// and so do the sentences that say no more than the call itself did.
func (a *attempt) withhold(permit policy.Grant) {
	q, v := questionOf(permit, Program{backend: appBackend}), &a.verdict
	v.stderr = ""
	v.notices = slices.DeleteFunc(v.notices, func(notice string) bool { return notice != q.reply.Empty })
	switch {
	case a.Kind != process.Exited, v.unavailable != nil:
		v.stdout, v.cut = "", false
	case v.failure != nil && v.failure.code != CodeEmptyOutput && !q.isKnownRefusal(trimmed(v.stdout)):
		v.stdout, v.cut = "", false
		v.failure = &Failure{code: v.failure.code, hint: v.failure.hint, reason: fmt.Sprintf("the Obsidian app answered command %q with an error", q.name)}
	case v.failure == nil && q.reply.Kind == allowlist.Confirmation:
		v.stdout = q.knownConfirmation(firstLine(v.stdout))
	}
}

// Missing is what the app answers to a call on a note that does not exist: the
// answer for one that is hidden. It is the zero Outcome for a call that names none.
func Missing(call allowlist.Call) Outcome {
	for _, s := range call.NamedPaths() {
		text := fmt.Sprintf("Error: File \"%s\" not found.", s.Path)
		return Outcome{Stdout: text + "\n", Total: int64(len(text)) + 1, Failure: question{name: call.Name(), reply: call.Reply()}.refusal(text, 0)}
	}
	return notRun()
}

// isKnownRefusal reports whether text is an error that repeats nothing but what
// the call itself names.
func (q question) isKnownRefusal(text string) bool {
	switch text {
	case textNoActiveFile, textNoTemplates, "Error: Destination file already exists!", "Error: File is not a markdown file.",
		"Error: Invalid date format. Use YYYY-MM-DD":
		return true
	}
	rest, isError := strings.CutPrefix(text, prefixError)
	what, rest, quoted := strings.Cut(rest, ` "`)
	return isError && quoted && isWord(what) && slices.ContainsFunc(q.values, func(value string) bool {
		return rest == value+`" not found.` || rest == value+`" already exists.`
	})
}

// knownConfirmation returns a confirmation if it names what the call names, else
// its first words alone.
func (q question) knownConfirmation(line string) string {
	for _, prefix := range q.reply.Confirms {
		rest, ok := strings.CutPrefix(line, prefix)
		if !ok {
			continue
		}
		for _, value := range q.values {
			if rest == value || rest == value+".md" || strings.HasPrefix(rest, value+": ") {
				return line + "\n"
			}
		}
		return strings.TrimRight(prefix, ": ") + "\n"
	}
	return ""
}
