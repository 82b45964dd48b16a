package main

import (
	"fmt"
	"strconv"
	"strings"
)

// Nobody has recorded what the commands of the two histories print: the texts here are assumed from those of other
// commands. What is documented is that 1 is the newest version, and the one that is read by default.

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

func (c *call) restore(of map[string][]string) string {
	text := c.version(of)
	c.write(c.target(), text)
	return ""
}
