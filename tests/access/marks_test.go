package access

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A change of a note NAME.md, which every program has anew for each change.
var changesOfANote = []struct {
	params string // with NAME, separated by "|"
	needs  string // the level
}{
	{"append|path=NAME.md|content=x", "rw"},
	{"append|file=NAME|content=x", "rw"},
	{"prepend|path=NAME.md|content=x", "rw"},
	{"property:set|path=NAME.md|name=text|value=later", "rw"},
	{"property:set|path=NAME.md|name=text|value=3|type=number", "rwd"},
	{"property:set|path=NAME.md|name=text|value=a, b|type=list", "rwd"},
	{"property:set|file=NAME|name=items|value=x|type=text", "rwd"},
	{"property:set|query=only NAME|name=text|value=3|type=number", "rwd"},
	{"property:remove|path=NAME.md|name=text", "rwd"},
	{"property:remove|file=NAME|name=text", "rwd"},
	{"property:remove|path=NAME.md|name=blank", "rwd"},
	{"property:add|path=NAME.md|name=items|value=c", "rw"},
	{"property:remove-item|path=NAME.md|name=items|value=a", "rw"},
	{"property:rename|folder=NAME|name=text|to=when", "rw"},
	{"create|path=NAME.md|content=x|overwrite", "rwd"},
	{"create|name=NAME|content=x|overwrite", "rwd"},
	{"note:replace|path=NAME.md|old=line 3|new=line x", "rw"},
	{"note:replace|path=NAME.md|old=line 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9|new=x", "rwd"},
	{"note:replace|path=NAME.md|old=text: soon\nblank|new=blank", "rwd"},
	{"note:set-section|path=NAME.md|heading=Part|content=x", "rwd"},
	{"note:extract|path=NAME.md|heading=Part|to=Made NAME.md", "rw"},
	{"note:split|path=NAME.md|level=1", "rw"},
	{"note:merge|path=NAME.md|into=Other.md", "rwd"},
	{"task|path=NAME.md|text=task|done", "rw"},
	{"heading:rename|path=NAME.md|heading=Part|to=Piece", "rw"},
	{"rename|path=NAME.md|name=Renamed NAME", "rw"},
	{"rename|file=NAME|name=Renamed NAME", "rw"},
	{"move|path=NAME.md|to=Away/NAME.md", "rwd"},
	{"move|file=NAME|to=Away/NAME.md", "rwd"},
	{"move|files=NAME.md|to=Away/", "rwd"},
	{"folder:move|path=NAME|to=Away/NAME", "rwd"},
	{"folder:rename|path=NAME|name=Renamed NAME", "rwd"},
	{"folder:delete|path=NAME", "rwd"},
	{"delete|path=NAME.md", "rwd"},
	{"delete|file=NAME", "rwd"},
	{"delete|path=NAME.md|permanent", "rwd"},
	{"history:restore|path=NAME.md|version=1", "rwd"},
	{"history:restore|file=NAME|version=1", "rwd"},
	{"vault:replace|old=only NAME|new=once NAME", "rw"},
	{"copy|path=NAME.md|to=Copied NAME.md", "r"},
	{"read|path=NAME.md", "r"},
}

const changedNote = "---\n%stext: soon\nblank: \"\"\nitems: [a, b]\n---\nonly %s\n\n# Part\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n- [ ] task\n"

// What a note says of itself takes exactly what the same level takes in a table of access rules,
// whatever command the change comes by and however the note is named; with confirm = "never" too.
func TestAMarkTakesWhatARuleTakes(t *testing.T) {
	t.Parallel()
	levels := map[string]int{"r": 1, "rw": 2, "rwd": 3}
	for _, level := range []string{"r", "rw", "rwd"} {
		for _, by := range []string{"rule", "mark"} {
			t.Run(level+" by a "+by, func(t *testing.T) {
				t.Parallel()
				mark, rule := "", `"/" = "rwd"`
				if by == "mark" {
					mark = "agent: " + level + "\n"
				}
				notes := map[string]string{"Other.md": "# Other\n"}
				rules := []string{rule}
				for i := range changesOfANote {
					name := fmt.Sprintf("Note%02d", i)
					text := fmt.Sprintf(changedNote, mark, name)
					notes[name+".md"], notes[name+"/In.md"] = text, text
					if by == "rule" {
						rules = append(rules, fmt.Sprintf(`"%s.md" = "%s"`, name, level), fmt.Sprintf(`"%s" = "%[2]s"`, name, level))
					}
				}
				r := harness.New(t, notes)
				r.Set("confirm", `"never"`).Set("private-property", "[]")
				for i, change := range changesOfANote {
					if strings.HasPrefix(change.params, "history:restore") { // there has to be a version
						r.Must("run", "append", fmt.Sprintf("path=Note%02d.md", i), "content=later")
					}
				}
				r.Set("private-property", `["private", "agent"]`)
				r.Tables = "[vaults.access]\n" + strings.Join(rules, "\n") + "\n"
				c := r.Stdio(false, "")
				for i, change := range changesOfANote {
					name := fmt.Sprintf("Note%02d", i)
					words := strings.Split(strings.ReplaceAll(change.params, "NAME", name), "|")
					before := r.Read(name+".md") + r.Read(name+"/In.md")
					got := c.Do(harness.Calling(words[0], words[1:]...))
					want, code := levels[level] >= levels[change.needs], harness.CodeOf(got)
					assert.Equal(t, got.OK, want, "%q: done (%s: %v)", words, code, got.Error)
					if want {
						continue
					}
					assert.Equal(t, code, "access_denied", "%q: the code", words)
					assert.Equal(t, r.Read(name+".md")+r.Read(name+"/In.md"), before, "%q: the note", words)
				}
			})
		}
	}
}

// What takes back a change, and what a batch does together, is within what the notes say of themselves.
func TestABatchOfManyNotesIsWithinTheirMarks(t *testing.T) {
	t.Parallel()
	for _, confirm := range []string{"never", "destructive"} {
		for by, refused := range map[string]string{"mark": "access_denied", "rule": "access_denied", "nothing": ""} {
			notes, rules := map[string]string{}, []string{`"/" = "rwd"`}
			var operations []harness.Call
			for i := range 21 {
				path := fmt.Sprintf("N%02d.md", i)
				notes[path] = "---\nx: 1\n---\ntext\n"
				how := "path=" + path
				if i%2 == 1 { // it does not matter how a note is named
					how = fmt.Sprintf("file=N%02d", i)
				}
				operations = append(operations, harness.Calling("append", how, "content=x"))
			}
			switch by {
			case "mark":
				notes["N07.md"] = "---\nagent: rw\n---\ntext\n"
			case "rule":
				rules = append(rules, `"N07.md" = "rw"`)
			}
			r := harness.New(t, notes)
			r.Set("confirm", `"`+confirm+`"`)
			r.Tables = "[vaults.access]\n" + strings.Join(rules, "\n") + "\n"
			c := r.Stdio(false, "")
			got := c.Batch(operations...)
			want := refused
			if want == "" && confirm == "destructive" {
				want = "unconfirmed"
			}
			code := ""
			if got.Error != nil {
				code = got.Error.Code
			}
			assert.Equal(t, code, want, "%s, confirm %s: the batch: %+v", by, confirm, got.Error)
			assert.Equal(t, r.Read("N07.md") == notes["N07.md"], want != "", "%s, confirm %s: the note is as it was", by, confirm)
			got = c.Batch(operations[:20]...)
			require.That(t, got.OK, "%s, confirm %s: a batch of 20 notes: %+v", by, confirm, got.Error)
		}
	}
}
