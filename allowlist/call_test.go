package allowlist

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

func TestTheZeroCallIsGoodForNothing(t *testing.T) {
	var c Call
	if c.Valid() || c.Name() != "" || c.Tier() != tiers.None || c.Effect() != tiers.Unknown || c.Shows() || c.Sends() || c.EmbeddedOnly() ||
		c.Since() != (tiers.Version{}) || c.Vault() != "" || c.String() != "" || len(c.Params()) != 0 {
		t.Errorf("the zero call says something: %+v", c)
	}
	assert.That(t, c.UsesOpenNote(), "the zero call names a target")
	assert.That(t, reflect.DeepEqual(c.Reply(), Reply{}), "the zero call has the reply %+v", c.Reply())
	_, given := c.Param("path")
	assert.That(t, !given, "the zero call has a parameter")
	aimed, err := c.In("Work")
	require.Equal(t, err, nil, "the zero call aimed at a vault: valid %v", aimed.Valid())
	assert.That(t, !aimed.Valid(), "the zero call aimed at a vault: valid %v", aimed.Valid())
}

func TestACallSaysWhatItCarries(t *testing.T) {
	call := mustParse(t, "create", Params{"path": Text("A.md"), "content": Text("x"), "open": Flag(true), "newtab": Flag(false)})
	value, given := call.Param("path")
	assert.Equal(t, value, "A.md", "path %q", value)
	assert.That(t, given, "path %q, %v", value, given)
	value, given = call.Param("open")
	assert.Equal(t, value, "", "open %q", value)
	assert.That(t, given, "open %q, %v", value, given)
	_, given = call.Param("newtab")
	assert.That(t, !given, "a flag that is false was given")
	want := Params{"path": Text("A.md"), "content": Text("x"), "open": Flag(true)}
	got := call.Params()
	assert.That(t, reflect.DeepEqual(got, want), "got %v, want %v", got, want)
	if call.Name() != "create" || call.Tier() != tiers.V1 || call.Since() != tiers.Release(1, 12, 2) || call.String() != "create content=x path=A.md open" {
		t.Errorf("%s, tier %v, since %v: %s", call.Name(), call.Tier(), call.Since(), call)
	}
	web := mustParse(t, "web", Params{"url": Text("https://example.org")})
	assert.That(t, web.Sends(), "web sends, create does not")
	assert.That(t, !call.Sends(), "web sends, create does not")
	assert.Equal(t, mustParse(t, "read", nil).Since(), tiers.Release(1, 12, 0), "read since")
}

func TestOrderOfArguments(t *testing.T) {
	want := []arg{{key: "a", kind: kindWord}, {key: "b", kind: kindText}, {key: "b~", kind: kindName}, {key: "a", kind: kindFlag}, {key: "c", kind: kindFlag}}
	for i, a := range want {
		for j, b := range want {
			got := compareArgs(a, b)
			assert.Equal(t, got < 0, i < j, "%v and %v", a, b)
			assert.Equal(t, got > 0, i > j, "%v and %v", a, b)
		}
	}
}

// An extension is ours whatever it carries, and a command of the app as soon as
// it carries what the app does not know.
func TestOurs(t *testing.T) {
	extensions := strings.Fields("daily:range undo:list approvals undo note:section note:replace note:insert note:set-section changes recent query find find:send base:check base:eval base:set base:add-view base:set-view base:remove-view base:set-formula tag:rename property:rename heading:rename vault:replace canvas:read canvas:create canvas:add canvas:set canvas:connect canvas:remove attachments attachment:read attachment:text attachment:write related task:add task:reschedule daily:ensure periodic:path periodic:read periodic:append briefing copy folder:create folder:move folder:rename folder:copy folder:delete note:merge note:extract note:split property:add property:remove-item")
	eachRow(func(r *row) {
		assert.Equal(t, mustParse(t, r.name, r.fewest()).EmbeddedOnly(), slices.Contains(extensions, r.name), "%s: ours", r.name)
	})
	if both := mustParse(t, "create", Params{"path": Text("A.md"), "content": Text("a"), "template": Text("T")}); !both.EmbeddedOnly() {
		t.Error("the app drops the text that comes with a template")
	} else if _, err := both.Line(ToApp("linux")); code(err) != CodeTargetRequired {
		t.Errorf("a line for the app: %v", err)
	}
	assert.That(t, mustParse(t, "daily:read", Params{"offset": Number("-1")}).EmbeddedOnly(), "the app knows no other day than today")
}

func TestOnlyPathsBecomeLines(t *testing.T) {
	for _, kind := range []ReplyKind{Facts, Confirmation, Content, Paths, Lines, Unpublished} {
		r := &row{name: "x", reply: Reply{Kind: kind}}
		want := kind
		if kind == Paths {
			want = Lines
		}
		for _, a := range []arg{{key: "counts", kind: kindFlag}, {key: "verbose", kind: kindFlag}, {key: "format", value: "csv", kind: kindChoice}} {
			assert.Equal(t, (Call{row: r, args: []arg{a}}).Reply().Kind, want, "%v with %s", kind, a.key)
		}
		got := (Call{row: r, args: []arg{{key: "format", value: "tsv", kind: kindChoice}}}).Reply().Kind
		assert.That(t, got == kind, "%v as tsv: %v", kind, got)
	}
}

func TestAVaultThatCannotBeNamed(t *testing.T) {
	_, err := mustParse(t, "files", nil).In("a\nb")
	want := `command "files": parameter "vault": contains the control or invisible character U+000A`
	require.That(t, err != nil, "got %v, want %s", err, want)
	assert.Equal(t, err.Error(), want)
}

func TestParamsAreGoodForAnotherParse(t *testing.T) {
	eachRow(func(r *row) {
		call := mustParse(t, r.name, r.most(t))
		again := mustParse(t, r.name, call.Params())
		assert.That(t, reflect.DeepEqual(again, call), "%v becomes %v", call, again)
	})
}

func TestACallCannotBeChanged(t *testing.T) {
	params := Params{"path": Text("A.md"), "content": Text("x")}
	call := mustParse(t, "create", params)
	before := call.String()

	params["path"] = Text("../B.md")
	call.Params()["path"] = Text("../B.md")
	call.Reply().Confirms[0] = "Error: "
	line := require.Value(call.Line(ToApp("linux")))(t)
	line.Argv[0] = "eval"
	aimed := require.Value(call.In("Work"))(t)
	other := require.Value(aimed.In("Other"))(t)

	assert.Equal(t, call.String(), before)
	assert.Equal(t, call.Vault(), "")
	assert.Equal(t, aimed.Vault(), "Work")
	assert.Equal(t, other.Vault(), "Other")
	assert.Equal(t, call.Reply().Confirms[0], "Created: ", "the reply became")
	assert.Equal(t, mustParse(t, "create", Params{"path": Text("A.md")}).Reply().Confirms[0], "Created: ", "the table became")
}

func TestACallCanBeUsedInParallel(t *testing.T) {
	call := mustParse(t, "create", Params{"path": Text("A.md"), "content": Text("x")})
	want := "vault=Work create content=x path=A.md"
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				aimed, err := call.In("Work")
				assert.NoError(t, err)
				assert.Equal(t, aimed.String(), want)
				_, err = aimed.Line(ToEmbedded("linux"))
				assert.NoError(t, err)
				again, err := Parse("create", call.Params())
				assert.NoError(t, err)
				assert.Equal(t, again.Reply().Kind, Confirmation)
				assert.That(t, len(slices.Collect(Commands())) == len(Names()), "the table changed")
			}
		})
	}
	wait.Wait()
}

func TestReplies(t *testing.T) {
	tests := []struct {
		name   string
		params Params
		kind   ReplyKind
		json   bool
		empty  string
		silent bool
	}{
		{"read", nil, Content, false, "", false},
		{"daily:read", nil, Content, false, "", false},
		{"random:read", nil, Content, false, "No markdown files found.", false},
		{"search", Params{"query": Text("x")}, Paths, false, "No matches found.", false},
		{"search", Params{"query": Text("x"), "format": Text("json")}, Paths, true, "No matches found.", false},
		{"search", Params{"query": Text("x"), "format": Text("text")}, Paths, false, "No matches found.", false},
		{"search", Params{"query": Text("x"), "format": Text("json"), "total": Flag(true)}, Facts, false, "No matches found.", false},
		{"search:context", Params{"query": Text("x"), "format": Text("json")}, Content, true, "No matches found.", false},
		{"files", nil, Paths, false, "", true},
		{"files", Params{"total": Flag(true)}, Facts, false, "", true},
		{"folders", nil, Paths, false, "", true},
		{"tag", Params{"name": Text("x")}, Paths, false, "", false},
		{"tag", Params{"name": Text("x"), "verbose": Flag(true)}, Lines, false, "", false},
		{"backlinks", nil, Paths, false, "No backlinks found.", false},
		{"backlinks", Params{"format": Text("tsv")}, Paths, false, "No backlinks found.", false},
		{"backlinks", Params{"format": Text("csv")}, Lines, false, "No backlinks found.", false},
		{"backlinks", Params{"counts": Flag(true)}, Lines, false, "No backlinks found.", false},
		{"links", nil, Lines, false, "No links found.", false},
		{"orphans", nil, Paths, false, "No orphan files found.", false},
		{"deadends", nil, Paths, false, "No dead-end files found.", false},
		{"unresolved", nil, Lines, false, "No unresolved links found.", false},
		{"outline", Params{"total": Flag(true)}, Facts, false, "No headings found.", false},
		{"properties", nil, Lines, false, "No frontmatter found.", false},
		{"tags", nil, Lines, false, "No tags found.", false},
		{"tasks", Params{"format": Text("json")}, Lines, true, "No tasks found.", false},
		{"bases", nil, Paths, false, "No base files found in vault", false},
		{"base:query", nil, Lines, true, "", false},
		{"base:query", Params{"format": Text("json")}, Lines, true, "", false},
		{"base:query", Params{"format": Text("md")}, Lines, false, "", false},
		{"publish:site", nil, Facts, false, "", false},
		{"version", nil, Facts, false, "", false},
		{"daily", nil, Confirmation, false, "", false},
		{"bookmark", Params{"file": Text("a.md")}, Unpublished, false, "", false},
	}
	for _, test := range tests {
		reply := mustParse(t, test.name, test.params).Reply()
		assert.Equal(t, reply.Kind, test.kind, "%s %v", test.name, test.params)
		assert.Equal(t, reply.JSON, test.json, "%s %v", test.name, test.params)
		assert.Equal(t, reply.Empty, test.empty, "%s %v", test.name, test.params)
		assert.Equal(t, reply.Silent, test.silent, "%s %v", test.name, test.params)
	}
}

func TestForms(t *testing.T) {
	for _, test := range []struct {
		name   string
		params Params
		want   Form
	}{
		{"file", nil, Fields},
		{"vault", nil, Fields},
		{"vault", Params{"info": Text("path")}, AnyForm},
		{"vault", Params{"info": Text("files")}, Count},
		{"files", Params{"total": Flag(true)}, Count},
		{"wordcount", nil, Labelled},
		{"wordcount", Params{"words": Flag(true)}, Count},
		{"tags", nil, TagLines},
		{"tags", Params{"counts": Flag(true)}, TagLines},
		{"tags", Params{"format": Text("csv")}, AnyForm},
		{"tasks", Params{"verbose": Flag(true)}, AnyForm},
		{"daily:path", nil, NotePath},
		{"read", nil, AnyForm},
	} {
		assert.Equal(t, mustParse(t, test.name, test.params).Reply().Form, test.want, "%s %v", test.name, test.params)
	}
}

func TestConfirmations(t *testing.T) {
	want := map[string][]string{
		"daily:append": {"Added to: ", "Appended to: "}, "daily:prepend": {"Added to: ", "Prepended to: "},
		"open": {"Opened: "}, "create": {"Created: ", "Overwrote: "}, "append": {"Appended to: "}, "prepend": {"Prepended to: "},
		"copy": {"Copied: "}, "property:add": {"Added to "}, "property:remove-item": {"Removed from "},
		"note:merge": {"Merged: "}, "note:extract": {"Extracted: "}, "note:split": {"Split: "},
		"folder:create": {"Created: "}, "folder:move": {"Moved: "}, "folder:rename": {"Renamed: "},
		"folder:copy": {"Copied: "}, "folder:delete": {"Moved to trash: ", "Deleted permanently: "},
		"move": {"Moved: "}, "rename": {"Renamed: "}, "delete": {"Moved to trash: ", "Deleted permanently: "},
		"property:set": {"Set "}, "property:remove": {"Removed: "}, "base:create": {"Created: "}, "base:set": {"Set "}, "unique": {"Created: "},
		"find:send": {"Sections are sent to: "}, "undo": {"Undone: "}, "task:add": {"Task added to: "},
		"task:reschedule": {"Rescheduled: "}, "daily:ensure": {"Created: ", "Exists: "},
		"periodic:append": {"Added to: "},
		"tag:rename":      {"Renamed tag "}, "property:rename": {"Renamed property "}, "heading:rename": {"Renamed heading "}, "vault:replace": {"Replaced "},
		"attachment:write": {"Written: "}, "base:add-view": {"Added: "}, "base:set-view": {"Changed: "},
		"base:remove-view": {"Removed: "}, "base:set-formula": {"Set: ", "Removed: "},
		"canvas:create": {"Created: "}, "canvas:add": {"Added: "}, "canvas:set": {"Changed: "},
		"canvas:connect": {"Connected: "}, "canvas:remove": {"Removed: "},
		"daily": {"Opened: "}, "random": {"Opened: "}, "search:open": {"Opened search"}, "tab:open": {"Opened"},
		"web": {"Opened"}, "history:open": {"Opened"}, "sync:open": {"Opened"},
		"publish:open": {"https://", "http://", "Opened"}, "publish:add": {"Published: "},
		"publish:remove": {"Unpublished: "}, "history:restore": {"Restored "}, "sync:restore": {"Restored "},
		"workspace:save": {"Saved workspace:"}, "workspace:load": {"Loaded workspace:"}, "workspace:delete": {"Deleted workspace:"},
		"note:replace": {"Replaced in: "}, "note:insert": {"Inserted into: "}, "note:set-section": {"Section set in: "},
	}
	eachRow(func(r *row) {
		assert.EqualSlices(t, mustParse(t, r.name, r.fewest()).Reply().Confirms, want[r.name], "%s confirms with", r.name)
	})
}
