package allowlist

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var carriers = map[string]Carrier{
	"app on linux": ToApp("linux"), "app on darwin": ToApp("darwin"), "app on windows": ToApp("windows"), "app on plan9": ToApp("plan9"),
	"embedded on linux": ToEmbedded("linux"), "embedded on darwin": ToEmbedded("darwin"), "embedded on windows": ToEmbedded("windows"),
	"zero": {},
}

func TestLineLimits(t *testing.T) {
	const linuxItemBytes, windowsItem, macTotalBytes = 131_071, 3072, 8000
	// appended(unit, n) is an append whose longest item, content=…, has n bytes.
	appended := func(unit string, n int) Params {
		text := strings.Repeat(unit, (n-len("content="))/len(unit))
		return Params{"path": Text("A.md"), "content": Text(text + strings.Repeat("x", n-len("content=")-len(text)))}
	}
	tests := []struct {
		sentence string
		carrier  Carrier
		params   Params
		want     string
	}{
		{"linux takes an item as long as the kernel does", ToApp("linux"), appended("x", linuxItemBytes), ""},
		{"linux takes no longer item", ToApp("linux"), appended("x", linuxItemBytes+1), CodeContentTooLong},
		{"the app on macOS takes long ASCII text", ToApp("darwin"), appended("x", 20_000), ""},
		{"the app on macOS takes no item longer than on linux", ToApp("darwin"), appended("x", linuxItemBytes+1), CodeContentTooLong},
		{"the app on macOS takes other text to its limit", ToApp("darwin"), appended("é", macTotalBytes-len("append path=A.md ")-1), ""},
		{"the app on macOS damages other text beyond it", ToApp("darwin"), appended("é", macTotalBytes-len("append path=A.md ")), CodeContentTooLong},
		{"the app on Windows takes an item to its limit", ToApp("windows"), appended("x", windowsItem), ""},
		{"the app on Windows breaks off beyond it", ToApp("windows"), appended("x", windowsItem+1), CodeContentTooLong},
		{"the zero carrier has the limits of Windows", Carrier{}, appended("x", windowsItem+1), CodeContentTooLong},
		{"an unknown system has the limits of Windows", ToApp("plan9"), appended("x", windowsItem+1), CodeContentTooLong},
		{"the embedded program takes long text on linux", ToEmbedded("linux"), appended("x", 500_000), ""},
		{"the embedded program takes long text on Windows", ToEmbedded("windows"), appended("é", 500_000), ""},
		{"the embedded program takes long text on macOS", ToEmbedded("darwin"), appended("é", 500_000), ""},
	}
	for _, test := range tests {
		line, err := mustParse(t, "append", test.params).Line(test.carrier)
		assert.That(t, code(err) == test.want, "%s: got %v, want %q", test.sentence, err, test.want)
		if err != nil && (line.Argv != nil || line.Stdin != "" || line.StdinParam != "") {
			t.Errorf("%s: a refused line contains %d items", test.sentence, len(line.Argv))
		}
	}
}

// The zero carrier and an unknown system also have the limit of macOS, which
// counts all items together.
func TestTheNarrowestCarrierCountsAllItems(t *testing.T) {
	text := strings.Repeat("é", windowsItem/2-10)
	call := mustParse(t, "bookmark", Params{"search": Text(text), "title": Text(strings.Repeat("é", maxNameBytes/2))})
	call = require.Value(call.In(strings.Repeat("é", maxNameBytes/2)))(t)
	for name, carrier := range carriers {
		_, err := call.Line(carrier)
		assert.NoError(t, err, "%s", name)
	}
	// No row has texts enough to pass the limit of one item and not that of
	// all, so the limit is asked directly.
	items := slices.Repeat([]string{"content=" + text}, 3)
	for name, carrier := range carriers {
		reason, _ := carrier.tooLong(items)
		want := name == "zero" || name == "app on darwin" || name == "app on plan9"
		assert.That(t, (reason != "") == want, "%s: %q", name, reason)
	}
}

// The command line of Windows is one string, in which quotes and backslashes
// count twice.
func TestTheWindowsLineCountsQuotes(t *testing.T) {
	// Two delicate or long texts: one goes to standard input, the other does not.
	long := func(text string) Call {
		return mustParse(t, "base:create", Params{"path": Text("B.base"), "view": Text(`a\nb`), "content": Text(text)})
	}
	tests := []struct {
		sentence, text, want string
	}{
		{"plain text to the limit", strings.Repeat("x", windowsLine-100), ""},
		{"plain text beyond it", strings.Repeat("x", windowsLine), CodeContentTooLong},
		{"as many quotes", strings.Repeat(`"`, windowsLine-100), CodeContentTooLong},
		{"half as many backslashes", strings.Repeat(`\\`, windowsLine/4-100), ""},
		{"characters outside the basic plane count twice", strings.Repeat("😀", windowsLine/2), CodeContentTooLong},
	}
	for _, test := range tests {
		_, err := long(test.text).Line(ToEmbedded("windows"))
		assert.Equal(t, code(err), test.want, "%s: got %v, want", test.sentence, err)
		_, err = long(test.text).Line(ToEmbedded("linux"))
		assert.NoError(t, err, "%s, on linux", test.sentence)
	}
	// Quotes around each item and a blank after it count too.
	for units, fits := range map[int]bool{29_999: true, 30_000: true, 30_001: false} {
		reason, _ := ToEmbedded("windows").tooLong([]string{strings.Repeat("x", 15_000-3), strings.Repeat(`"`, 5000) + strings.Repeat("x", units-25_003)})
		assert.Equal(t, (reason == ""), fits, "%d units: %q", units, reason)
	}
}

func TestTooLongNamesTheParameter(t *testing.T) {
	_, err := mustParse(t, "append", Params{"path": Text("A.md"), "content": Text(strings.Repeat("x", 4000))}).Line(ToApp("windows"))
	parse, ok := err.(*ParseError)
	require.That(t, ok, "got %v", err)
	require.Equal(t, parse.Param, "content", "got %v", err)
	require.That(t, parse.Hint() != "", "got %v", err)
	assert.Contains(t, parse.Reason, "4008 bytes", "got %v", err)
}

// The client turns \n and \t into a line break and a tab, so text that contains
// them goes another way or nowhere.
func TestDelicateText(t *testing.T) {
	delicate := []string{`\n`, `a\nb`, `C:\temp`, `\\n`, `\\\\times`, `\r`, "x\n" + `\t`}
	plain := []string{"\n", "\t", "\r\n", `\`, `\\`, `\x`, `\N`, "a\\\nb", `\ n`}
	for _, text := range append(slices.Clone(delicate), plain...) {
		call := mustParse(t, "daily:append", Params{"content": Text(text)})
		want := ""
		if slices.Contains(delicate, text) {
			want = CodeContentUnsafe
		}
		for _, goos := range []string{"linux", "darwin", "windows", ""} {
			_, err := call.Line(ToApp(goos))
			assert.Equal(t, code(err), want, "%q to the app on %q: got %v, want", text, goos, err)
			line, err := call.Line(ToEmbedded(goos))
			assert.That(t, err == nil, "%q to the embedded program on %q: %v", text, goos, err)
			onStdin := line.StdinParam == "content" && line.Stdin == text
			assert.That(t, onStdin == (want != ""), "%q to the embedded program on %q: standard input has %q of %q", text, goos, line.Stdin, line.StdinParam)
		}
	}
}

func TestDelicateValuesOfEveryKind(t *testing.T) {
	for name, params := range map[string]Params{
		"search":       {"query": Text(`a\nb`)},
		"tag":          {"name": Text(`a\nb`)},
		"web":          {"url": Text(`https://example.org/\n`)},
		"append":       {"path": Text("A.md"), "content": Text(`a\nb`)},
		"property:set": {"path": Text("A.md"), "name": Text("x"), "value": Text(`a\nb`)},
	} {
		_, err := mustParse(t, name, params).Line(ToApp("linux"))
		parse, ok := err.(*ParseError)
		require.That(t, ok, "%s: got %v", name, err)
		require.Equal(t, parse.Code(), CodeContentUnsafe, "%s: got %v", name, err)
		assert.Contains(t, parse.Hint(), "embedded backend", "%s: got %v", name, err)
	}
}

func TestStandardInputTakesOneValue(t *testing.T) {
	long, delicate := strings.Repeat("x", 4097), `a\nb`
	tests := []struct {
		sentence, name string
		params         Params
		stdin          string // the parameter
		want           string
	}{
		{"short text stays in the arguments", "append", Params{"path": Text("A.md"), "content": Text("x")}, "", ""},
		{"text to the limit stays in the arguments", "append", Params{"path": Text("A.md"), "content": Text(long[1:])}, "", ""},
		{"long text does not", "append", Params{"path": Text("A.md"), "content": Text(long)}, "content", ""},
		{"a long query does not", "search", Params{"query": Text(long)}, "query", ""},
		{"a delicate value of a property does not", "property:set", Params{"path": Text("A.md"), "name": Text("x"), "value": Text(delicate)}, "value", ""},
		{"a delicate name does not", "tag", Params{"name": Text(delicate)}, "name", ""},
		{"the delicate one of two goes first", "base:create", Params{"path": Text("B.base"), "content": Text(long), "view": Text(delicate)}, "view", ""},
		{"the delicate text that is replaced goes", "note:replace", Params{"path": Text("A.md"), "old": Text(delicate), "new": Text("x")}, "old", ""},
		{"or the delicate one that replaces it", "note:replace", Params{"path": Text("A.md"), "old": Text("x"), "new": Text(delicate)}, "new", ""},
		{"a delicate text that is inserted goes", "note:insert",
			Params{"path": Text("A.md"), "lines": Text("3"), "position": Text("after"), "content": Text(delicate)},
			"content", ""},
		{"two delicate ones do not fit", "base:create",
			Params{"path": Text("B.base"), "content": Text(delicate), "view": Text(delicate)}, "", CodeContentUnsafe},
		{"a path never goes there", "read", Params{"path": Text("A.md")}, "", ""},
	}
	for _, test := range tests {
		call := mustParse(t, test.name, test.params)
		line, err := call.Line(ToEmbedded("linux"))
		if code(err) != test.want || line.StdinParam != test.stdin {
			t.Errorf("%s: %q on standard input and the error %v", test.sentence, line.StdinParam, err)
			continue
		}
		value, _ := call.Param(test.stdin)
		assert.That(t, line.Stdin == value, "%s: standard input differs from the value", test.sentence)
		for _, item := range line.Argv {
			assert.That(t, test.stdin == "" || !strings.HasPrefix(item, test.stdin+"="), "%s: the value is in the arguments too", test.sentence)
		}
	}
}

func TestValuesArriveByteForByte(t *testing.T) {
	texts := []string{" leading and trailing ", "--copy", "vault=Other", "a=b=c", "\r\n\t\x01\x1b\x7f",
		"'\"`$(id);|&<>*?", "é e\u0301 日本 \u202e\u200b😀", "%PATH% ^ !", "-", "="}
	for _, text := range texts {
		call := require.Value(mustParse(t, "append", Params{"path": Text("A b/C.md"), "content": Text(text), "inline": Flag(true)}).In("My Vault"))(t)
		want := []string{"vault=My Vault", "append", "content=" + text, "path=A b/C.md", "inline"}
		for name, carrier := range carriers {
			line, err := call.Line(carrier)
			require.Equal(t, err, nil, "%s: %q becomes %q", name, text, line.Argv)
			require.EqualSlices(t, line.Argv, want, "%s: %q becomes %q", name, text, line.Argv)
			assert.Equal(t, line.StdinParam, "", "%s: %q becomes %q", name, text, line.Argv)
		}
	}
}

func TestTheVaultComesFirst(t *testing.T) {
	call := mustParse(t, "help", Params{"command": Text("read")})
	aimed := require.Value(call.In("Notes=2026"))(t)
	line, err := aimed.Line(ToApp("linux"))
	require.NoError(t, err)
	assert.EqualSlices(t, line.Argv, []string{"vault=Notes=2026", "help", "read"})
	for _, vault := range []string{"", "a\nb", "a\x00b", "\xff", "a\u202eb", strings.Repeat("x", maxNameBytes+1)} {
		aimed, err := call.In(vault)
		assert.Equal(t, code(err), CodeBadValue, "the vault %q", vault)
		assert.That(t, !aimed.Valid(), "the vault %q: got %v", vault, err)
	}
}

func TestAVaultNameIsNotRewritten(t *testing.T) {
	call := require.Value(mustParse(t, "files", nil).In(`C:\notes`))(t)
	for name, carrier := range carriers {
		_, err := call.Line(carrier)
		assert.Equal(t, code(err), CodeContentUnsafe, "%s: got %v", name, err)
	}
}

// The app would ignore a path that it does not know and change the open note.
func TestAnExtensionNeverReachesTheApp(t *testing.T) {
	plain := mustParse(t, "template:insert", Params{"name": Text("A")})
	extended := mustParse(t, "template:insert", Params{"name": Text("A"), "path": Text("B.md")})
	assert.That(t, !plain.EmbeddedOnly(),
		"ours: %v without and %v with path", plain.EmbeddedOnly(), extended.EmbeddedOnly())
	assert.That(t, extended.EmbeddedOnly(),
		"ours: %v without and %v with path", plain.EmbeddedOnly(), extended.EmbeddedOnly())
	for name, carrier := range carriers {
		line, err := extended.Line(carrier)
		if carrier.embedded && (err != nil || !slices.Equal(line.Argv, []string{"template:insert", "name=A", "path=B.md"})) {
			t.Errorf("%s: %q, %v", name, line.Argv, err)
		}
		if !carrier.embedded {
			assert.Equal(t, code(err), CodeTargetRequired, "%s", name)
			assert.That(t, line.Argv == nil, "%s: %q", name, line.Argv)
		}
	}
}

func TestTheZeroCallHasNoLine(t *testing.T) {
	for name, carrier := range carriers {
		line, err := (Call{}).Line(carrier)
		assert.Equal(t, code(err), CodeUnknownCommand, "%s", name)
		assert.That(t, line.Argv == nil, "%s: %q, %v", name, line.Argv, err)
	}
}
