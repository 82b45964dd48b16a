package call

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestParseLine(t *testing.T) {
	home := "Home"
	tests := []struct {
		name, args string
		want       Line
	}{
		{"a command alone", "V files", Line{"V", protocol.Request{Command: "files"}}},
		{"parameters keep their order", "V read path=a b=c d", Line{"V", protocol.Request{Command: "read", Args: []string{"path=a", "b=c", "d"}}}},
		{"everything before the command", "V --stdin content --facts vault=Home daily:append",
			Line{"V", protocol.Request{Input: "content", Want: protocol.Want{Facts: true}, Vault: &home,
				Command: "daily:append"}}},
		{"in any order", "V vault=Home --facts --stdin content daily:append",
			Line{"V", protocol.Request{Input: "content", Want: protocol.Want{Facts: true}, Vault: &home,
				Command: "daily:append"}}},
		{"the second vault is a command", "V vault=Home vault=Home", Line{"V", protocol.Request{Vault: &home, Command: "vault=Home"}}},
		{"a folder may look like a command", "files files", Line{"files", protocol.Request{Command: "files"}}},
		{"help by its switch", "V --help", Line{"V", protocol.Request{Command: "help"}}},
		{"all that a person can want of a change",
			"V --write --plan --change 20261121T093105.123456789Z-7f3a --expect 0123456789abcdef --approved " +
				strings.Repeat("a", 64) + " --compact append",
			Line{"V", protocol.Request{Command: "append", Want: protocol.Want{Compact: true}, Write: protocol.Write{
				Allowed: true, Task: protocol.Plan, Entry: "20261121T093105.123456789Z-7f3a", Expect: "0123456789abcdef", Approved: strings.Repeat("a", 64)}}}},
		{"help about a command", "V read path=a --help", Line{"V", protocol.Request{Command: "help", Args: []string{"read"}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := require.Value(ParseLine(strings.Fields(test.args)))(t)
			if len(got.Args) == 0 {
				got.Args = nil
			}
			assert.That(t, reflect.DeepEqual(got, test.want), "got %+v", got)
		})
	}
}

func TestLinesThatAreRefused(t *testing.T) {
	for _, args := range []string{
		"", "--help", "V", "V --facts", "V vault=Home", "V --stdin", "V --stdin --facts files", "V --copy files", "V files --copy",
		"V files --", "V read --path=a", "V --stdin a --stdin b files", "V --stdin=content daily:append", "V --Facts files",
		"V --caller c files", "V --begin files", "V --client c files", "V --unless 0123456789abcdef files",
		"V --narrowed a.md", "V --once files", // what only the gateway asks
	} {
		_, err := ParseLine(strings.Fields(args))
		var known *answer.Fault
		require.That(t, errors.As(err, &known), "%q: %v", args, err)
		assert.Equal(t, known.Status, answer.ExitMisuse, "%q", args)
	}
}

func TestOptionsOfAnotherFormAreRefused(t *testing.T) {
	long := strings.Repeat("c", maxName)
	good := protocol.Write{Allowed: true, Entry: "20261121T093105.123456789Z-7f3a", Expect: "0123456789abcdef",
		Approved: strings.Repeat("a", 64), Caller: long, Client: "ü", Batch: "b"}
	assert.NoError(t, CheckWrite(good))
	assert.NoError(t, CheckWrite(protocol.Write{}))
	for name, spoil := range map[string]func(*protocol.Write){
		"no id of a change": func(w *protocol.Write) { w.Entry = "../x" },
		"no hash":           func(w *protocol.Write) { w.Expect = "1" },
		"no digest":         func(w *protocol.Write) { w.Approved = "x" },
		"a long caller":     func(w *protocol.Write) { w.Caller += "c" },
		"no characters":     func(w *protocol.Write) { w.Batch = "\xff" },
		"a long client":     func(w *protocol.Write) { w.Client = long + "c" },
	} {
		bad := good
		spoil(&bad)
		var known *answer.Fault
		require.That(t, errors.As(CheckWrite(bad), &known), "%s is taken", name)
		assert.That(t, name != "no characters" || strings.Contains(known.Error(), "UTF-8"), "%s: %v", name, known)
		assert.Equal(t, known.Status, answer.ExitMisuse, "%s is taken", name)
	}
}

func TestTheFirstOptionOfAChangeIsNamed(t *testing.T) {
	for want, w := range map[string]protocol.Write{
		"": {Allowed: true}, PlanSwitch: {Task: protocol.Plan}, ChangeSwitch: {Entry: "x", Caller: "c"},
		ExpectSwitch: {Expect: "x"}, ApprovedSwitch: {Approved: "x"},
		"options of a change": {Allowed: true, Sparing: true},
	} {
		assert.Equal(t, OptionOf(w), want, "of %+v", w)
	}
}

func TestStandardInputThatBreaks(t *testing.T) {
	_, err := ReadLiteral("content", iotest.ErrReader(errors.New("gone")), 10)
	var known *answer.Fault
	require.That(t, errors.As(err, &known), "error %v", err)
	require.Equal(t, known.Status, answer.ExitFailed, "error %v", err)
	assert.Equal(t, known.Error(), "Error: Cannot read standard input: gone", "error %v", err)
}

func TestStandardInputIsBounded(t *testing.T) {
	got, err := ReadLiteral("content", strings.NewReader("0123456789"), 10)
	require.Equal(t, err, nil, "as much as is allowed")
	assert.Equal(t, got["content"], "0123456789", "as much as is allowed")
	_, err = ReadLiteral("content", strings.NewReader("0123456789+"), 10)
	var known *answer.Fault
	require.That(t, errors.As(err, &known), "one byte more: %v", err)
	require.Equal(t, known.Status, answer.ExitMisuse, "one byte more")
	assert.Equal(t, known.Error(), "Error: Standard input is too long: at most 10 bytes.", "one byte more")
}

func TestExpand(t *testing.T) {
	for text, want := range map[string]string{
		``: "", `a\nb`: "a\nb", `\t`: "\t", `\\n`: "\\\n", `\r`: `\r`, `\`: `\`, "real\nbreak": "real\nbreak", `C:\new\table`: "C:\new\table",
	} {
		c := Syntax{Params: []allowlist.Param{{Name: "text", Kind: "content"}}}
		values := require.Value(c.Parse([]string{"text=x" + text}, nil))(t)
		assert.Equal(t, values["text"], "x"+want, "%q becomes", text)
	}
}

func TestOnlyContentIsExpanded(t *testing.T) {
	c := Syntax{Name: "c", Escaped: "also",
		Params: []allowlist.Param{{Name: "text", Kind: "content"}, {Name: "name", Kind: "name"},
			{Name: "given", Kind: "content"}, {Name: "also", Kind: "text"}}}
	values := require.Value(c.Parse([]string{`text=\n`, `name=\n`, `also=\n`}, map[string]string{"given": `\n`}))(t)
	require.Equal(t, values["text"], "\n", "values %q", values)
	require.Equal(t, values["also"], "\n", "values %q", values)
	require.Equal(t, values["name"], `\n`, "values %q", values)
	assert.Equal(t, values["given"], `\n`, "values %q", values)
}

func TestUsage(t *testing.T) {
	c := Syntax{Name: "c", Positional: "word", Params: []allowlist.Param{
		{Name: "need", Hint: "text", Required: true}, {Name: "may", Hint: "name"},
		{Name: "one", Kind: "choice", Choices: []string{"a", "b"}}, {Name: "yes", Kind: "flag"},
	}}
	assert.Equal(t, c.usage(), "Usage: c [<word>] need=<text> [may=<name>] [one=a|b] [yes]", "usage")
}

func TestNearest(t *testing.T) {
	tests := []struct {
		name, typed string
		want        []string
	}{
		{"two letters swapped", "raed", []string{"read"}},
		{"a letter missing", "dail:read", []string{"daily:read"}},
		{"another case is another name", "Files", []string{"files"}},
		{"a word behind a colon", "restore", []string{"restart", "sync:restore", "history:restore"}},
		{"a family that is no command", "property", []string{"properties", "property:set", "property:read"}},
		{"nothing typed", "", nil},
		{"nothing like it", "zzzzzz", nil},
		{"a whole sentence", strings.Repeat("read ", 100), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := "It may require a plugin to be enabled."
			if test.want != nil {
				want = "Did you mean: " + strings.Join(test.want, ", ") + "?"
			}
			got := UnknownCommand(test.typed).Error()
			assert.That(t, strings.HasSuffix(got, " not found. "+want), "%s, want %q", got, want)
		})
	}
}
