package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"vaultwicket/allowlist"
	"vaultwicket/exec"
)

func mustParse(t *testing.T, name string, p allowlist.Params) allowlist.Call {
	t.Helper()
	call, err := allowlist.Parse(name, p)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

func TestAResultAlwaysHasItsFirstSixFields(t *testing.T) {
	encoded, err := json.Marshal(Result{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"ok":false,"command":"","stdout":"","stderr":"","exitCode":0,"durationMs":0}`; string(encoded) != want {
		t.Errorf("the zero result is %s, want %s", encoded, want)
	}
}

func TestClip(t *testing.T) {
	tests := []struct {
		name, stdout string
		limit        int
		want         string
	}{
		{"a short answer stays whole", "abc", 3, "abc"},
		{"a cut falls on the end of a line that is near", "aaaa\naaaa\nbb", 10, "aaaa\naaaa\n"},
		{"a line that ends far from the limit is cut", "a\n" + strings.Repeat("b", 40), 32, "a\n" + strings.Repeat("b", 30)},
		{"a character is not cut", "aéé", 4, "aé"},
		{"nothing fits", "é", 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Result{Stdout: tt.stdout, raw: tt.stdout}.Clip(tt.limit)
			if got.Stdout != tt.want {
				t.Fatalf("got %q, want %q", got.Stdout, tt.want)
			}
			if got.Output() != tt.stdout {
				t.Errorf("the whole output became %q", got.Output())
			}
			if (got.Truncated != nil) != (tt.want != tt.stdout) {
				t.Errorf("truncated is %+v", got.Truncated)
			}
			if got.Truncated != nil && (got.Truncated.ShownBytes != len(tt.want) || got.Truncated.TotalBytes != int64(len(tt.stdout))) {
				t.Errorf("truncated is %+v", got.Truncated)
			}
		})
	}
}

func TestClipKeepsTheTotalOfACutAnswer(t *testing.T) {
	got := Result{Stdout: strings.Repeat("a", 100), Truncated: &Truncated{ShownBytes: 100, TotalBytes: 5000}}.Clip(10)
	if got.Truncated.TotalBytes != 5000 || got.Truncated.ShownBytes != 10 {
		t.Errorf("truncated is %+v", got.Truncated)
	}
}

func TestClipGivesAPrefixOfWholeCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, limit := rapid.String().Draw(t, "text"), rapid.IntRange(0, 60).Draw(t, "limit")
		got := Result{Stdout: text}.Clip(limit).Stdout
		if len(got) > limit && len(text) > limit || !strings.HasPrefix(text, got) || !utf8.ValidString(got) {
			t.Fatalf("clip of %q at %d is %q", text, limit, got)
		}
	})
}

func TestReport(t *testing.T) {
	call := mustParse(t, "rename", params("path", "a.md", "name", "b"))
	r := route{call: call}
	t.Run("the path is the one that the client confirmed", func(t *testing.T) {
		got := report(r, exec.Outcome{Stdout: "Renamed: a.md -> b.md\r\n"}, nil)
		if !got.OK || got.Path != "b.md" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("bytes that are no UTF-8 are shown and told, and kept for a terminal", func(t *testing.T) {
		got := report(r, exec.Outcome{Stdout: "a\xffb", Stderr: "\xfe"}, nil)
		if got.Stdout != "a\uFFFDb" || got.Stderr != "\uFFFD" || len(got.Notices) != 2 || got.Output() != "a\xffb" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("an answer without its middle says where it was", func(t *testing.T) {
		got := report(r, exec.Outcome{Stdout: "headtail", Cut: true, CutAt: 4, Total: 1000}, nil)
		if got.Truncated == nil || got.Truncated.TotalBytes != 1000 || !strings.Contains(got.Gap(), "1000 bytes") {
			t.Errorf("got %+v %q", got.Truncated, got.Gap())
		}
	})
	t.Run("an error has no confirmed path", func(t *testing.T) {
		got := report(r, exec.Outcome{Stdout: "Renamed: a.md -> b.md"}, refuse("timeout", "wait", "too slow"))
		if got.OK || got.Path != "" || got.Error.Code != "timeout" || got.Error.Hint != "wait" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestConfirmedPath(t *testing.T) {
	tests := []struct {
		command string
		p       allowlist.Params
		stdout  string
		want    string
	}{
		{"append", params("path", "a.md", "content", "x"), "Appended to: a.md\n", "a.md"},
		{"append", params("path", "a.md", "content", "x"), "something else\n", ""},
		{"property:set", params("path", "a.md", "name", "k", "value", "v"), "Set k: v\n", ""},
		{"random:read", nil, "Created: x.md\n", ""},
	}
	for _, tt := range tests {
		if got := confirmedPath(mustParse(t, tt.command, tt.p), tt.stdout); got != tt.want {
			t.Errorf("%s with %q: %q, want %q", tt.command, tt.stdout, got, tt.want)
		}
	}
}

func TestRejectAndFault(t *testing.T) {
	got := Reject("x", refuse("bad_request", "write it so", "argument is wrong"))
	if got.OK || got.ExitCode != -1 || got.Error.Code != "bad_request" || got.Error.Hint != "write it so" {
		t.Errorf("got %+v", got)
	}
	if got := Fault("x"); got.Error.Code != "internal" {
		t.Errorf("got %+v", got)
	}
	if got := Reject(strings.Repeat("é", 500), errors.New("x")); len(got.Command) > maxQuoted+len("…") || !utf8.ValidString(got.Command) {
		t.Errorf("the command is %d bytes", len(got.Command))
	}
}

func TestEveryCodeOfTheCorridorHasAClass(t *testing.T) {
	raised := []string{
		allowlist.CodeUnknownCommand, allowlist.CodeUnknownParam, allowlist.CodeMissingParam, allowlist.CodeBadValue,
		allowlist.CodeConflict, allowlist.CodeTargetRequired, allowlist.CodeContentUnsafe, allowlist.CodeContentTooLong,
		codeVaultNotFound, codeAlreadyExists, codeNotFound, codeNotApplied, codeCLIError, codeCancelled,
	}
	var listed []string
	for _, c := range Codes() {
		listed = append(listed, c.Name)
	}
	for _, name := range raised {
		if !slices.Contains(listed, name) || ClassOf(name) == Bug {
			t.Errorf("code %q has no class of its own", name)
		}
	}
	if ClassOf("no such code") != Bug || ClassOf("internal") != Bug {
		t.Error("what is not listed is a bug of ours")
	}
	seen := map[string]bool{}
	for _, name := range listed {
		if seen[name] {
			t.Errorf("code %q is listed twice", name)
		}
		seen[name] = true
	}
	Codes()[0].Name = "changed"
	if Codes()[0].Name == "changed" {
		t.Error("the list of codes can be changed from outside")
	}
}

func ExampleResult_Clip() {
	r := Result{Stdout: "one\ntwo\nthree\n"}.Clip(8)
	fmt.Printf("%q %d of %d\n", r.Stdout, r.Truncated.ShownBytes, r.Truncated.TotalBytes)
	// Output: "one\ntwo\n" 8 of 14
}
