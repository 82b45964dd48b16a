package allowlist

import (
	"slices"
	"strings"
	"testing"

	"vaultwicket/allowlist/quote"
)

// TestOtherNames: each leads to a command of the table that can be enabled, is written
// with its words in order, and stands for one command alone.
func TestOtherNames(t *testing.T) {
	seen := map[string]string{}
	for _, row := range otherNamesOf {
		if r := find(row.command); r == nil {
			t.Errorf("%s is no command", row.command)
		}
		for other := range strings.SplitSeq(row.others, "; ") {
			words := strings.Fields(other)
			if !slices.IsSorted(words) || seen[other] != "" || strings.Join(words, " ") != other {
				t.Errorf("%s: %q is not sorted, or stands for %q already", row.command, other, seen[other])
			}
			seen[other] = row.command
			if find(other) == nil && Meant(strings.ReplaceAll(other, " ", "_")) == "" {
				t.Errorf("%s: %q is not found", row.command, other)
			}
		}
	}
	for _, name := range Names() {
		if got := Meant(name); got != name {
			t.Errorf("%s was meant as %q", name, got)
		}
	}
}

func TestMeant(t *testing.T) {
	for name, want := range map[string]string{
		"note:read": "read", "read_note": "read", "readNote": "read", "Notes.Read": "read", "obsidian-read-note": "read", "DAILY:READ": "daily:read", "daily_read": "daily:read",
		"raed": "read", "dailyread": "daily:read", "list": "files", "": "", "xyzzy": "", strings.Repeat("x", quote.Limit+1): "", "mcp__obsidian__search_notes": "search",
	} {
		if got := Meant(name); got != want {
			t.Errorf("%.40q: %q, want %q", name, got, want)
		}
	}
}

// TestOtherParams: each leads to a parameter that some command has.
func TestOtherParams(t *testing.T) {
	known := map[string]bool{}
	eachRow(func(r *row) {
		for i := range r.params {
			known[r.params[i].name] = true
		}
	})
	for other, names := range otherParams() {
		for _, name := range names {
			if !known[name] {
				t.Errorf("%s: no command has %q", other, name)
			}
		}
	}
}

// TestACommandLineAsAName is written out as a call, which parses.
func TestACommandLineAsAName(t *testing.T) {
	for line, want := range map[string]string{
		"daily:read date=yesterday":              `{"command":"daily:read","params":{"date":"yesterday"}}`,
		`read path="Ideas/My bread.md"`:          `{"command":"read","params":{"path":"Ideas/My bread.md"}}`,
		"vaultwicket run read Ideas/My bread.md": `{"command":"read","params":{"path":"Ideas/My bread.md"}}`,
		"tasks --todo":                           `{"command":"tasks","params":{"todo":true}}`,
		"search 'low <water>'":                   `{"command":"search","params":{"query":"low <water>"}}`,
		"read()":                                 `did you mean "read"?`,
		"obsidian read":                          `did you mean "read"?`,
		"frobnicate x=y":                         "",
		"eval code=1":                            "", // permanently disabled: no way to it is shown
		"read " + strings.Repeat("x", maxLine):   "",
	} {
		_, err := Parse(line, nil)
		refused, ok := err.(*ParseError)
		if !ok || refused.Code() != CodeUnknownCommand || strings.TrimPrefix(refused.Hint(), "put the parameters into params: ") != want {
			t.Errorf("%.60q: %v, hint %q, want %q", line, err, refused.Hint(), want)
		}
	}
}

func FuzzMeant(f *testing.F) {
	for _, name := range []string{"note:read", "list files", "a=b", "read path='", "\xff", "daily:append buy milk"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if meant := Meant(name); meant != "" && find(meant) == nil {
			t.Errorf("%q: %q is no command", name, meant)
		}
		hintForLine(name)
	})
}
