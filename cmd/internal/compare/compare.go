// Package compare asks the Obsidian app and the embedded CLI the same reading commands on
// one vault, and tells where the answers differ. It is the way to find out, on the machine
// of a user, where the embedded CLI is wrong.
//
// It asks through two gateways, and changes nothing: both have to be read-only. It keeps no
// texts of notes unless asked to.
package compare

import (
	"context"
	"path"
	"slices"
	"strings"

	"vaultwicket/gateway"
)

// Config says what is compared.
type Config struct {
	App, Embedded *gateway.Gateway // of one vault, read-only
	Notes         int              // maximum number of notes that are looked at one by one
	Texts         bool             // keep the lines that differ
}

// Report is what came of a comparison.
type Report struct {
	Vault       string       `json:"vault"`
	App         string       `json:"app"` // its version
	Compared    int          `json:"compared"`
	Same        int          `json:"same"`
	Order       int          `json:"otherOrder"`
	Different   int          `json:"different"`
	Differences []Difference `json:"differences"`
}

// Difference is a call with different answers. Texts has the lines that only one of them
// has, if they were asked for.
type Difference struct {
	Call         string `json:"call"`
	Kind         string `json:"kind"` // order or different
	App          Answer `json:"app"`
	Embedded     Answer `json:"embedded"`
	OnlyApp      int    `json:"onlyApp"` // lines
	OnlyEmbedded int    `json:"onlyEmbedded"`
	Texts        *Texts `json:"texts,omitempty"`
}

// Answer is the size of an answer, or the code of a failure.
type Answer struct {
	Lines int    `json:"lines"`
	Code  string `json:"code,omitempty"`
}

// Texts are the lines that differ, up to maxTexts of each.
type Texts struct {
	OnlyApp      []string `json:"onlyApp"`
	OnlyEmbedded []string `json:"onlyEmbedded"`
}

const (
	maxTexts  = 20
	maxValues = 8 // folders, tags, bases, words and templates
)

// Run compares. The error is that of the first call: without an app, or without the folder
// of the vault, there is nothing to compare.
func Run(ctx context.Context, c Config) (Report, error) {
	version := c.ask(ctx, c.App, call{"version", []string{}})
	if version.Error != nil {
		return Report{}, version.Error
	}
	files := c.ask(ctx, c.Embedded, callOf("files", ""))
	if files.Error != nil {
		return Report{}, files.Error
	}
	r := Report{Vault: c.App.VaultName(), App: strings.TrimSpace(version.Output()), Differences: []Difference{}}
	for _, one := range c.calls(ctx, linesOf(files.Output())) {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		r.add(one, c.ask(ctx, c.App, one), c.ask(ctx, c.Embedded, one), c.Texts)
	}
	return r, nil
}

func (c Config) ask(ctx context.Context, gw *gateway.Gateway, one call) gateway.Result {
	return gw.Do(ctx, gateway.Request{Command: one.command, Words: one.words, Caller: "compare", Client: "compare", Surface: "terminal"})
}

// calls are those of the tables, on what the vault has.
func (c Config) calls(ctx context.Context, files []string) []call {
	list := func(command string) []string { return linesOf(c.ask(ctx, c.Embedded, callOf(command, "")).Output()) }
	notes := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return path.Ext(file) != ".md" })
	sample := spread(notes, c.Notes)
	var words []string
	for _, note := range spread(notes, maxValues) {
		if word := longestWord(strings.TrimSuffix(path.Base(note), ".md")); word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	folders := slices.DeleteFunc(list("folders"), func(folder string) bool { return folder == "/" })
	return slices.Concat(
		callsOf(ofVault, []string{""}), noteCalls(sample), callsOf(ofFolder, spread(folders, maxValues)), callsOf(ofTag, spread(list("tags"), maxValues)),
		callsOf(ofBase, spread(list("bases"), maxValues)), callsOf(ofName, spread(list("templates"), maxValues)), callsOf(ofWord, words),
	)
}

// longestWord returns the longest run of letters of a name.
func longestWord(name string) (longest string) {
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(` -_.,;:()[]{}"'#/`, r) }) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}

func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines
}

// add judges the two answers to a call.
func (r *Report) add(one call, app, embedded gateway.Result, texts bool) {
	r.Compared++
	d := Difference{Call: one.String(), App: answerOf(app), Embedded: answerOf(embedded)}
	switch {
	case app.Error != nil || embedded.Error != nil:
		if codeOf(app) == codeOf(embedded) {
			r.Same++
			return
		}
		d.Kind = "different"
	case equal(app.Output(), embedded.Output()):
		r.Same++
		return
	default:
		onlyApp, onlyEmbedded := without(linesOf(app.Output()), linesOf(embedded.Output())), without(linesOf(embedded.Output()), linesOf(app.Output()))
		d.Kind, d.OnlyApp, d.OnlyEmbedded = "order", len(onlyApp), len(onlyEmbedded)
		if d.OnlyApp+d.OnlyEmbedded > 0 {
			d.Kind = "different"
		}
		if texts {
			d.Texts = &Texts{atMost(onlyApp), atMost(onlyEmbedded)}
		}
	}
	if d.Kind == "order" {
		r.Order++
	} else {
		r.Different++
	}
	r.Differences = append(r.Differences, d)
}

func answerOf(r gateway.Result) Answer {
	if r.Error != nil {
		return Answer{Code: codeOf(r)}
	}
	return Answer{Lines: len(linesOf(r.Output()))}
}

func codeOf(r gateway.Result) string {
	if r.Error == nil {
		return ""
	}
	return r.Error.Code
}
