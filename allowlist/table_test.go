package allowlist

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

func TestRowsAreWellFormed(t *testing.T) {
	commandName := regexp.MustCompile(`^[a-z]+(:[a-z]+(-[a-z]+)?)?$`)
	paramName := regexp.MustCompile(`^[a-z][a-zA-Z]*(-[a-z]+)*$`)
	seen := map[string]bool{}
	last := tiers.V0
	eachRow(func(r *row) {
		assert.That(t, commandName.MatchString(r.name), "%q is no name of a command, or occurs twice", r.name)
		assert.That(t, !seen[r.name], "%q is no name of a command, or occurs twice", r.name)
		seen[r.name] = true
		assert.That(t, r.tier >= last, "%s comes after rows of tier %v", r.name, last)
		last = r.tier
		assert.That(t, r.tier != tiers.None, "%s has no tier or no effect", r.name)
		assert.That(t, r.effect != tiers.Unknown, "%s has no tier or no effect", r.name)
		checkSummary(t, r.name, r.summary)
		params := map[string]bool{}
		for i := range r.params {
			p := &r.params[i]
			where := r.name + " " + p.name
			assert.That(t, paramName.MatchString(p.name), "%s: no name of a parameter, or it occurs twice", where)
			assert.That(t, !params[p.name], "%s: no name of a parameter, or it occurs twice", where)
			assert.That(t, p.name != "vault", "%s: no name of a parameter, or it occurs twice", where)
			assert.That(t, p.name != "copy", "%s: no name of a parameter, or it occurs twice", where)
			params[p.name] = true
			checkSummary(t, where, p.summary)
			assert.That(t, p.kind.String() != "", "%s has no kind", where)
			if (p.kind == kindChoice) != (len(p.choices) > 0) || (p.kind == kindNumber || p.kind == kindAge) != (p.least != 0 || p.most != 0) {
				t.Errorf("%s: choices or bounds do not go with its kind", where)
			}
			assert.That(t, !p.required || p.refused == "", "%s is required and refused: %s", where, p.refused)
			assert.That(t, !p.required || p.kind != kindFlag, "%s is a flag and required", where)
		}
	})
}

// A summary is a short sentence without its full stop: it is in listings
// that an agent pays for by the word.
func checkSummary(t *testing.T, where, s string) {
	t.Helper()
	require.That(t, s != "", "%s: summary %q", where, s)
	assert.That(t, len(s) <= 72, "%s: summary %q", where, s)
	assert.That(t, !strings.HasSuffix(s, "."), "%s: summary %q", where, s)
	assert.That(t, s[0] >= 'A', "%s: summary %q", where, s)
	assert.That(t, s[0] <= 'Z', "%s: summary %q", where, s)
	assert.Equal(t, strings.TrimSpace(s), s, "%s", where)
}

func TestGroupsNameParametersOfTheirRow(t *testing.T) {
	eachRow(func(r *row) {
		var names []string
		for _, group := range slices.Concat(r.oneOf, r.exclusive) {
			assert.That(t, len(group) >= 2, "%s: the group %v has no choice", r.name, group)
			names = append(names, group...)
		}
		for _, n := range r.needs {
			names = append(append(names, n.param), n.with...)
		}
		for _, w := range r.when {
			names = append(names, w.param)
			assert.That(t, w.effect.WorseThan(r.effect), "%s: %s does not raise the effect", r.name, w.param)
		}
		for _, name := range append(names, r.shows...) {
			assert.That(t, r.param(name) != nil, "%s speaks of %s, which it does not have", r.name, name)
		}
	})
}

// The answer of a command can be told from an error only if the row says what
// it looks like. Restricted commands never answer.
func TestEveryOpenRowStatesItsReply(t *testing.T) {
	eachRow(func(r *row) {
		confirms := r.reply.Kind == Confirmation
		switch {
		case r.tier == tiers.Restricted && (r.reply.Kind != Unstated || r.reply.Silent || r.reply.Empty != ""):
			t.Errorf("%s is restricted and has a reply", r.name)
		case r.tier != tiers.Restricted && r.reply.Kind == Unstated:
			t.Errorf("%s states no reply", r.name)
		case confirms != (len(r.reply.Confirms) > 0):
			t.Errorf("%s: kind %v with the confirmations %q", r.name, r.reply.Kind, r.reply.Confirms)
		case confirms && r.effect == tiers.Reads:
			t.Errorf("%s confirms a read", r.name)
		case r.reply.Kind == Content && r.effect != tiers.Reads:
			t.Errorf("%s changes something and answers with text of a note", r.name)
		}
		for _, begins := range r.reply.Confirms {
			assert.That(t, len(begins) >= 4, "%s: the confirmation %q", r.name, begins)
			assert.That(t, !strings.HasPrefix(begins, "Error"), "%s: the confirmation %q", r.name, begins)
		}
	})
}

// A command that can be enabled says what it does in words for people. One that never can be is named as it is.
func TestEveryOpenRowStatesItsVerb(t *testing.T) {
	word := regexp.MustCompile(`^[a-zA-Z]+( [a-zA-Z]+)*$`)
	eachRow(func(r *row) {
		if isRestricted(r) {
			assert.That(t, r.verb == verb{}, "%s is restricted and has the verb %q", r.name, r.verb)
			return
		}
		assert.That(t, word.MatchString(r.verb.wants), "%s states no verb: %q", r.name, r.verb)
		assert.That(t, word.MatchString(r.verb.did), "%s states no verb: %q", r.name, r.verb)
		assert.That(t, r.verb.before == "" || word.MatchString(r.verb.before), "%s: %q before a note", r.name, r.verb.before)
		got, ok := VerbOf(r.name)
		require.That(t, ok, "%s: the verb %q", r.name, got)
		assert.Equal(t, got, Verb{r.verb.wants, r.verb.did, r.verb.before}, "%s: the verb %q", r.name, got)
	})
	_, ok := VerbOf("nothing")
	assert.That(t, !ok, "a name that is no command has a verb")
}

// What a command answers may be about any note unless its row says more: a listing that states nothing is
// not forgotten, because each that shows something and is not about one note has to state it.
func TestEveryRowThatShowsNotesStatesWhichItNames(t *testing.T) {
	eachRow(func(r *row) {
		shows := !isRestricted(r) && !r.effect.Mutates() && r.reach != reachNote && r.reach != reachNothing
		assert.Equal(t, r.naming.how != NamingUnstated, shows, "%s states which files its answer names", r.name)
		formats := []string{""}
		if p := r.param("format"); p != nil {
			formats = append(formats, p.choices...)
		}
		for _, form := range r.naming.forms {
			assert.That(t, slices.Contains(formats, form), "%s names files in the format %q, which it does not have", r.name, form)
		}
		for _, name := range r.naming.not {
			assert.That(t, r.param(name) != nil, "%s speaks of %s, which it does not have", r.name, name)
		}
		assert.That(t, r.naming.columns == "" || r.param(r.naming.columns) != nil, "%s speaks of %s, which it does not have", r.name, r.naming.columns)
	})
	assert.Equal(t, Call{}.Naming(), NamingUnstated, "the naming of the zero call")
}

func TestWhichAnswersNameTheirFiles(t *testing.T) {
	for line, want := range map[string]Naming{
		"files": NamesFiles, "files total": NamesNotAll, "search query=a format=json": NamesFiles, "search query=a total": NamesNotAll,
		"find query=a": NamesFilesInRows, "tags": NamesTags, "tags counts format=csv": NamesTags, "tags format=json": NamesNotAll, "tags total": NamesNotAll,
		"tasks": NamesNotAll, "tasks format=json": NamesFiles, "tasks format=csv": NamesNotAll, "tasks format=json total": NamesNotAll,
		"query": NamesFiles, "query format=paths": NamesFiles, "query format=csv": NamesNotAll, "query format=tsv": NamesNotAll, "query format=md": NamesNotAll,
		"query groups": NamesNotAll, "query summaries": NamesNotAll, "query explain": NamesNotAll,
		"query select=rating": NamesFiles, "query select=path:rating": NamesNotAll, "query where=file(a)": NamesNotAll, "base:query path=A.base": NamesNotAll,
		"properties": NamesNotAll, "approvals": NamesNothing, "undo:list": NamesNotAll, "version": NamesNothing, "read path=A.md": NamingUnstated,
	} {
		words := strings.Fields(line)
		call := require.Value(ParseWords(words[0], words[1:]))(t)
		assert.Equal(t, call.Naming(), want, "%s", line)
	}
}

// A question about a change shows in full what decides it. For each long value that a call which does more
// than read can have, the row says whether that is so, or whether the change of the files shows it.
func TestEveryLongValueOfAChangeIsStated(t *testing.T) {
	var full []string
	eachRow(func(r *row) {
		changes := !isRestricted(r) && (r.effect != tiers.Reads || len(r.when) > 0)
		for i := range r.params {
			p := &r.params[i]
			if changes && p.kind.isLong() {
				assert.That(t, p.asked != 0, "%s %s: how a question shows it is not stated", r.name, p.name)
			}
			if changes && p.isAskedInFull() {
				full = append(full, r.name+" "+p.name)
			}
		}
	})
	assert.Equal(t, strings.Join(full, ", "), "move query, property:set query, property:add query, property:remove-item query, search:open query, "+
		"note:replace old, note:replace new, find:send host, find:send model, base:set where, vault:replace old, vault:replace new, vault:replace query, "+
		"web url", "what is asked in full")
	require.That(t, (&param{kind: kindText}).isAskedInFull(), "a long value of which nothing is stated is not asked in full")
	assert.That(t, !(&param{kind: kindFlag}).isAskedInFull(), "a long value of which nothing is stated is not asked in full")
}

func TestSuggestedCommandsExist(t *testing.T) {
	eachRow(func(r *row) {
		for _, name := range []string{r.wider, r.maker, r.ofFolders} {
			assert.That(t, name == "" || Exists(name), "%s suggests %q, which is no command", r.name, name)
		}
	})
	assert.That(t, Exists(FindsNotes), "what answers suggest is no command")
	assert.That(t, Exists(ListsHeadings), "what answers suggest is no command")
}

// What a person may rely on of single rows, whatever the catalogue says.
func TestEffectsOfWholeCalls(t *testing.T) {
	tests := []struct {
		line   string
		effect tiers.Effect
		shows  bool
		falls  bool // back to the open note
	}{
		{"daily", tiers.Writes, true, false},
		{"daily:append content=x open", tiers.Writes, true, false},
		{"create path=A.md overwrite", tiers.Destroys, false, false},
		{"create path=A.md overwrite=false", tiers.Writes, false, false},
		{"create path=A.md open newtab", tiers.Writes, true, false},
		{"task line=3", tiers.Reads, false, true},
		{"task line=3 done", tiers.Writes, false, true},
		{"task daily line=3 done", tiers.Writes, false, false},
		{"task ref=A.md:3 toggle", tiers.Writes, false, false},
		{"task path=A.md line=3 status=/", tiers.Writes, false, false},
		{"task file=A line=3 todo", tiers.Writes, false, false},
		{"tasks status=/", tiers.Reads, false, false},
		{"tasks active", tiers.Reads, false, true},
		{"tasks daily", tiers.Reads, false, false},
		{"properties active", tiers.Reads, false, true},
		{"aliases active", tiers.Reads, false, true},
		{"read", tiers.Reads, false, true},
		{"read file=A", tiers.Reads, false, false},
		{"delete", tiers.Destroys, false, true},
		{"delete path=A.md permanent", tiers.Destroys, false, false},
		{"base:create name=A", tiers.Writes, false, true},
		{"base:create path=B.base name=A", tiers.Writes, false, false},
		{"base:views", tiers.Reads, false, true},
		{"base:views file=Books.base", tiers.Reads, false, false},
		{"publish:remove", tiers.Publishes, false, true},
		{"template:insert name=A", tiers.Writes, false, true},
		{"template:insert name=A path=B.md", tiers.Writes, false, false},
		{"append content=x heading=A", tiers.Writes, false, true},
		{"daily:append content=x heading=A", tiers.Writes, false, false},
		{"note:replace old=a new=b", tiers.Writes, false, true},
		{"note:replace path=A.md old=a new=b", tiers.Writes, false, false},
		{"note:replace daily old=a new=b", tiers.Writes, false, false},
		{"note:insert lines=1 position=after content=x", tiers.Writes, false, true},
		{"note:insert daily lines=1 position=after content=x", tiers.Writes, false, false},
		{"note:set-section block=id content=x", tiers.Writes, false, true},
		{"note:set-section file=A block=id content=x", tiers.Writes, false, false},
		{"web url=https://example.org", tiers.Shows, true, false},
	}
	for _, test := range tests {
		words := strings.Fields(test.line)
		call, err := ParseWords(words[0], words[1:])
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
			continue
		}
		if call.Effect() != test.effect || call.Shows() != test.shows || call.UsesOpenNote() != test.falls {
			t.Errorf("%s: effect %v, shows %v, falls back %v", test.line, call.Effect(), call.Shows(), call.UsesOpenNote())
		}
	}
}

func TestEveryRowTakesItsParameters(t *testing.T) {
	eachRow(func(r *row) {
		mustParse(t, r.name, r.fewest())
		if r.tier == tiers.Restricted {
			return
		}
		for i := range r.params {
			p := &r.params[i]
			call, err := Parse(r.name, r.fewest(p.name))
			if p.refused != "" {
				assert.That(t, code(err) == CodeTargetRequired, "%s %s: got %v, want a refusal", r.name, p.name, err)
				continue
			}
			if err != nil {
				t.Errorf("%s with %s: %v", r.name, p.name, err)
				continue
			}
			if _, given := call.Param(p.name); !given {
				t.Errorf("%s: the call lost %s", r.name, p.name)
			}
			assert.Equal(t, call.Effect(), worstOf(r, p.name), "%s with %s: effect", r.name, p.name)
		}
	})
}

func worstOf(r *row, param string) tiers.Effect {
	for _, w := range r.when {
		if w.param == param {
			return w.effect
		}
	}
	return r.effect
}

// The argument lists of all commands are in a file, so that a change in one
// is seen by the reader of the commit.
func TestArgv(t *testing.T) {
	var got strings.Builder
	eachRow(func(r *row) {
		requests := []Params{r.fewest(), r.most(t)}
		if len(requests[0]) == len(requests[1]) || r.tier == tiers.Restricted {
			requests = requests[:1]
		}
		for _, params := range requests {
			call := require.Value(mustParse(t, r.name, params).In("Work"))(t)
			line, err := call.Line(ToEmbedded("linux"))
			require.That(t, err == nil, "%s: %v", r.name, err)
			argv := require.Value(json.Marshal(line.Argv))(t)
			fmt.Fprintf(&got, "%s\n", argv)
		}
	})
	testenv.GoldenFile(t, "testdata/argv.golden", got.String())
}

func TestNamesAreMatchedExactly(t *testing.T) {
	for _, name := range []string{"", " read", "read ", "Read", "READ", "rea", "reads", "daily:", "daily:read\n", "daily:read\x00", "daily :read",
		"daily/read", "delete:permanent", "--help", "-read", "vault=Work", "read path=A.md", "ｒead", "re\u200dad", "rand\u043em"} {
		_, err := Parse(name, nil)
		assert.Equal(t, code(err), CodeUnknownCommand, "%q: got %v", name, err)
		_, err = ParseWords(name, nil)
		assert.Equal(t, code(err), CodeUnknownCommand, "%q as a word: got %v", name, err)
		_, err = Describe(name)
		assert.Equal(t, code(err), CodeUnknownCommand, "%q described: got %v", name, err)
	}
}

// A variable that calls a function or appends would have all rows copied at each start of
// the program, which is a tenth of a millisecond: see shared.go.
func TestVariablesCallNothing(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	require.That(t, len(files) != 0, "%v %v", files, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file := require.Value(parser.ParseFile(set, name, nil, parser.SkipObjectResolution))(t)
		for _, declaration := range file.Decls {
			variables, ok := declaration.(*ast.GenDecl)
			if !ok || variables.Tok != token.VAR {
				continue
			}
			ast.Inspect(variables, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					t.Errorf("%s: a variable calls a function", set.Position(call.Pos()))
				}
				return true
			})
		}
	}
}

// sample is a value that a parameter of this kind takes.
func (p *param) sample() Value {
	switch p.kind {
	case kindFlag:
		return Flag(true)
	case kindNumber:
		return Number("3")
	case kindChoice:
		return Text(p.choices[len(p.choices)-1])
	}
	return Text(map[kind]string{
		kindText: "two\nlines = \"text\"", kindContent: "- [ ] buy milk\n\tand é €", kindName: "due date", kindData: "YWJj",
		kindLink: "Groceries", kindBase: "Books.base", kindTitle: "Trip to Paris", kindPath: "Lists/Groceries.md", kindNewPath: "Lists/C#/New.md",
		kindDestination: "Archive/2026/", kindFolder: "Projects/Home", kindRef: "Lists/Groceries.md:12",
		kindChar: "/", kindDate: "2026-11-21", kindAge: "30", kindURL: "https://example.org/a?b=c", kindWord: "daily:read",
	}[p.kind])
}

// fewest returns the parameters of the smallest request that carries must.
func (r *row) fewest(must ...string) Params {
	params := Params{}
	add := func(name string) { params[name] = r.param(name).sample() }
	for _, name := range must {
		add(name)
	}
	for i := range r.params {
		if r.params[i].required {
			add(r.params[i].name)
		}
	}
	has := func(name string) bool { _, given := params[name]; return given }
	for _, group := range r.oneOf {
		if !slices.ContainsFunc(group, has) {
			add(group[slices.IndexFunc(group, func(name string) bool { return !r.excluded(name, has) })])
		}
	}
	for _, n := range r.needs {
		if has(n.param) && !slices.ContainsFunc(n.with, has) {
			add(n.with[0])
		}
	}
	return params
}

func (r *row) excluded(name string, has func(string) bool) bool {
	return slices.ContainsFunc(r.exclusive, func(group []string) bool {
		return slices.Contains(group, name) && slices.ContainsFunc(group, has)
	})
}

// most returns the parameters of a request that carries all that go together.
func (r *row) most(t *testing.T) Params {
	t.Helper()
	params := r.fewest()
	for range 2 { // what is needed may come later in the row
		for i := range r.params {
			p := &r.params[i]
			if _, given := params[p.name]; given {
				continue
			}
			params[p.name] = p.sample()
			if _, err := Parse(r.name, params); err != nil {
				delete(params, p.name)
			}
		}
	}
	return params
}

// eachRow calls f for every row of the table, in order.
func eachRow(f func(r *row)) {
	for _, part := range table {
		for i := range part.rows {
			f(&part.rows[i])
		}
	}
}

func mustParse(t *testing.T, name string, params Params) Call {
	t.Helper()
	call, err := Parse(name, params)
	require.That(t, err == nil, "%s %v: %v", name, params, err)
	return call
}

func isRestricted(r *row) bool { return r.tier == tiers.Restricted }

// A second statement of what single commands have of their own, by their names: a row
// that gets one of these fields has to be added here.
func TestWhatSingleCommandsHave(t *testing.T) {
	for trait, test := range map[string]struct {
		has   func(r *row) bool
		names string
	}{
		"access to read":       {func(r *row) bool { return r.access == AccessToRead }, "copy base:create bookmark"},
		"access to write":      {func(r *row) bool { return r.access == AccessToWrite }, "vault:replace"},
		"access to move":       {func(r *row) bool { return r.access == AccessToMove }, "move"},
		"reads the daily note": {func(r *row) bool { return slices.Contains(r.steps, rowStep{step: StepReadDaily}) }, "daily:read"},
		"makes if absent":      {func(r *row) bool { return slices.Contains(r.steps, rowStep{StepAbsent, "overwrite"}) }, "create"},
		"any step":             {func(r *row) bool { return len(r.steps) > 0 }, "daily:read create history:restore sync:restore"},
		"names a new note":     {func(r *row) bool { return r.newNote != "" }, "create"},
		"prints a note":        {func(r *row) bool { return r.printsNote }, "daily:read read"},
		"random":               {func(r *row) bool { return r.random }, "random random:read"},
		"opens a web address":  {func(r *row) bool { return r.opensWeb }, "web"},
		"takes changes back":   {func(r *row) bool { return r.undoes }, "undo"},
		"is a probe":           {func(r *row) bool { return r.probes }, "version"},
		"is answered apart":    {func(r *row) bool { return r.apart }, "attachment:text"},
		"lists vaults":         {func(r *row) bool { return r.listsVaults }, "vaults"},
		"prints what is named": {(*row).printsNamed, "read"},
		"suggests another":     {func(r *row) bool { return r.wider != "" }, "search search:context"},
		"suggests a maker":     {func(r *row) bool { return r.maker != "" }, "append prepend"},
		"is of files":          {func(r *row) bool { return r.ofFolders != "" }, "move rename copy delete"},
		"restores a version":   {func(r *row) bool { return r.versions.read != "" }, "history:restore sync:restore"},
		"numbers versions": {func(r *row) bool { return r.versions.of != "" },
			"diff history history:list history:read history:restore sync:history sync:read sync:restore"},
		"is built in": {func(r *row) bool { return r.builtIn },
			"help version file files folder folders open create read append prepend move rename delete vault vaults"},
		"own answer": {func(r *row) bool { return r.ownAnswer != AnswersNothing }, "help undo:list approvals"},
	} {
		var names []string
		for _, part := range table {
			for i := range part.rows {
				if test.has(&part.rows[i]) {
					names = append(names, part.rows[i].name)
				}
			}
		}
		want := strings.Fields(test.names)
		assert.That(t, slices.Equal(names, want), "%s: %v, want %v", trait, names, want)
	}
}

func TestSteps(t *testing.T) {
	for line, want := range map[string][]Step{
		"daily:read": {StepReadDaily}, "create path=A.md": {StepAbsent}, "create name=A": {StepLocateNew, StepAbsent},
		"create name=A overwrite": {StepLocateNew}, "create path=A.md overwrite": nil, "read file=A": {StepLocate}, "read path=A.md": nil,
		"daily:append content=x": nil, "base:query file=A": nil, "bookmark file=A.md": nil,
		"history:restore path=A.md version=1": {StepVersion}, "sync:restore file=A version=1": {StepLocate, StepVersion},
	} {
		words := strings.Fields(line)
		call := require.Value(ParseWords(words[0], words[1:]))(t)
		var got []Step
		for s := Step(0); s <= StepVersion+1; s++ {
			if call.HasStep(s) {
				got = append(got, s)
			}
		}
		assert.That(t, slices.Equal(got, want), "%s: %v, want %v", line, got, want)
	}
	for s := Step(0); s <= StepVersion+1; s++ {
		assert.That(t, !(Call{}).HasStep(s), "the zero call takes the step %d", s)
	}
	var zero Call
	if zero.PathAccess() != AccessByEffect || zero.PrintsNote() || zero.IsDaily() || zero.IsRandom() || zero.OwnAnswer() != AnswersNothing {
		t.Error("the zero call has something of a command")
	}
}
