package vault

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestParseLine(t *testing.T) {
	home := "Home"
	tests := []struct {
		name string
		args string
		want line
	}{
		{"a command alone", "V files", line{folder: "V", command: "files"}},
		{"parameters keep their order", "V read path=a b=c d", line{folder: "V", command: "read", args: []string{"path=a", "b=c", "d"}}},
		{"everything before the command", "V --stdin content --facts vault=Home daily:append", line{folder: "V", stdin: "content", facts: true, vault: &home, command: "daily:append"}},
		{"in any order", "V vault=Home --facts --stdin content daily:append", line{folder: "V", stdin: "content", facts: true, vault: &home, command: "daily:append"}},
		{"the second vault is a command", "V vault=Home vault=Home", line{folder: "V", vault: &home, command: "vault=Home"}},
		{"a folder may look like a command", "files files", line{folder: "files", command: "files"}},
		{"help by its switch", "V --help", line{folder: "V", command: "help"}},
		{"help about a command", "V read path=a --help", line{folder: "V", command: "help", args: []string{"read"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseLine(strings.Fields(test.args))
			if err != nil {
				t.Fatal(err)
			}
			sameVault := (got.vault == nil) == (test.want.vault == nil) && (got.vault == nil || *got.vault == *test.want.vault)
			if got.folder != test.want.folder || got.stdin != test.want.stdin || got.facts != test.want.facts || !sameVault {
				t.Errorf("got %+v", got)
			}
			if got.command != test.want.command || !slices.Equal(got.args, test.want.args) {
				t.Errorf("command %q with %q", got.command, got.args)
			}
		})
	}
}

func TestLinesThatAreRefused(t *testing.T) {
	for _, args := range []string{
		"", "--help", "V", "V --facts", "V vault=Home", "V --stdin", "V --stdin --facts files", "V --copy files", "V files --copy",
		"V files --", "V read --path=a", "V --stdin a --stdin b files", "V --stdin=content daily:append", "V --Facts files",
	} {
		_, err := parseLine(strings.Fields(args))
		var known *fault
		if !errors.As(err, &known) || known.status != wrong {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestStandardInputThatBreaks(t *testing.T) {
	_, err := readLiteral("content", iotest.ErrReader(errors.New("gone")), 10)
	var known *fault
	if !errors.As(err, &known) || known.status != failed || known.text != "Error: Cannot read standard input: gone" {
		t.Errorf("error %v", err)
	}
}

func TestStandardInputIsBounded(t *testing.T) {
	got, err := readLiteral("content", strings.NewReader("0123456789"), 10)
	if err != nil || got["content"] != "0123456789" {
		t.Errorf("as much as is allowed: %q, %v", got, err)
	}
	_, err = readLiteral("content", strings.NewReader("0123456789+"), 10)
	var known *fault
	if !errors.As(err, &known) || known.status != wrong || known.text != "Error: Standard input is too long: at most 10 bytes." {
		t.Errorf("one byte more: %v", err)
	}
}

func TestExpand(t *testing.T) {
	for text, want := range map[string]string{
		``: "", `a\nb`: "a\nb", `\t`: "\t", `\\n`: "\\\n", `\r`: `\r`, `\`: `\`, "real\nbreak": "real\nbreak", `C:\new\table`: "C:\new\table",
	} {
		if got := expand(text); got != want {
			t.Errorf("expand(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestOnlyContentIsExpanded(t *testing.T) {
	c := syntax{name: "c", params: []param{{name: "text", kind: content}, {name: "name", kind: short}, {name: "given", kind: content}}}
	values, err := c.parse(request{args: []string{`text=\n`, `name=\n`}, literal: map[string]string{"given": `\n`}})
	if err != nil {
		t.Fatal(err)
	}
	if values["text"] != "\n" || values["name"] != `\n` || values["given"] != `\n` {
		t.Errorf("values %q", values)
	}
}

func TestUsage(t *testing.T) {
	c := syntax{name: "c", bare: "word", params: []param{
		{name: "need", hint: "text", required: true}, {name: "may", hint: "path"}, {name: "one", oneOf: []string{"a", "b"}}, {name: "yes", kind: flag},
	}}
	if got := c.usage(); got != "Usage: c [<word>] need=<text> [may=<path>] [one=a|b] [yes]" {
		t.Errorf("usage %q", got)
	}
}
