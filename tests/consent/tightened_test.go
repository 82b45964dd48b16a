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
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/rig"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// shutting is what is closed between a yes and its call.
type shutting struct {
	code string
	do   func(o *rig.Harness)
}

func tighter(code string, change func(p *policy.Policy)) shutting {
	return shutting{code, func(o *rig.Harness) {
		p := o.Config.Policy
		change(&p)
		o.Gateway.Tighten([]policy.Policy{p}, admission.Limits{}, false)
	}}
}

func withRules(code string, levels map[string]access.Level) shutting {
	return shutting{code, func(o *rig.Harness) {
		tighter(code, func(p *policy.Policy) { p.Access = rig.Rules(o.T, levels) }).do(o)
	}}
}

var shuttings = map[string]shutting{
	"tiers":  tighter("tier_closed", func(p *policy.Policy) { p.Ceiling = tiers.V0 }),
	"gate":   tighter("mutations_off", func(p *policy.Policy) { p.Mutations = false }),
	"access": withRules("access_denied", map[string]access.Level{"/": access.Delete, "Inbox": access.Read}),
	"hidden": withRules("not_found", map[string]access.Level{"/": access.Delete, "Inbox": access.None}),
	"ignore": {"not_found", func(o *rig.Harness) { o.Write(".vaultwicketignore", "/Inbox/\n") }},
	"pause": {"paused", func(o *rig.Harness) {
		rig.WriteFile(o.T, admission.PauseFile(ownerfiles.StateFolder(o.Config.Getenv, "")), nil)
	}},
	"limits": {"rate_limited", func(o *rig.Harness) {
		o.Gateway.Tighten([]policy.Policy{o.Config.Policy}, admission.Limits{MutationsHour: 1}, false)
		for range 2 { // which use the hour up
			o.Send(gateway.Request{Command: "append", Words: []string{"path=root.md", "content=y"}, Caller: "another"}, rig.Says(consent.Yes))
		}
	}},
}

// yeses are the ways in which a person says yes to an append: shut is done between
// the yes and the call, and code is what came of it.
var yeses = map[string]func(o *rig.Harness, shut func()) (code string){
	"while it is asked": func(o *rig.Harness, shut func()) string {
		got, _ := o.Do(appendToA, rig.First(shut))
		return rig.CodeOf(got)
	},
	"at the desk": func(o *rig.Harness, shut func()) string {
		req := gateway.Request{Command: appendToA[0], Words: appendToA[1:], Caller: "me"}
		o.Gateway.Do(o.T.Context(), req)
		o.Approve()
		shut()
		return rig.CodeOf(o.Gateway.Do(o.T.Context(), req))
	},
	"for the folder": func(o *rig.Harness, shut func()) string {
		if got, _ := o.Do(appendToA, rig.Says(consent.YesHere)); rig.CodeOf(got) != "" {
			o.T.Fatalf("got %+v", got.Error)
		}
		shut()
		got, _ := o.Do(appendToA)
		return rig.CodeOf(got)
	},
	"for a batch": func(o *rig.Harness, shut func()) string {
		got, _ := o.Batch([]gateway.Operation{rig.Operation("a", appendToA[0], appendToA[1:]...)}, rig.First(shut))
		if got.Error == nil && len(got.Results) == 1 && got.Results[0].Result != nil {
			return rig.CodeOfError(got.Results[0].Result.Error)
		}
		return rig.CodeOfError(got.Error)
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
				o := rig.NewHarness(t, nil)
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
		rig.Operation("a", "append", "path=root.md", "content=x"), rig.Operation("b", "delete", "path=Inbox/a.md"),
	}, rig.First(func() { tighten(o) }))
	assert.Equal(t, rig.CodeOfError(got.Error), "conflict", "got %+v", got)
	assert.Equal(t, o.Read("root.md"), before, "got %+v", got)
	assert.Equal(t, o.Begun(), 0, "got %+v", got)
}

// The same by the forms of a client, in both protocols, at the built server.
func TestAnAnswerToAFormStopsAtWhatIsClosedMeanwhile(t *testing.T) {
	t.Parallel()
	eachEra(t, func(t *testing.T, o *rig.Harness, s *session) {
		for _, name := range []string{"ignore", "pause"} {
			before := o.Read("Inbox/a.md")
			asked := s.ask(deleteIt)
			shuttings[name].do(o)
			got := s.answer(asked, deleteIt, rig.Accept)
			assert.Equal(t, rig.CodeOf(got), shuttings[name].code,
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
	eachEra(t, func(t *testing.T, o *rig.Harness, s *session) {
		keyed := `{"command":"append","params":{"path":"root.md","content":"x"},"idempotencyKey":"k"}`
		s.call(`{"command":"append","params":{"path":"root.md","content":"x"},"dryRun":true}`, "")
		if m := s.next(); m.Method != "" || m.Result.ResultType == "input_required" || o.Read("root.md") != "root\n" {
			t.Errorf("the user is asked about a dry run: %+v", m)
		}
		got := s.answer(s.ask(keyed), keyed, rig.Accept)
		require.That(t, got.OK, "got %+v, the note is %q", got, o.Read("root.md"))
		require.That(t, rig.ChangeID(got) != "", "got %+v, the note is %q", got, o.Read("root.md"))
		require.Equal(t, o.Read("root.md"), "root\nx", "got %+v, the note is %q", got, o.Read("root.md"))
		s.call(keyed, "")
		if m := s.next(); m.Method != "" || rig.ChangeID(m.Result.StructuredContent) != rig.ChangeID(got) || o.Read("root.md") != "root\nx" {
			t.Errorf("the same key again: %+v", m)
		}
		assert.That(t, o.Begun() == 1, "%d changes in the journal", o.Begun())
		undo := `{"command":"undo","params":{"id":"` + rig.ChangeID(got) + `"}}`
		if got := s.answer(s.ask(undo), undo, rig.Decline); rig.CodeOf(got) != "unconfirmed" || o.Read("root.md") != "root\nx" {
			t.Errorf("a declined undo: %+v, the note is %q", got.Error, o.Read("root.md"))
		}
	})
	eachEra(t, func(t *testing.T, o *rig.Harness, s *session) {
		got := s.answer(s.ask(appendIt), appendIt, rig.Accept)
		undo := `{"command":"undo","params":{"id":"` + rig.ChangeID(got) + `"}}`
		if got := s.answer(s.ask(undo), undo, rig.Accept); !got.OK || o.Read("root.md") != "root\n" {
			t.Errorf("an undo with a yes: %+v, the note is %q", got.Error, o.Read("root.md"))
		}
		s.call(`{"command":"read","params":{"path":"root.md"}}`, "")
		assert.Equal(t, s.next().Result.StructuredContent.Stdout, "root\n", "after the undo the worker reads")
	})
}
