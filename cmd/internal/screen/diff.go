package screen

import "strings"

// Diff returns a unified difference, or another text that has one, with colours: lines that
// are added and those that are removed. before is what its lines begin with, such as a bar.
// The text must be clean.
func (s Screen) Diff(text, before string) string {
	if !s.colour {
		return text
	}
	var painted strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.TrimSuffix(line, "\n"), line[len(strings.TrimSuffix(line, "\n")):]
		painted.WriteString(s.Paint(diffStyle(strings.TrimPrefix(line, before), strings.HasPrefix(line, before)), line) + end)
	}
	return painted.String()
}

func diffStyle(line string, within bool) Style {
	switch {
	case !within:
		return Plain
	case strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---"):
		return Strong
	case strings.HasPrefix(line, "@@"):
		return Name
	case strings.HasPrefix(line, "+"):
		return Good
	case strings.HasPrefix(line, "-"):
		return Bad
	}
	return Plain
}
