package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/pages"
)

// forbidden are texts that no way out may let through.
const forbidden = "\x1b[31m\u202e\u200b\x07\U000e0041"

func TestEveryWayOutIsCleaned(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Backend = Embedded }).embedded(
		"--facts vault=Work daily:path => a"+forbidden+`b\n`,
		`--facts vault=Work search format=json query=x => ["a`+"\u202e"+`b \\u{202e}"]\n`,
		"--facts vault=Work tabs => exit 1 not_found Error: \""+forbidden+`" not found.\n`,
		`--plan --facts vault=Work daily:append content=x => {"files":[{"path":"D.md","lines":[{"sign":"+","new":1,"text":"a\u202eb"}]}]}`,
	)
	for _, req := range []Request{
		{Command: "daily:path"},
		{Command: "tabs"},
		{Command: "search", Params: params("query", "x", "format", "json")},
		{Command: "x" + forbidden},
		{Command: "read", Params: params("path", "a"+forbidden)},
		{Command: "search", Params: params("query", forbidden)},
	} {
		result := f.gateway.Do(context.Background(), req)
		plan := f.gateway.DryRun(context.Background(), req)
		for _, out := range []any{result, plan} {
			text := texts(t, out)
			if _, report := clean.Text(text); !report.None() {
				t.Errorf("%q: %q", req.Command, text)
			}
		}
	}
	if plan := f.gateway.DryRun(context.Background(), Request{Command: "daily:append", Params: params("content", "x")}); !strings.Contains(plan.Diff, `\u{202e}`) {
		t.Errorf("the difference is %q", plan.Diff)
	}
	result := f.gateway.Do(context.Background(), Request{Command: "search", Params: params("query", "x", "format", "json")})
	var list []string
	if err := json.Unmarshal([]byte(result.Stdout), &list); err != nil || list[0] != "a\u202eb \\u{202e}" || strings.Contains(result.Stdout, "\u202e") {
		t.Errorf("%q is read as %q, %v", result.Stdout, list, err)
	}
}

// texts returns all strings in v, a line each.
func texts(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(decoded)
	return b.String()
}

func TestMarkedTextCannotEndItsOwnMark(t *testing.T) {
	first := Result{OK: true, Backend: "embedded", Stdout: "a\n"}.Marked()
	_, rest, _ := strings.Cut(first.Stdout, "\n")
	second := Result{OK: true, Backend: "embedded", Stdout: rest}.Marked()
	if !strings.Contains(first.Stdout, "\na\n") || !strings.Contains(second.Stdout, rest) || strings.Count(second.Stdout, lastLine(second.Stdout)) != 1 {
		t.Errorf("%q and %q", first.Stdout, second.Stdout)
	}
	for _, r := range []Result{
		{Backend: "embedded", Stdout: "x"}, {OK: true, Backend: "embedded"},
		{OK: true, Backend: "embedded", Stdout: "[]", form: pages.JSON}, {OK: true, Stdout: "our own words"},
	} {
		if r.Marked().Stdout != r.Stdout {
			t.Errorf("%+v is marked", r)
		}
	}
}

func lastLine(s string) string {
	s = strings.TrimSuffix(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}
