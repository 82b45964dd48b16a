package call

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vaultwicket/vaultwicket/allowlist"
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
		{"a command alone", "V files", Line{Folder: "V", Command: "files"}},
		{"parameters keep their order", "V read path=a b=c d", Line{Folder: "V", Command: "read", Args: []string{"path=a", "b=c", "d"}}},
		{"everything before the command", "V --stdin content --facts vault=Home daily:append", Line{Folder: "V", Stdin: "content", Facts: true, Vault: &home, Command: "daily:append"}},
		{"in any order", "V vault=Home --facts --stdin content daily:append", Line{Folder: "V", Stdin: "content", Facts: true, Vault: &home, Command: "daily:append"}},
		{"the second vault is a command", "V vault=Home vault=Home", Line{Folder: "V", Vault: &home, Command: "vault=Home"}},
		{"a folder may look like a command", "files files", Line{Folder: "files", Command: "files"}},
		{"help by its switch", "V --help", Line{Folder: "V", Command: "help"}},
		{"help about a command", "V read path=a --help", Line{Folder: "V", Command: "help", Args: []string{"read"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := require.Value(ParseLine(strings.Fields(test.args)))(t)
			sameVault := (got.Vault == nil) == (test.want.Vault == nil) && (got.Vault == nil || *got.Vault == *test.want.Vault)
			assert.That(t, got.Folder == test.want.Folder && got.Stdin == test.want.Stdin && got.Facts == test.want.Facts && sameVault, "got %+v", got)
			assert.That(t, got.Command == test.want.Command && slices.Equal(got.Args, test.want.Args), "command %q with %q", got.Command, got.Args)
		})
	}
}

func TestLinesThatAreRefused(t *testing.T) {
	for _, args := range []string{
		"", "--help", "V", "V --facts", "V vault=Home", "V --stdin", "V --stdin --facts files", "V --copy files", "V files --copy",
		"V files --", "V read --path=a", "V --stdin a --stdin b files", "V --stdin=content daily:append", "V --Facts files",
		"V --caller", "V --caller " + strings.Repeat("c", maxCaller+1) + " files", "V --batch \xff files", "V --client a --client b files",
	} {
		_, err := ParseLine(strings.Fields(args))
		var known *answer.Fault
		assert.That(t, errors.As(err, &known) && known.Status == answer.ExitMisuse, "%q: %v", args, err)
	}
}

func TestStandardInputThatBreaks(t *testing.T) {
	_, err := ReadLiteral("content", iotest.ErrReader(errors.New("gone")), 10)
	var known *answer.Fault
	assert.That(t, errors.As(err, &known) && known.Status == answer.ExitFailed && known.Text == "Error: Cannot read standard input: gone", "error %v", err)
}

func TestStandardInputIsBounded(t *testing.T) {
	got, err := ReadLiteral("content", strings.NewReader("0123456789"), 10)
	assert.That(t, err == nil && got["content"] == "0123456789", "as much as is allowed: %q, %v", got, err)
	_, err = ReadLiteral("content", strings.NewReader("0123456789+"), 10)
	var known *answer.Fault
	assert.That(t, errors.As(err, &known) && known.Status == answer.ExitMisuse && known.Text == "Error: Standard input is too long: at most 10 bytes.", "one byte more: %v", err)
}

func TestExpand(t *testing.T) {
	for text, want := range map[string]string{
		``: "", `a\nb`: "a\nb", `\t`: "\t", `\\n`: "\\\n", `\r`: `\r`, `\`: `\`, "real\nbreak": "real\nbreak", `C:\new\table`: "C:\new\table",
	} {
		c := Syntax{Params: []allowlist.Param{{Name: "text", Kind: "content"}}}
		values := require.Value(c.Parse(Line{Args: []string{"text=x" + text}}))(t)
		assert.Equal(t, values["text"], "x"+want, "%q becomes", text)
	}
}

func TestOnlyContentIsExpanded(t *testing.T) {
	c := Syntax{Name: "c", Escaped: "also", Params: []allowlist.Param{{Name: "text", Kind: "content"}, {Name: "name", Kind: "name"}, {Name: "given", Kind: "content"}, {Name: "also", Kind: "text"}}}
	values := require.Value(c.Parse(Line{Args: []string{`text=\n`, `name=\n`, `also=\n`}, Literal: map[string]string{"given": `\n`}}))(t)
	assert.That(t, values["text"] == "\n" && values["also"] == "\n" && values["name"] == `\n` && values["given"] == `\n`, "values %q", values)
}

func TestUsage(t *testing.T) {
	c := Syntax{Name: "c", Positional: "word", Params: []allowlist.Param{
		{Name: "need", Hint: "text", Required: true}, {Name: "may", Hint: "name"}, {Name: "one", Kind: "choice", Choices: []string{"a", "b"}}, {Name: "yes", Kind: "flag"},
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
