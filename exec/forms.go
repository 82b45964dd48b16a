package exec

import (
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
)

// hasForm reports whether an answer that is neither an error nor empty looks like one of this command. Text of notes
// may look like anything.
func (q question) hasForm(stdout string) bool {
	first := firstLine(stdout)
	if q.reply.Kind == allowlist.Paths && !q.reply.JSON {
		return !isSentence(first)
	}
	return hasForm(q.reply.Form, first)
}

// hasForm reports whether the first line of an answer has the given form.
func hasForm(form allowlist.Form, first string) bool {
	name, _, isField := strings.Cut(first, "\t")
	switch form {
	case allowlist.Fields:
		return isField && name != ""
	case allowlist.Labelled:
		label, _, isLabelled := strings.Cut(first, ":")
		return isLabelled && isWord(strings.ReplaceAll(label, " ", ""))
	case allowlist.Count:
		return first != "" && strings.Trim(first, "0123456789") == ""
	case allowlist.NotePath:
		return strings.HasSuffix(first, ".md")
	case allowlist.TagLines:
		return strings.HasPrefix(first, "#")
	case allowlist.TaskLines:
		return strings.Contains(first, "[")
	case allowlist.Matches:
		return strings.Contains(first, ".md:")
	case allowlist.Ids:
		return name != "" && !strings.Contains(name, " ")
	case allowlist.Tabs:
		return strings.HasPrefix(first, "[")
	}
	return true
}

// isSentence reports whether a line consists of words with a full stop at the end, which no path does.
func isSentence(line string) bool {
	return strings.Contains(line, " ") && strings.HasSuffix(line, ".")
}

// versionHead is what the app prints before the text of a version: a line with the path of the note, the version
// number and its time, and then a rule. This is documented but was never recorded, so an answer without it is the
// text alone.
type versionHead struct {
	line         string // the line without the rule, "" if there is none
	path, number string
}

// cutVersionHead splits the output into the head and the text of a version. Without a head it returns stdout
// unchanged.
func cutVersionHead(stdout string) (text string, head versionHead) {
	line, rest, _ := strings.Cut(stdout, "\n")
	line = strings.TrimSuffix(line, "\r")
	rule, text, hasText := strings.Cut(rest, "\n")
	at := strings.LastIndex(line, " (version ")
	namesVersion := at > 0 && strings.HasSuffix(line, ")")
	hasRule := strings.TrimSuffix(rule, "\r") == "---" && hasText
	if !namesVersion || !hasRule {
		return stdout, versionHead{}
	}
	number, _, _ := strings.Cut(line[at+len(" (version "):len(line)-1], ",")
	return text, versionHead{line: line, path: line[:at], number: number}
}

// names reports whether head names the version that the call asks for.
func (q question) names(head versionHead) bool {
	return slices.Contains(q.values, head.path) && (q.version == "" || q.version == head.number)
}

func versionIn(call allowlist.Call) string {
	number, _ := call.Param("version")
	return number
}
