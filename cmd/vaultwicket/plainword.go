package main

import (
	"path"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
)

// flagKind is the kind of a parameter that is written without a value.
const flagKind = "flag"

// namePlainWord returns the words of a typed command with the first word turned into a parameter, if it is a bare
// value: "read Plan" is read file=Plan, "read Work/Plan.md" is read path=Work/Plan.md, and "search garden" is search
// query=garden. If a second bare value follows, or the command is unknown, the words are returned unchanged.
func namePlainWord(command string, words []string) []string {
	described, err := allowlist.Describe(command)
	if err != nil || len(words) == 0 {
		return words
	}
	if strings.Contains(words[0], "=") || strings.HasPrefix(words[0], "-") {
		return words
	}
	value := words[0]
	rest := words[1:]
	for _, word := range rest {
		isFlag := slices.ContainsFunc(
			described.Params,
			func(p allowlist.Param) bool { return p.Kind == flagKind && p.Name == word },
		)
		if !strings.Contains(word, "=") && !isFlag {
			return words // with two bare values it is not clear which is which
		}
	}
	name := parameterOfWord(described.Params, value, rest)
	if name == "" {
		return words
	}
	return append([]string{name + "=" + value}, rest...)
}

// parameterOfWord returns the parameter that a bare value is meant for: the note, if none is given yet; otherwise the
// missing required parameter; otherwise the name. It returns "" if there is none, or if the value is itself the name
// of a parameter. rest are the other words.
func parameterOfWord(params []allowlist.Param, value string, rest []string) string {
	var free []string
	required := ""
	for _, p := range params {
		isGiven := slices.ContainsFunc(rest, func(word string) bool { return strings.HasPrefix(word, p.Name+"=") })
		isNote := p.Name == "file" || p.Name == "path"
		if p.Name == value || isGiven && isNote {
			return ""
		}
		if isGiven || p.Refused != "" || p.Kind == flagKind {
			continue
		}
		if p.Required && required == "" {
			required = p.Name
		}
		free = append(free, p.Name)
	}
	isPath := strings.Contains(value, "/") || path.Ext(value) != ""
	takesNote := slices.ContainsFunc(params, func(p allowlist.Param) bool { return p.Name == "file" })
	isForPath := takesNote || required == "" || required == "path" // not for search, where path is an optional folder
	switch {
	case isPath && isForPath && slices.Contains(free, "path"):
		return "path"
	case slices.Contains(free, "file"):
		return "file"
	case required == "" && slices.Contains(free, "name"):
		return "name"
	}
	return required
}
