package toml

import (
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/clients/edit"
)

// Render returns an entry as a table with its header.
func Render(at edit.Place, entry edit.Object) string { return render(at, entry, "\n") }

func render(at edit.Place, entry edit.Object, newline string) string {
	var header []string
	for _, key := range at.Path {
		header = append(header, quoteKey(key))
	}
	lines := "[" + strings.Join(append(header, quoteKey(at.Name)), ".") + "]" + newline
	for _, m := range entry {
		lines += quoteKey(m.Key) + " = " + value(m.Value) + newline
	}
	return lines
}

func value(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		var items []string
		for _, item := range v {
			items = append(items, quote(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case edit.Object:
		if len(v) == 0 {
			return "{}"
		}
		var members []string
		for _, m := range v {
			members = append(members, quoteKey(m.Key)+" = "+value(m.Value))
		}
		return "{ " + strings.Join(members, ", ") + " }"
	}
	return `""`
}

func quoteKey(key string) string {
	for _, r := range key {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return quote(key)
		}
	}
	if key == "" {
		return `""`
	}
	return key
}

// quote returns a basic string.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
