package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Calls of every kind are compared with those of obsidianCli in tests/mcp.
func TestTypedCallsAreRequests(t *testing.T) {
	for _, test := range []struct {
		tool, arguments string
		want            string // the command and its parameters
	}{
		{"daily_note", ``, "daily:read"},
		{"daily_note", `{"offset":-1}`, "daily:read offset=-1"},
		{"daily_note", `{"from":"2026-11-01","to":"2026-11-03"}`, "daily:range from=2026-11-01 to=2026-11-03"},
		{"daily_note", `{"content":2026}`, "daily:append content=2026"},
		{"random_notes", `{}`, "random:read"},
		{"random_notes", `{"folder":"A","count":3,"min-age":"30","seed":7}`, "random:read count=3 folder=A min-age=30 seed=7"},
		{"search_notes", `{"query":"x","path":"A/","case":"true","context":false}`, "search path=A query=x case"},
		{"search_notes", `{"query":"x","context":true,"case":false}`, "search:context query=x"},
		{"recent_notes", `{"since":"2026-11-01","limit":"50"}`, "recent limit=50 since=2026-11-01"},
		{"read_note", `{"file":"A","outline":true,"heading":null}`, "outline file=A"},
		{"read_note", `{"path":"A.md","lines":"2-3","outline":"false"}`, "note:section lines=2-3 path=A.md"},
		{"read_note", `{"path":"A.md","block":"id"}`, "note:section block=id path=A.md"},
		{"edit_note", `{"action":"append","file":"A","content":"x","heading":"H","daily":false}`, "append content=x file=A heading=H"},
		{"edit_note", `{"action":"insert","daily":true,"heading":"H","position":"after","content":"x"}`,
			"note:insert content=x heading=H position=after daily"},
		{"edit_note", `{"action":"set-section","path":"A.md","lines":"1","content":"x"}`, "note:set-section content=x lines=1 path=A.md"},
		{"tasks", `{"state":"todo","daily":true}`, "tasks daily todo verbose"},
		{"bases", `{"path":"B.base","where":"rating > 3","limit":5}`, "base:query path=B.base where=rating > 3"},
		{"bases", `{"path":"B.base","group":"status","limit":"5"}`, "base:query group=status limit=5 path=B.base groups"},
		{"query_notes", `{}`, "query"},
		{"query_notes", `{"where":"rating > 3","select":"file.name","sort":"rating desc","offset":2,"values":"typed","all":true}`,
			"query offset=2 select=file.name sort=rating desc values=typed where=rating > 3 all"},
		{"query_notes", `{"summaries":true,"explain":true,"limit":3}`, "query limit=3 explain groups summaries"},
	} {
		c, refused := typedToolNamed(test.tool).decode(json.RawMessage(test.arguments))
		if refused != nil {
			t.Errorf("%s %s: %v", test.tool, test.arguments, refused)
			continue
		}
		call, err := allowlist.Parse(c.Request.Command, c.Request.Params)
		require.Equal(t, err, nil, "%s %s", test.tool, test.arguments)
		assert.Equal(t, call.String(), test.want, "%s %s", test.tool, test.arguments)
	}
}

// TestTypedCallsCarryWhatEveryCallMay: besides the command, a request has what
// the arguments of every tool say.
func TestTypedCallsCarryWhatEveryCallMay(t *testing.T) {
	for _, test := range []struct {
		tool, arguments string
		want            gateway.Request
		dryRun          bool
	}{
		// A cursor alone stands for its own command; with other arguments it has to
		// fit them, or a change that is asked for would be left out in silence.
		{"tasks", `{"limit":20,"cursor":"c1","vault":"W","dryRun":"true","expectHash":"0123456789abcdef","idempotencyKey":"k"}`,
			gateway.Request{Limit: 20, Cursor: "c1", Vault: "W", ExpectHash: "0123456789abcdef", IdempotencyKey: "k"}, true},
		{"bases", `{"fields":["a","b"],"limit":"5"}`, gateway.Request{Command: "bases", Fields: []string{"a", "b"}, Limit: 5}, false},
		{"bases", `{"fields":"[\"a\", \"b\"]"}`, gateway.Request{Command: "bases", Fields: []string{"a", "b"}}, false},
		{"bases", `{"fields":"a","limit":null,"cursor":null}`, gateway.Request{Command: "bases", Fields: []string{"a"}}, false},
		{"recent_notes", `{"limit":7,"cursor":"c"}`, gateway.Request{Command: "recent", Cursor: "c"}, false}, // limit is that of the command
		{"daily_note", `{"content":"x","cursor":"c"}`, gateway.Request{Command: "daily:append", Cursor: "c"}, false},
		{"query_notes", `{"limit":5}`, gateway.Request{Command: "query", Limit: 5}, false},
		{"query_notes", `{"explain":true,"limit":5}`, gateway.Request{Command: "query"}, false}, // limit is that of the command
		{"daily_note", `{"dryRun":"false"}`, gateway.Request{Command: "daily:read"}, false},
	} {
		c, refused := typedToolNamed(test.tool).decode(json.RawMessage(test.arguments))
		c.Request.Params = nil
		if refused != nil || !reflect.DeepEqual(c.Request, test.want) || c.DryRun != test.dryRun {
			t.Errorf("%s %s: %+v, %v, %v", test.tool, test.arguments, c.Request, c.DryRun, refused)
		}
	}
}

func TestTypedArgumentsThatAreWrong(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	for name, test := range map[string]struct {
		tool, arguments, code string
		text, hint            string // parts
	}{
		"a typing error": {"daily_note", `{"ofset":1}`, "bad_request", `unknown argument "ofset"`, `did you mean "offset"?`},
		"another case":   {"daily_note", `{"Date":"2026-11-20"}`, "bad_request", `"Date"`, `did you mean "date"?`},
		"an argument of another tool": {"random_notes", `{"query":"x"}`, "bad_request", `"query"`,
			"valid arguments: folder, count, min-age, seed, cursor, vault"},
		"a change of a tool that has none": {"random_notes", `{"dryRun":true}`, "bad_request", `"dryRun"`, ""},
		"a limit where nothing is listed":  {"read_note", `{"limit":1}`, "bad_request", `"limit"`, ""},
		"a key twice":                      {"daily_note", `{"date":"2026-11-20","date":"2026-11-21"}`, "bad_request", `duplicate key "date"`, "once"},
		"a list for text":                  {"daily_note", `{"date":["2026-11-20"]}`, "bad_value", `"date" is a list`, "string"},
		"a value too long":                 {"daily_note", `{"content":"x` + large + `"}`, "bad_value", `"content" is 1048577 bytes`, "1048576"},
		"too much text in all": {"edit_note",
			`{"action":"replace","old":"` + large + `","new":"` + large + `"}`, "bad_value", "exceeds 2097152", "less"},
		"a flag that is no boolean": {"read_note", `{"outline":"yes"}`, "bad_value", `"outline" is a string, not true or false`, "quotes"},
		"a flag that is a number":   {"read_note", `{"outline":1}`, "bad_value", `"outline" is a number`, "quotes"},
		"no action":                 {"edit_note", `{"path":"A.md"}`, "bad_request", `"action" is missing`, "one of create, append, prepend"},
		"an action that is not there": {"edit_note", `{"action":"apend"}`, "bad_value",
			`"action" has the invalid value "apend"`, `did you mean "append"?`},
		"an action that is no text": {"edit_note", `{"action":true}`, "bad_value", `"action" is a boolean`, "string"},
		"an empty action":           {"edit_note", `{"action":""}`, "bad_value", `has the invalid value ""`, "one of create"},
		"a state that is not there": {"tasks", `{"state":"open"}`, "bad_value", `"state" has the invalid value "open"`, "one of todo, done"},
		"a part beside the outline": {"read_note", `{"path":"A.md","outline":true,"lines":"1"}`,
			"conflicting_params", `"lines" cannot be combined with "outline"`, "one of the two"},
		"a day beside a range": {"daily_note", `{"from":"2026-11-01","offset":1}`, "conflicting_params",
			`"offset" cannot be combined with "from"`, "one of the two"},
		"a day beside what is added": {"daily_note", `{"content":"x","date":"2026-11-01"}`, "conflicting_params",
			`cannot be combined with`, "one of the two"},
		"a note beside a task": {"tasks", `{"ref":"A.md:1","path":"A.md"}`, "conflicting_params",
			`"path" cannot be combined with "ref"`, "one of the two"},
		"what another action takes": {"edit_note", `{"action":"append","content":"x","old":"y"}`,
			"conflicting_params", `"old" cannot be combined with action "append"`, "path, file, content, heading"},
		"the end of no range":   {"daily_note", `{"to":"2026-11-01"}`, "missing_param", `"to" requires "from"`, "send that too"},
		"a heading for nothing": {"daily_note", `{"heading":"H"}`, "missing_param", `"heading" requires "content"`, "send that too"},
		"a mark for no task":    {"tasks", `{"set":"done"}`, "missing_param", `"set" requires "ref"`, "send that too"},
		"a check of rows": {"bases", `{"path":"B.base","check":true,"where":"x"}`,
			"conflicting_params", `"where" cannot be combined with "check"`, "one of the two"},
		"a limit of none":                   {"tasks", `{"limit":0}`, "bad_value", `"limit" is 0, not an integer of at least 1`, "digits"},
		"a limit below none":                {"tasks", `{"limit":"-1"}`, "bad_value", `"limit"`, "digits"},
		"a limit that is no number":         {"tasks", `{"limit":"many"}`, "bad_value", `"limit"`, "digits"},
		"a limit with a zero in front":      {"tasks", `{"limit":"05"}`, "bad_value", `"limit"`, "digits"},
		"a limit that is a list":            {"tasks", `{"limit":[5]}`, "bad_value", `"limit"`, "digits"},
		"a limit beyond numbers":            {"tasks", `{"limit":9007199254740993}`, "bad_value", `"limit"`, "digits"},
		"fields that are an object":         {"bases", `{"fields":{"a":1}}`, "bad_value", `"fields" is an object, not a list`, "list of strings"},
		"a field that is a number":          {"bases", `{"fields":["a",1]}`, "bad_value", `"fields[1]" is a number, not a string`, "string"},
		"a field that is half a character":  {"bases", `{"fields":["\ud83d"]}`, "bad_value", "surrogate", "whole"},
		"too many fields":                   {"bases", `{"fields":[` + strings.Repeat(`"a",`, 64) + `"a"]}`, "bad_value", "has 65 items", "64"},
		"a list in text with something odd": {"bases", `{"fields":"[\"a\",null]"}`, "bad_value", `"fields[1]" is null`, "string"},
		"a cursor that is a number":         {"tasks", `{"cursor":7}`, "bad_value", `"cursor" is a number`, "string"},
		"a dry run of text":                 {"tasks", `{"dryRun":"yes"}`, "bad_value", `"dryRun"`, "quotes"},
	} {
		_, err := typedToolNamed(test.tool).decode(json.RawMessage(test.arguments))
		if err == nil {
			t.Errorf("%s: taken", name)
			continue
		}
		if err.Code() != test.code || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Hint(), test.hint) || err.Hint() == "" {
			t.Errorf("%s: %s, %q, hint %q; want %s, %q, %q", name, err.Code(), err, err.Hint(), test.code, test.text, test.hint)
		}
	}
}

// TestTypedToolsTakeWhatTheyPublish: what a schema names, the decoder takes, in
// the type of the schema and as text; and it takes nothing that no policy names.
func TestTypedToolsTakeWhatTheyPublish(t *testing.T) {
	samples := map[string]string{"string": `"x"`, "integer": `3`, "boolean": `true`, "array": `["a"]`}
	gw := gatewayWith(t, everything)
	for i := range typedTools {
		tool := &typedTools[i]
		described, _ := tool.describe(gw)
		var schema struct {
			Properties map[string]struct {
				Type string
				Enum []string
			}
		}
		require.NoError(t, json.Unmarshal(described.RawInputSchema, &schema))
		published := slices.Sorted(maps.Keys(schema.Properties))
		if names := slices.DeleteFunc(slices.Sorted(slices.Values(tool.names())),
			func(n string) bool { return n == "vault" }); !slices.Equal(names, published) {
			t.Errorf("%s takes %v and publishes %v", tool.Name, names, published)
		}
		for name, p := range schema.Properties {
			values := []string{samples[p.Type], string(transport.Encode(strings.Trim(samples[p.Type], `"`)))}
			for _, choice := range p.Enum {
				values = append(values, string(transport.Encode(choice)))
			}
			if p.Enum != nil {
				values = values[2:]
			}
			for _, value := range values {
				_, refused := tool.decode(json.RawMessage(`{"` + name + `":` + value + `}`))
				if refused != nil && strings.Contains(refused.Error(), fmt.Sprintf("argument %q", name)) &&
					(refused.Code() == badRequest || refused.Code() == badValue) {
					t.Errorf("%s refuses %s as %s: %v", tool.Name, value, name, refused)
				}
			}
		}
	}
}

func FuzzTypedTools(f *testing.F) {
	for i := range typedTools {
		f.Add(typedTools[i].Name, `{"path":"A.md","limit":"5","fields":"[\"a\"]"}`)
		f.Add(typedTools[i].Name, `{"action":"append","content":"x","offset":-1,"ref":"A.md:1","set":"done"}`)
		f.Add(typedTools[i].Name, `{"query":"x","context":true,"case":"false","dryRun":"true"}`)
		f.Add(typedTools[i].Name, `{"cursor":"c"}`)
	}
	f.Fuzz(func(t *testing.T, name, raw string) {
		tool := typedToolNamed(name)
		if tool == nil {
			return
		}
		c, refused := tool.decode(json.RawMessage(raw))
		if refused != nil {
			if refused.Code() == "" || refused.Hint() == "" {
				t.Errorf("%s %q: refused with %q, hint %q", name, raw, refused.Code(), refused.Hint())
			}
			return
		}
		known := slices.ContainsFunc(tool.operations, func(a operation) bool { return a.command == c.Request.Command })
		if continues := c.Request.Command == "" && c.Request.Cursor != "" &&
			c.Request.Params == nil; known == continues || c.Request.Words != nil || c.Request.Limit < 0 ||
			len(c.Request.Fields) > 64 {
			t.Errorf("%s %q: %+v", name, raw, c.Request)
		}
		for param := range c.Request.Params {
			describedParam(t, c.Request.Command, param)
		}
	})
}

// sampleOf is a value that each kind of parameter takes.
func sampleOf(t *testing.T, p allowlist.Param) allowlist.Value {
	t.Helper()
	if len(p.Choices) > 0 {
		return allowlist.Text(p.Choices[0])
	}
	samples := map[string]allowlist.Value{
		"flag": allowlist.Flag(true), "number": allowlist.Number("3"), "age": allowlist.Number("3"),
		"date": allowlist.Text("2026-11-21"), "path": allowlist.Text("Folder/Note.md"),
		"path:line": allowlist.Text("Folder/Note.md:8"), "folder": allowlist.Text("Folder"), "note name": allowlist.Text("Note"),
		"base name": allowlist.Text("Base"), "text": allowlist.Text("a query"), "content": allowlist.Text("text\n"), "name": allowlist.Text("A name"),
	}
	value, ok := samples[p.Kind]
	require.That(t, ok, "parameter %s is of the kind %q, for which there is no sample", p.Name, p.Kind)
	return value
}

func describedParam(t *testing.T, command, name string) allowlist.Param {
	t.Helper()
	c := require.Value(allowlist.Describe(command))(t)
	i := slices.IndexFunc(c.Params, func(p allowlist.Param) bool { return p.Name == name })
	require.That(t, i >= 0, "command %s has no parameter %q", command, name)
	return c.Params[i]
}

func (t *typedTool) argNamed(name string) *property {
	if i := slices.IndexFunc(t.args, func(p property) bool { return p.Name == name }); i >= 0 {
		return &t.args[i]
	}
	return nil
}

// TestTypedToolsKeepToTheAllowlist: every command, parameter and type of the
// table is that of the allowlist, and nothing in it is without use.
func TestTypedToolsKeepToTheAllowlist(t *testing.T) {
	forms := map[string]argumentType{"flag": typeBoolean, "number": typeInteger, "age": typeInteger}
	for i := range typedTools {
		tool := &typedTools[i]
		for _, a := range tool.args {
			if !slices.ContainsFunc(tool.operations, func(o operation) bool { return o.uses(a.Name) }) || a.Description == "" || a.Required && a.Values == nil {
				t.Errorf("%s: argument %q is of no use, is not described, or is required of what the allowlist requires", tool.Name, a.Name)
			}
		}
		mutates := false
		for _, a := range tool.operations {
			for _, name := range a.params {
				p, arg := describedParam(t, a.command, name), tool.argNamed(name)
				want, special := forms[p.Kind]
				if !special {
					want = typeString
				}
				if arg == nil || arg.Type != want || arg.Values != nil {
					t.Errorf("%s: argument %q is %+v, parameter of %s is %s", tool.Name, name, arg, a.command, p.Kind)
				}
			}
			for _, name := range slices.Concat(tool.values(a.flagArgument), a.always) {
				assert.Equal(t, describedParam(t, a.command, name).Kind, "flag", "%s: %s is no flag of %s", tool.Name, name, a.command)
			}
			for _, name := range a.when {
				if arg := tool.argNamed(name); arg == nil || a.value != "" && !slices.Contains(arg.Values, a.value) {
					t.Errorf("%s: nothing asks for %s by %s", tool.Name, a.command, name)
				}
			}
			c, err := allowlist.Describe(a.command)
			require.Equal(t, err, nil, "%s: %s is not for a typed tool: %v", tool.Name, a.command, err)
			require.That(t, a.description != "", "%s: %s is not for a typed tool: %v", tool.Name, a.command, err)
			require.That(t, !c.Shows, "%s: %s is not for a typed tool: %v", tool.Name, a.command, err)
			assert.That(t, !c.Sends, "%s: %s is not for a typed tool: %v", tool.Name, a.command, err)
			effect := c.Effect
			for _, name := range slices.Concat(a.params, tool.values(a.flagArgument), a.always, slices.Collect(maps.Values(a.implied))) {
				if p := describedParam(t, a.command, name); p.Effect != tiers.Unknown && p.Effect.WorseThan(effect) {
					effect = p.Effect
				}
			}
			mutates = mutates || effect.Mutates()
		}
		always := slices.ContainsFunc(tool.operations, func(a operation) bool { return a.when == nil })
		picks := slices.ContainsFunc(tool.args, func(a property) bool { return a.Required && len(a.Values) == len(tool.operations) })
		assert.That(t, always != picks, "%s: not every call has one act", tool.Name)
		assert.That(t, mutates == tool.writes, "%s: writes is %v", tool.Name, tool.writes)
		if tool.Name == "" || tool.Title == "" || !slices.Contains(ToolsetNames(), tool.Toolset) || typedToolNamed(tool.Name) != tool {
			t.Errorf("tool %d is %q, %q, %q", i, tool.Name, tool.Title, tool.Toolset)
		}
	}
}

// TestEveryRequestOfATypedToolParses tries every set of arguments that an act
// takes. What the allowlist has against one is only that two exclude each other,
// or that one is missing; and each argument is part of some call that is good.
func TestEveryRequestOfATypedToolParses(t *testing.T) {
	total := 0
	for i := range typedTools {
		tool := &typedTools[i]
		for j := range tool.operations {
			a := &tool.operations[j]
			good := map[string]bool{}
			for _, given := range tool.everyCall(t, a) {
				call, err := allowlist.Parse(a.command, tool.commandParams(a, given))
				var refused *allowlist.ParseError
				switch {
				case err == nil:
					total++
					for name := range given {
						good[name] = true
					}
					for _, name := range a.always {
						if _, ok := call.Param(name); !ok {
							t.Errorf("%s: %s is without %s", tool.Name, a.command, name)
						}
					}
				case !errors.As(err, &refused), refused.Code() != allowlist.CodeConflict && refused.Code() != allowlist.CodeMissingParam:
					t.Errorf("%s: %v", tool.Name, err)
				}
			}
			for _, arg := range tool.args {
				if a.uses(arg.Name) && !good[arg.Name] {
					t.Errorf("%s: no call of %s with %q is good", tool.Name, a.command, arg.Name)
				}
			}
		}
	}
	assert.That(t, total >= 100, "only %d calls were good", total)
}

// everyCall is every set of arguments with which an act is picked and that it
// takes.
func (tool *typedTool) everyCall(t *testing.T, a *operation) (calls []map[string]allowlist.Value) {
	var options []map[string]allowlist.Value // of each argument: to leave it out, or a value
	for _, arg := range tool.args {
		switch {
		case slices.Contains(a.params, arg.Name):
			options = append(options, map[string]allowlist.Value{arg.Name: sampleOf(t, describedParam(t, a.command, arg.Name))})
		case a.flagArgument == arg.Name:
			for _, value := range arg.Values {
				options = append(options, map[string]allowlist.Value{arg.Name: allowlist.Text(value)})
			}
		case a.value != "" && slices.Contains(a.when, arg.Name):
			options = append(options, map[string]allowlist.Value{arg.Name: allowlist.Text(a.value)})
		case slices.Contains(a.when, arg.Name):
			options = append(options, map[string]allowlist.Value{arg.Name: allowlist.Flag(true)})
		}
	}
	for set := range 1 << len(options) {
		given := map[string]allowlist.Value{}
		for i, option := range options {
			for name, value := range option {
				if set&(1<<i) != 0 {
					given[name] = value
				}
			}
		}
		if tool.pick(given) == a {
			calls = append(calls, given)
		}
	}
	return calls
}

// Output that is not JSON rows stays in stdout. With rows the schema requires nothing that
// a failure does not have.
func TestContentWithoutRowsIsTheResult(t *testing.T) {
	for name, r := range map[string]gateway.Result{
		"text": {OK: true, Command: "bases", Stdout: "Books.base\n"}, "a failure": gateway.Reject("bases", invalid{}),
	} {
		for _, tool := range typedTools {
			if got, ok := tool.content(r).(gateway.Result); !ok || got.Stdout != r.Stdout {
				t.Errorf("%s of %s: %+v", name, tool.Name, tool.content(r))
			}
		}
	}
	published := schema(t, []byte(outputRows))
	for text, want := range map[string]bool{
		`{"ok":true,"command":"query","rows":[{"path":"A.md"}],"total":1}`: true, `{"ok":false,"command":"query","error":{"code":"x","message":"y"}}`: true,
		`{"ok":true,"command":"query","rows":["A.md"]}`: false, `{"ok":true}`: false,
	} {
		var content any
		require.NoError(t, json.Unmarshal([]byte(text), &content))
		assert.Equal(t, published.Validate(content) == nil, want, "%s", text)
	}
}

type invalid struct{}

func (invalid) Error() string { return "invalid" }
func (invalid) Code() string  { return "bad_request" }
func (invalid) Hint() string  { return "" }
