package app

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// step is one command line with what each side is expected to print.
type step struct {
	line          int
	words         []string
	compare, want string
	app           string // what the app prints, if reason is set
	reason        string
	status        int // of the embedded program
}

// readers are the commands that a script may hold. None of them changes a
// vault or shows anything on a screen.
var readers = strings.Fields("aliases backlinks bases daily:path deadends file files folder folders links orphans outline properties " +
	"property:read read search search:context tag tags tasks unresolved vault wordcount frobnicate")

// parse reads a script. Every line of it has to be understood.
func parse(text []byte) ([]step, error) {
	var steps []step
	archive := txtar.Parse(text)
	if len(archive.Files) > 0 {
		return nil, fmt.Errorf("a script has no files: the fixture is one for all")
	}
	number := 0
	for line := range strings.Lines(string(archive.Comment)) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		mark, rest, _ := strings.Cut(line, " ")
		if mark == "$" {
			words, err := split(rest)
			if err != nil || len(words) == 0 || !slices.Contains(readers, words[0]) {
				return nil, fmt.Errorf("line %d: %q is no command that a script may hold (%v)", number, rest, err)
			}
			steps = append(steps, step{line: number, words: words})
			continue
		}
		if len(steps) == 0 || !steps[len(steps)-1].add(mark, rest) {
			return nil, fmt.Errorf("line %d: cannot read %q", number, line)
		}
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("no steps")
	}
	return steps, nil
}

// add reads a line about a step, and reports whether it could.
func (s *step) add(mark, rest string) bool {
	switch mark {
	case ">":
		s.want += rest + "\n"
	case "<":
		s.app += rest + "\n"
		return s.reason != ""
	case "~":
		s.reason = rest
		return rest != ""
	case "?":
		_, err := fmt.Sscanf(rest, "%d", &s.status)
		return err == nil && s.status > 0
	case "=":
		s.compare = rest
		return slices.Contains([]string{"unordered", "json", "first"}, rest)
	default:
		return false
	}
	return true
}

// split parts a command line at its blanks; those in single quotes stay.
func split(text string) ([]string, error) {
	var words []string
	for i, piece := range strings.Split(text, "'") {
		parts := strings.Split(piece, " ")
		if i%2 == 1 {
			parts = []string{piece}
		}
		if i == 0 {
			words = parts
			continue
		}
		words[len(words)-1] += parts[0]
		words = append(words, parts[1:]...)
	}
	if strings.Count(text, "'")%2 == 1 {
		return nil, fmt.Errorf("a quote is not closed")
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" }), nil
}

// agrees compares an output with what is wanted, in the way of the step.
func (s step) agrees(got, want string) bool {
	got = strings.TrimPrefix(got, "\n") // recorded on Windows in front of some answers
	switch s.compare {
	case "unordered":
		return slices.Equal(ordered(got), ordered(want))
	case "json":
		var a, b any
		return json.Unmarshal([]byte(got), &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
	case "first":
		first, _, _ := strings.Cut(got, "\n")
		return first+"\n" == want
	}
	return got == want
}

func ordered(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return lines
}
