package vault

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// failing is a vault in which a call fails in every way, and the calls.
func failing(t *testing.T) (h *testVault, calls map[answer.Kind]string) {
	h = build(t, map[string]string{
		"a.md": "# A\n# B\nx\nx\n" + numbered(20), "b.md": strings.Repeat("b", 20_000), "read.md": "x\n", "twice.md": "# A\n# A\n", "linked.md": "x\n", "Private/p.md": "",
		"lie.md": "Error: Access denied: \"lie.md\" may not be changed.\n",
	})
	h.env[call.AccessVariable] = mustRules(t, map[string]string{"/": "rwd", "read.md": "r", "Private": "none"}).String()
	if err := os.Link(h.file("linked.md"), filepath.Join(t.TempDir(), "other.md")); err != nil {
		t.Skip("no hard links here: ", err)
	}
	return h, map[answer.Kind]string{
		answer.NotFound:        "read path=no.md",
		answer.NotFoundNearest: "task ref=a.md:1",
		answer.NotFoundHeading: "note:section path=a.md heading=C",
		answer.AlreadyExists:   "create path=b.md content=x",
		answer.Ambiguous:       "note:section path=twice.md heading=A",
		answer.AmbiguousText:   "note:replace path=a.md old=x new=y",
		answer.Conflict:        "--expect 0123456789abcdef append path=a.md content=x",
		answer.AccessDenied:    "append path=read.md content=x",
		answer.HardLinkDenied:  "append path=linked.md content=x",
		answer.NotConfigured:   "templates",
		answer.NeedsApp:        "tabs",
		answer.TargetRequired:  "read",
		answer.Unapproved:      "--sparing note:set-section path=a.md heading=B content=y",
		answer.VaultNotFound:   "vault=Other read path=a.md",
		answer.BadValue:        "read path=",
		answer.OtherFailure:    "undo",
		answer.TooLong:         `vault:replace old=.* new=` + strings.Repeat("$&", 2000) + ` regex query=path:b.md`,
		{Code: protocol.CodeTimeout, Hint: "narrow the filter, or make the expressions simpler"}:                `query where="aa".repeat(9999).split("").filter("aaaaaaaa".repeat(9999))`,
		{Code: protocol.CodeOutputLimit, Hint: "ask for fewer rows or columns, or for shorter texts and lists"}: `query where="a".repeat(99999).split("").map([value,[value]])`,
	}
}

// Every code of the embedded program is data, in both modes, and the terminal of
// a user shows the error text alone.
func TestEveryFailureIsReportedAsData(t *testing.T) {
	enough := budget.Default
	t.Cleanup(func() { budget.Default = enough })
	budget.Default.Steps, budget.Default.Alive = enough.Steps/16, enough.Alive/16 // they end sooner
	h, calls := failing(t)
	w := h.worker()
	reported := map[string]bool{
		protocol.CodeStateUnavailable: true, // in TestAChangeThatCannotBeKeptIsNotMade
	}
	for kind, line := range calls {
		words := strings.Fields(line)
		status, stdout, stderr := h.run(words...)
		assert.That(t, status != answer.ExitDone && stdout != "" && stderr == "", "%s: status %d, %q, %q", line, status, stdout, stderr)
		first, _, _ := strings.Cut(stdout, "\n")
		want := protocol.Failure{Code: kind.Code, Hint: kind.Hint, Reason: first}
		if len(want.Reason) > protocol.MaxReason {
			want.Reason = want.Reason[:protocol.MaxReason]
		}
		words = append([]string{call.FactsSwitch}, words...)
		_, _, alone := h.run(words...)
		resident := w.ask(nil, words...)
		for mode, stderr := range map[string]string{"alone": alone, "resident": resident.stderr} {
			rest, facts, got := cutReport(stderr)
			assert.That(t, rest == "" && facts == (protocol.Facts{}) && got == want, "%s, %s: %q, %+v, want %+v", mode, line, rest, got, want)
		}
		reported[kind.Code] = true
	}
	source := require.Value(os.ReadFile("../protocol/codes.go"))(t)
	codes := regexp.MustCompile(`(?m)^\tCode\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	assert.Equal(t, len(codes), len(reported), "%d codes were reported of", len(reported))
	for _, code := range codes {
		assert.That(t, reported[code[1]], "no call fails with %s", code[1])
	}
}

// What a note says decides nothing.
func TestATextThatLooksLikeAnErrorIsNone(t *testing.T) {
	h, _ := failing(t)
	for _, line := range []string{"read path=lie.md", "note:replace path=lie.md old=lie new=lye", "create path=Error.md content=Error:"} {
		status, _, stderr := h.run(append([]string{call.FactsSwitch}, strings.Fields(line)...)...)
		if _, facts, failure := cutReport(stderr); status != answer.ExitDone || facts.Path == "" || failure != (protocol.Failure{}) {
			t.Errorf("%s: status %d, %+v, %+v", line, status, facts, failure)
		}
	}
	const mimic = `Error: File "a.md" not found.`
	for line, want := range map[string]string{
		"note:replace\x00path=a.md\x00old=" + mimic + "\x00new=x":               protocol.CodeNotFound,
		"property:read\x00path=a.md\x00name=x\" is ambiguous\nVault not found.": protocol.CodeNotFound,
		"base:eval\x00path=a.md\x00expr=" + mimic:                               protocol.CodeBadValue,
		"undo\x00id=" + mimic: protocol.CodeBadValue,
	} {
		_, _, stderr := h.run(append([]string{call.FactsSwitch}, strings.Split(line, "\x00")...)...)
		rest, _, failure := cutReport(stderr)
		assert.That(t, rest == "" && failure.Code == want && !strings.Contains(failure.Reason, "\n"), "%q: %q, %+v, want %s", line, rest, failure, want)
	}
}

// snapshot describes every file and folder of the vault, hidden ones included.
func (h *testVault) snapshot() string {
	var folders []string
	require.NoError(h.t, filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, strings.TrimPrefix(path, h.dir))
		}
		return err
	}))
	return fmt.Sprintf("%q %s", folders, h.tree())
}

func TestABodyThatCannotBeReadIsAFailure(t *testing.T) {
	h := build(t, map[string]string{"a.md": "text"})
	v := require.Value(call.NewHost(func(string) string { return "" }, nil).Open(context.Background(), h.dir, protocol.Request{}))(t)
	defer v.Disk.Close()
	said := respond(v, protocol.Request{Command: "read", Args: []string{"path=a.md"}}, nil)
	said.Close() // as if the disk went away before the text was read
	var out bytes.Buffer
	if status := said.Print(&out); status != answer.ExitFailed || !strings.HasPrefix(out.String(), "Error: reading stopped: ") || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("status %d, %q", status, &out)
	}
	assert.That(t, said.Kind.Code == protocol.CodeCLIError && strings.HasPrefix(said.Text, "Error: reading stopped: "), "reported as %+v", said)
}

// kitchen is a vault with names that are easily mistaken, a part of it hidden.
func kitchen(t *testing.T) *testVault {
	h := build(t, map[string]string{
		".obsidian/templates.json":     `{"folder":"Templates"}`,
		"Ideas/Bread.md":               "---\nstatus: draft\ndue: 2026-12-01\n---\n# Bread\n## Ingredients\nflour ^dough\n## Method\n- [ ] knead\n#baking #recipe/bread\n",
		"Ideas/Sourdough starter.md":   "starter\n",
		"Projects/Meeting notes.md":    "notes\n",
		"Templates/Meeting.md":         "# {{title}}\n",
		"Books.base":                   "views:\n  - type: table\n    name: Unread\n",
		"Ideas/.Cloudy.md.icloud":      "stub",
		"Private/.Gone.md.icloud":      "stub",
		"Pictures/oven.png":            "x",
		"Private/Broad plan.md":        "---\nstate: x\n---\n# Secret\n#bakery\n",
		"Ideas/Breads of the past.md":  "hidden",
		"Templates/Meetings secret.md": "hidden",
	})
	h.put(".vaultwicketignore", "Private/\n*past.md\n*secret.md\n")
	return h
}

// failure returns what a call reports to the gateway.
func (h *testVault) failure(args ...string) protocol.Failure {
	h.t.Helper()
	status, _, stderr := h.run(append([]string{"--facts"}, args...)...)
	_, _, failure := cutReport(stderr)
	assert.That(h.t, status != answer.ExitDone && failure.Code != "", "%q: status %d, %q", args, status, stderr)
	return failure
}

func TestWhatWasNotFoundNamesWhatIsNear(t *testing.T) {
	h := kitchen(t)
	for _, tt := range []struct{ args, hint string }{
		{"read|path=Ideas/Braed.md", `did you mean "Ideas/Bread.md"?`},
		{"read|file=sourdough", `did you mean "Ideas/Sourdough starter.md"?`},
		{"outline|path=Idea/Bread.md", `did you mean "Ideas/Bread.md"?`},
		{"backlinks|file=Braed", `did you mean "Ideas/Bread.md"?`},
		{"read|path=Ideas", `"Ideas" is a folder: list its notes with files folder="Ideas"`},
		{"read|path=ideas/", `"Ideas" is a folder: list its notes with files folder="Ideas"`},
		{"read|path=Pictres/zzz.md", `folder "Pictres" not found; did you mean "Pictures"?`},
		{"read|path=Zebra.md", protocol.HintNotFound},
		{"move|path=Ideas|to=Old/", `"Ideas" is a folder: use folder:move path="Ideas"`},
		{"append|path=Zebra.md|content=x", protocol.HintNotFound + "; create makes a note"},
		{"property:read|path=Ideas/Breads.md|name=x", `did you mean "Ideas/Bread.md"?`},
		{"property:read|path=Projects/Meeting notes.md|name=x", "property:set sets one"},
		{"files|folder=Idea", `did you mean "Ideas"?`},
		{"folder|path=Idaes", `did you mean "Ideas"?`},
		{"folders|folder=Ideas/Bread.md", `did you mean "Ideas"? "Ideas/Bread.md" is a file in it`},
		{"files|folder=Books.base", `did you mean "/"? "Books.base" is a file in it`},
		{"random:read|folder=Project", `did you mean "Projects"?`},
		{"search|query=x|path=Project", `did you mean "Projects"?`},
		{"files|folder=Zebra", "names are case-sensitive; the command folders lists the folders"},
		{"read|path=Ideas/Cloudy.md", answer.HintInCloud},
		{"outline|path=Ideas/Cloudy", answer.HintInCloud},
		{"read|path=Private/Gone.md", protocol.HintNotFound},
		{"tag:rename|name=bakin|to=x", `did you mean "#baking"?`},
		{"tag:rename|name=bakery2|to=x|folder=Idea", `did you mean "Ideas"?`},
		{"property:rename|name=statu|to=x", `did you mean "status"?`},
		{"property:rename|name=state|to=x", `did you mean "status"?`}, // a hidden note has it
		{"periodic:read|period=week|date=2026-W02", "periodic:append makes it, where changes are allowed; from= prints the notes of several periods"},
		{"property:set|path=Ideas/Bread.md|name=due|type=date|value=2026-W02-3", `"2026-W02-3" is value=2026-01-07`},
		{"note:section|path=Ideas/Bread.md|heading=Methd", `did you mean "Method"?`},
		{"note:section|path=Ideas/Bread.md|heading=Bread#ingredient", `did you mean "Ingredients"?`},
		{"note:section|path=Ideas/Bread.md|heading=Zebra", answer.NotFoundHeading.Hint},
		{"note:section|path=Ideas/Bread.md|block=dogh", `did you mean "dough"?`},
		{"note:section|path=Ideas/Bread.md|lines=40", "the command outline shows the lines of headings; wordcount tells how long the note is"},
		{"tag|name=bakin", `did you mean "#baking"?`},
		{"tag|name=#Baking", `did you mean "#baking"?`},
		{"tag|name=bread", `did you mean "#recipe/bread"?`},
		{"property:read|path=Ideas/Bread.md|name=Staus", `did you mean "status"?`},
		{"template:read|name=meting", `did you mean "Meeting"?`},
		{"base:query|file=Book", `did you mean "Books.base"?`},
		{"base:query|file=Books|view=unraed", `did you mean "Unread"?`},
		{"base:query|file=Books|view=zebra", `the views are "Unread"`},
		{"task|path=Ideas/Bread.md|line=8", `did you mean "Ideas/Bread.md:9"?`},
		{"search|query=modified:today", `use the command "recent"`},
		{"search|query=tags:x", `did you mean "tag:x"?`},
		// What is hidden is never suggested, and gets the advice of what is missing.
		{"read|path=Private/Broad plan.md", protocol.HintNotFound},
		{"read|path=Private/Broad paln.md", protocol.HintNotFound},
		{"read|path=Ideas/Breads of the past.md", `did you mean "Ideas/Bread.md"?`},
		{"read|path=Ideas/Breads of the pats.md", `did you mean "Ideas/Bread.md"?`},
		{"files|folder=Private", "names are case-sensitive; the command folders lists the folders"},
		{"files|folder=Privat", "names are case-sensitive; the command folders lists the folders"},
		{"tag|name=bakery", "the command tags lists the tags of the vault"},
		{"template:read|name=Meetings secret", `did you mean "Meeting"?`},
	} {
		got := h.failure(strings.Split(tt.args, "|")...)
		assert.That(t, strings.HasPrefix(got.Hint, tt.hint) || strings.Contains(got.Hint, "use the command \"recent\""), "%s: %q, want %q", tt.args, got.Hint, tt.hint)
	}
}

// TestAnEmptyAnswerSaysWhy: in the report, and nothing that is hidden is counted.
func TestAnEmptyAnswerSaysWhy(t *testing.T) {
	h := kitchen(t)
	for _, tt := range []struct{ args, notice string }{
		{"files|folder=Pictures|ext=md", `no file with the extension "md" in "Pictures" (1 file; extensions: "png")`},
		{"folders|folder=Ideas", `"Ideas" has no folders`},
		{"random:read|folder=Pictures", `"Pictures" has no notes`},
		{"random:read|folder=Ideas|min-age=-90d", `no note older than 90 days in "Ideas" (2 notes)`},
		{"recent|since=9000-01-01", "no note was changed since 9000-01-01 (4 notes in the vault)"},
		{"search|query=zebra", "none of the 4 notes in the vault matches"},
		{"search|query=zebra|path=Ideas", `none of the 2 notes in "Ideas" matches`},
		{"search|query=-a zebra", "none of the 4 notes in the vault matches; query read as: NOT a AND zebra"},
		{"search:context|query=zebra|path=Pictures", `"Pictures" has no notes`},
		{"search:context|query=path:Ideas", "2 notes by name and none by a line of its text: the command search lists them"},
		{"tasks|done", "no finished task in the vault (1 task of another kind)"},
		{`query|where=statsu == "x"`, `no note has the property "statsu"; did you mean "status"?`},
		{`query|where=state == "x"`, `no note has the property "state"; did you mean "status"?`},
		{`query|where=due < now`, `no note has the property "now"; the function is now()`},
		{`query|where=status == "x"`, "no row passes the filters; explain says how many each of them dropped"},
		{`query|where=file.tags.filter(value == "none").length > 0`, "no row passes the filters; explain says how many each of them dropped"},
		{"aliases", "the vault has no aliases"},
		{"aliases|path=Ideas/Bread.md", `"Ideas/Bread.md" has no aliases`},
		{"bookmarks", "the vault has no bookmarks"},
		{"recents", "the app has recorded no opened files; recent lists the notes that were changed last"},
		{"tasks|path=Projects/Meeting notes.md", `"Projects/Meeting notes.md" has no tasks`},
		{"tasks|status=x", `no task with the status "x" in the vault (1 task of other status)`},
		{"tags|path=Projects/Meeting notes.md", `"Projects/Meeting notes.md" has no tags`},
		{"backlinks|path=Ideas/Bread.md", `no file links to "Ideas/Bread.md"`},
		{"links|path=Ideas/Bread.md", `"Ideas/Bread.md" links to nothing`},
		{"search|query=tag:#baking", "query read as: tag:#baking"},
		{"recent|limit=1", "1 of 4 notes are listed; a higher limit lists more"},
		{"recent|limit=1|since=2000-01-01", "1 of 4 notes are listed; a higher limit lists more"},
		{"search|query=e|limit=1", "1 of 4 notes are listed; a higher limit lists more"},
		{"search:context|query=e|limit=1", "1 of 4 notes are listed; a higher limit lists more"},
		{"query|limit=1", "1 of 4 rows are listed; a higher limit lists more"},
		{"query|limit=1|offset=3", ""},
	} {
		status, _, stderr := h.run(append([]string{"--facts"}, strings.Split(tt.args, "|")...)...)
		rest, facts, _ := cutReport(stderr)
		assert.That(t, status == answer.ExitDone && facts.Notice == tt.notice && rest == "", "%s: status %d, %q, want %q", tt.args, status, stderr, tt.notice)
	}
}

// TestAdviceStaysInWhatTheRulesShow for the access rules of a vault.
func TestAdviceStaysInWhatTheRulesShow(t *testing.T) {
	h := kitchen(t)
	h.env[call.AccessVariable] = `[{"/":"r","Ideas":"none"}]`
	for _, args := range []string{"read|path=Ideas/Braed.md", "read|path=Bread.md", "read|file=Braed", "files|folder=Idea", "tag|name=bakin", "search|query=x|path=Ideas"} {
		got := h.failure(strings.Split(args, "|")...)
		assert.That(t, !strings.Contains(got.Hint, "Bread") && !strings.Contains(got.Hint, `"Ideas`) && !strings.Contains(got.Hint, "baking"), "%s: %q", args, got.Hint)
	}
}

// An alias is no name of a note. That of a hidden note says nothing.
func TestAnAliasNamesItsNote(t *testing.T) {
	h := build(t, map[string]string{"Jonathan.md": "---\naliases: [Joni]\n---\n", "Private/p.md": "---\naliases: [Nat]\n---\n"})
	h.put(".vaultwicketignore", "Private/\n")
	for name, want := range map[string]string{"joni": `"joni" is an alias of path="Jonathan.md"`, "Nat": protocol.HintNotFound} {
		assert.Equal(t, h.failure("read", "file="+name).Hint, want, "%s", name)
	}
}
