package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/terminal"
)

// completer completes command lines. Its functions must not be nil.
type completer struct {
	// Commands are the words that can come first, with what each does.
	Commands []candidate
	// Flags returns the flags of a command, as its help has them.
	Flags func(command string) []terminal.Flag
	// Words are the arguments of a command, by its name.
	Words map[string][]string
	// Choices returns the values of a flag, nil if any value is valid.
	Choices func(flag string) []string
	// Paths returns the paths of the visible notes that begin with a prefix.
	Paths func(line []string, prefix string) []string
}

// takeVaultCommand are the subcommands that are followed by a command of a vault.
var takeVaultCommand = []string{"run", "dry-run", "explain"}

// Complete returns the candidates for the last of the words after the program's name.
func (p completer) Complete(words []string) candidates {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		return candidates{List: slices.Clone(p.Commands)}.below(last)
	}
	command, between := words[0], words[1:len(words)-1]
	if c, done := p.flag(command, between, last); done {
		return c
	}
	given := p.plain(command, between)
	if slices.Contains(takeVaultCommand, command) {
		// Complete the command of a vault, its parameters, and their values if they are known.
		var c candidates
		if len(given) == 0 {
			for command := range allowlist.Commands() {
				c.add(command.Name, command.Summary)
			}
			return c.below(last)
		}
		command, err := allowlist.Describe(given[0])
		if err != nil || words[0] == "explain" {
			return c
		}
		if name, value, found := strings.Cut(last, "="); found {
			return p.parameter(command, words, name, value)
		}
		for _, param := range command.Params {
			if param.Refused != "" || slices.ContainsFunc(given[1:], func(word string) bool { return strings.HasPrefix(word+"=", param.Name+"=") }) {
				continue
			}
			if param.Kind == "flag" {
				c.add(param.Name, param.Summary)
				continue
			}
			c.Open = true
			c.add(param.Name+"=", param.Summary)
		}
		c = c.below(last)
		c.Open = len(c.List) > 0 && strings.HasSuffix(c.List[0].Word, "=") // a flag alone is complete
		return c
	}
	c := candidates{Files: p.Words[command] == nil}
	if len(given) == 0 {
		for _, word := range p.Words[command] {
			c.add(word, "")
		}
	}
	return c.below(last)
}

// flag completes a flag, or the value of one.
func (p completer) flag(command string, between []string, last string) (c candidates, done bool) {
	if n := len(between); n > 0 && p.takesValue(command, between[n-1]) {
		return p.value(between[n-1], "", last), true
	}
	if !strings.HasPrefix(last, "-") {
		return c, false
	}
	if name, value, found := strings.Cut(last, "="); found {
		return p.value(name, name+"=", value), true
	}
	for _, f := range p.Flags(command) {
		c.add("--"+f.Name, f.Usage)
	}
	return c.below(last), true
}

func (p completer) takesValue(command, word string) bool {
	return slices.ContainsFunc(p.Flags(command), func(f terminal.Flag) bool { return "--"+f.Name == word && f.Value != "" })
}

func (p completer) value(flag, before, prefix string) candidates {
	choices := p.Choices(strings.TrimLeft(flag, "-"))
	c := candidates{Files: choices == nil}
	for _, choice := range choices {
		c.add(before+choice, "")
	}
	return c.below(before + prefix)
}

// plain are the words that are neither flags nor their values.
func (p completer) plain(command string, words []string) (plain []string) {
	for i := 0; i < len(words); i++ {
		switch {
		case p.takesValue(command, words[i]):
			i++
		case !strings.HasPrefix(words[i], "-"):
			plain = append(plain, words[i])
		}
	}
	return plain
}

// parameter completes the value of a parameter.
func (p completer) parameter(command allowlist.Command, words []string, name, value string) (c candidates) {
	at := slices.IndexFunc(command.Params, func(param allowlist.Param) bool { return param.Name == name })
	if at < 0 {
		return c
	}
	param := command.Params[at]
	values := param.Choices
	switch param.Kind {
	case "path":
		values = p.Paths(words[:len(words)-1], value)
	case "folder":
		// The folders in which files are, each once.
		files := p.Paths(words[:len(words)-1], value)
		var folders []string
		for _, file := range files {
			for at := strings.LastIndexByte(file, '/'); at > 0; at = strings.LastIndexByte(file[:at], '/') {
				folders = append(folders, file[:at])
			}
		}
		slices.Sort(folders)
		values = slices.Compact(folders)
	case "note name":
		for _, note := range p.Paths(words[:len(words)-1], "") {
			values = append(values, strings.TrimSuffix(note[strings.LastIndexByte(note, '/')+1:], ".md"))
		}
	}
	for _, value := range values {
		c.add(name+"="+value, "")
	}
	return c.below(name + "=" + value)
}

// A script passes the words of the line to "vaultwicket __complete", the last of which is the one
// to complete, possibly empty. The answer has one candidate a line, with a description after a
// tab, and at last a line with a colon and a number: the sum of noSpace and noFiles. This is
// the protocol of cobra, which the scripts of other programs use as well.
const (
	noSpace = 2 // after a candidate: more of the word follows
	noFiles = 4 // the shell does not complete names of files
)

// candidate is a possible word with its description.
type candidate struct{ Word, Description string }

// candidates are the possible words, and how the shell uses them.
type candidates struct {
	List []candidate
	// Open says that more follows a candidate, such as the value after "path=".
	Open bool
	// Files says that the shell completes names of files, too.
	Files bool
}

func (c *candidates) add(word, description string) {
	c.List = append(c.List, candidate{word, description})
}

// below keeps the candidates that begin with a prefix.
func (c candidates) below(prefix string) candidates {
	c.List = slices.DeleteFunc(c.List, func(one candidate) bool { return !strings.HasPrefix(one.Word, prefix) })
	return c
}

// Print writes candidates for a script. Control characters in them are left out.
func (c candidates) Print(out io.Writer) error {
	var text strings.Builder
	for _, one := range c.List {
		text.WriteString(withoutControls(one.Word))
		if one.Description != "" {
			text.WriteString("\t" + withoutControls(one.Description))
		}
		text.WriteByte('\n')
	}
	directive := noFiles
	if c.Open {
		directive |= noSpace
	}
	if c.Files {
		directive &^= noFiles
	}
	_, err := fmt.Fprintf(out, "%s:%d\n", text.String(), directive)
	return err
}

// withoutControls removes control characters.
func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, text)
}
