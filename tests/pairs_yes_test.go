package tests

import (
	"os"
	"path/filepath"
	"testing"

	"vaultwicket/gateway"
	"vaultwicket/gateway/state/paths"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
	"vaultwicket/tiers"
)

// shutting is what is closed between a yes and its call.
type shutting struct {
	code string
	do   func(o *office)
}

func tighter(code string, change func(p *policy.Policy)) shutting {
	return shutting{code, func(o *office) {
		p := o.config.Policy
		change(&p)
		o.gateway.Tighten([]policy.Policy{p}, gateway.Limits{}, false)
	}}
}

func levels(o map[string]access.Level) func(p *policy.Policy) {
	return func(p *policy.Policy) {
		rules, err := access.New(o)
		if err != nil {
			panic(err) // of the test itself
		}
		p.Access = rules
	}
}

var shuttings = map[string]shutting{
	"tiers":  tighter("tier_closed", func(p *policy.Policy) { p.Ceiling = tiers.V0 }),
	"gate":   tighter("mutations_off", func(p *policy.Policy) { p.Mutations = false }),
	"access": tighter("access_denied", levels(map[string]access.Level{"/": access.Delete, "Inbox": access.Read})),
	"hidden": tighter("not_found", levels(map[string]access.Level{"/": access.Delete, "Inbox": access.None})),
	"ignore": {"not_found", func(o *office) { o.write(".vaultwicketignore", "/Inbox/\n") }},
	"pause": {"paused", func(o *office) {
		writeFile(o.t, gateway.PauseFile(paths.State(o.config.Getenv, "")), nil)
	}},
	"limits": {"rate_limited", func(o *office) {
		o.gateway.Tighten([]policy.Policy{o.config.Policy}, gateway.Limits{MutationsHour: 1}, false)
		for range 2 { // which use the hour up
			o.send(gateway.Request{Command: "append", Words: []string{"path=root.md", "content=y"}, Caller: "another"}, says(gateway.Yes))
		}
	}},
}

// yeses are the ways in which a person says yes to an append: shut is done between
// the yes and the call, and code is what came of it.
var yeses = map[string]func(o *office, shut func()) (code string){
	"while it is asked": func(o *office, shut func()) string {
		got, _ := o.do(appendToA, first(shut))
		return codeOf(got)
	},
	"at the desk": func(o *office, shut func()) string {
		req := gateway.Request{Command: appendToA[0], Words: appendToA[1:], Caller: "me"}
		o.gateway.Do(o.t.Context(), req)
		o.approve()
		shut()
		return codeOf(o.gateway.Do(o.t.Context(), req))
	},
	"for the folder": func(o *office, shut func()) string {
		if got, _ := o.do(appendToA, says(gateway.YesHere)); codeOf(got) != "" {
			o.t.Fatalf("got %+v", got.Error)
		}
		shut()
		got, _ := o.do(appendToA)
		return codeOf(got)
	},
	"for a batch": func(o *office, shut func()) string {
		got, _ := o.batch([]gateway.Operation{operation("a", appendToA[0], appendToA[1:]...)}, first(shut))
		if got.Error == nil && len(got.Results) == 1 && got.Results[0].Result != nil {
			return codeOfError(got.Results[0].Result.Error)
		}
		return codeOfError(got.Error)
	},
}

var appendToA = []string{"append", "path=Inbox/a.md", "content=x"}

// A yes, in whatever way it was given, opens nothing that was closed since.
func TestEveryYesStopsAtWhatIsClosedMeanwhile(t *testing.T) {
	for way, say := range yeses {
		for name, s := range shuttings {
			t.Run(way+", "+name, func(t *testing.T) {
				t.Parallel()
				o := openOffice(t, nil)
				note := filepath.Join(o.vault, "Inbox", "a.md")
				var before []byte
				code := say(o, func() {
					s.do(o)
					before, _ = os.ReadFile(note)
				})
				after, err := os.ReadFile(note)
				if code != s.code || err != nil || string(after) != string(before) {
					t.Errorf("got %q, want %s; the note is %q and was %q", code, s.code, after, before)
				}
			})
		}
	}
}

// The same by the forms of a client, in both protocols, at the built server.
func TestAnAnswerToAFormStopsAtWhatIsClosedMeanwhile(t *testing.T) {
	eachEra(t, func(t *testing.T, o *office, s *session) {
		for _, name := range []string{"ignore", "pause"} {
			before := o.read("Inbox/a.md")
			asked := s.ask(deleteIt)
			shuttings[name].do(o)
			if got := s.answer(asked, deleteIt, acceptIt); codeOf(got) != shuttings[name].code || o.read("Inbox/a.md") != before {
				t.Errorf("%s: got %+v, the note is %q", name, got.Error, o.read("Inbox/a.md"))
			}
			if err := os.Remove(filepath.Join(o.vault, ".vaultwicketignore")); name == "ignore" && err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A change that a person was asked about is journaled, logged, repeated by its key
// and taken back like any other; the undo is asked about for itself.
func TestAnAskedChangeIsAChangeLikeAnyOther(t *testing.T) {
	eachEra(t, func(t *testing.T, o *office, s *session) {
		keyed := `{"command":"append","params":{"path":"root.md","content":"x"},"idempotencyKey":"k"}`
		s.call(`{"command":"append","params":{"path":"root.md","content":"x"},"dryRun":true}`, "")
		if m := s.next(); m.Method != "" || m.Result.ResultType == "input_required" || o.read("root.md") != "root\n" {
			t.Errorf("somebody is asked about a dry run: %+v", m)
		}
		got := s.answer(s.ask(keyed), keyed, acceptIt)
		if !got.OK || changeID(got) == "" || o.read("root.md") != "root\nx" {
			t.Fatalf("got %+v, the note is %q", got, o.read("root.md"))
		}
		s.call(keyed, "")
		if m := s.next(); m.Method != "" || changeID(m.Result.StructuredContent) != changeID(got) || o.read("root.md") != "root\nx" {
			t.Errorf("the same key again: %+v", m)
		}
		if o.begun() != 1 {
			t.Errorf("%d changes in the journal", o.begun())
		}
		undo := `{"command":"undo","params":{"id":"` + changeID(got) + `"}}`
		if got := s.answer(s.ask(undo), undo, declineIt); codeOf(got) != "unconfirmed" || o.read("root.md") != "root\nx" {
			t.Errorf("a declined undo: %+v, the note is %q", got.Error, o.read("root.md"))
		}
	})
	eachEra(t, func(t *testing.T, o *office, s *session) {
		got := s.answer(s.ask(appendIt), appendIt, acceptIt)
		undo := `{"command":"undo","params":{"id":"` + changeID(got) + `"}}`
		if got := s.answer(s.ask(undo), undo, acceptIt); !got.OK || o.read("root.md") != "root\n" {
			t.Errorf("an undo with a yes: %+v, the note is %q", got.Error, o.read("root.md"))
		}
		s.call(`{"command":"read","params":{"path":"root.md"}}`, "")
		if got := s.next().Result.StructuredContent; got.Stdout != "root\n" {
			t.Errorf("behind the undo the worker reads %q", got.Stdout)
		}
	})
}
