package settings

import (
	"fmt"
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
func DescribeVault() (list [][2]string) {
	properties := vaultSchema()["properties"].(object)
	for _, key := range vaultKeys {
		list = append(list, [2]string{key, properties[key].(object)["description"].(string)})
	}
	return list
}

// levelTexts say what each level of access allows.
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
	// Lines are what to write into the settings file for another value. Where any text
	// is a value, it is the line for the one in force.
	Lines []string
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

// lines returns the lines for other values of a setting than this one.
func (s setting) lines(value string) (lines []string) {
	line := func(text string) { lines = append(lines, s.name+" = "+text) }
	switch {
	case s.kind == boolean:
		line(strconv.FormatBool(value != "true"))
	case s.kind == numeric:
		line(value)
	case s.kind == list:
		var quoted []string
		for _, name := range names(value) {
			quoted = append(quoted, strconv.Quote(name))
		}
		line("[" + strings.Join(quoted, ", ") + "]")
	case len(s.form.choices) > 0:
		for _, choice := range s.form.choices {
			if choice != value {
				line(strconv.Quote(choice))
			}
		}
	default:
		line(fmt.Sprintf("%q", value))
	}
	return lines
}

// Choices returns the values that a setting can have, by the name of its flag; nil where
// any value will do, or there is no such setting.
func Choices(name string) []string {
	for _, s := range table {
		if s.name == name {
			return s.form.choices
		}
	}
	return nil
}
