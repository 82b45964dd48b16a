package main

import "strings"

// The reading commands that both backends answer, with the parameters that change the result. None of them opens, creates or changes anything.
var (
	ofVault = []string{
		"files", "files total", "files ext=md", "folders", "folders total", "tags", "tags counts", "tags counts sort=count", "tags format=json",
		"properties", "properties counts", "properties format=json", "aliases", "aliases verbose", "orphans", "orphans total", "deadends", "deadends total",
		"unresolved", "unresolved counts", "unresolved verbose", "tasks", "tasks todo", "tasks done", "tasks verbose", "tasks total", "tasks format=json",
		"bases", "templates", "bookmarks", "recents", "vault", "vaults", "daily:path", "daily:read", "version",
	}
	ofNote = []string{
		"read", "file", "outline", "outline format=json", "links", "links total", "backlinks", "backlinks counts", "properties", "tags", "tasks",
		"aliases", "wordcount",
	}
	ofFolder = []string{"folder path=%", "files folder=%"}
	ofTag    = []string{"tag name=%", "tag name=% verbose"}
	ofBase   = []string{"base:query path=% format=json"}
	ofWord   = []string{"search query=%", "search query=% total", "search:context query=%"}
	ofName   = []string{"template:read name=%"}
)

// notCompared are reading commands of both backends that cannot be compared: their answers are
// random, belong to one backend, or depend on what is open in the app.
var notCompared = strings.Fields("random:read history history:list history:read diff help property:read task base:views")

// comparedCall is one request to both backends.
type comparedCall struct {
	command string
	words   []string
}

func (c comparedCall) String() string {
	words := []string{c.command}
	for _, word := range c.words {
		if name, value, found := strings.Cut(word, "="); found && strings.ContainsAny(value, " \t\"") {
			word = name + `="` + strings.ReplaceAll(value, `"`, `\"`) + `"`
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// comparedCallOf makes a call of a row of the tables; value takes the place of the percent sign.
func comparedCallOf(row, value string) comparedCall {
	fields := strings.Fields(row)
	c := comparedCall{command: fields[0], words: []string{}}
	for _, field := range fields[1:] {
		if name, found := strings.CutSuffix(field, "%"); found {
			field = name + value
		}
		c.words = append(c.words, field)
	}
	return c
}

// callsOf makes the calls of some rows for some values.
func callsOf(rows, values []string) (calls []comparedCall) {
	for _, value := range values {
		for _, row := range rows {
			calls = append(calls, comparedCallOf(row, value))
		}
	}
	return calls
}

// noteCalls are the calls about one note each.
func noteCalls(paths []string) (calls []comparedCall) {
	for _, path := range paths {
		for _, row := range ofNote {
			c := comparedCallOf(row, "")
			c.words = append(c.words, "path="+path)
			calls = append(calls, c)
		}
	}
	return calls
}

// spreadOver returns at most n of the values, evenly over all of them.
func spreadOver(values []string, n int) []string {
	if len(values) <= n {
		return values
	}
	var chosen []string
	for i := range n {
		chosen = append(chosen, values[i*len(values)/n])
	}
	return chosen
}
