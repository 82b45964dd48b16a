package main

import (
	"fmt"
	"strconv"
	"strings"
)

// Nobody has recorded what the commands of the two histories print. That there is a head before the text of a version is
// from a description, and so is the confirmation; what is documented is that 1 is the newest version, and the one that is read
// by default.

func (c *call) listVersions(of map[string][]string) string {
	var rows []string
	for i, text := range of[c.target()] {
		rows = append(rows, fmt.Sprintf("%d\t%d", i+1, len(text)))
	}
	return strings.Join(rows, "\n")
}

// version returns the text of one version of a note.
func (c *call) version(of map[string][]string) string {
	at := c.target()
	number := c.values["version"]
	if number == "" {
		number = "1"
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(of[at]) {
		panic(sentence(fmt.Sprintf("Version %s not found.", number)))
	}
	return of[at][n-1]
}

// print prints the text of one version of a note.
func (c *call) print(of map[string][]string) string {
	text := c.version(of)
	if !c.config.Heads {
		return text
	}
	number := c.values["version"]
	if number == "" {
		number = "1"
	}
	return fmt.Sprintf("%s (version %s, %s 02:38)\n---\n%s", c.target(), number, c.config.Today, text)
}

func (c *call) restore(of map[string][]string) string {
	text := c.version(of)
	c.write(c.target(), text)
	return fmt.Sprintf("Restored %s to version %s", c.target(), c.values["version"])
}
