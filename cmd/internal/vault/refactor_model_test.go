package vault

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// drawnNote is a note with the marks that the changes across a vault look for, in
// places where they count and where they do not.
var drawnNote = rapid.Custom(func(t *rapid.T) string {
	end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
	text := rapid.SampledFrom([]string{"", "", "\ufeff"}).Draw(t, "mark")
	if rapid.Bool().Draw(t, "properties") {
		line := rapid.SampledFrom([]string{"tags: [old, 'old/x']", "tags: old", "p: 1 # c", "P: [a]", "q: \"[[A#Old]]\"", "x: old"})
		text += "---" + end + strings.Join(rapid.SliceOfNDistinct(line, 0, 3, func(s string) string { return strings.ToLower(s[:1]) }).Draw(t, "lines"), end) + end + "---" + end
	}
	piece := rapid.SampledFrom([]string{
		"#old", "#old/x", "#OLD", "#older", "`#old`", "# Old", "## Old", "# Other", "[[A#Old]]", "[[#Old|o]]", "![[B#Old]]", "[t](A.md#Old)", "[[A#Other#Old]]", "old", "Old", "\n```\n", "%% #old %%", "é", "\xff", "- [ ] old",
	})
	for _, p := range rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces") {
		text += strings.ReplaceAll(p, "\n", end) + rapid.SampledFrom([]string{" ", end, ""}).Draw(t, "gap")
	}
	return text
})

// TestChangesAcrossTheVaultAgainstAModel makes changes of many notes, each all or
// nothing, and takes all of them back byte for byte.
func TestChangesAcrossTheVaultAgainstAModel(t *testing.T) {
	done := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		start := map[string]string{"B.canvas": `{"nodes":[{"type":"file","file":"A.md","subpath":"#Old"},{"type":"text","text":"[[A#Old]] #old"}]}`}
		for _, path := range []string{"A.md", "B.md", "F/C.md", "F/D.md"} {
			start[path] = drawnNote.Draw(rt, path)
		}
		start["A.md"] += "\n\n## Old\n"
		h := build(t, start)
		var states []map[string]string
		for range rapid.IntRange(1, 4).Draw(rt, "calls") {
			before := h.texts(true)
			call := rapid.SampledFrom([][]string{
				{"tag:rename", "name=old", "to=new/tag"}, {"tag:rename", "name=old/x", "to=old"}, {"property:rename", "name=p", "to=q"}, {"property:rename", "name=P", "to=z", "folder=F"},
				{"property:set", "name=tags", "value=old", "query=old"}, {"heading:rename", "path=A.md", "heading=Old", "to=New: [x]"}, {"heading:rename", "path=A.md", "heading=Other", "to=Old one"},
				{"vault:replace", "old=old", "new=[[A]]"}, {"vault:replace", "old=(o)ld$", "new=$1", "regex"}, {"vault:replace", "old=Old", "remove", "folder=F"},
			}).Draw(rt, "call")
			status, out, _ := h.run(call...)
			after := h.texts(true)
			if status != command.ExitDone {
				require.That(rt, maps.Equal(before, after), "%q says %q and made %q of %q", call, out, after, before)
				continue
			}
			done[call[0]]++
			judgeRefactoring(rt, call, before, after)
			if !maps.Equal(before, after) {
				states = append(states, before)
			}
		}
		for _, before := range slices.Backward(states) {
			if status, out, _ := h.run("undo"); status != command.ExitDone {
				rt.Fatalf("undo: %q", out)
			}
			got := h.texts(true)
			require.That(rt, maps.Equal(got, before), "undone, there is %q, was %q", got, before)
		}
		got := h.texts(true)
		require.That(rt, maps.Equal(got, start), "in the end there is %q, was %q", got, start)
	})
	t.Log(done)
	if testing.Short() {
		return // a fifth of the cases may well lack one of the commands
	}
	for _, name := range []string{"tag:rename", "property:rename", "property:set", "heading:rename", "vault:replace"} {
		assert.That(t, done[name] != 0, "%s was never done: the test shows nothing", name)
	}
}

// judgeRefactoring compares what the index finds in the notes before and after.
func judgeRefactoring(t *rapid.T, call []string, before, after map[string]string) {
	for path, old := range before {
		if !strings.HasSuffix(path, ".md") {
			continue
		}
		was, is := index.ReadNote([]byte(old)), index.ReadNote([]byte(after[path]))
		switch call[0] {
		case "tag:rename":
			from, to := strings.TrimPrefix(call[1], "name="), strings.TrimPrefix(call[2], "to=")
			wanted := tagsAfter(was, from, to)
			if got := tagsAfter(is, "", ""); !maps.Equal(got, wanted) || len(was.Links) != len(is.Links) || len(was.Headings) != len(is.Headings) {
				t.Fatalf("%q made of %q %q", call, old, after[path])
			}
		case "heading:rename":
			if len(was.Headings) != len(is.Headings) || len(was.Links) != len(is.Links) || len(was.Properties) != len(is.Properties) {
				t.Fatalf("%q made of %q %q", call, old, after[path])
			}
		case "property:rename":
			if old[was.Body:] != after[path][is.Body:] || len(was.Properties) != len(is.Properties) {
				t.Fatalf("%q made of %q %q", call, old, after[path])
			}
		case "vault:replace":
			inFolder := !slices.Contains(call, "folder=F") || strings.HasPrefix(path, "F/")
			switch {
			case !inFolder && old != after[path]:
				t.Fatalf("%q changed %s", call, path)
			case inFolder && !slices.Contains(call, "regex"):
				put := ""
				if value, given := strings.CutPrefix(call[2], "new="); given {
					put = value
				}
				if wanted := strings.ReplaceAll(old, strings.TrimPrefix(call[1], "old="), put); wanted != after[path] {
					t.Fatalf("%q made of %q %q, want %q", call, old, after[path], wanted)
				}
			}
		}
	}
}

// tagsAfter are the different tags of a note in lower case, with one of them renamed.
func tagsAfter(found *index.Found, from, to string) map[string]bool {
	all := map[string]bool{}
	for _, tag := range frontmatter.Tags(found.Properties) {
		all[strings.ToLower(tag)] = true
	}
	for _, tag := range found.Tags {
		all[strings.ToLower(tag.Text)] = true
	}
	if from == "" {
		return all
	}
	renamed := map[string]bool{}
	for tag := range all {
		if rest, below := strings.CutPrefix(tag, "#"+from); below && (rest == "" || rest[0] == '/') {
			tag = "#" + to + rest
		}
		renamed[tag] = true
	}
	return renamed
}

// A note that may be seen and not changed is a reason to change nothing; a hidden one
// is not there.
func TestChangesAcrossTheVaultObeyTheRules(t *testing.T) {
	files := map[string]string{"W/a.md": "---\np: 1\n---\n#t old\n# H\n", "W/b.md": "#t [[a#H]]", "R/r.md": "---\np: 1\n---\n#t old [[a#H]]", "Hid/h.md": "---\np: 1\n---\n#t #u old [[a#H]]"}
	calls := map[string]string{
		"tag:rename": "name=t to=n", "property:rename": "name=p to=n", "property:set": "name=x value=1 query=t", "heading:rename": "path=W/a.md heading=H to=I", "vault:replace": "old=old new=x",
	}
	rules := map[string]string{"/": "rwd", "R": "r", "Hid": "none"}
	for name, params := range calls {
		h := build(t, files)
		h.env[command.AccessVariable] = mustRules(t, rules).String()
		before := h.texts(true)
		call := append([]string{name}, strings.Fields(params)...)
		status, out, _ := h.run(call...)
		if status == command.ExitDone || out != "Error: Access denied: \"R/r.md\" may not be changed.\n" || !maps.Equal(before, h.texts(true)) {
			t.Errorf("%q: %d, %q", call, status, out)
		}
		delete(rules, "R")
		h.env[command.AccessVariable] = mustRules(t, rules).String()
		rules["R"] = "r"
		if status, out, _ := h.run(call...); status != command.ExitDone || strings.Contains(out, "4") {
			t.Errorf("%q: %d, %q", call, status, out)
		}
		after := h.texts(true)
		assert.That(t, after["Hid/h.md"] == before["Hid/h.md"] && after["R/r.md"] != before["R/r.md"], "%q made %q", call, after)
	}
	h := build(t, files)
	h.env[command.AccessVariable] = mustRules(t, rules).String()
	h.expect(command.ExitFailed, "Error: Tag \"#u\" not found.\n", "tag:rename", "name=u", "to=n")
	for _, folder := range []string{"Hid", "Nowhere"} {
		h.expect(command.ExitFailed, "Error: Folder \""+folder+"\" not found.\n", "vault:replace", "old=a", "new=b", "folder="+folder)
	}
}
