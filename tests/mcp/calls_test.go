package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// firm is the vault in which the mistakes of testdata/mistakes.txt are made.
var firm = map[string]string{
	".obsidian/templates.json":                   `{"folder":"Templates"}`,
	".obsidian/daily-notes.json":                 `{"folder":"Journal"}`,
	".obsidian/plugins/periodic-notes/data.json": `{"weekly":{"enabled":true,"folder":"Weeks"}}`,
	"Weeks/2026-W47.md":                          "# Week 47\n",
	"Clients/Acme Corp.md":                       "---\ntype: client\nstatus: active\nrating: 4\nsince: 2024-03-01\ntags: [client, vip]\n---\n# Acme Corp\nThe deal of the year. ^deal\n## Calls\nAsked about prices.\n- [ ] call back 📅 2026-11-25\n## Bills\nNone.\n",
	"Clients/Beta Ltd.md":                        "---\ntype: client\nstatus: idle\nrating: 2\n---\nA quiet one, see [[Acme Corp]] and [[Lentil soup]].\n",
	"Recipes/Soups/Lentil soup.md":               "Red lentils and onions.\n",
	"Recipes/Bread.md":                           "Flour.\n",
	"Journal/2026-11-20.md":                      "# Friday\n## Log\nyesterday\n",
	"Journal/2026-11-21.md":                      "# Saturday\n## Log\ntoday\n",
	"Templates/Meeting.md":                       "# {{title}}\n",
	"Books.base":                                 "views:\n  - type: table\n    name: Table\n",
	"Boards/Plan.canvas":                         `{"nodes":[{"id":"one","type":"text","text":"Start","x":0,"y":0,"width":100,"height":50},{"id":"two","type":"text","text":"End","x":200,"y":0,"width":100,"height":50}],"edges":[]}`,
	"Media/photo.png":                            "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\xa7\x8b\x9a\x1d\x00\x00\x00\x00IEND\xaeB`\x82",
	"Media/scan.pdf":                             offer(),
	"Archive/Old.md":                             "old\n",
}

// line is a line of testdata/mistakes.txt.
type line struct {
	number        int
	written       string
	sent, meant   map[string]any
	says, section string
}

func mistakesOf(t *testing.T, vault string) (lines []line) {
	t.Helper()
	data := require.Value(os.ReadFile("testdata/mistakes.txt"))(t)
	section := ""
	for i, text := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if heading, ok := strings.CutPrefix(text, "## "); ok {
			section = heading
		}
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		sent, meant, ok := strings.Cut(text, " => ")
		require.That(t, ok, "line %d has no meaning", i+1)
		l := line{number: i + 1, written: text, section: section, sent: callOf(t, strings.ReplaceAll(sent, "VAULT", vault))}
		if says, ok := strings.CutPrefix(meant, "says "); ok {
			l.says = says
		} else {
			l.meant = callOf(t, meant)
		}
		lines = append(lines, l)
	}
	return lines
}

// callOf reads a call in one of the two forms of the file.
func callOf(t *testing.T, text string) map[string]any {
	t.Helper()
	call := map[string]any{}
	if strings.HasPrefix(text, "{\"") {
		require.NoError(t, json.Unmarshal([]byte(text), &call))
		return call
	}
	words := strings.Split(text, " | ")
	params := map[string]any{}
	for _, word := range words[1:] {
		if name, value, ok := strings.Cut(word, "="); ok {
			params[name] = value
		} else {
			params[word] = true
		}
	}
	call["command"] = words[0]
	if len(params) > 0 {
		call["params"] = params
	}
	return call
}

// reply is what a client sees of an answer.
type reply struct {
	OK      bool
	Command string
	Stdout  string
	Path    string
	Argv    []string
	Diff    string
	Effect  string
	Notices []string
	Error   *struct{ Code, Message, Hint, Field string }
	raw     string
}

// sendPlanned sends a call; what changes something only as a preview.
func sendPlanned(client *harness.Client, call map[string]any) reply {
	asked := maps.Clone(call)
	asked["dryRun"] = true
	planned := sendAs(client, asked)
	if planned.OK && planned.Effect == "read" {
		return sendAs(client, call)
	}
	return planned
}

func sendAs(client *harness.Client, call map[string]any) (r reply) {
	var raw json.RawMessage
	client.Tool("obsidianCli", call, &raw)
	_ = json.Unmarshal(raw, &r)
	r.raw = string(raw)
	return r
}

// does is what a call has done or would do, in one text.
func (r reply) does() string {
	switch {
	case r.Effect == "":
		return r.Path + "\n" + r.Stdout
	case r.Diff != "":
		return r.Diff
	}
	words := slices.Clone(r.Argv)
	slices.Sort(words)
	return fmt.Sprintf("%q", words)
}

var (
	jsonCall    = regexp.MustCompile(`\{"command":.*\}`)
	meantWord   = regexp.MustCompile(`did you mean (?:the (?:command|property) )?("(?:[^"\\]|\\.)*")\?`)
	pairsOf     = regexp.MustCompile(`(?:^|[\s(])([a-z-]+)=("(?:[^"\\]|\\.)*"|[^\s";,?]+)`)
	withCommand = regexp.MustCompile(`(?:^|; )"([a-z]+(?::[a-z-]+)?)" (?:with|takes|prints) `)
	listOfFiles = regexp.MustCompile(`files=(\[.*\])$`)
	bareObject  = regexp.MustCompile(`^send an object: (\{.*\})$`)
	expression  = regexp.MustCompile(`(?:^|; )write (.+?)$`)
	ofParameter = regexp.MustCompile(`invalid value for (\w+):`)
)

// nextCall is what a client sends that takes an answer by its words.
func nextCall(call map[string]any, r reply) map[string]any {
	if r.Error == nil {
		return nil
	}
	hint := r.Error.Hint
	if hint == "" {
		hint = r.Error.Message
	}
	if found := jsonCall.FindString(hint); found != "" {
		next := map[string]any{}
		if json.Unmarshal([]byte(found), &next) == nil {
			return next
		}
	}
	next := maps.Clone(call)
	params := map[string]any{}
	given, isObject := call["params"].(map[string]any)
	maps.Copy(params, given)
	next["params"] = params
	field := r.Error.Field
	switch {
	case strings.HasPrefix(hint, "send true") && params[field] != nil:
		params[field] = true
		return next
	case listOfFiles.MatchString(hint):
		var files []string
		if json.Unmarshal([]byte(listOfFiles.FindStringSubmatch(hint)[1]), &files) != nil {
			return nil
		}
		params["files"] = files
		return next
	case bareObject.MatchString(hint):
		given := map[string]any{}
		if json.Unmarshal([]byte(bareObject.FindStringSubmatch(hint)[1]), &given) != nil {
			return nil
		}
		next["params"] = given
		return next
	case strings.HasPrefix(hint, "a query is made of parameters: "):
		delete(params, field)
		for _, pair := range strings.Split(strings.TrimPrefix(hint, "a query is made of parameters: "), "; ") {
			name, value, _ := strings.Cut(pair, "=")
			params[name] = value
		}
		return next
	case expression.MatchString(hint):
		if named := ofParameter.FindStringSubmatch(r.Error.Message); field == "" && named != nil {
			field = named[1]
		}
		params[field] = expression.FindStringSubmatch(hint)[1]
		return next
	}
	if found := meantWord.FindStringSubmatch(hint); found != nil {
		var word string
		if json.Unmarshal([]byte(found[1]), &word) != nil {
			return nil
		}
		switch {
		case strings.Contains(found[0], "the command"):
			next["command"] = word
			delete(params, field)
		case r.Error.Code == "unknown_command":
			next["command"] = word
		case next[field] != nil && field != "":
			old := next[field]
			delete(next, field)
			next[word] = old
		case r.Error.Code == "unknown_param" || r.Error.Code == "bad_request" && !isObject:
			if field == "" {
				return nil
			}
			if old, ok := params[field]; ok {
				delete(params, field)
				if _, taken := params[word]; !taken {
					params[word] = old
				}
			} else if old, ok := next[field]; ok {
				delete(next, field)
				next[word] = old
			}
		default:
			fix(params, field, word)
		}
		// Values that follow the question, as in: did you mean "note"? note="A.md" lists ...
		for _, pair := range pairsOf.FindAllStringSubmatch(hint, -1) {
			if _, known := params[pair[1]]; known && pair[1] == word {
				params[pair[1]] = bareText(pair[2])
			}
		}
		return next
	}
	command := withCommand.FindStringSubmatchIndex(hint)
	part := hint
	if command != nil {
		part = hint[command[2]:]
	}
	part, _, _ = strings.Cut(part, "; ")
	pairs := pairsOf.FindAllStringSubmatch(part, -1)
	if command != nil {
		next["command"] = hint[command[2]:command[3]]
		delete(params, field)
		pairs = slices.DeleteFunc(pairs, func(pair []string) bool { return params[pair[1]] != nil })
		if len(pairs) == 0 {
			return next
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	if _, isGiven := params[field]; isGiven && r.Error.Code != "unknown_command" {
		delete(params, field)
	}
	for _, pair := range pairs {
		value := bareText(pair[2])
		if value == "true" {
			params[pair[1]] = true
		} else {
			params[pair[1]] = value
		}
	}
	return next
}

func bareText(text string) string {
	var word string
	if json.Unmarshal([]byte(text), &word) == nil {
		return word
	}
	return text
}

var queryMeant = regexp.MustCompile(`did you mean query=(.*)\?$`)

// fromNotices is the call that a notice offers in place of one that was answered.
func fromNotices(call map[string]any, r reply) map[string]any {
	for _, notice := range r.Notices {
		if found := queryMeant.FindStringSubmatch(notice); found != nil {
			next := maps.Clone(call)
			params := map[string]any{}
			given, _ := call["params"].(map[string]any)
			maps.Copy(params, given)
			params["query"] = bareText(found[1])
			next["params"] = params
			return next
		}
	}
	return nil
}

// fix puts a value in place of the one that was refused.
func fix(params map[string]any, field, word string) {
	if field == "" {
		for _, name := range []string{"path", "file", "folder", "heading", "name", "view", "query", "ref", "template"} {
			if _, ok := params[name]; ok {
				field = name
				break
			}
		}
	}
	if field == "file" && strings.Contains(word, ".") {
		delete(params, "file")
		field = "path"
	}
	params[field] = word
}

// TestMistakes sends each call, and what its answer says where it is refused. Right is a call that
// does what was meant, at once or as the answer says.
func TestMistakes(t *testing.T) {
	const least = 0.95
	r := harness.New(t, firm)
	client := r.Stdio(false, "")
	lines := mistakesOf(t, r.Vault)
	assert.That(t, len(lines) >= 300, "%d mistakes", len(lines))
	right, total := map[string]int{}, map[string]int{}
	all := 0
	for _, l := range lines {
		total[l.section]++
		why := judge(client, l)
		if why == "" {
			right[l.section]++
			all++
			continue
		}
		t.Logf("line %d: %s\n\t%s", l.number, l.written, why)
	}
	for section, n := range total {
		t.Logf("%-40s %d of %d", section, right[section], n)
	}
	share := float64(all) / float64(len(lines))
	t.Logf("%d of %d mistakes are taken or answered so that the next call is right, %.1f %%", all, len(lines), 100*share)
	assert.That(t, share >= least, "%.1f %% of the mistakes, want %.0f %%", 100*share, 100*least)
	for path, text := range firm {
		assert.Equal(t, r.Read(path), text, "a mistake changed %s", path)
	}
}

// judge returns why a mistake is answered badly, "" if it is not.
func judge(client *harness.Client, l line) string {
	got := sendPlanned(client, l.sent)
	if l.says != "" {
		said := ""
		if got.Error != nil {
			said = got.Error.Message + "; " + got.Error.Hint
		}
		if strings.Contains(strings.ToLower(said), strings.ToLower(l.says)) {
			return ""
		}
		return fmt.Sprintf("says %q (ok %v)", said, got.OK)
	}
	want := sendPlanned(client, l.meant)
	if !want.OK {
		return fmt.Sprintf("what is meant is refused: %.300s", want.raw)
	}
	const steps = 3 // calls with several mistakes take several
	call := l.sent
	for range steps {
		if got.OK {
			if got.does() == want.does() {
				return ""
			}
			if next := fromNotices(call, got); next != nil { // the answer says what was probably meant
				call = next
				got = sendPlanned(client, call)
				continue
			}
			return fmt.Sprintf("does %.300s\n\twant %.300s", got.does(), want.does())
		}
		next := nextCall(call, got)
		if next == nil {
			break
		}
		call = next
		got = sendPlanned(client, call)
	}
	if got.OK {
		return "more steps than calls"
	}
	first := sendPlanned(client, l.sent)
	sent, _ := json.Marshal(call)
	if first.Error == nil || got.Error == nil {
		return fmt.Sprintf("%.300s", got.raw)
	}
	return fmt.Sprintf("%s [%s]: %s | %s\n\tnext %s\n\tgets %s: %s", first.Error.Code, first.Error.Field,
		first.Error.Message, first.Error.Hint, sent, got.Error.Message, got.Error.Hint)
}
