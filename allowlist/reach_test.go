package allowlist

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestSpells(t *testing.T) {
	for _, test := range []struct {
		name string
		line []string
		want []NamedPath
	}{
		{"no path", []string{"version"}, nil},
		{"a note by its path", []string{"read", "path=A/B.md"}, []NamedPath{{Param: "path", Path: "A/B.md"}}},
		{"a note by its name", []string{"read", "file=B"}, nil},
		{"a new note", []string{"create", "path=A/B.md", "content=C/D.md"}, []NamedPath{{Param: "path", Path: "A/B.md"}}},
		{"a new note by its name", []string{"create", "name=B", "template=C/D"}, nil},
		{"a note and a line", []string{"task", "ref=A/B.md:3"}, []NamedPath{{Param: "ref", Path: "A/B.md"}}},
		{"a folder", []string{"files", "folder=A/B"}, []NamedPath{{Param: "folder", Path: "A/B", Folder: true}}},
		{"a folder with a slash", []string{"files", "folder=A/"}, []NamedPath{{Param: "folder", Path: "A", Folder: true}}},
		{"the root", []string{"files", "folder=/"}, []NamedPath{{Param: "folder", Path: "", Folder: true}}},
		{"a move into a folder", []string{"move", "path=A/B.md", "to=C/D/"},
			[]NamedPath{{Param: "path", Path: "A/B.md"}, {Param: "to", Path: "C/D", Folder: true, To: true}}},
		{"a move to a path", []string{"move", "path=A/B.md", "to=C/D.md"},
			[]NamedPath{{Param: "path", Path: "A/B.md"}, {Param: "to", Path: "C/D.md", To: true}}},
		{"a move to the root", []string{"move", "file=B", "to=/"}, []NamedPath{{Param: "to", Path: "", Folder: true, To: true}}},
	} {
		call := require.Value(ParseWords(test.line[0], test.line[1:]))(t)
		assert.EqualSlices(t, call.NamedPaths(), test.want, "%s", test.name)
	}
}

// What a call spells out are the parameters of the kinds that are paths, of
// every command, and nothing else. This is held against the names of the kinds.
func TestEveryPathIsSpelled(t *testing.T) {
	spelled := 0
	eachRow(func(r *row) {
		if isRestricted(r) {
			return
		}
		for i := range r.params {
			p := &r.params[i]
			call, err := Parse(r.name, r.fewest(p.name))
			if err != nil {
				continue
			}
			isPath := slices.Contains([]string{"path", "path:line", "folder", "folder/ or path"}, p.kind.String())
			got := slices.ContainsFunc(call.NamedPaths(), func(s NamedPath) bool { return s.Param == p.name })
			assert.Equal(t, got, isPath, "%s: %s is spelled", call, p.name)
			if got {
				spelled++
			}
		}
	})
	assert.That(t, spelled >= 30, "%d paths: the table has shrunk", spelled)
}

// These commands look at the one note that is named by its path, and these at
// none. Every other one can depend on any note of the vault.
func TestReachOfEveryCommand(t *testing.T) {
	one := strings.Fields(`file open create read canvas:read canvas:create canvas:connect canvas:remove attachment:read attachment:text append prepend delete property:set property:add property:remove-item property:remove property:read task diff history history:read
		history:restore history:open outline publish:add publish:remove publish:open sync:history sync:read sync:restore sync:open wordcount base:check base:add-view base:set-view base:remove-view base:set-formula`)
	none := strings.Fields("help version commands hotkeys hotkey plugins plugins:enabled plugin themes theme snippets snippets:enabled vaults web")
	alone := 0
	eachRow(func(r *row) {
		if isRestricted(r) {
			return
		}
		params := r.fewest()
		call, err := Parse(r.name, params)
		require.That(t, err == nil, "%s: %v", r.name, err)
		assert.Equal(t, call.TouchesNoNote(), slices.Contains(none, r.name), "%s: apart", r.name)
		if p := r.param("path"); p == nil || p.kind == kindFolder {
			assert.That(t, !call.TouchesOneNote(), "%s: alone, and names no note by its path", call)
			return
		}
		switch r.name {
		case "create":
			delete(params, "name")
		case "task":
			params = Params{"line": Text("3")}
		}
		params["path"] = Text("A/B.md")
		if call, err = Parse(r.name, params); err != nil {
			return // needs more than goes with a path
		}
		assert.Equal(t, call.TouchesOneNote(), slices.Contains(one, r.name), "%s: alone", call)
		if call.TouchesOneNote() {
			alone++
		}
	})
	assert.That(t, alone == len(one), "%d commands can be alone, want %d", alone, len(one))
}

func TestAlone(t *testing.T) {
	for line, want := range map[string]bool{
		"read path=A/B.md":                       true,
		"read":                                   false,
		"read file=B":                            false,
		"task ref=A/B.md:3":                      true,
		"task line=3 path=A/B.md":                true,
		"task line=3 daily":                      false,
		"create path=A/B.md":                     true,
		"create path=A/B.md content=x overwrite": true,
		"create name=B":                          false,
		"create path=A/B.md template=T":          false, // the answer depends on the template
		"move path=A/B.md to=C/":                 false, // and on every note that links here
		"files folder=A":                         false,
		"version":                                false,
	} {
		words := strings.Fields(line)
		call := require.Value(ParseWords(words[0], words[1:]))(t)
		assert.Equal(t, call.TouchesOneNote(), want, "%s", line)
	}
}

// A folder, or where a file goes to, is no note: a row that could carry nothing
// else would not be alone.
func TestAFolderIsNoNote(t *testing.T) {
	r := &row{name: "x", reach: reachNote}
	for _, args := range [][]arg{
		{{key: "folder", value: "A", kind: kindFolder}},
		{{key: "to", value: "A.md", kind: kindDestination}},
		{{key: "to", value: "A/", kind: kindDestination}},
	} {
		assert.That(t, !(Call{row: r, args: args}).TouchesOneNote(), "%+v is alone", args)
	}
}

func TestTheZeroCallReachesTheVault(t *testing.T) {
	if c := (Call{}); c.TouchesOneNote() || c.TouchesNoNote() || len(c.NamedPaths()) != 0 {
		t.Errorf("alone %v, apart %v, spells %v", c.TouchesOneNote(), c.TouchesNoNote(), c.NamedPaths())
	}
}
