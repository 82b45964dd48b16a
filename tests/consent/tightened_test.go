package consent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// shutting is what is closed between a yes and its call.
type shutting struct {
	code string
	do   func(o *harness.InProcess)
}

func tighter(code string, change func(p *policy.Policy)) shutting {
	return shutting{code, func(o *harness.InProcess) {
		p := o.Config.Policy
		change(&p)
		o.Gateway.Tighten([]policy.Policy{p}, admission.Limits{})
	}}
}

func withRules(code string, levels map[string]access.Level) shutting {
	return shutting{code, func(o *harness.InProcess) {
		tighter(code, func(p *policy.Policy) { p.Access = harness.Rules(o.T, levels) }).do(o)
	}}
}

var shuttings = map[string]shutting{
	"tiers":  tighter("tier_closed", func(p *policy.Policy) { p.Ceiling = tiers.V0 }),
	"gate":   tighter("mutations_off", func(p *policy.Policy) { p.Mutations = false }),
	"access": withRules("access_denied", map[string]access.Level{"/": access.Delete, "Inbox": access.Read}),
	"hidden": withRules("not_found", map[string]access.Level{"/": access.Delete, "Inbox": access.None}),
	"ignore": {"not_found", func(o *harness.InProcess) { o.Write(".vaultwicketignore", "/Inbox/\n") }},
	"pause": {"paused", func(o *harness.InProcess) {
		harness.WriteFile(o.T, admission.PauseFile(ownerfiles.StateFolder(o.Config.Getenv, "")), nil)
	}},
	"limits": {"rate_limited", func(o *harness.InProcess) {
		o.Gateway.Tighten([]policy.Policy{o.Config.Policy}, admission.Limits{MutationsHour: 1})
		for range 2 { // which use the hour up
			o.Send(gateway.Request{Command: "append", Words: []string{"path=root.md", "content=y"}, Caller: "another"}, harness.Says(consent.Yes))
		}
	}},
}

// yeses are the ways in which a person says yes to an append: shut is done between
// the yes and the call, and code is what came of it.
var yeses = map[string]func(o *harness.InProcess, shut func()) (code string){
	"while it is asked": func(o *harness.InProcess, shut func()) string {
		got, _ := o.Do(appendToA, harness.First(shut))
		return harness.CodeOf(got)
	},
	"at the desk": func(o *harness.InProcess, shut func()) string {
		req := gateway.Request{Command: appendToA[0], Words: appendToA[1:], Caller: "me"}
		o.Gateway.Do(o.T.Context(), req)
		o.Approve()
		shut()
		return harness.CodeOf(o.Gateway.Do(o.T.Context(), req))
	},
	"for the folder": func(o *harness.InProcess, shut func()) string {
		if got, _ := o.Do(appendToA, harness.Says(consent.YesHere)); harness.CodeOf(got) != "" {
			o.T.Fatalf("got %+v", got.Error)
		}
		shut()
		got, _ := o.Do(appendToA)
		return harness.CodeOf(got)
	},
	"for a batch": func(o *harness.InProcess, shut func()) string {
		got, _ := o.Batch([]gateway.Operation{harness.Operation("a", appendToA[0], appendToA[1:]...)}, harness.First(shut))
		if got.Error == nil && len(got.Results) == 1 && got.Results[0].Result != nil {
			return harness.CodeOfError(got.Results[0].Result.Error)
		}
		return harness.CodeOfError(got.Error)
	},
}

var appendToA = []string{"append", "path=Inbox/a.md", "content=x"}

// A yes, in whatever way it was given, opens nothing that was closed since.
func TestEveryYesStopsAtWhatIsClosedMeanwhile(t *testing.T) {
	t.Parallel()
	for way, say := range yeses {
		for name, s := range shuttings {
			t.Run(way+", "+name, func(t *testing.T) {
				t.Parallel()
				o := harness.NewInProcess(t, nil)
				note := filepath.Join(o.Vault, "Inbox", "a.md")
				var before []byte
				code := say(o, func() {
					s.do(o)
					before, _ = os.ReadFile(note)
				})
				after, err := os.ReadFile(note)
				assert.Equal(t, code, s.code, "the note is %q and was %q", after, before)
				require.Equal(t, err, nil, "want %s; the note is %q and was %q", s.code, after, before)
				assert.Equal(t, string(after), string(before),
					"want %s; the note is %q and was %q", s.code, after, before)
			})
		}
	}
}

// A batch of which more needs approval by then is not the one that was approved.
func TestAYesToABatchIsForWhatNeededItThen(t *testing.T) {
	t.Parallel()
	o := careful(t)
	tighten := tighter("", func(p *policy.Policy) { p.Confirm = policy.ConfirmWrites }).do
	before := o.Read("root.md")
	got, _ := o.Batch([]gateway.Operation{
		harness.Operation("a", "append", "path=root.md", "content=x"), harness.Operation("b", "delete", "path=Inbox/a.md"),
	}, harness.First(func() { tighten(o) }))
	assert.Equal(t, harness.CodeOfError(got.Error), "conflict", "got %+v", got)
	assert.Equal(t, o.Read("root.md"), before, "got %+v", got)
	assert.Equal(t, o.Begun(), 0, "got %+v", got)
}

// The same by the forms of a client, in both protocols, at the built server.
func TestAnAnswerToAFormStopsAtWhatIsClosedMeanwhile(t *testing.T) {
	t.Parallel()
	eachEra(t, func(t *testing.T, o *harness.InProcess, s *session) {
		for _, name := range []string{"ignore", "pause"} {
			before := o.Read("Inbox/a.md")
			asked := s.ask(deleteIt)
			shuttings[name].do(o)
			got := s.answer(asked, deleteIt, harness.Accept)
			assert.Equal(t, harness.CodeOf(got), shuttings[name].code,
				"%s: got %+v, the note is %q", name, got.Error, o.Read("Inbox/a.md"))
			assert.Equal(t, o.Read("Inbox/a.md"), before,
				"%s: got %+v, the note is %q", name, got.Error, o.Read("Inbox/a.md"))
			if err := os.Remove(filepath.Join(o.Vault, ".vaultwicketignore")); name == "ignore" && err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A change that a person was asked about is journaled, logged, repeated by its key
// and taken back like any other; the undo is asked about for itself.
func TestAnAskedChangeIsAChangeLikeAnyOther(t *testing.T) {
	t.Parallel()
	eachEra(t, func(t *testing.T, o *harness.InProcess, s *session) {
		keyed := `{"command":"append","params":{"path":"root.md","content":"x"},"idempotencyKey":"k"}`
		s.call(`{"command":"append","params":{"path":"root.md","content":"x"},"dryRun":true}`, "")
		if m := s.next(); m.Method != "" || m.Result.ResultType == "input_required" || o.Read("root.md") != "root\n" {
			t.Errorf("the user is asked about a dry run: %+v", m)
		}
		got := s.answer(s.ask(keyed), keyed, harness.Accept)
		require.That(t, got.OK, "got %+v, the note is %q", got, o.Read("root.md"))
		require.That(t, harness.ChangeID(got) != "", "got %+v, the note is %q", got, o.Read("root.md"))
		require.Equal(t, o.Read("root.md"), "root\nx", "got %+v, the note is %q", got, o.Read("root.md"))
		s.call(keyed, "")
		if m := s.next(); m.Method != "" || harness.ChangeID(m.Result.StructuredContent) != harness.ChangeID(got) || o.Read("root.md") != "root\nx" {
			t.Errorf("the same key again: %+v", m)
		}
		assert.That(t, o.Begun() == 1, "%d changes in the journal", o.Begun())
		undo := `{"command":"undo","params":{"id":"` + harness.ChangeID(got) + `"}}`
		if got := s.answer(s.ask(undo), undo, harness.Decline); harness.CodeOf(got) != "unconfirmed" || o.Read("root.md") != "root\nx" {
			t.Errorf("a declined undo: %+v, the note is %q", got.Error, o.Read("root.md"))
		}
	})
	eachEra(t, func(t *testing.T, o *harness.InProcess, s *session) {
		got := s.answer(s.ask(appendIt), appendIt, harness.Accept)
		undo := `{"command":"undo","params":{"id":"` + harness.ChangeID(got) + `"}}`
		if got := s.answer(s.ask(undo), undo, harness.Accept); !got.OK || o.Read("root.md") != "root\n" {
			t.Errorf("an undo with a yes: %+v, the note is %q", got.Error, o.Read("root.md"))
		}
		s.call(`{"command":"read","params":{"path":"root.md"}}`, "")
		assert.Equal(t, s.next().Result.StructuredContent.Stdout, "root\n", "after the undo the worker reads")
	})
}
