package allowlist

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// code returns the code of a parse error, "" for no error and "?" for an error
// of another type.
func code(err error) string {
	var parse *ParseError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &parse):
		return parse.Code()
	}
	return "?"
}

func TestParse(t *testing.T) {
	const accepted = ""
	const maxTextBytes, maxNameBytes, maxURLBytes = 1_048_576, 512, 2048
	long := strings.Repeat("x", maxTextBytes)
	tests := []struct {
		sentence, name string
		params         Params
		want           string
	}{
		{"a command without parameters", "daily:read", nil, accepted},
		{"an empty list of parameters", "daily:read", Params{}, accepted},
		{"a null value of a known parameter is left out", "read", Params{"path": {}}, accepted},
		{"a null value does not satisfy a required parameter", "append", Params{"path": Text("A.md"), "content": {}}, CodeMissingParam},
		{"a null value of an unknown parameter is still unknown", "read", Params{"pth": {}}, CodeUnknownParam},

		{"a command that is not in the table", "frobnicate", nil, CodeUnknownCommand},
		{"a command in another case", "Daily:Read", nil, CodeUnknownCommand},
		{"a flag behind a colon is no command", "delete:permanent", nil, CodeUnknownCommand},

		{"a parameter that is not in the row", "read", Params{"colour": Text("red")}, CodeUnknownParam},
		{"a parameter of early releases that asks for what is done anyway", "create", Params{"name": Text("A"), "silent": Flag(true)}, accepted},
		{"a flag of early releases", "orphans", Params{"all": Flag(true)}, CodeUnknownParam},
		{"a parameter in another case", "read", Params{"Path": Text("A.md")}, CodeUnknownParam},
		{"a parameter with a long s", "task", Params{"ſtatus": Text("x")}, CodeUnknownParam},
		{"a parameter with blanks", "read", Params{" path": Text("A.md")}, CodeUnknownParam},
		{"a parameter with a dash", "read", Params{"-path": Text("A.md")}, CodeUnknownParam},
		{"a parameter with two dashes", "read", Params{"--path": Text("A.md")}, CodeUnknownParam},
		{"a parameter that holds an equals sign", "read", Params{"path=A.md x": Text("1")}, CodeUnknownParam},
		{"a parameter that is an equals sign", "read", Params{"=": Text("1")}, CodeUnknownParam},
		{"an empty parameter name", "read", Params{"": Text("1")}, CodeUnknownParam},
		{"a parameter name with a NUL", "read", Params{"path\x00": Text("A.md")}, CodeUnknownParam},
		{"vault as a parameter", "read", Params{"vault": Text("Other")}, CodeUnknownParam},
		{"copy as a parameter", "read", Params{"copy": Flag(true)}, CodeUnknownParam},
		{"copy with its dashes", "read", Params{"--copy": Flag(true)}, CodeUnknownParam},
		{"help as a switch", "read", Params{"--help": Flag(true)}, CodeUnknownParam},

		{"a required parameter that is missing", "append", Params{"path": Text("A.md")}, CodeMissingParam},
		{"neither of two of which one is needed", "create", Params{"content": Text("x")}, CodeMissingParam},
		{"a task without its line", "task", Params{"path": Text("A.md"), "done": Flag(true)}, CodeMissingParam},
		{"a bare task", "task", nil, CodeMissingParam},
		{"a bookmark of nothing", "bookmark", Params{"title": Text("x")}, CodeMissingParam},
		{"a parameter that means nothing alone", "create", Params{"name": Text("A"), "newtab": Flag(true)}, CodeMissingParam},
		{"the second of two numbers without the first", "diff", Params{"to": Number("2")}, CodeMissingParam},

		{"both ways to name a note", "read", Params{"file": Text("A"), "path": Text("A.md")}, CodeConflict},
		{"a line and a reference with a line", "task", Params{"ref": Text("A.md:3"), "line": Number("4")}, CodeConflict},
		{"two marks for one task", "task", Params{"ref": Text("A.md:3"), "done": Flag(true), "todo": Flag(true)}, CodeConflict},
		{"two scopes", "tasks", Params{"active": Flag(true), "daily": Flag(true)}, CodeConflict},
		{"a flag that is false stands beside nothing", "tasks", Params{"active": Flag(false), "daily": Flag(true)}, accepted},

		{"publishing whatever has changed", "publish:add", Params{"changed": Flag(true)}, CodeTargetRequired},
		{"publishing whatever has changed beside a path", "publish:add", Params{"path": Text("A.md"), "changed": Flag(true)}, CodeTargetRequired},
		{"not publishing whatever has changed", "publish:add", Params{"path": Text("A.md"), "changed": Flag(false)}, accepted},

		{"a flag that is true", "files", Params{"total": Flag(true)}, accepted},
		{"a flag as the text true", "files", Params{"total": Text("true")}, accepted},
		{"a flag as the text false", "files", Params{"total": Text("false")}, accepted},
		{"a flag as another text", "files", Params{"total": Text("yes")}, CodeBadValue},
		{"a flag as text in another case", "files", Params{"total": Text("True")}, CodeBadValue},
		{"a flag as an empty text", "files", Params{"total": Text("")}, CodeBadValue},
		{"a flag as a number", "files", Params{"total": Number("1")}, CodeBadValue},
		{"a text as true", "append", Params{"path": Text("A.md"), "content": Flag(true)}, CodeBadValue},
		{"a text as false", "append", Params{"path": Text("A.md"), "content": Flag(false)}, CodeBadValue},
		{"a number as a text is its digits", "search", Params{"query": Number("5")}, accepted},
		{"a day", "daily:read", Params{"date": Text("2024-02-29")}, accepted},
		{"a day that does not exist", "daily:read", Params{"date": Text("2026-02-29")}, CodeBadValue},
		{"a day in another spelling", "daily:read", Params{"date": Text("2026-2-1")}, CodeBadValue},
		{"a day in words", "daily:read", Params{"date": Text("last monday")}, accepted},
		{"a week", "daily:range", Params{"from": Text("2026-W47"), "to": Text("-1d")}, accepted},
		{"a word that is no day", "recent", Params{"since": Text("someday")}, CodeBadValue},
		{"an age in words", "random:read", Params{"min-age": Text("-2w")}, accepted},
		{"an age as a number", "random:read", Params{"min-age": Number("30")}, accepted},
		{"an age beyond a century", "random:read", Params{"min-age": Number("36526")}, CodeBadValue},
		{"an age below zero", "random:read", Params{"min-age": Number("-1")}, CodeBadValue},
		{"a day as a number", "daily:read", Params{"date": Number("20260101")}, CodeBadValue},
		{"days before today", "daily:read", Params{"offset": Number("-36525")}, accepted},
		{"too many days before today", "daily:read", Params{"offset": Number("-36526")}, CodeBadValue},
		{"too many days after today", "daily:read", Params{"offset": Number("36526")}, CodeBadValue},
		{"two ways to name a day", "daily:path", Params{"date": Text("2026-01-01"), "offset": Number("1")}, CodeConflict},
		{"too many random notes", "random:read", Params{"count": Number("21")}, CodeBadValue},
		{"a number as a path", "read", Params{"path": Number("5")}, CodeBadValue},

		{"an empty required text", "append", Params{"path": Text("A.md"), "content": Text("")}, CodeBadValue},
		{"an empty optional text", "create", Params{"name": Text("A"), "content": Text("")}, CodeBadValue},
		{"a text as long as may be", "search", Params{"query": Text(long)}, accepted},
		{"a text that is one byte longer", "search", Params{"query": Text(long + "x")}, CodeBadValue},
		{"a text that begins with a NUL", "search", Params{"query": Text("\x00")}, CodeBadValue},
		{"a text with a NUL", "search", Params{"query": Text("a\x00b")}, CodeBadValue},
		{"a text that is not UTF-8", "search", Params{"query": Text("a\xffb")}, CodeBadValue},
		{"half of a surrogate pair", "search", Params{"query": Text("\xed\xa0\x80")}, CodeBadValue},
		{"a text with any other character", "append", Params{"path": Text("A.md"), "content": Text("\u202e\x1b[31m\r\n\t\\n \u200b-- vault=Other")}, accepted},

		{"a name with blanks and signs", "property:set", Params{"path": Text("A.md"), "name": Text("due: date = \\n"), "value": Text("x")}, accepted},
		{"a name as long as may be", "tag", Params{"name": Text(long[:maxNameBytes])}, accepted},
		{"a name that is one byte longer", "tag", Params{"name": Text(long[:maxNameBytes+1])}, CodeBadValue},
		{"a name over two lines", "tag", Params{"name": Text("a\nb")}, CodeBadValue},
		{"a name with a bidi character", "tag", Params{"name": Text("a\u202eb")}, CodeBadValue},
		{"a name with a zero-width space", "tag", Params{"name": Text("a\u200bb")}, CodeBadValue},
		{"a name with an escape", "tag", Params{"name": Text("a\x1b[2Jb")}, CodeBadValue},

		{"the smallest number", "search", Params{"query": Text("x"), "limit": Number("1")}, accepted},
		{"a number as text", "search", Params{"query": Text("x"), "limit": Text("10")}, accepted},
		{"no limit at all", "search", Params{"query": Text("x"), "limit": Number("0")}, CodeBadValue},
		{"a number below zero", "search", Params{"query": Text("x"), "limit": Number("-1")}, CodeBadValue},
		{"the greatest number", "search", Params{"query": Text("x"), "limit": Number("9007199254740992")}, accepted},
		{"a number that is one greater", "search", Params{"query": Text("x"), "limit": Number("9007199254740993")}, CodeBadValue},
		{"a number of many digits", "search", Params{"query": Text("x"), "limit": Number(strings.Repeat("9", 400))}, CodeBadValue},
		{"a number with a sign", "search", Params{"query": Text("x"), "limit": Text("+1")}, CodeBadValue},
		{"a number with a leading zero", "search", Params{"query": Text("x"), "limit": Text("01")}, CodeBadValue},
		{"a number with a fraction", "search", Params{"query": Text("x"), "limit": Number("1.5")}, CodeBadValue},
		{"a number with an exponent", "search", Params{"query": Text("x"), "limit": Number("1e3")}, CodeBadValue},
		{"a number in other digits", "search", Params{"query": Text("x"), "limit": Text("３")}, CodeBadValue},
		{"a number with a blank", "search", Params{"query": Text("x"), "limit": Text(" 3")}, CodeBadValue},
		{"a number as a flag", "search", Params{"query": Text("x"), "limit": Flag(true)}, CodeBadValue},

		{"a choice", "tasks", Params{"format": Text("csv")}, accepted},
		{"a choice in another case", "tasks", Params{"format": Text("CSV")}, CodeBadValue},
		{"a choice that another command has", "tasks", Params{"format": Text("yaml")}, CodeBadValue},

		{"one character", "tasks", Params{"status": Text("/")}, accepted},
		{"a blank as the character", "tasks", Params{"status": Text(" ")}, accepted},
		{"one character of several bytes", "tasks", Params{"status": Text("✓")}, accepted},
		{"two characters", "tasks", Params{"status": Text("xx")}, CodeBadValue},
		{"a line break as the character", "tasks", Params{"status": Text("\n")}, CodeBadValue},
		{"an invisible character", "tasks", Params{"status": Text("\u2060")}, CodeBadValue},

		{"a web address", "web", Params{"url": Text("https://example.org/a b?c#d")}, accepted},
		{"a web address in capitals", "web", Params{"url": Text("HTTP://EXAMPLE.ORG")}, accepted},
		{"a file address", "web", Params{"url": Text("file:///etc/passwd")}, CodeBadValue},
		{"an address of the app", "web", Params{"url": Text("obsidian://new?vault=x")}, CodeBadValue},
		{"a script as an address", "web", Params{"url": Text("javascript:alert(1)")}, CodeBadValue},
		{"a data address", "web", Params{"url": Text("data:text/html,x")}, CodeBadValue},
		{"an address without a host", "web", Params{"url": Text("https:///x")}, CodeBadValue},
		{"an address without a scheme", "web", Params{"url": Text("//example.org")}, CodeBadValue},
		{"an address that cannot be read", "web", Params{"url": Text("https://[::1")}, CodeBadValue},
		{"an address with a control character", "web", Params{"url": Text("https://example.org/\n")}, CodeBadValue},
		{"an address with a bidi character", "web", Params{"url": Text("https://example.org/\u202e")}, CodeBadValue},
		{"an address as long as may be", "web", Params{"url": Text("https://a/" + long[:maxURLBytes-10])}, accepted},
		{"an address that is one byte longer", "web", Params{"url": Text("https://a/" + long[:maxURLBytes-9])}, CodeBadValue},

		{"help for a command", "help", Params{"command": Text("daily:read")}, accepted},
		{"help for a restricted command", "help", Params{"command": Text("eval")}, accepted},
		{"help for what is no command", "help", Params{"command": Text("daily:raed")}, CodeBadValue},
		{"help for a switch", "help", Params{"command": Text("--copy")}, CodeBadValue},
		{"help for another vault", "help", Params{"command": Text("vault=Other")}, CodeBadValue},

		{"a restricted command is parsed so that it can be refused", "eval", nil, accepted},
		{"the parameters of a restricted command are not looked at", "eval", Params{"cod": Text("\x00")}, accepted},
	}
	for _, test := range tests {
		call, err := Parse(test.name, test.params)
		assert.That(t, code(err) == test.want, "%s: got %v, want %q", test.sentence, err, test.want)
		assert.That(t, call.Valid() == (err == nil), "%s: valid %v with the error %v", test.sentence, call.Valid(), err)
	}
}

func TestARestrictedCallCarriesNothing(t *testing.T) {
	call := mustParse(t, "eval", Params{"code": Text("1"), "x": Text("2")})
	assert.Equal(t, len(call.Params()), 0, "got %v", call)
	assert.Equal(t, call.Tier(), tiers.Restricted, "got %v", call)
	assert.Equal(t, call.Effect(), tiers.Executes, "got %v", call)
}

func TestErrorsComeInTheSameOrder(t *testing.T) {
	params := Params{"zzz": Text("1"), "yyy": Text("1"), "path": Text("../x"), "aaa": Text("1")}
	for range 50 {
		_, err := Parse("read", params)
		require.Equal(t, err.Error(),
			`command "read": unknown parameter "aaa"; parameter "path": has the segment ".."; vault paths have no relative segments; unknown parameter "yyy"; unknown parameter "zzz"`)
	}
}

func TestMessagesNameWhatWouldBeRight(t *testing.T) {
	tests := []struct {
		name   string
		params Params
		words  string // of the sentence
		hint   string // words of the hint
	}{
		{"daily:raed", nil, `unknown command "daily:raed"`, `did you mean "daily:read"?`},
		{"qqqqqqqq", nil, "unknown command", ""},
		{"read", Params{"pth": Text("A.md")}, `parameter "pth"`, `did you mean "path"?`},
		{"read", Params{"--path": Text("A.md")}, `parameter "--path"`, `did you mean "path"?`},
		{"read", Params{"heading": Text("A")}, `parameter "heading"`, `"note:section" with heading="A" prints one section`},
		{"version", Params{"date": Text("2026-01-01")}, `parameter "date"`, "takes no parameters"},
		{"read", Params{"vault": Text("x")}, "chosen by the gateway", `"vault" is an argument next to "params", not one of them`},
		{"read", Params{"--vault": Text("x")}, "chosen by the gateway", `next to "params"`},
		{"read", Params{"copy": Flag(true)}, "clipboard", ""},
		{"read", Params{"~copy": Flag(true)}, "unknown parameter", "valid parameters: file, path"}, // a dash is overlooked, nothing else
		{"append", Params{"path": Text("A.md")}, `parameter "content": is required`, "give content= with text"},
		{"move", Params{"path": Text("A.md")}, `parameter "to": is required`, "give to= with a folder with a slash at its end, or a whole path"},
		{"web", nil, `parameter "url": is required`, "give url= with a web address"},
		{"create", nil, `command "create": requires "name" or "path"`, ""},
		{"create", Params{"name": Text("A"), "newtab": Flag(true)}, `parameter "newtab": requires "open"`, ""},
		{"read", Params{"file": Text("A"), "path": Text("A.md")}, `parameter "path": cannot be combined with "file"`, "path alone names the note"},
		{"search", Params{"query": Text("")}, `parameter "query": is empty, want text`, ""},
		{"read", Params{"path": Text("")}, "is empty; leave it out or give a path", ""},
		{"read", Params{"path": Number("5")}, "want a path, got a number", ""},
		{"search", Params{"query": Text("x"), "limit": Text("many")}, `invalid number "many": want a whole number from 1`, ""},
		{"search", Params{"query": Text("x"), "limit": Text("0")}, "is 0, want a whole number from 1 to 9007199254740992", ""},
		{"search", Params{"query": Text("x"), "format": Text("jsn")}, `has no value "jsn", want one of text, json; did you mean "json"?`, ""},
		{"tasks", Params{"status": Text("done")}, `is "done", want exactly one printable character`, "use done=true"},
		{"tasks", Params{"status": Flag(true)}, "want one character, got true or false", "one character between the brackets"},
		{"task", Params{"ref": Flag(true)}, "want a path, a colon and a line number, got true or false", ""},
		{"task", Params{"ref": Text("A.md")}, "has no line number", ""},
		{"help", Params{"command": Text("daily:raed")}, `unknown command "daily:raed"; did you mean "daily:read"?`, ""},
		{"help", Params{"command": Flag(true)}, "want the name of a command, got true or false", ""},
		{"files", Params{"total": Text("1")}, "is a flag: true or false, got text", "send true, or leave it out"},
		{"files", Params{"total": Number("1")}, "is a flag: true or false, got a number", "send true, or leave it out"},
		{"move", Params{"to": Text("Archive")},
			`could be a folder or a file; want "Archive/" for the folder or "Archive.md" for the note`,
			`did you mean "Archive/"?`},
		{"publish:add", Params{"changed": Flag(true)}, "does not name what leaves the machine", "path="},
	}
	for _, test := range tests {
		_, err := Parse(test.name, test.params)
		var parse *ParseError
		if !errors.As(err, &parse) {
			t.Errorf("%s %v: got %v", test.name, test.params, err)
			continue
		}
		if !strings.Contains(err.Error(), test.words) || !strings.Contains(parse.Hint(), test.hint) || test.hint == "" && parse.Hint() != "" {
			t.Errorf("%s %v: %q, hint %q; want %q, hint %q", test.name, test.params, err, parse.Hint(), test.words, test.hint)
		}
	}
}

// A message is read by a model: it must stay short, whatever the request.
func TestMessagesStayShort(t *testing.T) {
	long := strings.Repeat("é", 400_000)
	for _, request := range []struct {
		name   string
		params Params
	}{
		{long, nil},
		{"read", Params{long: Text("x")}},
		{"read", Params{"path": Text(long)}},
		{"tasks", Params{"format": Text(long)}},
		{"tasks", Params{"status": Text(long)}},
		{"search", Params{"query": Text("x"), "limit": Text(long)}},
		{"web", Params{"url": Text(long)}},
		{"web", Params{"url": Text("x://" + long[:2000])}},
		{"help", Params{"command": Text(long)}},
		{"move", Params{"to": Text(long[:200])}},
		{"tag", Params{"name": Text(long)}},
		{"rename", Params{"name": Text("/" + long)}},
		{"task", Params{"ref": Text("A.md:" + long)}},
	} {
		_, err := Parse(request.name, request.params)
		require.That(t, err != nil, "%.20s: the message has %d bytes", request.name, len(err.Error()))
		assert.That(t, len(err.Error()) <= 900, "%.20s: the message has %d bytes", request.name, len(err.Error()))
	}
}

func TestParseWords(t *testing.T) {
	tests := []struct {
		sentence string
		line     string // split at |
		argv     string // joined by |
		want     string
	}{
		{"a parameter and a flag", "create|name=A|overwrite", "create|name=A|overwrite", ""},
		{"the order of words does not matter", "create|overwrite|name=A", "create|name=A|overwrite", ""},
		{"a value with equals signs", "append|path=A.md|content=a=b=c", "append|content=a=b=c|path=A.md", ""},
		{"a value that looks like a switch", "append|path=A.md|content=--copy", "append|content=--copy|path=A.md", ""},
		{"a flag that is true", "files|total=true", "files|total", ""},
		{"a flag that is false", "files|total=false", "files", ""},
		{"help for a command", "help|daily:read", "help|daily:read", ""},
		{"help for the command named command", "help|command", "help|command", ""},
		{"help with its parameter written out", "help|command=daily:read", "help|daily:read", ""},
		{"help for what is no command", "help|total", "", CodeBadValue},
		{"help for two commands", "help|read|daily", "", CodeConflict},
		{"a repeated parameter", "read|path=A.md|path=B.md", "", CodeConflict},
		{"a repeated flag", "files|total|total", "", CodeConflict},
		{"a repeated flag, once false", "files|total|total=false", "", CodeConflict},
		{"a parameter as a bare word", "append|path=A.md|content", "", CodeBadValue},
		{"an unknown bare word", "read|verbose", "", CodeUnknownParam},
		{"an unknown key", "read|date=2026", "", CodeUnknownParam},
		{"a switch", "read|--copy", "", CodeUnknownParam},
		{"a switch with a value", "read|--path=A.md", "", CodeUnknownParam},
		{"a vault", "read|vault=Other", "", CodeUnknownParam},
		{"a word that begins with an equals sign", "read|=x", "", CodeUnknownParam},
		{"an empty word", "read|", "", CodeUnknownParam},
		{"an empty value", "read|path=", "", CodeBadValue},
		{"a number", "search|query=x|limit=5", "search|limit=5|query=x", ""},
		{"a restricted command with anything behind it", "eval|code=1|code=2|--x", "eval", ""},
	}
	for _, test := range tests {
		words := strings.Split(test.line, "|")
		call, err := ParseWords(words[0], words[1:])
		if code(err) != test.want {
			t.Errorf("%s: got %v, want %q", test.sentence, err, test.want)
			continue
		}
		got := strings.Join(call.Items(), "|")
		assert.That(t, err != nil || got == test.argv, "%s: got %s, want %s", test.sentence, got, test.argv)
	}
}

func TestAWordThatIsGivenTwiceIsNamed(t *testing.T) {
	_, err := ParseWords("read", []string{"path=A.md", "path=B.md"})
	want := `command "read": parameter "path": given more than once`
	require.That(t, err != nil, "got %v, want %s", err, want)
	assert.Equal(t, err.Error(), want)
}

func TestEscalationNeverLowers(t *testing.T) {
	r := &row{name: "x", effect: tiers.Writes,
		when: []escalation{{"shows", tiers.Shows}, {"writes", tiers.Writes}, {"destroys", tiers.Destroys},
			{"destroys", tiers.Writes}}}
	for _, key := range []string{"shows", "writes", "destroys", "other"} {
		r.params = append(r.params, param{name: key, kind: kindFlag})
	}
	for key, want := range map[string]tiers.Effect{"shows": tiers.Writes, "writes": tiers.Writes, "destroys": tiers.Destroys, "other": tiers.Writes} {
		call := Call{row: r, effect: r.effect}
		err := call.addParam(key, Params{key: Flag(true)})
		require.Equal(t, err, nil, "%s", key)
		assert.Equal(t, call.effect, want, "%s", key)
	}
}

// Every code of this package is reached by some request above or in another
// test; the list itself is a promise to programs.
func TestCodes(t *testing.T) {
	got := []string{CodeUnknownCommand, CodeUnknownParam, CodeMissingParam, CodeBadValue, CodeConflict,
		CodeTargetRequired, CodeContentUnsafe, CodeContentTooLong}
	want := []string{"unknown_command", "unknown_param", "missing_param", "bad_value", "conflicting_params",
		"target_required", "content_unsafe", "content_too_long"}
	assert.That(t, slices.Equal(got, want), "the codes changed: %v", got)
}

func TestEachWrongParameterIsNamed(t *testing.T) {
	tests := []struct {
		sentence, name   string
		params           Params
		code, field      string
		message, hinting string
	}{
		{
			"two names with a similar one", "create", Params{"nmae": Text("A"), "contnt": Text("x")}, CodeUnknownParam, "contnt",
			`command "create": unknown parameter "contnt"; unknown parameter "nmae"`, `"contnt": did you mean "content"?; "nmae": did you mean "name"?`,
		},
		{
			"a name and a value", "search", Params{"qurey": Text("x"), "limit": Text("many")}, CodeBadValue, "limit",
			`command "search": parameter "limit": invalid number "many": want a whole number from 1 to 9007199254740992; unknown parameter "qurey"`,
			`"qurey": did you mean "query"?`,
		},
		{
			"a required one that is missing beside a name", "append", Params{"pth": Text("A.md")}, CodeUnknownParam, "pth",
			`command "append": unknown parameter "pth"; parameter "content": is required`, `"pth": did you mean "path"?; "content": give content= with text`,
		},
		{
			"a required one under another name is not missing", "append", Params{"text": Text("x"), "path": Text("A.md")}, CodeUnknownParam, "text",
			`command "append": unknown parameter "text"`, `did you mean "content"?`,
		},
		{
			"a required one with a wrong value is not missing", "append", Params{"content": Flag(true), "pth": Text("A.md")}, CodeBadValue, "content",
			`command "append": parameter "content": want text, got true or false; unknown parameter "pth"`, `"pth": did you mean "path"?`,
		},
		{
			"two that are required", "note:replace", Params{"path": Text("A.md")}, CodeMissingParam, "old",
			`command "note:replace": parameter "old": is required; parameter "new": is required`, `"old": give old= with text; "new": give new= with text`,
		},
		{
			"one of several, and the field is the first of them", "create", Params{}, CodeMissingParam, "name",
			`command "create": requires "name" or "path"`, "",
		},
		{
			"two that exclude another, in two groups", "tasks",
			Params{"active": Flag(true), "daily": Flag(true), "done": Flag(true), "todo": Flag(true)}, CodeConflict,
			"daily",
			`command "tasks": parameter "daily": cannot be combined with "active"; parameter "todo": cannot be combined with "done"`,
			`"daily": leave "daily" or "active" out; "todo": leave "todo" or "done" out`,
		},
		{
			"names without a similar one list the parameters once", "random:read", Params{"qqqqq": Text("x"), "wwwww": Text("x")}, CodeUnknownParam, "qqqqq",
			`command "random:read": unknown parameter "qqqqq"; unknown parameter "wwwww"`, "valid parameters: folder, count, min-age, seed",
		},
	}
	for _, test := range tests {
		_, err := Parse(test.name, test.params)
		wrong, ok := errors.AsType[*ParseError](err)
		if !ok {
			t.Errorf("%s: got %v", test.sentence, err)
			continue
		}
		assert.Equal(t, wrong.Code(), test.code, test.sentence, err.Error())
		assert.Equal(t, wrong.Field(), test.field, test.sentence, err.Error())
		assert.Equal(t, err.Error(), test.message, test.sentence)
		assert.Equal(t, wrong.Hint(), test.hinting, test.sentence)
	}
}

func TestEachRepeatedWordIsNamedWithTheOthersThatAreWrong(t *testing.T) {
	_, err := ParseWords("read", []string{"path=A.md", "path=B.md", "path=C.md", "pht=D.md"})
	want := `command "read": parameter "path": given more than once; unknown parameter "pht"`
	require.That(t, err != nil, "got %v, want %s", err, want)
	assert.Equal(t, err.Error(), want)
}
