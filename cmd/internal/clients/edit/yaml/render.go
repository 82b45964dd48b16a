package yaml

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"vaultwicket/cmd/internal/clients/edit"
)

// Render returns an entry with the key that it is below.
func Render(at edit.Place, entry edit.Object) string {
	return at.Path[0] + ":\n" + writer{"\n"}.entry(at, entry, "  ")
}

type writer struct{ newline string }

// withName returns the entry with the field by which a list knows it.
func withName(at edit.Place, entry edit.Object) edit.Object {
	if !at.List || slices.ContainsFunc(entry, func(m edit.Member) bool { return m.Key == "name" }) {
		return entry
	}
	return append(edit.Object{{Key: "name", Value: at.Name}}, entry...)
}

// entry returns the lines of an entry.
func (w writer) entry(at edit.Place, entry edit.Object, indent string) string {
	if !at.List {
		return indent + quote(at.Name) + ":" + w.newline + w.members(entry, indent+"  ")
	}
	lines := w.members(withName(at, entry), indent+"  ")
	return indent + "- " + strings.TrimPrefix(lines, indent+"  ")
}

func (w writer) members(object edit.Object, indent string) string {
	var lines strings.Builder
	for _, m := range object {
		lines.WriteString(indent + quote(m.Key) + ":" + w.value(m.Value, indent))
	}
	return lines.String()
}

// value returns what is behind a colon, with the line end.
func (w writer) value(value any, indent string) string {
	switch v := value.(type) {
	case string:
		return " " + quote(v) + w.newline
	case bool:
		return " " + strconv.FormatBool(v) + w.newline
	case int:
		return " " + strconv.Itoa(v) + w.newline
	case []string:
		if len(v) == 0 {
			return " []" + w.newline
		}
		lines := w.newline
		for _, item := range v {
			lines += indent + "  - " + quote(item) + w.newline
		}
		return lines
	case edit.Object:
		if len(v) == 0 {
			return " {}" + w.newline
		}
		return w.newline + w.members(v, indent+"  ")
	}
	return " null" + w.newline
}

var plainText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_/.-]*$`) })

// reserved are words that some parser of YAML takes for something else than text.
var reserved = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// quote returns a string as a plain scalar where that is safe, else in double quotes.
func quote(text string) string {
	if plainText().MatchString(text) && !slices.Contains(reserved, strings.ToLower(text)) {
		return text
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return `""`
	}
	return strings.TrimSuffix(out.String(), "\n")
}
