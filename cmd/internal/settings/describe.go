package settings

import (
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/terminal"
)

// Description is what documents tell of a setting.
type Description struct{ Name, Variable, Default, Usage string }

// Describe returns what documents tell of each setting, in the order of the help text.
func Describe() []Description {
	var list []Description
	for _, s := range table {
		list = append(list, Description{s.name, VariableOf(s.name), s.fallback, s.usage})
	}
	return list
}

// DescribeVault returns the keys of a table [[vaults]], each with what it means.
func DescribeVault() [][2]string { return described(vaultKeys()) }

var levelTexts = []string{"no access; it is hidden completely", "it can be read, listed and found", "also, it can be created and changed", "also, it can be removed, replaced and moved away"}

// DescribeLevels returns the levels of access, each with what may be done with a note.
func DescribeLevels() (list [][2]string) {
	for i, name := range levelNames() {
		list = append(list, [2]string{name, levelTexts[i]})
	}
	return list
}

// Row is a setting with its value and origin, for a reader.
type Row struct {
	Name, Value, Default, Origin, About string
	Lines                               []string // what to write into the settings file for another value, or an example of one
}

// List reads the settings again, with the flags as they were given, and returns them in
// the order of the help text, and the file that they were read from, "" for none.
func (f *Flags) List(std terminal.Streams) (rows []Row, file string, err error) {
	f = f.again()
	if _, err := f.read(std); err != nil {
		return nil, "", err
	}
	if f.file.info != nil {
		file = f.file.name
	}
	for i, s := range table {
		value := f.raws[i].text
		rows = append(rows, Row{Name: s.name, Value: value, Default: s.fallback, Origin: f.raws[i].origin, About: s.usage, Lines: s.lines(value)})
	}
	return rows, file, nil
}

// lines returns lines for other values of a setting than this one: examples that change something.
func (s setting) lines(value string) (lines []string) {
	line := func(text string) { lines = append(lines, s.name+" = "+text) }
	example := map[string]string{ // of the settings that take a text or a list, other than their defaults
		"cli": "/usr/local/bin/obsidian", "vault": "Notes", "disable": "delete", "enable-only": "read", "timeout": "30s", "max-output": "64KiB", "min-cli-version": "1.13.0",
		"embeddings-url": "http://127.0.0.1:11434/v1", "embeddings-model": "mxbai-embed-large", "embeddings-key-file": "/home/me/.config/vaultwicket/embeddings-key", "toolsets": "notes", "http": "127.0.0.1:8765", "token-file": "/home/me/.config/vaultwicket/token",
		"tls-cert": "/etc/ssl/notes.pem", "tls-key": "/etc/ssl/notes.key", "allow-origin": "https://app.example", "allow-host": "notes.example", "public-url": "https://notes.example/mcp",
		"shadow": "suspicious", "exceptions": "secrets Docs/Samples # keys of the documentation", "private-property": "hidden-from", "private-tags": "confidential", "export": "https://collector.example:4318/v1/logs", "checkpoints": "state", "oauth-issuer": "https://login.example", "oauth-client-file": "/home/me/.config/vaultwicket/client", "oauth-claim": "azp", "agent": "cursor", "profile": "work",
	}[s.name]
	switch {
	case s.kind == boolean:
		line(strconv.FormatBool(value != "true"))
	case s.kind == numeric:
		n, _ := strconv.Atoi(value) // it was checked
		other := max(2*n, 4)
		if s.form.most > 0 && other > s.form.most {
			other = n / 2
		}
		line(strconv.Itoa(other))
	case s.kind == list:
		now := names(value)
		other := append(slices.Clone(now), example)
		if at := slices.Index(now, example); at >= 0 {
			other = slices.Delete(now, at, at+1)
		}
		var quoted []string
		for _, name := range other {
			quoted = append(quoted, strconv.Quote(name))
		}
		line("[" + strings.Join(quoted, ", ") + "]")
	case len(s.form.choices) > 0:
		for _, choice := range s.form.choices {
			if choice != value {
				line(strconv.Quote(choice))
			}
		}
	case value == example:
		line(strconv.Quote(s.fallback))
	default:
		line(strconv.Quote(example))
	}
	return lines
}

// Choices returns the values that a setting can have, by the name of its flag; nil where
// any value will do, or there is no such setting.
func Choices(name string) []string {
	row, _ := settingOf(name)
	return row.form.choices
}
