package policy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// A field without a row would be lost where policies meet, or be that of one of them alone.
func TestEveryFieldHasARow(t *testing.T) {
	of := map[string]int{}
	for _, r := range rows {
		assert.That(t, r.name != "", "the row %q says too little", r.name)
		assert.That(t, r.meets != "", "the row %q says too little", r.name)
		assert.That(t, r.join != nil, "the row %q says too little", r.name)
		assert.That(t, r.same != nil, "the row %q says too little", r.name)
		for _, field := range r.fields {
			of[field]++
		}
	}
	for _, field := range messages {
		of[field]++
	}
	facts := map[string]int{}
	for _, r := range factRows {
		assert.That(t, r.name != "", "the row %q says too little", r.name)
		assert.That(t, r.meets != "", "the row %q says too little", r.name)
		facts[r.field]++
	}
	checkFields(t, reflect.TypeFor[Policy](), of)
	checkFields(t, reflect.TypeFor[Facts](), facts)
	require.Equal(t, of["Private"], 2, "fields of several settings")
	assert.Equal(t, of["Rates"], 3, "fields of several settings")
	names := map[string]bool{}
	for _, m := range Meetings() {
		assert.That(t, !names[m.Name], "two rows are called %q", m.Name)
		names[m.Name] = true
	}
}

func checkFields(t *testing.T, of reflect.Type, rows map[string]int) {
	t.Helper()
	for field := range of.Fields() {
		assert.That(t, rows[field.Name] > 0, "the field %s of %s has no row", field.Name, of)
	}
	for name := range rows {
		_, has := of.FieldByName(name)
		assert.That(t, has, "a row is about the field %q, which %s does not have", name, of)
	}
}

// one returns one of some values.
func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// some returns some of the values, nil for none.
func some(r *rand.Rand, of ...string) (list []string) {
	for _, name := range of {
		if r.IntN(2) == 0 {
			list = append(list, name)
		}
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// drawPolicy returns rights that say something of some settings, as one source has them.
func drawPolicy(r *rand.Rand) Policy {
	p := Unlimited()
	for _, change := range []func(){
		func() { p.Ceiling = one(r, tiers.None, tiers.V0, tiers.V1, tiers.V2, tiers.V3, 200) },
		func() { p.Mutations = one(r, false, true) },
		func() { p.Publish = one(r, false, true) },
		func() { p.UI = one(r, false, true) },
		func() { p.Confirm = one(r, ConfirmWrites, ConfirmDestructive, ConfirmNever, 77) },
		func() { p.Secrets = one(r, SecretsBlock, SecretsStrict, SecretsRedact, SecretsAllow, 9) },
		func() { p.Suspicious = one(r, SuspiciousAsk, SuspiciousNotice, SuspiciousOff, 9) },
		func() { p.RemoteLinks = one(r, false, true) },
		func() { p.AnyShadow, p.Shadow = false, some(r, TextRules()...) },
		func() {
			p.AnyException = false
			for _, rule := range some(r, TextRules()...) {
				p.Exceptions = append(p.Exceptions, access.Exception{Rule: rule, Path: one(r, "Docs", "Docs/Deep", "a.md"), Comment: one(r, "x", "y")})
			}
		},
		func() {
			p.Private, _ = access.NewPrivate(some(r, "private", "agent", "hidden"), some(r, "private", "staff"))
		},
		func() {
			for _, name := range some(r, "one", "two") {
				p.Flows = append(p.Flows, Flow{Name: name, From: []string{"Docs"}, To: []string{ToWeb}, Refuses: r.IntN(2) == 0})
			}
		},
		func() { p.Disable = some(r, "read", "append", "delete") },
		func() { p.EnableOnly = some(r, "read", "append", "delete", "files") },
		func() {
			levels := map[string]access.Level{"/": access.Level(r.IntN(4))}
			for _, path := range some(r, "Docs", "Docs/Deep", "docs", "a.md") {
				levels[path] = access.Level(r.IntN(4))
			}
			p.Access, _ = access.New(levels)
		},
		func() { p.Rates = Rates{r.IntN(3), r.IntN(3), r.IntN(3)} },
		func() { p.Disabled = one(r, false, true) },
		func() { p.Marks = one(r, false, true) },
		func() { p.MinVersion = one(r, tiers.Version{}, tiers.Release(1, 12, 7), tiers.Release(1, 13, 0)) },
		func() { p.Agent = one(r, "", "cursor", "phone") },
		func() { p.Until = time.Date(2027, 1, 1+r.IntN(3), 0, 0, 0, 0, time.UTC) },
		func() { p.Closed = one(r, "", "ended") },
	} {
		if r.IntN(3) == 0 {
			change()
		}
	}
	return p
}

// differ returns the parts in which two policies are not the same.
func differ(p, q Policy) (parts []string) {
	for _, r := range rows {
		if !r.same(p, q) {
			parts = append(parts, fmt.Sprintf("%s: %v and %v", r.name, p.Setting(r.name), q.Setting(r.name)))
		}
	}
	return parts
}

// drawFacts returns facts of a call, of which some are known.
func drawFacts(r *rand.Rand) Facts {
	reason := func() Reason { return one(r, Reason{}, None, Because("a"), Because("b")) }
	f := Facts{
		At: one(r, time.Time{}, time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC),
			time.Date(2027, 1, 3, 0, 0, 0, 0, time.UTC)), Halted: reason(), Scope: Scope(r.IntN(int(ScopeAll) + 2)),
		Suspected: reason(), Carries: reason(), Narrowed: reason(), Ignores: reason(), Flowing: one(r, Flowing{}, NothingFlows),
	}
	if r.IntN(2) == 0 {
		f.Flowing = f.Flowing.With(Flow{Name: one(r, "one", "two"), Refuses: r.IntN(2) == 0})
	}
	return f
}

// Meet is a meet: it does not matter in which order and how often sources come together, and who takes more away
// from one of them takes no less away from all.
func TestMeetIsAMeet(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 1))
	n := testenv.Count(250, 10_000)
	for range n {
		a, b, c := drawPolicy(r), drawPolicy(r), drawPolicy(r)
		for law, sides := range map[string][2]Policy{
			"commutative":           {a.Meet(b), b.Meet(a)},
			"associative":           {a.Meet(b).Meet(c), a.Meet(b.Meet(c))},
			"idempotent":            {a.Meet(a), a},
			"below both":            {a.Meet(b).Meet(a), a.Meet(b)},
			"monotone":              {a.Meet(b).Meet(c).Meet(a.Meet(c)), a.Meet(b).Meet(c)},
			"Unlimited takes none":  {a.Meet(Unlimited()), a},
			"closed takes all away": {a.Meet(Policy{}).Meet(b), a.Meet(b).Meet(Policy{})},
		} {
			parts := differ(sides[0], sides[1])
			if law == "idempotent" || law == "Unlimited takes none" { // a tier without commands is none
				parts = slices.DeleteFunc(parts, func(string) bool { return a.EnableOnly != nil && len(a.EnableOnly) == 0 })
			}
			require.That(t, len(parts) == 0, "%s: %q\na %+v\nb %+v\nc %+v", law, parts, a, b, c)
		}
		require.Equal(t, len(a.Meet(b).Stricter(a)), 0, "what met is widened by a part:\na %+v\nb %+v", a, b)
		require.Equal(t, len(a.Meet(b).Stricter(b)), 0, "what met is widened by a part:\na %+v\nb %+v", a, b)
		f, g, h := drawFacts(r), drawFacts(r), drawFacts(r)
		for law, sides := range map[string][2]Facts{
			"commutative": {f.Meet(g), g.Meet(f)}, "associative": {f.Meet(g).Meet(h), f.Meet(g.Meet(h))},
			"idempotent": {f.Meet(f), f}, "below both": {f.Meet(g).Meet(f), f.Meet(g)},
		} {
			for _, row := range factRows {
				require.That(t, row.same(sides[0], sides[1]), "%s is not %s:\n%+v\n%+v\n%+v", row.name, law, f, g, h)
			}
		}
	}
	t.Logf("%d triples of policies and of facts", n)
}

// verdict is what a policy says of a call: 0 for no, 1 for yes after approval, 2 for yes.
func verdict(d Decision) int {
	switch err := d.Err(); {
	case err == nil:
		return 2
	case d.Preview().Valid():
		return 1
	}
	return 0
}

// drawnCalls are calls of all kinds of effects.
var drawnCalls = sampleCalls("read path=a.md", "read path=Docs/a.md", "append path=a.md content=x",
	"append path=Docs/Deep/a.md content=x", "delete path=a.md", "files",
	"create path=Docs/b.md content=x", "search query=x", "publish:add path=a.md", "web url=https://example.org",
	"open path=a.md", "daily:append content=x", "version", "move path=a.md to=Docs/")

func sampleCalls(lines ...string) (calls []allowlist.Call) {
	for _, line := range lines {
		words := strings.Fields(line)
		call, err := allowlist.ParseWords(words[0], words[1:])
		if err != nil {
			panic(err)
		}
		calls = append(calls, call)
	}
	return calls
}

// No source and no fact widens another: what is decided with both is never more than what is decided with one.
func TestNothingWidensAnother(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 2))
	n, decided, widened := testenv.Count(120, 5_000), 0, 0
	for range n {
		a, b, f, g := drawPolicy(r), drawPolicy(r), drawFacts(r), drawFacts(r)
		if r.IntN(2) == 0 {
			f = ClearFacts(time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)) // so that something is allowed
		}
		for _, call := range drawnCalls {
			decided++
			both := a.Meet(b).Decide(call, f.Meet(g))
			for what, d := range map[string]Decision{
				"one policy": a.Decide(call, f.Meet(g)), "the other policy": b.Decide(call, f.Meet(g)),
				"some facts": a.Meet(b).Decide(call, f), "the other facts": a.Meet(b).Decide(call, g),
			} {
				hidden := d.denied() != nil && d.denied().Code() == CodeAccess && both.Preview().Confined() // by the program that enforces the rules
				if verdict(both) > verdict(d) && !hidden {
					widened++
					t.Errorf("%v: %d with %s, and %d with all\na %+v\nb %+v\nf %+v\ng %+v", call, verdict(d), what, verdict(both), a, b, f, g)
				}
				if alone, met := d.Preview(), both.Preview(); met.Valid() && alone.Valid() {
					require.That(t, met.Secrets() <= alone.Secrets(), "%v: the grant is wider with all than with %s", call, what)
					require.That(t, met.Confined() || !alone.Confined(), "%v: the grant is wider with all than with %s", call, what)
					require.That(t, met.Guarded() || !alone.Guarded(), "%v: the grant is wider with all than with %s", call, what)
					require.That(t, alone.Sends() || !met.Sends(), "%v: the grant is wider with all than with %s", call, what)
				}
			}
			require.That(t, widened == 0, "widened")
		}
	}
	t.Logf("%d calls decided with %d pairs of policies and of facts, %d widened", decided, n, widened)
	assert.That(t, widened == 0, "%d widened", widened)
}

// The zero of each fact is the one that takes most away: a fact that somebody forgot opens nothing.
func TestTheZeroFactIsTheSafeOne(t *testing.T) {
	widest := Unlimited()
	widest.AnyShadow, widest.AnyException, widest.Secrets, widest.Suspicious, widest.RemoteLinks = false, false, SecretsBlock, SuspiciousAsk, false
	widest.Until, widest.Agent = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), "cursor"
	widest.Flows = []Flow{{Name: "docs", From: []string{"Docs"}, To: []string{ToWeb}, Refuses: true}}
	before := widest.Until.Add(-time.Hour)
	plain := ClearFacts(before)
	worse := map[string][]func(*Facts){
		"At":        {func(f *Facts) { f.At = widest.Until }},
		"Halted":    {func(f *Facts) { f.Halted = Because("the agent was revoked") }},
		"Scope":     {func(f *Facts) { f.Scope = ScopeRead }, func(f *Facts) { f.Scope = ScopeWrite }},
		"Suspected": {func(f *Facts) { f.Suspected = Because("signs") }},
		"Flowing":   {func(f *Facts) { f.Flowing = NothingFlows.With(widest.Flows[0]) }},
		"Carries":   {func(f *Facts) { f.Carries = Because("adds an address") }},
		"Narrowed":  {func(f *Facts) { f.Narrowed = Because("notes") }},
		"Ignores":   {func(f *Facts) { f.Ignores = Because("a file") }},
	}
	fields := slices.Sorted(maps.Keys(worse))
	for field := range reflect.TypeFor[Facts]().Fields() {
		require.That(t, slices.Contains(fields, field.Name), "the fact %s is in no line of this test", field.Name)
	}
	for _, call := range drawnCalls {
		require.That(t, verdict(widest.Decide(call, Facts{})) == 0, "%v is allowed without any fact", call)
		assert.That(t, !widest.Decide(call, Facts{}).Preview().Valid(), "%v has a preview without any fact", call)
		require.That(t, call.UsesOpenNote() || verdict(widest.Decide(call, plain)) == 2, "%v is not allowed where nothing is against it", call)
		for name, changes := range worse {
			zero := plain
			reflect.ValueOf(&zero).Elem().FieldByName(name).SetZero()
			forgotten := widest.Decide(call, zero)
			for _, change := range changes {
				known := plain
				change(&known)
				d := widest.Decide(call, known)
				assert.That(t, verdict(forgotten) <= verdict(d), "%v: the zero %s allows more than a known one", call, name)
				if forgotten.Preview().Valid() {
					assert.Equal(t, forgotten.Preview().Confined(), d.Preview().Confined(), "%v: the zero %s: confined", call, name)
					assert.Equal(t, forgotten.Preview().Guarded(), d.Preview().Guarded(), "%v: the zero %s: guarded", call, name)
				}
			}
		}
	}
}
