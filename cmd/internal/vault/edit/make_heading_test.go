package edit

import "testing"

func made(heading, content string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return AppendUnderMade(text, heading, content) }
}

func TestAppendUnderAHeadingThatIsMade(t *testing.T) {
	check(t, []row{
		{"one that is there", made("Log", "x"), "# Log\na\n", "# Log\na\n\nx\n"},
		{"at the end", made("Log", "x"), "# A\na\n", "# A\na\n\n## Log\nx\n"},
		{"at the end without a break", made("Log", "x"), "# A\na", "# A\na\n\n## Log\nx"},
		{"behind a blank line", made("Log", "x\n"), "# A\na\n\n", "# A\na\n\n## Log\nx\n"},
		{"in an empty note", made("Log", "x\n"), "", "## Log\nx\n"},
		{"behind properties", made("Log", "x"), "---\na: 1\n---\n", "---\na: 1\n---\n## Log\nx\n"},
		{"of a level", made("### Log", "x"), "a\n", "a\n\n### Log\nx\n"},
		{"below another", made("A#Log", "x"), "# A\na\n\n# B\nb\n", "# A\na\n\n## Log\nx\n\n# B\nb\n"},
		{"below another that is the last", made("A#Log", "x"), "# A\na", "# A\na\n\n## Log\nx"},
		{"two below another", made("A#B#C", "x"), "## A\n", "## A\n\n### B\n#### C\nx\n"},
		{"all of a chain", made("A#B", "x"), "a\n", "a\n\n## A\n### B\nx\n"},
		{"no deeper than it goes", made("A#B", "x"), "###### A\n", "!would not be found again"},
		{"two of that name above", made("A#C", "x"), "# A\n# A\n", "!heading \"A\" is there 2 times"},
		{"no name", made("#", "x"), "a\n", "!a heading has one line with text"},
		{"two lines", made("a\nb", "x"), "a\n", "!a heading has one line with text"},
		{"code that does not end", made("Log", "x"), "```\na\n", "!inside code"},
	})
}
