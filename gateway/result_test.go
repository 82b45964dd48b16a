package gateway

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/exec"
	"vaultwicket/gateway/failure"
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
	t.Parallel()
	encoded, err := json.Marshal(Result{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"ok":false,"command":"","stdout":"","stderr":"","exitCode":0,"durationMs":0}`; string(encoded) != want {
		t.Errorf("the zero result is %s, want %s", encoded, want)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
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
		got := report(r, exec.Outcome{Stdout: "Renamed: a.md -> b.md"}, failure.New("timeout", "wait", "too slow"))
		if got.OK || got.Path != "" || got.Error.Code != "timeout" || got.Error.Hint != "wait" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestConfirmedPath(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	got := Reject("x", failure.New("bad_request", "write it so", "argument is wrong"))
	if got.OK || got.ExitCode != -1 || got.Error.Code != "bad_request" || got.Error.Hint != "write it so" {
		t.Errorf("got %+v", got)
	}
	if got := Fault("x"); got.Error.Code != "internal" {
		t.Errorf("got %+v", got)
	}
	if got := Reject(strings.Repeat("é", 500), errors.New("x")); len(got.Command) > quote.Limit+len("…") || !utf8.ValidString(got.Command) {
		t.Errorf("the command is %d bytes", len(got.Command))
	}
}

func TestEveryCodeHasAClass(t *testing.T) {
	t.Parallel()
	raised := []string{
		allowlist.CodeUnknownCommand, allowlist.CodeUnknownParam, allowlist.CodeMissingParam, allowlist.CodeBadValue,
		allowlist.CodeConflict, allowlist.CodeTargetRequired, allowlist.CodeContentUnsafe, allowlist.CodeContentTooLong,
		failure.CodeVaultNotFound, failure.CodeAlreadyExists, failure.CodeNotFound, failure.CodeNotApplied, failure.CodeCLIError, failure.CodeCancelled,
	}
	var listed []string
	for _, c := range failure.Codes() {
		listed = append(listed, c.Name)
	}
	for _, name := range raised {
		if !slices.Contains(listed, name) || failure.ClassOf(name) == failure.Bug {
			t.Errorf("code %q has no class of its own", name)
		}
	}
	if failure.ClassOf("no such code") != failure.Bug || failure.ClassOf("internal") != failure.Bug {
		t.Error("what is not listed is a bug of ours")
	}
	seen := map[string]bool{}
	for _, name := range listed {
		if seen[name] {
			t.Errorf("code %q is listed twice", name)
		}
		seen[name] = true
	}
	failure.Codes()[0].Name = "changed"
	if failure.Codes()[0].Name == "changed" {
		t.Error("the list of codes can be changed from outside")
	}
}
