package completion

import (
	"slices"
	"strings"

	"vaultwicket/allowlist"
)

// Program is what a command line can name. Functions must not be nil.
type Program struct {
	// Commands are the words that can come first, with what each does.
	Commands []Candidate
	// Flags returns the flags of a command, as its help has them.
	Flags func(command string) []Flag
	// Words are what may follow a command, beside flags, by its name.
	Words map[string][]string
	// Choices returns the values of a flag, nil where any value will do.
	Choices func(flag string) []string
	// Paths returns the paths of the notes that may be seen and begin with a prefix.
	Paths func(line []string, prefix string) []string
}

// Flag is a flag of a command.
type Flag struct {
	Name    string // with its dashes
	Usage   string
	IsValue bool // a value follows
}

// vaultCommands are the commands behind which a command of a vault follows.
var vaultCommands = []string{"run", "dry-run", "explain"}

// Complete returns the candidates for the last of the words behind the program's name.
func (p Program) Complete(words []string) Candidates {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		return Candidates{List: slices.Clone(p.Commands)}.below(last)
	}
	command, between := words[0], words[1:len(words)-1]
	if c, done := p.flag(command, between, last); done {
		return c
	}
	given := p.plain(command, between)
	if slices.Contains(vaultCommands, command) {
		return p.vaultWord(words, given, last)
	}
	c := Candidates{Files: p.Words[command] == nil}
	if len(given) == 0 {
		for _, word := range p.Words[command] {
			c.add(word, "")
		}
	}
	return c.below(last)
}

// flag completes a flag, or the value of one.
func (p Program) flag(command string, between []string, last string) (c Candidates, done bool) {
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
		c.add(f.Name, f.Usage)
	}
	return c.below(last), true
}

func (p Program) takesValue(command, word string) bool {
	return slices.ContainsFunc(p.Flags(command), func(f Flag) bool { return f.Name == word && f.IsValue })
}

func (p Program) value(flag, before, prefix string) Candidates {
	choices := p.Choices(strings.TrimLeft(flag, "-"))
	c := Candidates{Files: choices == nil}
	for _, choice := range choices {
		c.add(before+choice, "")
	}
	return c.below(before + prefix)
}

// plain are the words that are neither flags nor their values.
func (p Program) plain(command string, words []string) (plain []string) {
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

// vaultWord completes the command of a vault, its parameters, and what is known of their
// values.
func (p Program) vaultWord(words, given []string, last string) (c Candidates) {
	if len(given) == 0 {
		for _, command := range allowlist.Commands() {
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
	c.Open = len(c.List) > 0 && strings.HasSuffix(c.List[0].Word, "=") // of one flag the word is complete
	return c
}

// parameter completes the value of a parameter.
func (p Program) parameter(command allowlist.Command, words []string, name, value string) (c Candidates) {
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
		values = foldersOf(p.Paths(words[:len(words)-1], value))
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

// foldersOf returns the folders in which files are, each once.
func foldersOf(files []string) (folders []string) {
	for _, file := range files {
		for at := strings.LastIndexByte(file, '/'); at > 0; at = strings.LastIndexByte(file[:at], '/') {
			folders = append(folders, file[:at])
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}
