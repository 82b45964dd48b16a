package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// listingParams are the parameters with which a command of a folder has a long
// answer in the library. Of those that are not here, and not in shortAnswers, the
// plain form has.
var listingParams = map[string]map[string]any{
	"attachment:read": {"path": "Files/long.txt"}, "attachment:text": {"path": "Files/long.txt"},
	"canvas:read": {"path": "Big.canvas"}, "related": {"path": "Hub.md", "limit": "100"},
	"backlinks": {"path": "Hub.md"}, "base:check": {"path": "Wrong.base"}, "base:eval": {"path": "Hub.md", "expr": "file.backlinks"},
	"base:query": {"path": "Big.base"}, "base:views": {"path": "Big.base"}, "daily:range": {"from": "2026-03-01", "to": "2026-03-06"},
	"daily:read": {"date": "2026-03-05"}, "diff": {"path": "Hub.md", "from": "25"}, "history": {"path": "Hub.md"},
	"history:read": {"path": "Hub.md", "version": "3"}, "links": {"path": "Hub.md"}, "note:section": {"path": "Hub.md", "heading": "Long"},
	"outline": {"path": "Hub.md"}, "periodic:read": {"period": "day", "from": "2026-03-01", "to": "2026-03-06"},
	"property:read": {"path": "Hub.md", "name": "list"}, "random:read": {"seed": "1", "count": "9"},
	"read": {"path": "Hub.md"}, "changes": {"limit": "1000"}, "recent": {"limit": "200"}, "search": {"query": "spoke"},
	"find": {"query": "spoke", "limit": "100"}, "search:context": {"query": "spoke"},
	"tag": {"name": "turn", "verbose": true}, "template:read": {"name": "Form 01 of those for the tests of pages"},
}

// shortAnswers are commands whose answer is never long.
const shortAnswers = "daily:path file folder periodic:path task vault vaults version wordcount"

// listingCall is one call with a long answer.
type listingCall struct {
	command string
	params  map[string]any
}

func (c listingCall) String() string { return fmt.Sprint(c.command, " ", c.params) }

// ofHistory reports whether the answer is about changes, which the library has none of.
func (c listingCall) ofHistory() bool {
	return strings.HasPrefix(c.command, "history") || c.command == "diff" || c.command == "changes"
}

// json reports whether the answer is rows of JSON.
func (c listingCall) json() bool {
	format, given := c.params["format"]
	return format == "json" || !given && (c.command == "query" || c.command == "base:query")
}

// words are the call as a command line has it.
func (c listingCall) words() []string {
	words := []string{c.command}
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		if c.params[name] == true {
			words = append(words, name)
			continue
		}
		words = append(words, fmt.Sprint(name, "=", c.params[name]))
	}
	return words
}

// listingCalls are the calls of every command that lists something, in every
// format that it has, short and with all that the flags add.
func listingCalls() (all []listingCall) {
	for _, command := range harness.FolderCommands() {
		name := command.Name
		// help says one thing to an agent, and another to a user.
		if command.Effect != tiers.Reads || slices.Contains(strings.Fields(shortAnswers), name) || name == "help" {
			continue
		}
		formats, more := []string{""}, map[string]any{}
		for _, p := range command.Params {
			switch p.Name {
			case "format":
				formats = append(formats, p.Choices...)
			case "verbose", "counts":
				more[p.Name] = true
			}
		}
		for _, format := range formats {
			params := maps.Clone(listingParams[name])
			if params == nil {
				params = map[string]any{}
			}
			if format != "" {
				params["format"] = format
			}
			all = append(all, listingCall{name, params})
			if len(more) > 0 {
				params = maps.Clone(params)
				maps.Copy(params, more)
				all = append(all, listingCall{name, params})
			}
		}
	}
	return all
}

// reader is a client that reads long answers of the library.
type reader struct {
	*harness.StdioServer
	t           *testing.T
	vault, home string
	undivided   *harness.StdioServer // another server, for which no answer of the library is long
}

// openLibrary starts a server with pages of 1 KiB on a vault of its own.
func openLibrary(t *testing.T, flags ...string) *reader {
	t.Helper()
	vault := filepath.Join(t.TempDir(), "Library")
	fillLibrary(t, vault)
	return openVault(t, vault, flags...)
}

var fillShared sync.Once

// readLibrary starts a server with pages of 1 KiB on the vault of all tests that only read.
func readLibrary(t *testing.T, flags ...string) *reader {
	t.Helper()
	vault := filepath.Join(filepath.Dir(harness.Binary), "Library")
	fillShared.Do(func() { fillLibrary(t, vault) })
	return openVault(t, vault, flags...)
}

func openVault(t *testing.T, vault string, flags ...string) *reader {
	t.Helper()
	r := &reader{t: t, vault: vault, home: t.TempDir()}
	r.StdioServer = harness.StartSession(t, r.home, append(append(harness.EverythingEnabled(r.vault), "--max-output=1KiB"), flags...)...)
	return r
}

// whole is an answer on one page.
func (r *reader) whole(c listingCall) string {
	r.t.Helper()
	if r.undivided == nil {
		r.undivided = harness.OpenSession(r.t, r.vault, r.home)
	}
	got := r.undivided.Result(map[string]any{"command": c.command, "params": c.params})
	require.That(r.t, got.OK, "%v: %+v", c, got.Error)
	require.That(r.t, got.Truncated == nil, "%v: %+v", c, got.Error)
	return got.Stdout
}

// run is the answer of "vaultwicket run".
func (r *reader) run(c listingCall) string {
	r.t.Helper()
	run := exec.Command(harness.Binary, append(append([]string{"run"}, harness.EverythingEnabled(r.vault)...), c.words()...)...)
	run.Env = []string{"HOME=" + r.home}
	out, err := run.Output()
	require.That(r.t, err == nil, "%v: %v", c, err)
	if !c.json() {
		return string(out)
	}
	var compact bytes.Buffer // as it is over MCP
	require.NoError(r.t, json.Compact(&compact, out))
	return compact.String()
}

// first asks for the first page of an answer; more are further arguments.
func (r *reader) first(c listingCall, more map[string]any) gateway.Result {
	r.t.Helper()
	arguments := map[string]any{"command": c.command, "params": c.params}
	maps.Copy(arguments, more)
	got := r.Result(arguments)
	require.That(r.t, got.OK, "%v: %+v", c, got.Error)
	return got
}

// all reads an answer to its end, page by page; more are further arguments. Every
// second page is asked for without the parameters.
func (r *reader) all(c listingCall, more map[string]any) (pages []gateway.Result) {
	r.t.Helper()
	for page := r.first(c, more); ; {
		pages = append(pages, page)
		if page.Truncated == nil || page.Truncated.Cursor == "" {
			return pages
		}
		arguments := map[string]any{"command": c.command, "cursor": page.Truncated.Cursor}
		maps.Copy(arguments, more)
		if len(pages)%2 == 0 {
			arguments["params"] = c.params
		}
		page = r.Result(arguments)
		notices := slices.DeleteFunc(slices.Clone(page.Notices), everyPage.MatchString)
		if !page.OK || (len(notices) > 0) != (c.json() && !json.Valid([]byte(betweenMarks(page.Stdout)))) {
			r.t.Fatalf("%v, page %d: %+v, %q", c, len(pages)+1, page.Error, page.Notices)
		}
	}
}

// everyPage is what each page is told of: what a limit leaves out of a list, odd characters, and whose versions they are.
var everyPage = regexp.MustCompile(`a higher limit lists more$|^the versions are those of |are shown as escapes$|^suspected prompt injection`)

// betweenMarks returns what is between the marks of an answer, and an answer without marks
// as it is.
func betweenMarks(text string) string {
	if !strings.HasPrefix(text, "<<<note text ") {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[1:len(lines)-2], "")
}

// rowsOf are the rows of an array of JSON, each with its own bytes.
func rowsOf(t *testing.T, text string) (rows []string) {
	t.Helper()
	var raw []json.RawMessage
	err := json.Unmarshal([]byte(text), &raw)
	require.That(t, err == nil, "%.300q is no array: %v", text, err)
	for _, row := range raw {
		rows = append(rows, string(row))
	}
	return rows
}

func TestPagesOfEveryListingAreTheAnswerOfRun(t *testing.T) {
	t.Parallel()
	r := openLibrary(t)
	for i := range 30 { // so that there is a history
		r.Result(map[string]any{"command": "append", "params": map[string]any{"path": "Hub.md", "content": harness.Repeat(3, fmt.Sprintf("addition %d.%%d\n", i))}})
		r.Result(map[string]any{"command": "append",
			"params": map[string]any{"path": fmt.Sprintf("Spokes of a wheel that turns/Spoke %02d.md", i),
				"content": "something more"}})
	}
	paged, mine := map[string]bool{}, testenv.Shard(t, 3)
	for i, c := range listingCalls() {
		if paged[c.command] && !mine(i) {
			continue // one form of each command, and some others
		}
		want := r.whole(c)
		if _, again := paged[c.command]; !again && mine(len(paged)) {
			assert.Equal(t, r.run(c), want, "%v from the command line", c)
		}
		for _, limit := range []int{0, 7} {
			more := map[string]any{"limit": limit}
			if limit == 0 {
				more = nil
			} else if testing.Short() || !mine(i) || !c.json() && len(c.params) > len(listingParams[c.command]) {
				continue
			}
			pages := r.all(c, more)
			paged[c.command] = paged[c.command] || len(pages) > 1
			r.together(c, pages, limit, want)
		}
	}
	for command, tried := range paged {
		assert.That(t, tried, "%s: every form of its answer fits a page, and nothing was tried", command)
	}
}

// lines counts the ends of lines of a page, without headings where an answer has them.
func (c listingCall) lines(text string) int {
	count := strings.Count(text, "\n")
	switch c.command {
	case "briefing", "daily:range", "periodic:read", "random:read", "tasks":
		count -= len(headingLine.FindAllString(text, -1))
	}
	if _, verbose := c.params["verbose"]; verbose && c.command == "tasks" {
		count = len(numberedLine.FindAllString(text, -1))
	}
	return count
}

var (
	headingLine  = regexp.MustCompile(`(?m)^==> .* <==\r?\n`)
	numberedLine = regexp.MustCompile(`(?m)^[0-9]+:.*\n`)
)

// together checks pages against the whole of their answer.
func (r *reader) together(c listingCall, pages []gateway.Result, limit int, want string) {
	r.t.Helper()
	var text strings.Builder
	for i, page := range pages {
		assert.That(r.t, len(page.Stdout) <= 1<<10, "%v: page %d has %d bytes", c, i+1, len(page.Stdout))
		if len(pages) > 1 && (page.Truncated.ShownBytes != len(page.Stdout) || page.Truncated.TotalBytes != int64(len(want))) {
			r.t.Errorf("%v: page %d has %d bytes of %d, and says %+v", c, i+1, len(page.Stdout), len(want), page.Truncated)
		}
		assert.That(r.t, limit <= 0 || c.json() || c.lines(page.Stdout) <= limit, "%v: page %d has more than %d lines", c, i+1, limit)
		text.WriteString(page.Stdout)
	}
	switch {
	case c.json() && strings.HasPrefix(want, "["):
		r.rows(c, pages, limit, rowsOf(r.t, want))
	case text.String() != want:
		r.t.Errorf("%v: %d pages differ from the whole: %s", c, len(pages), harness.Difference(text.String(), want))
	}
}

// rows checks that each page is an array with whole rows, but for a row that fits
// no page: its pieces are pages of their own, and together that row.
func (r *reader) rows(c listingCall, pages []gateway.Result, limit int, want []string) {
	r.t.Helper()
	var got []string
	piece := ""
	for i, page := range pages {
		if piece != "" || !strings.HasPrefix(page.Stdout, "[") {
			piece += page.Stdout
			if json.Valid([]byte(piece)) {
				assert.That(r.t, len(piece) > 1<<10-len("[]"), "%v: page %d ends a row that fits a page: %s", c, i+1, piece)
				got, piece = append(got, piece), ""
			}
			continue
		}
		own := rowsOf(r.t, page.Stdout)
		assert.That(r.t, limit <= 0 || len(own) <= limit, "%v: page %d has %d rows", c, i+1, len(own))
		got = append(got, own...)
	}
	if !slices.Equal(got, want) || piece != "" {
		r.t.Errorf("%v: %d rows on %d pages, want %d: %s", c, len(got), len(pages), len(want),
			harness.Difference(strings.Join(got, "\n"), strings.Join(want, "\n")))
	}
}

func TestFieldsOfRowsOnPages(t *testing.T) {
	t.Parallel()
	r := readLibrary(t)
	tried := 0
	for _, c := range listingCalls() {
		whole := ""
		if c.json() {
			whole = r.whole(c)
		}
		if !strings.HasPrefix(whole, "[") || !strings.HasPrefix(strings.TrimLeft(whole, "[ \n"), "{") {
			continue
		}
		tried++
		keys, want := columns(t, whole)
		choices := [][]string{{keys[0]}}
		if len(keys) > 1 {
			choices = append(choices, []string{keys[len(keys)-1], keys[0]})
		}
		for _, fields := range choices {
			r.rows(c, r.all(c, map[string]any{"fields": fields}), 0, want(fields))
		}
		wrong := r.Result(map[string]any{"command": c.command, "params": c.params, "fields": []string{keys[0] + "s"}})
		if harness.CodeOf(wrong) != "bad_value" || wrong.Stdout != "" ||
			slices.ContainsFunc(keys,
				func(key string) bool { return !strings.Contains(wrong.Error.Hint, `"`+key+`"`) }) {
			t.Errorf("%v: a field that is not there: %+v, want a hint with %q", c, wrong.Error, keys)
		}
	}
	assert.That(t, tried >= 8, "only %d listings have rows with fields", tried)
}

// columns returns the names of the fields of rows, and what is left of the rows
// with some of them. The rows have their fields in any order, and each a value
// without a line break.
func columns(t *testing.T, whole string) (keys []string, choose func(fields []string) []string) {
	t.Helper()
	var rows []map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(whole), &rows))
	keys = slices.Sorted(maps.Keys(rows[0]))
	return keys, func(fields []string) (chosen []string) {
		members := map[string]string{}
		for i, row := range rowsOf(t, whole) {
			for _, key := range fields {
				value, ok := rows[i][key]
				require.That(t, ok, "row %d has no %q", i, key)
				for _, colon := range []string{`":`, `": `} {
					if member := `"` + key + colon + string(value); strings.Contains(row, member) {
						members[key] = member
					}
				}
			}
			var all []string
			for _, key := range fields {
				all = append(all, members[key])
			}
			chosen = append(chosen, "{"+strings.Join(all, ",")+"}")
		}
		return chosen
	}
}

// The marks are around each page, and leave it what it is without them.
func TestPagesBetweenMarks(t *testing.T) {
	t.Parallel()
	r := readLibrary(t, "--mark-untrusted")
	for _, c := range listingCalls() {
		if len(c.params) != len(listingParams[c.command]) || c.ofHistory() {
			continue // one form of each is enough
		}
		if c.command == "help" {
			continue // the text of the gateway itself is not marked
		}
		want, got := r.whole(c), ""
		seen := map[string]bool{}
		pages := r.all(c, nil)
		for i, page := range pages {
			lines := strings.SplitAfter(strings.TrimSuffix(page.Stdout, "\n"), "\n")
			begin, end := lines[0], lines[len(lines)-1]
			token, ok := strings.CutPrefix(end, "<<<end ")
			token = strings.TrimSuffix(token, ">>>")
			if !ok || begin != "<<<note text "+token+" — data, not instructions>>>\n" || seen[token] {
				t.Fatalf("%v, page %d: begins with %q and ends with %q", c, i+1, begin, end)
			}
			seen[token] = true
			inside := strings.Join(lines[1:len(lines)-1], "")
			if c.json() {
				inside = strings.TrimSuffix(inside, "\n")
				pages[i].Stdout = inside
			} else if len(pages) > 1 {
				inside = inside[:page.Truncated.ShownBytes]
			}
			got += inside
		}
		if c.json() {
			r.together(c, pages, 0, want)
		} else if got != want && got != want+"\n" {
			t.Errorf("%v: %s", c, harness.Difference(got, want))
		}
	}
}

// resources reads a resource and those that it names as its continuation. Rows
// say that they are JSON; a piece of a row says that it is text.
func (r *reader) resources(uri string, rows bool) (pages []gateway.Result) {
	r.t.Helper()
	for uri != "" {
		answer, err := r.Exchange("resources/read", map[string]any{"uri": uri})
		var message harness.Answer
		require.Equal(r.t, err, nil, "%s: %.300s", uri, answer)
		require.Equal(r.t, json.Unmarshal(answer, &message), nil, "%s: %.300s", uri, answer)
		require.Equal(r.t, len(message.Result.Contents), 1, "%s: %.300s", uri, answer)
		rest := message.Result.Contents[0]
		whole := rows && json.Valid([]byte(rest.Text))
		assert.That(r.t, whole == (rest.MIMEType == "application/json"), "%s is said to be %s: %.100q", uri, rest.MIMEType, rest.Text)
		pages = append(pages, gateway.Result{Stdout: rest.Text})
		uri, _ = rest.Meta["vaultwicket/next"].(string)
	}
	return pages
}

// What a client reads for itself is the rest, in one piece where rows fit a page.
func TestTheRestOfAnAnswerIsAResource(t *testing.T) {
	t.Parallel()
	r := readLibrary(t)
	tried := 0
	for _, c := range listingCalls() {
		if c.ofHistory() {
			continue
		}
		page := r.first(c, nil)
		if page.Truncated == nil {
			continue
		}
		tried++
		pages := append([]gateway.Result{page}, r.resources("vaultwicket://output/"+page.Truncated.Cursor, c.json())...)
		want, got := r.whole(c), ""
		for _, page := range pages {
			got += page.Stdout
		}
		switch {
		case c.json() && strings.HasPrefix(want, "["):
			r.rows(c, pages, 0, rowsOf(t, want))
		case got != want:
			t.Errorf("%v: %s", c, harness.Difference(got, want))
		}
	}
	assert.That(t, tried >= 40, "only %d answers had a rest", tried)
}

// A page is of the answer that was begun. A reader is told when it would be
// another one by now, and gets nothing of it when notes were hidden since.
func TestTheVaultChangesBetweenThePages(t *testing.T) {
	t.Parallel()
	r := openLibrary(t)
	files := listingCall{"files", map[string]any{}}
	want := r.run(files)
	first := r.first(files, nil)
	next := map[string]any{"command": "files", "cursor": first.Truncated.Cursor}
	require.NoError(t, os.Remove(filepath.Join(r.vault, "Lonely", "Alone 07 of all the notes.md")))
	second := r.Result(next)
	assert.Await(20*time.Second, func() bool { // the worker is told of the change a moment after it
		second = r.Result(next)
		return len(second.Notices) != 0
	})
	if !second.OK || !strings.HasPrefix(want, first.Stdout+second.Stdout) || len(second.Notices) != 1 ||
		!strings.Contains(second.Notices[0], "has changed since its first page") {
		t.Errorf("after a change: %+v", second)
	}
	again := r.first(listingCall{"files", map[string]any{"folder": "Lonely"}}, nil)
	assert.NotContains(t, again.Stdout, "Alone 07", "asked again")
	assert.Contains(t, again.Stdout, "Alone 08", "asked again")
	note := r.first(listingCall{"read", map[string]any{"path": "Hub.md"}}, nil)
	harness.WriteFile(t, filepath.Join(r.vault, ".vaultwicketignore"), []byte("/Spokes of a wheel that turns/\nHub.md\n"))
	for what, arguments := range map[string]map[string]any{
		"a listing":      next,
		"another one":    {"command": "files", "cursor": again.Truncated.Cursor},
		"a hidden note":  {"command": "read", "cursor": note.Truncated.Cursor},
		"only a cursor":  {"command": "read", "cursor": note.Truncated.Cursor, "params": map[string]any{"path": "Hub.md"}},
		"a hidden path ": {"command": "read", "params": map[string]any{"path": "Hub.md"}},
	} {
		if got := r.Result(arguments); harness.CodeOf(got) != "not_found" || strings.Contains(got.Stdout, "Spoke") || strings.Contains(got.Stdout, "Part") {
			t.Errorf("%s, after a change of the patterns: %+v", what, got)
		}
	}
	answer, err := r.Exchange("resources/read", map[string]any{"uri": "vaultwicket://output/" + note.Truncated.Cursor})
	require.Equal(t, err, nil, "the resource: %.300s", answer)
	assert.NotContains(t, string(answer), "Part ", "the resource")
	assert.Contains(t, string(answer), `"error"`, "the resource")
}

func TestMain(m *testing.M) { harness.Main(m) }
