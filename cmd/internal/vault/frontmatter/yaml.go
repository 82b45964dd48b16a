package frontmatter

import "strings"

// YAML returns the properties as lines of YAML, written as the app writes them.
// It is how they look after the app changed one; comments and the quotes of
// the note are not in it.
func (p Properties) YAML() string {
	var w yamlWriter
	w.fields(p, "")
	return w.out.String()
}

// YAML returns one property as lines of YAML.
func (p Property) YAML() string { return Properties{p}.YAML() }

type yamlWriter struct{ out strings.Builder }

// fields writes a map whose lines begin with indent; that of the first line is
// there already.
func (w *yamlWriter) fields(p Properties, indent string) {
	for i, property := range p {
		if i > 0 {
			w.out.WriteString(indent)
		}
		w.out.WriteString(writtenKey(property.Key))
		w.out.WriteByte(':')
		w.value(property.Value, indent)
	}
}

// value writes what stands behind the colon of a key.
func (w *yamlWriter) value(v Value, indent string) {
	switch {
	case v.kind == Null:
		w.out.WriteByte('\n')
	case isBlock(v):
		w.out.WriteString("\n" + indent + "  ")
		w.block(v, indent+"  ")
	default:
		w.out.WriteString(" " + written(v, indent+"  ") + "\n")
	}
}

// isBlock reports whether v takes lines of its own.
func isBlock(v Value) bool { return len(v.List()) > 0 || len(v.Fields()) > 0 }

// block writes a list or a map that is not empty.
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
			w.out.WriteString("- " + written(element, indent+"  ") + "\n")
		}
	}
}

// written returns a value that is on the line of its key or dash, at least in
// the beginning; further lines of a text begin with indent.
func written(v Value, indent string) string {
	switch v.kind {
	case Bool:
		return word(v.truth)
	case Number:
		return writtenNumber(v)
	case List:
		return "[]"
	case Map:
		return "{}"
	}
	return writtenText(v.text, indent)
}

// writtenNumber writes a number as JavaScript prints it, save those for which
// YAML has words of its own.
func writtenNumber(v Value) string {
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
}

// writtenKey writes a key, which has no lines of its own, and must not look like
// the mark between two documents.
func writtenKey(key string) string {
	if strings.Contains(key, "\n") || isMarker(key) {
		return quoted(key)
	}
	return writtenText(key, "")
}

func isMarker(line string) bool {
	return len(line) > 3 && (line[:3] == "---" || line[:3] == "...") && isBlank(line[3])
}

// writtenText writes a string: plain if that reads as the same string, else in
// quotes, or as a block if it has several lines.
func writtenText(text, indent string) string {
	switch {
	case hasControl(text):
		return doubleQuoted(text)
	case strings.Contains(text, "\n"):
		return blockText(text, indent)
	case isPlain(text):
		return text
	}
	return quoted(text)
}

// hasControl reports whether text holds a character that only double quotes
// can express.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' || 0x7f <= r && r <= 0x9f
	})
}

// isPlain reports whether text of one line can do without quotes.
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
	for n := 1; n < len(text); n++ {
		before := text[n-1]
		if isBlank(text[n]) && before == ':' || text[n] == '#' && isBlank(before) {
			return false
		}
	}
	return true
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// quoted writes text in double quotes, or in single ones if it holds double
// ones alone.
func quoted(text string) string {
	if strings.Contains(text, `"`) && !strings.ContainsAny(text, "'\n") && !hasControl(text) {
		return "'" + text + "'"
	}
	return doubleQuoted(text)
}

func doubleQuoted(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r < ' ':
			out.WriteString(yamlEscape(r))
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// blockText writes a text of several lines in literal style.
func blockText(text, indent string) string {
	body := strings.TrimRight(text, "\n\t ")
	tail := text[len(body):]
	if body == "" || strings.Contains(tail, "\n") && !strings.HasSuffix(tail, "\n") {
		return doubleQuoted(text)
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
	return header + "\n" + indent + strings.Repeat("\n"+indent, leading) + indentLines(rest, indent)
}

// indentLines puts indent before every line but the first and empty ones.
func indentLines(text, indent string) string {
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
			if line != "" {
				out.WriteString(indent)
			}
		}
		out.WriteString(line)
	}
	return out.String()
}
