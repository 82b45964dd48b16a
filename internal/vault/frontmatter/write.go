package frontmatter

import (
	"slices"
	"strconv"
	"strings"
)

// YAML returns the properties as lines of YAML, as the app writes them after a change:
// without the comments of the note, and with quotes only where they are needed.
func (p Properties) YAML() string {
	var w yamlWriter
	w.fields(p, "")
	return w.out.String()
}

type yamlWriter struct{ out strings.Builder }

// fields writes a map whose lines begin with indent. The indent of the first line was
// already written.
func (w *yamlWriter) fields(p Properties, indent string) {
	for i, property := range p {
		if i > 0 {
			w.out.WriteString(indent)
		}
		w.out.WriteString(formatKey(property.Key))
		w.out.WriteByte(':')
		w.value(property.Value, indent)
	}
}

// value writes a value after the colon of its key.
func (w *yamlWriter) value(v Value, indent string) {
	switch {
	case v.kind == Null:
		w.out.WriteByte('\n')
	case isBlock(v):
		w.out.WriteString("\n" + indent + "  ")
		w.block(v, indent+"  ")
	default:
		w.out.WriteString(" " + formatValue(v, indent+"  ") + "\n")
	}
}

// isBlock reports whether v is written on lines of its own.
func isBlock(v Value) bool { return len(v.List()) > 0 || len(v.Fields()) > 0 }

// block writes a list or a map that is not empty. The indent of the first line was already written.
func (w *yamlWriter) block(v Value, indent string) {
	if v.kind == Map {
		w.fields(v.Fields(), indent)
		return
	}
	for i, element := range v.List() {
		if i > 0 {
			w.out.WriteString(indent)
		}
		switch {
		case element.kind == Null:
			w.out.WriteString("-\n")
		case isBlock(element):
			w.out.WriteString("- ")
			w.block(element, indent+"  ")
		default:
			w.out.WriteString("- " + formatValue(element, indent+"  ") + "\n")
		}
	}
}

// formatValue returns a value as it is written after its key or dash. Further lines of a text
// begin with indent.
func formatValue(v Value, indent string) string {
	switch v.kind {
	case Bool:
		return strconv.FormatBool(v.truth)
	case Number: // as JavaScript prints it, except for the words of YAML
		switch text := FormatNumber(v.number); text {
		case "Infinity":
			return ".inf"
		case "-Infinity":
			return "-.inf"
		case "NaN":
			return ".nan"
		default:
			return text
		}
	case List:
		return "[]"
	case Map:
		return "{}"
	}
	return formatText(v.text, indent)
}

// formatKey returns a key as it is written: on one line, and in quotes if it looks like
// the mark between two documents.
func formatKey(key string) string {
	isMark := false
	if len(key) > 3 && isBlank(key[3]) {
		isMark = key[:3] == "---" || key[:3] == "..."
	}
	if strings.Contains(key, "\n") || isMark {
		return quote(key)
	}
	return formatText(key, "")
}

// formatText returns a string as it is written: plain if that reads as the same string,
// otherwise in quotes, or as a literal block if it has several lines.
func formatText(text, indent string) string {
	switch {
	case hasControl(text):
		return doubleQuote(text)
	case strings.Contains(text, "\n"):

		return formatLines(text, indent)
	case isPlain(text):
		return text
	}
	return quote(text)
}

// formatLines returns a text of several lines as a literal block whose lines begin with indent, or in double quotes if a
// block cannot express it.
func formatLines(text, indent string) string {
	body := strings.TrimRight(text, "\n\t ")
	tail := text[len(body):]
	endsInBlanks := strings.Contains(tail, "\n") && !strings.HasSuffix(tail, "\n")
	if body == "" || endsInBlanks {
		return doubleQuote(text)
	}
	header := "|"
	if first := strings.TrimLeft(text, "\n"); first[0] == ' ' {
		header += "2"
	}
	switch newline := strings.IndexByte(tail, '\n'); {
	case newline < 0:
		header += "-"
	case newline != len(tail)-1:
		header += "+"
	}
	leading := len(text) - len(strings.TrimLeft(text, "\n"))
	rest := strings.TrimSuffix(text[leading:], "\n")
	lines := strings.Split(rest, "\n")
	for i, line := range lines[1:] {
		if line != "" {
			lines[i+1] = indent + line
		}
	}
	return header + "\n" + indent + strings.Repeat("\n"+indent, leading) + strings.Join(lines, "\n")
}

// hasControl reports whether text has a character that must be escaped in double quotes.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		switch {
		case r == '\t' || r == '\n':
			return false
		case r < ' ':
			return true
		}
		return 0x7f <= r && r <= 0x9f
	})
}

// isPlain reports whether a text of one line needs no quotes.
func isPlain(text string) bool {
	if text == "" || resolve(text).kind != String {
		return false
	}
	if strings.IndexByte("\t ,[]{}#&*!|>'\"%@`", text[0]) >= 0 {
		return false
	}
	if text[0] == '?' || text[0] == '-' {
		if len(text) == 1 || text[1] == ' ' || text[1] == '\t' {
			return false
		}
	}
	if strings.IndexByte("\t :", text[len(text)-1]) >= 0 {
		return false
	}
	return !slices.ContainsFunc(
		[]string{": ", ":\t", " #", "\t#"},
		func(mark string) bool { return strings.Contains(text, mark) },
	)
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// quote returns text in double quotes, or in single quotes if it contains only double ones.
func quote(text string) string {
	if strings.Contains(text, `"`) && !strings.ContainsAny(text, "'\n") && !hasControl(text) {
		return "'" + text + "'"
	}
	return doubleQuote(text)
}

func doubleQuote(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r < ' ':
			const named, letters = "\x00\a\b\t\n\v\f\r\x1b", "0abtnvfre"
			if n := strings.IndexRune(named, r); n >= 0 {
				out.WriteString(`\` + letters[n:n+1])
			} else {
				out.WriteString(`\x` + strconv.FormatInt(0x100|int64(r), 16)[1:])
			}
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
