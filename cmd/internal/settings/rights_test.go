package settings

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// Every setting that a running server takes where it is stricter, and every key of an agent and of the machine that
// bounds what a call may do, is a part of the policy that says how two values meet.
func TestEverySettingOfRightsHasARow(t *testing.T) {
	var rows []string
	for _, m := range policy.Meetings() {
		rows = append(rows, m.Name)
	}
	names := map[string]bool{}
	for _, row := range table {
		if !row.fixed && row.name != "profile" { // which only chooses values of the others
			names[row.name] = true
		}
	}
	for _, key := range agentKeys() {
		names[key.name] = true
	}
	for _, key := range managedKeys() {
		names[key.name] = true
	}
	// These bound no call: whom an agent is for, where lines of the log go, and who is told.
	for _, name := range []string{"vaults", "oauth", "agents", "export", "checkpoints", "notify"} {
		delete(names, name)
	}
	assert.That(t, len(names) >= 23, "too few: %v", names)
	for name := range names {
		assert.That(t, slices.Contains(rows, name), "the setting %q has no row in package policy", name)
	}
}

// said is what one source says: by the name of a setting its value, as in a flag; access rules by path, and flow rules
// by name. It knows nothing of policies.
type said struct {
	settings map[string]string
	access   map[string]string
	flows    []string
}

var (
	drawnRules    = []string{"secrets", "private", "suspicious", "remote-links", "flow"}
	drawnCommands = []string{"read", "append", "delete", "files", "create", "web"}
	drawnValues   = map[string][]string{
		"tier":            {"v0", "v1", "v2", "v3", "v3", "v3", "v3"},
		"allow-mutations": {"true", "true", "true", "true", "false"},
		"allow-publish":   {"true", "true", "true", "false"}, "allow-ui": {"true", "false"},
		"confirm": {"never", "never", "destructive", "writes"}, "secrets": {"block", "strict", "redact", "allow"},
		"suspicious": {"ask", "notice", "off"}, "remote-links": {"ask", "allow"},
		"disable": drawnCommands, "enable-only": drawnCommands, "shadow": drawnRules,
		"private-property": {"private", "agent", "hidden"}, "private-tags": {"private", "staff"},
		"exceptions":      {"secrets Docs # s", "private Docs # p", "suspicious Docs # q", "remote-links Docs # r", "flow Docs # f"},
		"min-cli-version": {"1.12.7", "1.13.0", "1.14.0"}, "rate": {"0", "5", "50"}, "rate-mutations": {"0", "5", "50"},
		"rate-mutations-hour": {"0", "5", "50"},
	}
	drawnLists  = []string{"disable", "enable-only", "shadow", "private-property", "private-tags", "exceptions"}
	drawnNotes  = []string{"a.md", "Docs/a.md", "Docs/Deep/a.md", "Staff/a.md"}
	drawnLevels = []string{"none", "r", "rw", "rwd"}
)

// drawSaid returns what a source says. It says something of about every fourth setting.
func drawSaid(r *rand.Rand, tables bool) said {
	s := said{settings: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(drawnValues)) {
		if r.IntN(4) > 0 {
			continue
		}
		values := drawnValues[name]
		if !slices.Contains(drawnLists, name) {
			s.settings[name] = values[r.IntN(len(values))]
			continue
		}
		var list []string
		for _, value := range values {
			if r.IntN(2) == 0 {
				list = append(list, value)
			}
		}
		s.settings[name] = strings.Join(list, ",")
	}
	if tables && r.IntN(2) == 0 {
		s.access = map[string]string{"/": drawnLevels[1+r.IntN(3)]}
		for _, path := range []string{"Docs", "Docs/Deep", "Staff"} {
			if r.IntN(2) == 0 {
				s.access[path] = drawnLevels[r.IntN(4)]
			}
		}
	}
	if tables && r.IntN(3) == 0 {
		s.flows = append(s.flows, fmt.Sprintf("f%d", r.IntN(3)))
	}
	return s
}

// lines writes the settings and tables of a source into a table of a file, "" for its root.
func (s said) lines(table string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.settings)) {
		fmt.Fprintf(&b, "%s = %s\n", name, inTOML(name, s.settings[name]))
	}
	in := func(part string) string { return strings.TrimPrefix(table+"."+part, ".") }
	if s.access != nil {
		fmt.Fprintf(&b, "[%s]\n", in("access"))
		for _, path := range slices.Sorted(maps.Keys(s.access)) {
			fmt.Fprintf(&b, "%q = %q\n", path, s.access[path])
		}
	}
	for _, name := range s.flows {
		fmt.Fprintf(&b, "[[%s]]\nname = %q\nfrom = [\"Docs\"]\naction = \"refuse\"\n", in("flow"), name)
	}
	return b.String()
}

func inTOML(name, text string) string {
	row, _ := settingOf(name)
	switch row.kind {
	case boolean, numeric:
		return text
	case list:
		var quoted []string
		for _, item := range nameFields(text) {
			quoted = append(quoted, strconv.Quote(item))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return strconv.Quote(text)
}

// sources are all that say something of what an agent may do in a vault. Those of the user are laid over each other,
// the later ones over the earlier ones; the others only take away.
type sources struct {
	file, profile, variables, flags said
	managed, agent                  said
	vaultTier                       string // "" for none
	vaultAccess                     map[string]string
}

func drawSources(r *rand.Rand) sources {
	s := sources{file: drawSaid(r, true), profile: drawSaid(r, false), variables: drawSaid(r, false),
		flags: drawSaid(r, false), managed: drawSaid(r, true), agent: drawSaid(r, true)}
	s.file.access = nil // only vaults, agents and the machine have access rules
	for _, source := range []said{s.file, s.profile, s.variables, s.flags, s.managed, s.agent} {
		if r.IntN(3) > 0 { // two lists seldom have a command in common
			delete(source.settings, "enable-only")
		}
	}
	for name, wide := range map[string]string{"tier": "v3", "allow-mutations": "true", "allow-publish": "true"} {
		if r.IntN(8) > 0 { // so that something is allowed
			s.file.settings[name] = wide
		}
	}
	if r.IntN(2) == 0 {
		s.vaultAccess = map[string]string{"/": drawnLevels[1+r.IntN(3)], "Staff": drawnLevels[r.IntN(4)]}
	}
	if r.IntN(3) == 0 {
		s.vaultTier = levelOfTier(r.IntN(len(s.generalTier()) + 1))
	}
	return s
}

// load reads all of it as the program does.
func (s sources) load(t *testing.T) Settings {
	t.Helper()
	manage(t, s.managed.lines(""))
	vault := "[[vaults]]\nname = \"Notes\"\n"
	if s.vaultTier != "" {
		vault += fmt.Sprintf("tier = %q\n", s.vaultTier)
	}
	vault += said{access: s.vaultAccess}.lines("vaults")
	file := said{settings: s.file.settings}.lines("") + said{flows: s.file.flows}.lines("") + "[profiles.p]\n" +
		s.profile.lines("profiles.p") + vault + "[agents.cursor]\n" + s.agent.lines("agents.cursor")
	env, args := map[string]string{}, []string{"--config=" + writeSettings(t, file), "--profile=p", "--agent=cursor"}
	for name, text := range s.variables.settings {
		env[VariableOf(name)] = text
	}
	for name, text := range s.flags.settings {
		args = append(args, "--"+name+"="+text)
	}
	read, _, err := NewFlags("serve").Load(world(env), args)
	require.That(t, err == nil, "%v\nmanaged:\n%s\nfile:\n%s\n%v %q", err, s.managed.lines(""), file, env, args)
	return read
}

// user returns what the user says of a setting, and at which priority, 0 where nobody does: "A flag beats the variable, the
// variable the profile that is chosen, the profile the rest of the file."
func (s sources) user(name string) (text string, priority int) {
	for i, source := range []said{s.file, s.profile, s.variables, s.flags} {
		if value, has := source.settings[name]; has {
			text, priority = value, i+1
		}
	}
	if priority == 0 {
		text = map[string]string{
			"tier": "v0", "allow-mutations": "false", "allow-publish": "false", "allow-ui": "true",
			"confirm": "destructive", "secrets": "redact", "suspicious": "notice", "remote-links": "ask",
			"private-property": "private,agent", "private-tags": "private", "min-cli-version": "1.12.7", "rate": "120",
			"rate-mutations": "30", "rate-mutations-hour": "300",
		}[name]
	}
	return text, priority
}

func (s sources) generalTier() []string {
	text, _ := s.user("tier")
	return tierNames[:slices.Index(tierNames, text)]
}

func levelOfTier(n int) string { return tierNames[n] }

// all returns the value of a setting of each source that has it: the user, the machine, the agent.
func (s sources) all(name string) (values []string) {
	text, _ := s.user(name)
	values = append(values, text)
	for _, source := range []said{s.managed, s.agent} {
		if value, has := source.settings[name]; has {
			values = append(values, value)
		}
	}
	if name == "tier" && s.vaultTier != "" {
		values = append(values, s.vaultTier)
	}
	return values
}

// strictest returns the first of some words, from the strictest on, that one of the sources says.
func (s sources) strictest(name string, words ...string) string {
	values := s.all(name)
	for _, word := range words {
		if slices.Contains(values, word) {
			return word
		}
	}
	return ""
}

// union returns what any source lists.
func (s sources) union(name string) map[string]bool {
	all := map[string]bool{}
	for _, value := range s.all(name) {
		for _, item := range nameFields(value) {
			all[item] = true
		}
	}
	return all
}

// lowestRate returns the lowest rate that a source says, 0 for none.
func (s sources) lowestRate(name string) (lowest int) {
	for _, value := range s.all(name) {
		if n, _ := strconv.Atoi(value); n > 0 && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	return lowest
}

// level returns the level of a note: the lowest of all tables, of each that of the most specific path.
func (s sources) level(note string) int {
	lowest := 3
	for _, table := range []map[string]string{s.managed.access, s.vaultAccess, s.agent.access} {
		if table == nil {
			continue
		}
		longest, level := -1, ""
		for path, own := range table {
			if covers := path == "/" || note == path || strings.HasPrefix(note, path+"/"); covers && len(strings.TrimPrefix(path, "/")) > longest {
				longest, level = len(strings.TrimPrefix(path, "/")), own
			}
		}
		lowest = min(lowest, slices.Index(drawnLevels, level))
	}
	return lowest
}

// settingsOf are those that state a rule about texts, as docs/settings.md has them.
var settingsOf = map[string][]string{"secrets": {"secrets"}, "private": {"private-property", "private-tags"},
	"suspicious": {"suspicious"}, "remote-links": {"remote-links"}, "flow": {"flow"}}

// stated reports whether a source says something of a rule that takes anything away.
func (s said) stated(rule string) bool {
	if rule == "flow" {
		return len(s.flows) > 0
	}
	for _, name := range settingsOf[rule] {
		if value, has := s.settings[name]; has && value != "" && value != "allow" && value != "off" {
			return true
		}
	}
	return false
}

// weakened reports whether a switch, "shadow" or "exceptions", takes the effect from a rule: "exceptions and shadow weaken a
// rule only where everybody who states the rule says so too", and what is said of a switch bounds those of others.
func (s sources) weakened(name, rule string) bool {
	has := func(text string) bool {
		return slices.ContainsFunc(nameFields(text), func(item string) bool { return item == rule || strings.HasPrefix(item, rule+" ") })
	}
	text, priority := s.user(name)
	if !has(text) {
		return false
	}
	for _, setting := range settingsOf[rule] {
		if _, stated := s.user(setting); stated > priority {
			return false
		}
	}
	for _, source := range []said{s.managed, s.agent} {
		value, says := source.settings[name]
		if says && !has(value) || !says && source.stated(rule) {
			return false
		}
	}
	return true
}

// neededTier and effects of the commands, by docs/commands.md.
var drawnRequests = []struct {
	line                       string
	tier                       int
	writes, destroys, sends, u bool
	needs                      int // the level of the note
}{
	{line: "read path=NOTE", tier: 1, needs: 1},
	{line: "files", tier: 1},
	{line: "append path=NOTE content=x", tier: 1, writes: true, needs: 2},
	{line: "create path=NOTE content=x overwrite", tier: 1, writes: true, destroys: true, needs: 3},
	{line: "delete path=NOTE", tier: 1, writes: true, destroys: true, needs: 3},
	{line: "web url=https://example.org", tier: 3, sends: true, u: true},
}

// allows says by the sources alone what becomes of a request about a note: 0 it is refused, 1 after approval, 2 it is
// carried out.
func (s sources) allows(i int, note string) int {
	request := drawnRequests[i]
	command, _, _ := strings.Cut(request.line, " ")
	tier := slices.Index(tierNames, s.strictest("tier", tierNames...))
	onlySome := false
	for _, value := range s.all("enable-only") {
		onlySome = onlySome || value != "" && !slices.Contains(nameFields(value), command)
	}
	isOff := func(gate string) bool { return s.strictest(gate, "false", "true") == "false" }
	level := s.level(note)
	switch {
	case tier < request.tier, s.union("disable")[command], onlySome,
		request.writes && isOff("allow-mutations"), request.sends && isOff("allow-publish"), request.u && isOff("allow-ui"):
		return 0
	case request.needs > 0 && level > 0 && level < request.needs:
		return 0 // a hidden note is answered as missing, by the program that enforces the rules
	}
	confirm := s.strictest("confirm", "writes", "destructive", "never")
	if request.writes && confirm == "writes" || (request.destroys || request.sends && request.writes) && confirm != "never" {
		return 1
	}
	return 2
}

// widening compares what is in force with what the sources say, and returns where more is allowed.
func (s sources) widening(t *testing.T, read Settings) (wider []string) {
	t.Helper()
	p := read.Served[0].Policy
	differs := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			wider = append(wider, fmt.Sprintf("%s: %v, by the documents %v", what, got, want))
		}
	}
	for i, request := range drawnRequests {
		for _, note := range drawnNotes {
			words := strings.Fields(strings.ReplaceAll(request.line, "NOTE", note))
			call := require.Value(allowlist.ParseWords(words[0], words[1:]))(t)
			d, got := p.Decide(call, policy.ClearFacts(time.Time{})), 0
			if d.Err() == nil {
				got = 2
			} else if d.Preview().Valid() {
				got = 1
			}
			differs(strings.Join(words, " "), got, s.allows(i, note))
		}
	}
	for _, note := range drawnNotes {
		differs("level of "+note, p.Access.Level(note), access.Level(s.level(note)))
	}
	for _, rule := range drawnRules {
		differs("shadow of "+rule, p.Shadows(rule), s.weakened("shadow", rule))
		differs("exception to "+rule, p.Exceptions.Has(rule, "Docs/a.md"), s.weakened("exceptions", rule))
		differs("exception elsewhere to "+rule, p.Exceptions.Has(rule, "a.md"), false)
	}
	differs("secrets", p.Secrets, s.strictest("secrets", "block", "strict", "redact", "allow"))
	differs("suspicious", p.Suspicious, s.strictest("suspicious", "ask", "notice", "off"))
	differs("remote-links", p.RemoteLinks, s.strictest("remote-links", "ask", "allow") == "allow")
	differs("private-property", p.Private.Properties, slices.Sorted(maps.Keys(s.union("private-property"))))
	differs("private-tags", p.Private.Tags, slices.Sorted(maps.Keys(s.union("private-tags"))))
	marks := p.EnforcedAccess().Private()
	differs("private notes have an effect", marks.IsZero(), s.weakened("shadow", "private") || p.Private.IsZero())
	flows := map[string]bool{}
	for _, source := range []said{s.file, s.managed, s.agent} {
		for _, name := range source.flows {
			flows[name] = true
		}
	}
	var names []string
	for _, flow := range p.Flows {
		names = append(names, flow.Name)
	}
	slices.Sort(names)
	differs("flow", names, slices.Sorted(maps.Keys(flows)))
	differs("min-cli-version", p.MinVersion, s.strictest("min-cli-version", "1.14.0", "1.13.0", "1.12.7"))
	differs("rates", []int{read.Limits.Calls, read.Limits.Mutations, read.Limits.MutationsHour},
		[]int{s.lowestRate("rate"), s.lowestRate("rate-mutations"), s.lowestRate("rate-mutations-hour")})
	return wider
}

// What is in force is what the documents say of all sources together, by a judge that is written here from
// docs/settings.md and docs/permissions.md and reads no policy: pairs and triples of settings, switches and rules of
// seven sources are drawn.
func TestSourcesMeetAsTheDocumentsSay(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 3))
	n, seen := testenv.Count(120, 3000), map[string]int{}
	for range n {
		s := drawSources(r)
		read := s.load(t)
		wider := s.widening(t, read)
		require.That(t, len(wider) == 0, "%q\n%+v", wider, s)
		for i := range drawnRequests {
			seen[strconv.Itoa(s.allows(i, "a.md"))]++
		}
		for _, rule := range drawnRules {
			for _, name := range []string{"shadow", "exceptions"} {
				if s.weakened(name, rule) {
					seen[name+" has an effect"]++
				}
				if text, _ := s.user(name); strings.Contains(text, rule) && !s.weakened(name, rule) {
					seen[name+" has none"]++
				}
			}
		}
	}
	t.Logf("%d combinations of seven sources, 0 differ from the documents: %v", n, seen)
	assert.That(t, len(seen) == 7, "the draw shows too little: %v", seen)
}

// A source that only narrows never adds anything: what is allowed with it is allowed without it.
func TestNoSourceWidensAnother(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 4))
	n, compared, widened := testenv.Count(30, 600), 0, 0
	for range n {
		s := drawSources(r)
		with := s.load(t).Served[0].Policy
		for what, without := range map[string]func(*sources){
			"the machine": func(s *sources) { s.managed = said{} }, "the agent": func(s *sources) { s.agent = said{} },
			"the vault":                 func(s *sources) { s.vaultTier, s.vaultAccess = "", nil },
			"the machine and the agent": func(s *sources) { s.managed, s.agent = said{}, said{} },
		} {
			less := s
			without(&less)
			alone := less.load(t).Served[0].Policy
			for _, request := range drawnRequests {
				for _, note := range drawnNotes {
					words := strings.Fields(strings.ReplaceAll(request.line, "NOTE", note))
					call := require.Value(allowlist.ParseWords(words[0], words[1:]))(t)
					for scope := policy.ScopeNone; scope <= policy.ScopeAll; scope++ {
						compared++
						facts := policy.ClearFacts(time.Time{})
						facts.Scope = scope
						d, open := with.Decide(call, facts), alone.Decide(call, policy.ClearFacts(time.Time{}))
						if d.Err() == nil && open.Err() != nil && with.Access.Level(note) > access.None ||
							d.Preview().Valid() && !open.Preview().Valid() && with.Access.Level(note) > access.None {
							widened++
							t.Errorf("%s adds %q with the scope %q: %v\n%+v", what, words, scope, open.Err(), s)
						}
					}
				}
			}
			for _, rule := range drawnRules {
				for _, note := range drawnNotes {
					compared++
					weakens := func(p policy.Policy) bool { return p.Shadows(rule) || p.Exceptions.Has(rule, note) }
					if weakens(with) && !weakens(alone) {
						widened++
						t.Errorf("%s weakens %s for %s\n%+v", what, rule, note, s)
					}
				}
			}
			assert.That(t, with.Access.Level("Docs/a.md") <= alone.Access.Level("Docs/a.md"), "%s adds something\n%+v", what, s)
			assert.That(t, with.Secrets <= alone.Secrets, "%s adds something\n%+v", what, s)
			assert.That(t, with.Suspicious <= alone.Suspicious, "%s adds something\n%+v", what, s)
			require.That(t, widened == 0, "widened")
		}
	}
	t.Logf("%d comparisons of %d combinations, %d widened", compared, n, widened)
}
