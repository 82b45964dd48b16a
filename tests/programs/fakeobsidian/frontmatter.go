package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// property is one of a note. Its value is a string, a float64, a bool, nil or a
// list of these.
type property struct {
	key   string
	value any
}

type block []property

// split reads the properties of a note. It knows as much of YAML as the notes of
// tests need: plain and quoted values, lists in both forms, comments.
func split(text string) (props block, body string, ok bool) {
	lines := strings.SplitAfter(text, "\n")
	if strings.TrimRight(lines[0], "\r\n") != "---" {
		return nil, text, false
	}
	for i := 1; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], "\r\n")
		trimmed := strings.TrimSpace(line)
		switch key, value, found := strings.Cut(line, ":"); {
		case line == "---":
			return props, strings.Join(lines[i+1:], ""), true
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case strings.HasPrefix(trimmed, "- ") && len(props) > 0:
			last := &props[len(props)-1]
			list, _ := last.value.([]any)
			last.value = append(list, scalar(trimmed[2:]))
		case found:
			props = append(props, property{unquote(strings.TrimSpace(key)), valueOf(strings.TrimSpace(value))})
		default:
			panic("fake obsidian: a line of properties that is not read here: " + line)
		}
	}
	return nil, text, false
}

// valueOf reads what follows a colon.
func valueOf(text string) any {
	text = withoutComment(text)
	if inner, ok := strings.CutPrefix(text, "["); ok {
		list := []any{}
		for _, element := range strings.Split(strings.TrimSuffix(inner, "]"), ",") {
			if element = strings.TrimSpace(element); element != "" {
				list = append(list, scalar(element))
			}
		}
		return list
	}
	return scalar(text)
}

// withoutComment takes a comment from the end of a value.
func withoutComment(text string) string {
	if strings.HasPrefix(text, "#") {
		return ""
	}
	if at := strings.Index(text, " #"); at >= 0 && !strings.HasPrefix(text, `"`) && !strings.HasPrefix(text, "'") {
		return strings.TrimSpace(text[:at])
	}
	return text
}

var number = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)

func scalar(text string) any {
	switch text = strings.TrimSpace(text); {
	case text == "" || text == "~" || text == "null":
		return nil
	case text == "true" || text == "false":
		return text == "true"
	case number.MatchString(text):
		n, _ := strconv.ParseFloat(text, 64)
		return n
	}
	return unquote(text)
}

func unquote(text string) string {
	if len(text) > 1 && text[0] == '\'' {
		return strings.ReplaceAll(text[1:len(text)-1], "''", "'")
	}
	var s string
	if len(text) > 1 && text[0] == '"' && json.Unmarshal([]byte(text), &s) == nil {
		return s
	}
	return text
}

// written is a value as the app writes it.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if needsQuotes(v) {
			text, _ := json.Marshal(v)
			return string(text)
		}
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

func needsQuotes(s string) bool {
	_, plain := scalar(s).(string)
	return s == "" || !plain || strings.TrimSpace(s) != s || strings.ContainsAny(s[:1], ",[]{}#&*!|>'\"%@`") ||
		strings.Contains(s, ": ") || strings.HasSuffix(s, ":") || strings.Contains(s, " #") || strings.HasPrefix(s, "- ")
}

// yaml writes all properties anew: lists in block form, no comments, LF.
func (b block) yaml() string {
	var out strings.Builder
	for _, p := range b {
		switch v := p.value.(type) {
		case []any:
			if len(v) == 0 {
				out.WriteString(p.key + ": []\n")
				continue
			}
			out.WriteString(p.key + ":\n")
			for _, element := range v {
				out.WriteString("  - " + written(element) + "\n")
			}
		default:
			out.WriteString(strings.TrimRight(p.key+": "+written(v), " ") + "\n")
		}
	}
	return out.String()
}

func (b block) json() string {
	var out strings.Builder
	out.WriteString("{")
	for i, p := range b {
		if i > 0 {
			out.WriteString(",")
		}
		key, _ := json.Marshal(p.key)
		value, _ := json.MarshalIndent(p.value, "  ", "  ")
		out.WriteString("\n  " + string(key) + ": " + string(value))
	}
	return out.String() + "\n}"
}

// setProperty goes by the type that is named, and else by what the value looks
// like.
func setProperty(c *call) string {
	value := c.values["value"]
	var typed any
	switch c.values["type"] {
	case "text":
		typed = value
	case "list":
		list := []any{}
		for _, element := range strings.Split(value, ",") {
			if value != "[]" {
				list = append(list, strings.TrimSpace(element))
			}
		}
		typed = list
	case "number":
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			panic(sentence("Invalid number: " + value))
		}
		typed = n
	default:
		if typed = scalar(value); value == "[]" {
			typed = []any{}
		}
	}
	c.edit(func(b block) block {
		for i := range b {
			if strings.EqualFold(b[i].key, c.values["name"]) {
				b[i].value = typed
				return b
			}
		}
		return append(b, property{c.values["name"], typed})
	})
	return "Set " + c.values["name"] + ": " + value
}

func removeProperty(c *call) string {
	c.edit(func(b block) block {
		return slices.DeleteFunc(b, func(p property) bool { return strings.EqualFold(p.key, c.values["name"]) })
	})
	return "Removed: " + c.values["name"]
}

// edit changes the properties of a note, and leaves its body byte for byte.
func (c *call) edit(change func(block) block) {
	at := c.target()
	props, text, _ := split(c.read(at))
	if props = change(props); len(props) > 0 {
		text = "---\n" + props.yaml() + "---\n" + text
	}
	c.write(at, text)
}
