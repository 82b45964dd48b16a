package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Comparing contains the options of [Compare].
type Comparing struct {
	Notes int  // how many notes of the vault the commands about one note are tried on
	Texts bool // the result contains the lines that differ
}

// Compare runs the same read commands on both backends and compares the answers. If ctx is done, it returns what was
// compared until then and the error of ctx.
func Compare(ctx context.Context, o bootstrap.Opened, options Comparing) (Comparison, error) {
	c := backends{app: readOnlyGateway(o, settings.App), embedded: readOnlyGateway(o, settings.Embedded)}
	defer c.app.Flush()
	defer c.embedded.Flush()
	return c.compare(ctx, options)
}

// readOnlyGateway returns a read-only gateway for one backend with all tiers enabled. Access rules and disabled
// commands still apply.
func readOnlyGateway(o bootstrap.Opened, backend settings.Backend) *gateway.Gateway {
	o.Backend = backend
	o.Limits = settings.Limits{Parallel: 1}
	o.Served = slices.Clone(o.Served[:1])
	p := &o.Served[0].Policy
	p.Ceiling = tiers.V3
	p.Mutations = false
	p.Publish = false
	p.UI = false
	return o.NewGateway()
}

// backends has read-only gateways of one vault, one for each backend.
type backends struct{ app, embedded *gateway.Gateway }

// Comparison is the result of [Compare], as "compare --json" prints it.
type Comparison struct {
	Vault       string          `json:"vault"`
	App         string          `json:"app"`        // the version of the app
	Compared    int             `json:"compared"`   // number of calls
	Same        int             `json:"same"`       // calls with the same answer
	Order       int             `json:"otherOrder"` // calls with the same lines in another order
	Different   int             `json:"different"`
	Differences []DifferingCall `json:"differences"`
}

// DifferingCall is a call with different answers. Texts contains the differing lines, if requested.
type DifferingCall struct {
	Call         string          `json:"call"`
	Kind         string          `json:"kind"` // order or different
	App          AnswerSize      `json:"app"`
	Embedded     AnswerSize      `json:"embedded"`
	OnlyApp      int             `json:"onlyApp"`      // number of lines
	OnlyEmbedded int             `json:"onlyEmbedded"` // number of lines
	Texts        *DifferingTexts `json:"texts,omitempty"`
}

// AnswerSize is the size of an answer, or the code of an error.
type AnswerSize struct {
	Lines int    `json:"lines"`
	Code  string `json:"code,omitempty"`
}

// String returns the code, or the number of lines.
func (a AnswerSize) String() string { return cmp.Or(a.Code, sanitize.Counted(a.Lines, "line")) }

// DifferingTexts are the lines that differ, up to maxTexts of each.
type DifferingTexts struct {
	OnlyApp      []string `json:"onlyApp"`
	OnlyEmbedded []string `json:"onlyEmbedded"`
}

const (
	maxTexts  = 20
	maxValues = 8 // per kind: folders, tags, bases, words and templates
)

// compare runs the calls on both backends. It returns an error if the app does not answer version, or the embedded
// program does not list the files: then there is nothing to compare.
func (c backends) compare(ctx context.Context, options Comparing) (Comparison, error) {
	version := ask(ctx, c.app, comparedCall{"version"})
	if version.Error != nil {
		return Comparison{}, version.Error
	}
	files := ask(ctx, c.embedded, comparedCall{"files"})
	if files.Error != nil {
		return Comparison{}, files.Error
	}
	sizeOf := func(r gateway.Result) AnswerSize {
		if r.Error != nil {
			return AnswerSize{Code: r.Error.Code}
		}
		return AnswerSize{Lines: len(linesOf(r.Output()))}
	}
	// The result is not nil, so that JSON has [] rather than null.
	firstLines := func(lines []string) []string { return append([]string{}, lines[:min(len(lines), maxTexts)]...) }
	r := Comparison{Vault: c.app.VaultName(), App: strings.TrimSpace(version.Output()), Differences: []DifferingCall{}}
	for _, call := range c.calls(ctx, linesOf(files.Output()), options.Notes) {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		app := ask(ctx, c.app, call)
		embedded := ask(ctx, c.embedded, call)
		difference := DifferingCall{Call: call.String(), Kind: "different", App: sizeOf(app), Embedded: sizeOf(embedded)}
		failed := app.Error != nil || embedded.Error != nil
		r.Compared++
		isSame := difference.App.Code == difference.Embedded.Code
		if !failed {
			isSame = sameAnswer(app.Output(), embedded.Output())
		}
		if isSame {
			r.Same++
			continue
		}
		if !failed {
			onlyApp := linesWithout(linesOf(app.Output()), linesOf(embedded.Output()))
			onlyEmbedded := linesWithout(linesOf(embedded.Output()), linesOf(app.Output()))
			difference.OnlyApp = len(onlyApp)
			difference.OnlyEmbedded = len(onlyEmbedded)
			if difference.OnlyApp+difference.OnlyEmbedded == 0 {
				difference.Kind = "order"
			}
			if options.Texts {
				difference.Texts = &DifferingTexts{firstLines(onlyApp), firstLines(onlyEmbedded)}
			}
		}
		if difference.Kind == "order" {
			r.Order++
		} else {
			r.Different++
		}
		r.Differences = append(r.Differences, difference)
	}
	return r, nil
}

// ask runs one call.
func ask(ctx context.Context, gw *gateway.Gateway, call comparedCall) gateway.Result {
	return gw.Do(
		ctx,
		gateway.Request{Command: call[0], Words: call[1:], Caller: "compare", Client: "compare", Surface: "terminal"},
	)
}

// calls returns the calls of the tables below with notes and names from the vault. most is the maximum number of
// notes.
func (c backends) calls(ctx context.Context, files []string, most int) []comparedCall {
	list := func(command string) []string {
		return valuesOf(ask(ctx, c.embedded, comparedCall{command}).Output())
	}
	notes := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return path.Ext(file) != ".md" })
	sample := spreadOver(notes, most)
	var words []string
	for _, note := range spreadOver(notes, maxValues) {
		word := longestWord(strings.TrimSuffix(path.Base(note), ".md"))
		if word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	folders := slices.DeleteFunc(list("folders"), func(folder string) bool { return folder == "/" })
	return slices.Concat(
		callsOf(ofVault, []string{""}),
		callsOf(ofNote, sample),
		callsOf(ofFolder, spreadOver(folders, maxValues)),
		callsOf(ofTag, spreadOver(list("tags"), maxValues)),
		callsOf(ofBase, spreadOver(list("bases"), maxValues)),
		callsOf(ofName, spreadOver(list("templates"), maxValues)),
		callsOf(ofWord, words),
	)
}

// emptyListings are the answers of listings that have no values.
var emptyListings = []string{"No tags found.", "No templates found.", "No base files found in vault"}

// valuesOf returns the values in a listing, one in each line.
func valuesOf(listing string) []string {
	lines := linesOf(listing)
	if len(lines) == 1 && slices.Contains(emptyListings, lines[0]) {
		return nil
	}
	return lines
}

// longestWord returns the longest word of a text, in bytes.
func longestWord(text string) (longest string) {
	isSeparator := func(r rune) bool { return strings.ContainsRune(` -_.,;:()[]{}"'#/`, r) }
	for word := range strings.FieldsFuncSeq(text, isSeparator) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}

// linesOf splits a text into lines without line breaks.
func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines
}

// sameAnswer reports whether two answers are the same, except for the line break at the end, and in JSON for white
// space and the order of keys.
func sameAnswer(a, b string) bool {
	if strings.TrimRight(a, "\r\n") == strings.TrimRight(b, "\r\n") {
		return true
	}
	canonical := func(text string) (normalized []byte) {
		if !json.Valid([]byte(text)) {
			return nil
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var value any
		if decoder.Decode(&value) == nil {
			normalized, _ = json.Marshal(withNumbers(value))
		}
		return normalized
	}
	canonicalA := canonical(a)
	return canonicalA != nil && bytes.Equal(canonicalA, canonical(b))
}

// withNumbers converts the numbers in a JSON value that are not written as integers. Those that are would lose digits.
func withNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		_, err := strconv.ParseInt(value.String(), 10, 64)
		if number, errFloat := value.Float64(); err != nil && errFloat == nil {
			return number
		}
	case []any:
		for i, item := range value {
			value[i] = withNumbers(item)
		}
	case map[string]any:
		for key, item := range value {
			value[key] = withNumbers(item)
		}
	}
	return value
}

// linesWithout returns the lines that are not in others. A line that occurs more often than in others is returned for
// each extra occurrence.
func linesWithout(lines, others []string) (only []string) {
	counts := map[string]int{}
	for _, line := range others {
		counts[line]++
	}
	for _, line := range lines {
		if counts[line] > 0 {
			counts[line]--
			continue
		}
		only = append(only, line)
	}
	return only
}

// The read commands that both backends support, with the parameters that change the result. "%" stands for a value.
// None of them opens, creates or changes anything.
var (
	ofVault = []string{
		"files", "files total", "files ext=md", "folders", "folders total", "tags", "tags counts", "tags counts sort=count", "tags format=json",
		"properties", "properties counts", "properties format=json", "aliases", "aliases verbose", "orphans", "orphans total", "deadends", "deadends total",
		"unresolved", "unresolved counts", "unresolved verbose", "tasks", "tasks todo", "tasks done", "tasks verbose", "tasks total", "tasks format=json",
		"bases", "templates", "bookmarks", "recents", "vault", "vaults", "daily:path", "daily:read", "version",
	}
	ofNote = []string{
		"read path=%", "file path=%", "outline path=%", "outline format=json path=%", "links path=%", "links total path=%", "backlinks path=%",
		"backlinks counts path=%", "properties path=%", "tags path=%", "tasks path=%", "aliases path=%", "wordcount path=%",
	}
	ofFolder = []string{"folder path=%", "files folder=%"}
	ofTag    = []string{"tag name=%", "tag name=% verbose"}
	ofBase   = []string{"base:query path=% format=json"}
	ofWord   = []string{"search query=%", "search query=% total", "search:context query=%"}
	ofName   = []string{"template:read name=%"}
)

// comparedCall is a command followed by its parameters.
type comparedCall []string

// String returns the call as it is typed in a terminal, with values quoted if they contain white space or quotes.
func (c comparedCall) String() string {
	words := slices.Clone(c)
	for i, word := range words {
		if name, value, hasValue := strings.Cut(word, "="); hasValue && strings.ContainsAny(value, " \t\"") {
			words[i] = name + `="` + strings.ReplaceAll(value, `"`, `\"`) + `"`
		}
	}
	return strings.Join(words, " ")
}

// comparedCallOf returns the call in a row of the tables, with value in place of the percent sign.
func comparedCallOf(row, value string) comparedCall {
	call := strings.Fields(row)
	for i, word := range call {
		if name, isPlaceholder := strings.CutSuffix(word, "%"); isPlaceholder {
			call[i] = name + value
		}
	}
	return call
}

// callsOf returns the calls in rows for each of the values.
func callsOf(rows, values []string) (calls []comparedCall) {
	for _, value := range values {
		for _, row := range rows {
			calls = append(calls, comparedCallOf(row, value))
		}
	}
	return calls
}

// spreadOver returns at most n of the values, evenly spaced.
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
