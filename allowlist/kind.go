package allowlist

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

const (
	maxTextBytes = 1 << 20  // a note that an agent writes is kilobytes; this bounds what a request can pin in memory
	maxDataBytes = 12 << 20 // base64 of 8 MiB, with line breaks
	maxNameBytes = 512      // longer than any name that a person gives
	maxURLBytes  = 2048     // what browsers support
)

// kinds has the words for each kind: its name in messages, the word between angle brackets in the
// usage lines of the app (recorded on 1.12.7: "move [file=<name>] [path=<path>] to=<path>"), and a
// description of valid values, "" if that is the name. Valid numbers and choices depend on the parameter.
var kinds = [...]struct{ name, hint, wants string }{
	kindFlag:        {"flag", "", ""},
	kindText:        {"text", "text", "text"},
	kindContent:     {"content", "text", "text"},
	kindData:        {"data", "base64", ""},
	kindName:        {"name", "name", ""},
	kindLink:        {"note name", "name", ""},
	kindBase:        {"base name", "name", ""},
	kindTitle:       {"file name", "name", ""},
	kindPath:        {"path", "path", ""},
	kindNewPath:     {"path", "path", ""},
	kindDestination: {"folder/ or path", "path", "a folder with a slash at its end, or a whole path"},
	kindFolder:      {"folder", "path", ""},
	kindRef:         {"path:line", "path:line", "a path, a colon and a line number"},
	kindNumber:      {"number", "n", ""},
	kindDate:        {"date", "date", "a date such as 2026-11-21, yesterday, -3d or monday"},
	kindAge:         {"age", "days", "a number of days, or a time such as -2w or 2026-11-21"},
	kindChoice:      {"choice", "", ""},
	kindChar:        {"character", "char", "one character"},
	kindURL:         {"url", "url", "a web address"},
	kindWord:        {"word", "command", "the name of a command"},
}

func (k kind) String() string { return kinds[k].name }

// check returns the text of v as an argument, or the reason why v is not valid for the parameter. The
// bytes of the caller are kept, except for the slash at the end of a folder, which is dropped.
func (p *param) check(v Value) (text, reason string) {
	if p.kind == kindChoice && (v.form == flagOn || v.form == flagOff) { // true and false may be choices
		v = Text(strconv.FormatBool(v.form == flagOn))
	}
	if p.name == "value" {
		v = v.propertyText()
	}
	if p.name == "files" && v.form == listForm {
		v = v.joinLines()
	}
	if slices.Contains(columnLists, p.name) {
		v = v.joinColumns()
	}
	isFitting := v.form == textForm || v.form == numberForm && p.kind.takesNumber()
	if !isFitting {
		return "", fmt.Sprintf("want %s, got %s", p.wants(), v.describe())
	}
	if reason := p.checkBytes(v.text); reason != "" {
		return "", reason
	}
	switch p.kind {
	case kindName:
		if len(v.text) > maxNameBytes {
			return v.text, fmt.Sprintf("is longer than %d bytes", maxNameBytes)
		}
		if r := firstUnprintable(v.text); r >= 0 {
			return v.text, fmt.Sprintf("contains the control or invisible character %U", r)
		}
	case kindLink, kindBase, kindPath:
		return v.text, pathProblem(v.text)
	case kindTitle:
		return v.text, titleProblem(v.text)
	case kindNewPath:
		return v.text, newPathProblem(v.text)
	case kindDestination:
		if p.ofFolder {
			_, reason := canonicalFolder(v.text)
			return v.text, reason
		}
		return v.text, destinationProblem(v.text)
	case kindFolder:
		return canonicalFolder(v.text)
	case kindRef:
		return v.text, checkRef(v.text)
	case kindNumber:
		return v.text, p.checkNumber(v.text)
	case kindDate, kindAge: // an age is a number of days, or a date like the others
		isNumber := strings.Trim(v.text, "0123456789") == ""
		if reason := p.checkNumber(v.text); p.kind == kindAge && (reason == "" || isNumber) {
			return v.text, reason
		}
		// Which day a word refers to is decided when the call runs.
		if _, err := date.Parse(v.text); err != nil {
			return v.text, fmt.Sprintf("invalid date %q: %s", excerpt.Short(v.text), err)
		}
	case kindChoice:
		if !slices.ContainsFunc(p.choices, func(choice string) bool { return IsChoice(v.text, choice) }) {
			reason := fmt.Sprintf("has no value %q, want %s", excerpt.Short(v.text), p.wants())
			return v.text, reason + excerpt.DidYouMean(v.text, p.choices)
		}
	case kindChar: // one code point between the brackets of a task
		if r, size := utf8.DecodeRuneInString(v.text); size != len(v.text) || isUnprintable(r) {
			return v.text, fmt.Sprintf("is %q, want exactly one printable character", excerpt.Short(v.text))
		}
	case kindURL: // other schemes reach local files, other programs or the app's own commands
		if len(v.text) > maxURLBytes {
			return v.text, fmt.Sprintf("is longer than %d bytes", maxURLBytes)
		}
		if !isWebAddress(v.text) {
			return v.text, fmt.Sprintf(
				"is %q, want an address that begins with https:// or http://",
				excerpt.Short(v.text),
			)
		}
	case kindWord:
		if find(v.text) == nil {
			reason := fmt.Sprintf("unknown command %q", excerpt.Short(v.text))
			if near := Meant(v.text); near != "" {
				reason += fmt.Sprintf("; did you mean %q?", near)
			}
			return v.text, reason
		}
	}
	return v.text, ""
}

// propertyText converts the value of a property to a text: true and false are values of a checkbox, and a
// list is written as JSON.
func (v Value) propertyText() Value {
	switch v.form {
	case flagOn, flagOff:
		return Text(strconv.FormatBool(v.form == flagOn))
	case listForm:
		return Text(v.text)
	}
	return v
}

// joinLines converts a list to a text with one item per line. A list that has an item with a line break is
// returned unchanged, and then refused.
func (v Value) joinLines() Value {
	var items []string
	if json.Unmarshal([]byte(v.text), &items) != nil ||
		slices.ContainsFunc(items, func(item string) bool { return strings.Contains(item, "\n") }) {
		return v
	}
	return Text(strings.Join(items, "\n"))
}

// columnLists are the parameters that name columns of a table, separated by commas.
var columnLists = []string{"select", "sort", "order"}

// joinColumns converts a list of columns, also one written as JSON in a text, to a text with commas between them.
func (v Value) joinColumns() Value {
	if items := v.items(); len(items) > 0 {
		return Text(strings.Join(items, ", "))
	}
	return v
}

// IsChoice reports whether text is the given choice. If the choice ends with "NAME", any name matches there.
func IsChoice(text, choice string) bool {
	if text == choice {
		return true
	}
	before, takesName := strings.CutSuffix(choice, "NAME")
	name, isBegun := strings.CutPrefix(text, before)
	if !takesName || !isBegun {
		return false
	}
	hasLength := name != "" && len(name) <= maxNameBytes
	return hasLength && firstUnprintable(name) < 0
}

// isWebAddress reports whether text is a whole http or https address without characters that cannot be shown.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return false
	}
	isWeb := u.Scheme == "http" || u.Scheme == "https"
	return isWeb && firstUnprintable(text) < 0
}

// checkBytes returns the reason why s is not valid for any kind, "" if there is none: a NUL byte ends an
// argument for the kernel, text must be UTF-8, and an empty value means something else to every handler of
// the app.
func (p *param) checkBytes(s string) string {
	switch {
	case s == "" && p.required:
		return "is empty, want " + p.wants()
	case s == "":
		return "is empty; leave it out or give " + p.wants()
	case len(s) > maxTextBytes && p.kind != kindData:
		return fmt.Sprintf("is longer than %d bytes", maxTextBytes)
	case len(s) > maxDataBytes:
		return fmt.Sprintf("is longer than %d bytes", maxDataBytes)
	case strings.IndexByte(s, 0) >= 0:
		return "contains a NUL byte"
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	}
	return ""
}

// wants describes the valid values, for messages.
func (p *param) wants() string {
	switch p.kind {
	case kindNumber:
		return fmt.Sprintf("a whole number from %d to %d", p.least, cmp.Or(p.most, maxNumber))
	case kindChoice:
		return "one of " + strings.Join(p.choices, ", ")
	}
	return cmp.Or(kinds[p.kind].wants, "a "+p.kind.String())
}

func checkRef(s string) string {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "has no line number; want a path, a colon and a line number such as Inbox/Log.md:8"
	}
	if reason := pathProblem(s[:i]); reason != "" {
		return reason
	}
	line := param{kind: kindNumber, least: 1}
	return line.checkNumber(s[i+1:])
}

func (p *param) checkNumber(s string) string {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != s {
		return fmt.Sprintf("invalid number %q: want %s", excerpt.Short(s), p.wants())
	}
	if n < p.least || n > cmp.Or(p.most, maxNumber) {
		return fmt.Sprintf("is %d, want %s", n, p.wants())
	}
	return ""
}
