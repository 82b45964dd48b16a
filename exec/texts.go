package exec

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// Answers of the Obsidian CLI, as recorded on 1.12.7 and 1.13.7. A text is a complete answer, and a prefix its
// beginning; a tail follows a sentence such as "Error: Command … not found.".
const (
	textNotRunning    = "The CLI is unable to find Obsidian. Please make sure Obsidian is running and try again."
	prefixNotRunning  = "The CLI is unable to find Obsidian"
	textDisabled      = "Command line interface is not enabled. Please turn it on in Settings > General > Advanced."
	prefixDisabled    = "Command line interface is not enabled."
	textVaultNotFound = "Vault not found."
	textNoActiveFile  = "Error: No active file. Use file=<name> or path=<path> to specify a file."
	textNoTemplates   = "Error: No template folder configured."
	prefixError       = "Error: "
	prefixMissing     = "Error: Missing required parameter: "
	prefixUsage       = "Usage: "
	tailPlugin        = " It may require a plugin to be enabled."
	tailSuggestions   = " Did you mean: "
)

// shape is one family of error messages. It is compared with the first line after everything in quotation marks was
// removed, so that the content of a request cannot select the family.
type shape struct {
	prefix, part, suffix string
	code, hint           string
}

// shapes are tried in this order; the first match counts.
var shapes = [...]shape{
	{prefix: prefixMissing, code: CodeCLIError,
		hint: "the installed Obsidian CLI takes other parameters than vaultwicket knows; the user can update the older one"},
	{prefix: "Error: No active file", code: CodeTargetRequired, hint: hintTarget},
	{prefix: "Error: No active editor", code: CodeTargetRequired, hint: hintTarget},
	{prefix: "Error: No editor", code: CodeTargetRequired, hint: hintTarget},
	{
		prefix: "Error: No ",
		suffix: " configured.",
		code:   CodeNotConfigured,
		hint:   "the user can set it in the settings of the vault",
	},
	{prefix: `Error: Command "" not found. Use ""`, code: CodeNoSuchNote},
	{prefix: `Error: Command "" not found.`, code: CodeCLIError,
		hint: "the program that answered does not have this command"},
	{prefix: "Error: ", suffix: " not found.", code: CodeNoSuchNote, hint: protocol.HintNotFound},
	{prefix: "Error: ", part: `"" not found. `, code: CodeNoSuchNote, hint: protocol.HintNotFound},
	{prefix: "Error: ", part: " not found: ", code: CodeNoSuchNote, hint: protocol.HintNotFound},
	// The app was observed to leave the file unchanged.
	{prefix: "Error: Invalid date format", code: CodeNotApplied, hint: "give another value"},
	{prefix: "Error: ", part: " already exists", code: CodeAlreadyExists, hint: "choose another name"},
	{prefix: "Error: ", part: " is ambiguous", code: CodeAmbiguous, hint: "name the note with path="},
}

const hintTarget = "name the note with path= or file="

// shapeOf returns the family of an error message, nil if it matches none.
func shapeOf(text string) *shape {
	parts := strings.Split(firstLine(text), `"`)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "" // quoted
	}
	line := strings.Join(parts, `"`)
	for i := range shapes {
		s := &shapes[i]
		if strings.HasPrefix(line, s.prefix) && strings.Contains(line, s.part) && strings.HasSuffix(line, s.suffix) {
			return s
		}
	}
	return nil
}

// maxReason is the maximum length in bytes of an error line that is used as a reason in full. A longer one is quoted in
// part.
const maxReason = 1000

// reasonFrom turns an error line into a reason: "Error: File "a.md" not found." becomes "file "a.md" not found". A
// line that is empty, too long or has unprintable characters is quoted.
func reasonFrom(line string) string {
	text := strings.TrimRight(strings.TrimPrefix(line, prefixError), ".!")
	first, size := utf8.DecodeRuneInString(text)
	isVisible := func(r rune) bool { return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) }
	isPlain := utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !isVisible(r) })
	if text == "" || len(text) > maxReason || !isPlain {
		return "the Obsidian CLI answered " + excerpt.Quoted(line)
	}
	return string(unicode.ToLower(first)) + text[size:]
}

// LooksLikeRemark reports whether a line may be a message of the app, for answers whose form was never recorded: an
// error, a message that there are no results, or any other sentence.
func LooksLikeRemark(line string) bool {
	if strings.HasPrefix(line, strings.TrimSpace(prefixError)) || isException(line) {
		return true
	}
	return isNothingFound(line) || isSentence(line)
}

// isException reports whether text is an uncaught error of the app, such as
// "TypeError: Cannot read properties of undefined".
func isException(text string) bool {
	name, _, found := strings.Cut(firstLine(text), "Error: ")
	if !found || !isWord(name) {
		return false
	}
	return 'A' <= name[0] && name[0] <= 'Z'
}

// isUsageError reports whether text consists of the two lines that report a missing parameter.
func isUsageError(text, command string) bool {
	first, second, hasSecond := strings.Cut(text, "\n")
	return hasSecond && strings.HasPrefix(first, prefixMissing) &&
		strings.HasPrefix(second, prefixUsage+command) && isLine(second)
}

// isExplainedError reports whether text is an error line with one more line that lists the valid choices, as for a
// missing view.
func isExplainedError(text string) bool {
	_, second, hasSecond := strings.Cut(text, "\n")
	label, _, found := strings.Cut(second, ": ")
	if !hasSecond || !found || !isLine(second) {
		return false
	}
	return isWord(strings.ReplaceAll(label, " ", ""))
}

// isNothingFound reports whether text is a message such as "No tags found.". For some commands its wording differs
// between releases.
func isNothingFound(text string) bool {
	rest, found := strings.CutPrefix(text, "No ")
	if !found || !isLine(text) || len(text) > len("No ")+60 {
		return false
	}
	what, _, found := strings.Cut(rest, " found")
	return found && isWord(strings.NewReplacer(" ", "", "-", "").Replace(what))
}

// looksLikePath reports whether a line ends like a file name, with a dot and a short extension.
func looksLikePath(line string) bool {
	dot := strings.LastIndexByte(line, '.')
	if dot < 0 {
		return false
	}
	extension := line[dot+1:]
	return len(extension) <= 10 && isWord(extension)
}

func notAlphanumeric(r rune) bool {
	isDigit := '0' <= r && r <= '9'
	isLetter := 'a' <= r|0x20 && r|0x20 <= 'z'
	return !isDigit && !isLetter
}

// isWord reports whether s consists of ASCII letters and digits, at least one.
func isWord(s string) bool { return s != "" && strings.IndexFunc(s, notAlphanumeric) < 0 }

func isLine(s string) bool { return !strings.ContainsAny(s, "\r\n") }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r")
}

// trimmed returns an answer without its final line break and with "\n" for "\r\n", for comparison with the texts at the
// top.
func trimmed(s string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r"), "\r\n", "\n")
}

// maxNoise is the maximum number of lines treated as noise. The Obsidian CLI prints two or three.
const maxNoise = 16

// noiseSentences are the beginnings of lines that an app newer than its installer prints before every answer, on
// either stream (recorded on 1.12.7).
var noiseSentences = [...]string{
	"Your Obsidian installer is out of date.",
	"Please download the latest installer",
	"Ignored: Error: ",
}

// packageVerbs and packageKinds form the other noise line: "Loading updated app package
// <folder>/obsidian-1.12.7.asar".
var (
	packageVerbs = [...]string{"Loading ", "Loaded "}
	packageKinds = [...]string{"updated app package", "main app package"}
)

// timeShape is the form of a leading time such as "2026-05-04 13:56:24 ", with 0 for each digit.
const timeShape = "0000-00-00 00:00:00 "

// cutNoise removes noise lines from the start of text and returns them. Everything from the first other line on is
// kept, whatever it looks like.
func cutNoise(text string, isNoise func(string) bool) (rest string, noise []string) {
	rest = text
	for len(noise) < maxNoise {
		line, after, _ := strings.Cut(rest, "\n")
		line = strings.Trim(line, "\r")
		if !isNoise(line) {
			break
		}
		noise = append(noise, line)
		rest = after
	}
	return rest, noise
}

// digitToZero replaces a decimal digit by 0, for the comparison with [timeShape].
func digitToZero(r rune) rune {
	if '0' <= r && r <= '9' {
		return '0'
	}
	return r
}

func isNoise(line string) bool {
	if n := len(timeShape); len(line) >= n && strings.Map(digitToZero, line[:n]) == timeShape {
		line = line[n:]
	}
	for _, sentence := range noiseSentences {
		if strings.HasPrefix(line, sentence) {
			return true
		}
	}
	for _, verb := range packageVerbs {
		rest, found := strings.CutPrefix(line, verb)
		if !found {
			continue
		}
		for _, kind := range packageKinds {
			if what, found := strings.CutPrefix(rest, kind); found && (what == "" || what[0] == ' ') {
				return true
			}
		}
	}
	return false
}

// isStderrNoise reports whether a line of standard error is noise. In addition to isNoise it recognises warnings of
// Electron and Node, and the log lines of Chromium, such as those about a missing display.
func isStderrNoise(line string) bool {
	if isNoise(line) || strings.HasPrefix(line, "(electron) ") || strings.HasPrefix(line, "(node:") {
		return true
	}
	head, _, found := strings.Cut(line, "] ") // "[4711:1120/135624.123456:ERROR:bus.cc(407)] …"
	if !found || !strings.HasPrefix(head, "[") {
		return false
	}
	for _, level := range [...]string{":ERROR:", ":WARNING:", ":INFO:", ":FATAL:"} {
		if before, _, found := strings.Cut(head[1:], level); found {
			return strings.Trim(before, "0123456789:/.") == ""
		}
	}
	return false
}

// cutBlank removes one empty line from the start, unless nothing follows it. Such a line was recorded on Windows
// before several answers.
func cutBlank(text string) string {
	for _, blank := range [...]string{"\r\n", "\n"} {
		if rest, found := strings.CutPrefix(text, blank); found && rest != "" {
			return rest
		}
	}
	return text
}
