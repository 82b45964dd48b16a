package gateway

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// The notes that a line links to are found in every form of a link.
func TestLinksInALine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"[[Plan]] and [[Work/Plan 2|text]], [[Plan#Part]]": "plan plan 2 plan",
		"[a](Plan.md) [b](Work/My%20Plan.md)":              "plan my plan",
		"[a](<My Plan.md>) [b](Plan.md#part)":              "my plan plan",
		`[a](Plan.md "a title") [b](Plan.md 'x')`:          "plan plan",
		"[a](%C3%9Cber.md)":                                "über",
		"[a](100%.md)":                                     "100%",
		"no link":                                          "",
	} {
		assert.Equal(t, strings.Join(linksIn(line), " "), want, line)
	}
}
