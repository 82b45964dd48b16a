package policy_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// The rules about notes, written down a second time: in words, over the items of
// a call as they would be run, and without a look at the rules of the policy.

// places are the notes of the space, with the level that the tables below give
// them.
var places = map[string]string{"Hidden/n.md": "none", "Read/n.md": "r", "Write/n.md": "rw", "Delete/n.md": "rwd", "Else/n.md": "r"}

func placesRules(t *testing.T) access.Rules {
	t.Helper()
	rules := require.Value(access.New(map[string]access.Level{"Hidden": access.None, "Read": access.Read, "Write": access.Write, "Delete": access.Delete}))(t)
	return rules
}

// wantedAccess says what the access rules must answer to a call on the note at
// place: "" nothing against it, else a code.
func wantedAccess(call allowlist.Call, place string) string {
	enough := map[string]string{"read": "r rw rwd", "write": "rw rwd", "delete": "rwd"}
	does := "read"
	switch call.Effect().String() {
	case "write":
		does = "write"
	case "destroy", "destroys", "destructive":
		does = "delete"
	}
	switch call.Name() {
	case "bookmark", "base:create", "copy":
		does = "read"
	case "move":
		to, _ := call.Param("to")
		if strings.TrimSuffix(to, "/") != path.Dir(place) && path.Dir(to) != path.Dir(place) {
			does = "delete"
		}
	}
	if to, moves := call.Param("to"); moves && strings.Contains(" move copy folder:move folder:copy ", " "+call.Name()+" ") {
		folder, _, _ := strings.Cut(to, "/")
		if level := map[string]string{"Write": "rw", "Delete": "rwd", "Hidden": "none"}[folder]; level == "" {
			return "access_denied" // of level r
		}
	}
	for _, other := range []string{"into", "to"} {
		if at, given := call.Param(other); given && at == "A/B.md" {
			return "access_denied" // of level r
		}
	}
	if places[place] == "none" || strings.Contains(" "+enough[does]+" ", " "+places[place]+" ") {
		return ""
	}
	return "access_denied"
}

// onNote returns every call of the table that can name a note by its path, on
// the note at place.
func onNote(t *testing.T, place string) []allowlist.Call {
	t.Helper()
	var calls []allowlist.Call
	for c := range allowlist.Commands() {
		if c.Tier == tiers.Restricted {
			continue
		}
		for _, p := range c.Params {
			value := place
			switch {
			case p.Kind == "path:line":
				value += ":3"
			case p.Kind != "path":
				continue
			}
			for _, flag := range append([]string{""}, flagsOf(c)...) {
				params := smallest(c)
				for name := range params {
					if name == "name" && c.Name == "create" || name == "folder" || name == "line" && p.Kind == "path:line" {
						delete(params, name)
					}
				}
				if p.Name == "this" || p.Name == "base" {
					params["path"] = allowlist.Text("Else/n.md") // they are about the note that the call names
				}
				params[p.Name] = allowlist.Text(value)
				if flag != "" {
					params[flag] = allowlist.Flag(true)
				}
				if call, err := allowlist.Parse(c.Name, params); err == nil {
					calls = append(calls, call)
				}
				for _, to := range []string{"Delete/", "Write/", "Read/m.md", "Delete/m.md", "Hidden/"} {
					if _, moves := params["to"]; moves && c.Name == "move" {
						params["to"] = allowlist.Text(to)
						calls = append(calls, mustParse(t, c.Name, params))
					}
				}
			}
		}
	}
	return calls
}

func flagsOf(c allowlist.Command) []string {
	var names []string
	for _, p := range c.Params {
		if p.Kind == "flag" {
			names = append(names, p.Name)
		}
	}
	return names
}

// TestAccessOverTheWholeSpace compares the policy with the second statement for
// every command that can name a note, each of its flags, every level, and every
// gate of mutations and consent.
func TestAccessOverTheWholeSpace(t *testing.T) {
	rules := placesRules(t)
	judged := 0
	for place := range places {
		for _, call := range onNote(t, place) {
			for _, confirm := range []policy.Confirm{policy.ConfirmNever, policy.ConfirmDestructive, policy.ConfirmWrites} {
				for gates := range 16 {
					open := widest()
					open.Ceiling = tiers.V0 + tiers.Tier(gates>>2)
					open.Confirm, open.Mutations, open.UI = confirm, gates&1 != 0, gates&2 != 0
					_, before := open.Decide(call, plain).Permit()
					p := open
					p.Access = rules
					permit, err := p.Decide(call, plain).Permit()
					judged++
					want := code(before)
					if wanted := wantedAccess(call, place); wanted != "" &&
						(want == "" || want == "unconfirmed" || want == "command_disabled" && call.Shows()) {
						want = wanted
					}
					require.Equal(t, code(err), want, "%v (%s, confirm %v, gates %04b)", call, places[place], confirm, gates)
					if permit.Valid() && permit.Access() != rules.String() {
						t.Fatalf("%v: the permit goes with the rules %q", call, permit.Access())
					}
					require.That(t, !permit.Valid() || places[place] != "none" || permit.Confined(), "%v: the app could be asked about a hidden note", call)
				}
			}
		}
	}
	assert.That(t, judged >= 15_000, "%d cases: the space has shrunk", judged)
	t.Logf("%d cases", judged)
}

// What does not name its notes by path is run by a program that has the rules:
// always where notes are hidden, for changes where there are rules at all.
func TestCallsThatReachFurtherAreConfined(t *testing.T) {
	hiding := require.Value(access.New(map[string]access.Level{"Hidden": access.None}))(t)
	restricting := require.Value(access.New(map[string]access.Level{"/": access.Delete}))(t)
	apart := strings.Fields("help version commands hotkeys hotkey plugins plugins:enabled plugin themes theme snippets snippets:enabled vaults web")
	for _, call := range everyCall(t) {
		isApart := false
		for _, name := range apart {
			isApart = isApart || call.Name() == name
		}
		alone := false
		for _, s := range call.NamedPaths() {
			alone = alone || !s.Folder && !s.To
		}
		for name, p := range map[string]policy.Policy{
			"hiding": with(widest(), hiding), "restricting": with(widest(), restricting), "ignoring": widest(), "none": widest(),
		} {
			facts := plain
			if name == "ignoring" {
				facts = ignored
			}
			permit, err := p.Decide(call, facts).Permit()
			if err != nil {
				if name != "none" && call.UsesOpenNote() && call.Tier() != tiers.Restricted && code(err) != "target_required" {
					t.Errorf("%s: %v: %v, want target_required", name, call, err)
				}
				continue
			}
			switch {
			case name == "none", isApart:
				assert.That(t, !permit.Confined(), "%s: %v is confined", name, call)
			case name == "ignoring", name == "hiding" && !alone, name == "restricting" && !alone && call.Effect().Mutates():
				assert.That(t, permit.Confined(), "%s: %v is not confined", name, call)
			}
			if steps := []policy.Permit{permit.DailyPath(), permit.Locate(), permit.Exists("path", "a.md"),
				permit.ReadDaily("Hidden/a.md")}; permit.Confined() {
				for _, step := range steps {
					assert.That(t, !step.Valid() || step.Confined(), "%s: a step of %v is not confined", name, call)
				}
			}
		}
	}
}

func with(p policy.Policy, rules access.Rules) policy.Policy {
	p.Access = rules
	return p
}

func TestAYesLiftsOneRule(t *testing.T) {
	p := widest()
	p.Confirm = policy.ConfirmWrites
	for _, call := range everyCall(t) {
		for _, shut := range []func(*policy.Policy){func(*policy.Policy) {},
			func(p *policy.Policy) { p.Mutations = false }, func(p *policy.Policy) { p.Ceiling = tiers.V0 },
			func(p *policy.Policy) { p.UI = false }} {
			q := p
			shut(&q)
			never := q
			never.Confirm = policy.ConfirmNever
			_, want := never.Decide(call, plain).Permit()
			permit, err := q.Decide(call, plain).Approved()
			require.Equal(t, code(err), code(want), "%v", call)
			require.Equal(t, permit.Valid(), err == nil, "%v", call)
		}
	}
}

// A met policy allows a call if and only if both policies do.
func TestPoliciesMeet(t *testing.T) {
	rules := placesRules(t)
	other := require.Value(access.New(map[string]access.Level{"Write": access.Read, "Delete": access.None}))(t)
	var all []policy.Policy
	for _, change := range []func(*policy.Policy){
		func(*policy.Policy) {},
		func(p *policy.Policy) { p.Ceiling = tiers.V1 },
		func(p *policy.Policy) { p.Ceiling = 255 },
		func(p *policy.Policy) { p.Mutations = false },
		func(p *policy.Policy) { p.Publish, p.UI = false, false },
		func(p *policy.Policy) { p.Confirm = policy.ConfirmDestructive },
		func(p *policy.Policy) { p.Confirm = 99 },
		func(p *policy.Policy) { p.Disable = []string{"read", "delete"} },
		func(p *policy.Policy) { p.EnableOnly = []string{"read", "append"} },
		func(p *policy.Policy) { p.EnableOnly = []string{"search"} },
		func(p *policy.Policy) { p.MinVersion = tiers.Version{} },
		func(p *policy.Policy) { p.MinVersion = tiers.Release(1, 14, 0) },
		func(p *policy.Policy) { p.Access = rules },
		func(p *policy.Policy) { p.Access = other },
		func(p *policy.Policy) { *p = policy.Policy{} },
	} {
		p := widest()
		change(&p)
		all = append(all, p)
	}
	calls := everyCall(t)
	for place := range places {
		calls = append(calls, onNote(t, place)...)
	}
	type decided struct {
		permit policy.Permit
		err    error
	}
	alone := make([][]decided, len(all))
	for i, p := range all {
		for _, call := range calls {
			permit, err := p.Decide(call, plain).Permit()
			alone[i] = append(alone[i], decided{permit, err})
		}
	}
	for i, p := range all {
		for j, q := range all {
			tight := p.Meet(q)
			for k, call := range calls {
				a, errA := alone[i][k].permit, alone[i][k].err
				b, errB := alone[j][k].permit, alone[j][k].err
				both, err := tight.Decide(call, plain).Permit()
				if err == nil && both.Confined() && tight.Access.Hide() && (errA != nil || errB != nil) && code(errA)+code(errB) == "access_denied" {
					continue // hidden by one of them: the program that has the rules finds no such note
				}
				isAllowedAlone := errA == nil && errB == nil
				require.Equal(t, err == nil, isAllowedAlone, "%d and %d: %v: %v; alone %v and %v", i, j, call, err, errA, errB)
				if err == nil && (both.Confined() != (a.Confined() || b.Confined()) && !both.Confined() ||
					both.MinVersion() != tiers.Later(a.MinVersion(), b.MinVersion())) {
					t.Fatalf("%d and %d: %v: looser than one of them", i, j, call)
				}
			}
		}
	}
}

func TestDenialsByAccessRead(t *testing.T) {
	const raise = "the user can raise it in the table [vaults.access] of the settings file"
	for _, test := range []struct{ line, code, say, hint string }{
		{"append path=Read/n.md content=x", "access_denied", `command "append": "Read/n.md" is read-only (access r; append needs rw)`, raise},
		{"task ref=Read/n.md:3 done", "access_denied", `command "task": "Read/n.md" is read-only (access r; task needs rw)`, raise},
		{"delete path=Write/n.md", "access_denied", `command "delete": "Write/n.md" may not be deleted or replaced (access rw; delete needs rwd)`, raise},
		{"move path=Write/n.md to=Delete/", "access_denied", `command "move": "Write/n.md" may not be deleted or replaced (access rw; move needs rwd)`, raise},
		{"move path=Delete/n.md to=Else/", "access_denied", `command "move": "Else" is read-only (access r; move needs rw)`, raise},
		{"move file=n to=Read/m.md", "access_denied", `command "move": "Read/m.md" is read-only (access r; move needs rw)`, raise},
		{"outline", "target_required", `command "outline": requires a target because there are access rules`, "name the note with path= or file="},
		{"move path=Write/n.md to=Write/m.md", "", "", ""},
		{"move path=Write/n.md to=Write/", "", "", ""},
		{"files folder=Read", "", "", ""},
		{"bookmark file=Read/n.md", "", "", ""},
		{"property:remove path=Write/n.md name=x", "access_denied",
			`command "property:remove": "Write/n.md" may not be deleted or replaced (access rw; property:remove needs rwd)`,
			raise},
	} {
		words := strings.Fields(test.line)
		call := require.Value(allowlist.ParseWords(words[0], words[1:]))(t)
		p := with(widest(), placesRules(t))
		p.Origins = map[string]string{"access": "file x"}
		_, err := p.Decide(call, plain).Permit()
		var denial *policy.Denial
		if !errors.As(err, &denial) {
			assert.Equal(t, test.code, "", "%s: %v, want", test.line, err)
			continue
		}
		if denial.Code() != test.code || denial.Rule != "access" || denial.Setting != "access" ||
			denial.Error() != test.say || denial.Hint() != test.hint+" (access is set by file x)" {
			t.Errorf("%s: got %v, hint %q", test.line, err, denial.Hint())
		}
	}
}

// Patterns are rules too, though there is no table of levels.
func TestPatternsWantATarget(t *testing.T) {
	for _, name := range []string{"outline", "read", "backlinks"} {
		call := mustParse(t, name, nil)
		_, err := widest().Decide(call, ignored).Permit()
		assert.Equal(t, code(err), "target_required", "%v: %v", call, err)
	}
}

func TestVerdictsOfTheAccessRulesPass(t *testing.T) {
	call := mustParse(t, "read", allowlist.Params{"path": allowlist.Text("Read/n.md")})
	const nothing = "the given paths are allowed; other notes are checked when they are reached"
	for name, test := range map[string]struct {
		policy policy.Policy
		facts  policy.Facts
		want   string
	}{
		"no rules": {widest(), plain, "no access rules"},
		"rules":    {with(widest(), placesRules(t)), plain, nothing},
		"patterns": {widest(), ignored, nothing},
		"both":     {with(widest(), placesRules(t)), ignored, nothing},
	} {
		for _, v := range test.policy.Judge(call, test.facts) {
			if v.Rule == "access" {
				assert.Equal(t, v.Verdict, policy.Pass, "%s: %s", name, v.Why)
				assert.Equal(t, v.Why, test.want, "%s", name)
			}
		}
	}
}

// Which program may run a call: the words of each line say why.
func TestConfined(t *testing.T) {
	restricting := require.Value(access.New(map[string]access.Level{"/": access.Delete}))(t)
	hiding := placesRules(t)
	for _, test := range []struct {
		line                                         string
		hides, restricts, ignores, ignoresRestricted bool
	}{
		{"read path=Hidden/n.md", true, false, true, true},                 // hidden
		{"read path=Read/n.md", false, false, true, true},                  // named, but a pattern may hide it
		{"append path=Write/n.md content=x", false, false, true, true},     // touches what it names only
		{"read file=n", true, false, true, true},                           // whichever note that is
		{"append file=n content=x", true, true, true, true},                // and it is changed
		{"tags", true, false, true, true},                                  // looks at all notes
		{"move path=Delete/n.md to=Delete/Below/", true, true, true, true}, // changes the links of others
		{"version", false, false, false, false},                            // has to do with no note
		{"web url=https://example.org", false, false, false, false},
	} {
		words := strings.Fields(test.line)
		call := require.Value(allowlist.ParseWords(words[0], words[1:]))(t)
		for name, c := range map[string]struct {
			policy policy.Policy
			facts  policy.Facts
			want   bool
		}{
			"none": {widest(), plain, false}, "hiding": {with(widest(), hiding), plain, test.hides},
			"restricting": {with(widest(), restricting), plain, test.restricts},
			"ignoring":    {widest(), ignored, test.ignores}, "both": {with(widest(), restricting), ignored, test.ignoresRestricted},
		} {
			permit, err := c.policy.Decide(call, c.facts).Permit()
			require.Equal(t, err, nil, "%s, %s", test.line, name)
			assert.Equal(t, permit.Confined(), c.want, "%s, %s", test.line, name)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	rules, err := access.New(map[string]access.Level{"Hidden": access.None, "Read": access.Read, "Write": access.Write, "Work": access.Delete})
	require.NoError(b, err)
	p := with(widest(), rules)
	for name, words := range map[string][]string{"read": {"path=Work/Projects/Plan.md"},
		"append": {"path=Work/Projects/Plan.md", "content=x"}, "tags": {"counts"}} {
		b.Run(name, func(b *testing.B) {
			call := require.Value(allowlist.ParseWords(name, words))(b)
			b.ReportAllocs()
			for b.Loop() {
				require.Value(p.Decide(call, plain).Permit())(b)
			}
		})
		b.Run(name+"/parsed", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call, err := allowlist.ParseWords(name, words)
				if err == nil {
					_, err = p.Decide(call, plain).Permit()
				}
				require.NoError(b, err)
			}
		})
	}
}
