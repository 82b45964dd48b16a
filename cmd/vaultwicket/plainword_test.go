package main

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// A value alone is of the parameter that it can only be of.
func TestAPlainWordIsNamed(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"read Plan":                     "file=Plan",
		"read Work/Plan.md":             "path=Work/Plan.md",
		"read Plan.md":                  "path=Plan.md",
		"search garden":                 "query=garden",
		"search node.js":                "query=node.js",
		"search v1.2":                   "query=v1.2",
		"search TCP/IP":                 "query=TCP/IP",
		"search Work/ query=x":          "path=Work/ query=x",
		"append Work/Plan.md content=x": "path=Work/Plan.md content=x",
		"append Work/Plan.md":           "path=Work/Plan.md", // the content is missing, and no other note gets it
		"files Work/":                   "Work/",
		"read file":                     "file",
		"read a b":                      "a b",
		"no-command x":                  "x",
	} {
		words := strings.Fields(typed)
		assert.Equal(t, strings.Join(namePlainWord(words[0], words[1:]), " "), want, typed)
	}
}
