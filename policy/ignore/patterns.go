package ignore

import (
	"strings"

	"github.com/git-pkgs/gitignore"
)

// patterns are the lines of a file such as gitignore(5) describes. The last one
// that matches a name decides.
//
// The library is asked about one line at a time: for it a line that takes back
// what others ignore holds for all that lies in a folder too, which would show
// what git hides.
type patterns struct {
	lines []pattern
	any   *gitignore.Matcher // whether one of them may match
}

type pattern struct {
	matcher gitignore.Matcher
	negated bool // it takes back what those before it say
	folders bool // it is about folders alone
	line    int  // its number in the file
	text    string
}

func newPatterns(text string) patterns {
	p := patterns{any: &gitignore.Matcher{}}
	number := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		number++
		line = withoutEnd(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		one := pattern{line: number, text: line}
		line, one.negated = strings.CutPrefix(line, "!")
		line, one.folders = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		line = strings.ReplaceAll(line, `\/`, "/") // no name holds a backslash
		for strings.Contains(line, "***") {
			line = strings.ReplaceAll(line, "***", "**")
		}
		if inside, ok := strings.CutSuffix(line, "/**"); ok {
			line = inside + "/**/*" // for the library the folder is within itself
		}
		if line[0] == '#' || line[0] == '!' {
			line = `\` + line
		}
		one.matcher.AddPatterns([]byte(line+"/"), "")
		p.any.AddPatterns([]byte(line), "")
		p.lines = append(p.lines, one)
	}
	return p
}

// withoutEnd returns a line without the blanks at its end, but for one with a
// backslash in front.
func withoutEnd(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if line[i] == ' ' {
			continue
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

func (p patterns) match(name string, folder bool) bool {
	decides := p.decides(name, folder)
	return decides != nil && !decides.negated
}

// decides returns the line that decides about a name, nil if none matches.
func (p patterns) decides(name string, folder bool) *pattern {
	if !p.any.MatchPath(name, true) {
		return nil
	}
	for i := len(p.lines) - 1; i >= 0; i-- {
		if p.lines[i].match(name, folder) {
			return &p.lines[i]
		}
	}
	return nil
}

// match reports whether a line is about this name, and not about a folder around
// it. Every line was given to the library as one about folders: those match what
// lies in a folder whether it is one or not, and the folder itself only as one.
func (p *pattern) match(name string, folder bool) bool {
	return (folder || !p.folders) && p.matcher.MatchPath(name, true) && !p.matcher.MatchPath(name, false)
}
