package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/state/audit"
)

// logOf writes the log of a fixture for a test: what was decided about which
// command, by which rule and code.
func logOf(t *testing.T, f *fixture) string {
	t.Helper()
	var all []string
	for _, l := range auditOf(t, f) {
		what := l.Decision
		if l.Kind == "end" {
			what = "end"
		}
		all = append(all, strings.Join(strings.Fields(strings.Join([]string{what, l.Command, l.Rule, l.Code}, " ")), " "))
	}
	return strings.Join(all, "; ")
}

// What is decided about a batch before its first operation is in the log too.
func TestABatchThatIsNotBegunIsInTheLog(t *testing.T) {
	t.Parallel()
	publish := operation("p", "publish:add", "path", "a.md")
	for _, test := range []struct {
		name  string
		batch Batch
		want  string
	}{
		{"an operation is refused", Batch{Operations: []Operation{operation("a", "read", "path", "a.md"), operation("b", "eval", "code", "1")}}, "deny eval restricted restricted_command"},
		{"an operation cannot be read", Batch{Operations: []Operation{operation("a", "read", "paht", "a.md")}}, "deny read unknown_param"},
		{"the batch itself", Batch{Operations: []Operation{operation("a", "files"), operation("a", "files")}}, "deny files bad_request"},
		{"an empty batch", Batch{}, "deny batch bad_request"},
		{"nobody can be asked", Batch{Operations: []Operation{operation("a", "read", "path", "a.md"), publish}}, "ask publish:add confirm unconfirmed; deny publish:add confirm unconfirmed"},
		{"declined", Batch{Operations: []Operation{publish}, Ask: replies(consent.No, new(consent.Question))}, "ask publish:add confirm unconfirmed; deny publish:add confirm unconfirmed"},
		{"too many questions", Batch{Operations: slicesOf(publish, maxAsked+1)},
			strings.TrimSuffix(strings.Repeat("ask publish:add confirm unconfirmed; ", maxAsked+1)+strings.Repeat("deny publish:add confirm unconfirmed; ", maxAsked+1), "; ")},
		{"a yes", Batch{Operations: []Operation{publish}, Ask: replies(consent.Yes, new(consent.Question))},
			"ask publish:add confirm unconfirmed; reply publish:add confirm; allow publish:add; end publish:add"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := openAsking(t, nil)
			f.gateway.DoBatch(t.Context(), test.batch)
			if got := logOf(t, f); got != test.want {
				t.Errorf("the log is\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// slicesOf returns operations that differ in their names alone.
func slicesOf(o Operation, n int) []Operation {
	var all []Operation
	for i := range n {
		o.ClientID = fmt.Sprint(i)
		all = append(all, o)
	}
	return all
}

// Of a value that is taken from a result nothing is known before, and what stands
// in its place is not in the log.
func TestTheLogOfABatchHasNoStandIns(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Mutations = Embedded, false }).embedded()
	f.gateway.DoBatch(t.Context(), Batch{Operations: []Operation{operation("a", "read", "path", "a.md"), operation("b", "append", "path", "b.md").taking("content", "a", "stdout")}})
	lines := auditOf(t, f)
	if len(lines) != 1 || len(lines[0].Params) != 2 {
		t.Fatalf("%+v", lines)
	}
	content, path := lines[0].Params[0], lines[0].Params[1]
	if content != (audit.Param{Name: "content"}) || path.Name != "path" || path.Bytes != 4 || path.Digest == "" {
		t.Errorf("%+v", lines[0].Params)
	}
}

// While everything is refused nobody is asked, and nothing is started.
func TestABatchWhilePaused(t *testing.T) {
	t.Parallel()
	f := openAsking(t, nil)
	if err := errors.Join(os.MkdirAll(f.state(), 0o700), os.WriteFile(admission.PauseFile(f.state()), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	asked := false
	ask := func(context.Context, consent.Question) consent.Reply { asked = true; return consent.Yes }
	got := f.gateway.DoBatch(t.Context(), Batch{Operations: []Operation{operation("p", "publish:add", "path", "a.md")}, Ask: ask})
	app, own := f.called()
	if got.Error == nil || got.Error.Code != "paused" || asked || len(app)+len(own) > 0 {
		t.Errorf("%+v, asked: %v, started: %q %q", got.Error, asked, app, own)
	}
	if got := logOf(t, f); got != "deny batch paused" {
		t.Errorf("the log is %s", got)
	}
}

// A batch that is refused, or about which somebody is asked, is a call to the limits.
func TestABatchThatIsNotBegunCounts(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{"refused": "eval", "asked about": "publish:add"} {
		f := openAsking(t, func(c *Config) { c.Limits.Calls = 2 })
		asked := 0
		batch := Batch{Operations: []Operation{operation("p", command, "path", "a.md")}, Ask: func(context.Context, consent.Question) consent.Reply { asked++; return consent.No }}
		var codes []string
		for range 3 {
			codes = append(codes, f.gateway.DoBatch(t.Context(), batch).Error.Code)
		}
		if codes[2] != "rate_limited" || codes[1] == "rate_limited" || asked > 2 {
			t.Errorf("%s: %q, asked %d times", name, codes, asked)
		}
	}
}

// A batch that was done under its key is not asked about again.
func TestAnAnsweredBatchIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	f := openAsking(t, nil)
	asked := 0
	batch := Batch{
		IdempotencyKey: "monday", Operations: []Operation{operation("p", "publish:add", "path", "a.md")},
		Ask: func(context.Context, consent.Question) consent.Reply { asked++; return consent.Yes },
	}
	first, again := f.gateway.DoBatch(t.Context(), batch), f.gateway.DoBatch(t.Context(), batch)
	if !first.OK || !again.OK || asked != 1 || f.published() != 1 || len(again.Notices) == 0 {
		t.Errorf("asked %d times, published %d times: %+v, then %+v", asked, f.published(), first, again)
	}
	if got := logOf(t, f); !strings.HasSuffix(got, "end publish:add; end batch") {
		t.Errorf("the log is %s", got)
	}
	batch.Operations[0].ClientID = "other"
	if got := f.gateway.DoBatch(t.Context(), batch); got.OK || asked != 2 {
		t.Errorf("another batch under the key: %+v, asked %d times", got, asked)
	}
}
