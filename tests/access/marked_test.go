package access

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// everyText is a vault in which every text of a note has the word quokka, and every name of a file the
// word kestrel.
var everyText = map[string]string{
	"kestrel one.md":         "---\nquokkakey: quokka value\nlist: [quokkaitem, 2]\naliases: [quokkaalias]\ntags: [quokkatag]\ncssclasses: quokkaclass\nwrong: [quokkabroken\n---\n# x\n",
	"kestrel.md":             "---\nquokkakey: quokka value\nlist: [quokkaitem, 2]\naliases: [quokkaalias]\ntags: [quokkatag]\n---\n# quokkaheading\nquokka body \"with quotes\" and #quokkainline\n- [ ] quokka task 📅 2026-11-25 ^quokkablock\n- [x] quokka done\n[[quokkamissing|quokka shown]] ![[kestrel.png]] [quokka](https://example.org/quokka) [^quokka]\n\n## quokkapart\nquokka part\n\n## quokkapart\nagain\n\n> [!quokka] quokka callout\n\n[^quokka]: quokka footnote\n",
	"kestrels/kestrel.md":    "# quokkasecond\n[[kestrel#quokkaheading]] [[kestrel#^quokkablock]] [[kestrel#quokkanone]]\n",
	"Daily/2026-11-25.md":    "# quokkaday\n- [ ] quokka call\n",
	"Templates/kestrel.md":   "# quokkatemplate {{title}} {{quokkafield}} <% quokka %>\n",
	"kestrel.canvas":         `{"nodes":[{"id":"quokkaid","type":"text","text":"quokka card","x":0,"y":0,"width":10,"height":10},{"id":"g","type":"group","label":"quokkagroup","x":0,"y":0,"width":9,"height":9}],"edges":[{"id":"e","fromNode":"quokkaid","toNode":"g","label":"quokkaedge"}]}`,
	"kestrel.base":           "formulas:\n  quokkaformula: quokkaunknown(1)\nproperties:\n  quokkakey:\n    displayName: quokka column\nviews:\n  - type: table\n    name: quokkaview\n    order: [file.name, quokkakey, formula.quokkaformula]\n  - type: quokkatype\n    name: quokkaother\n",
	"wrong.base":             "views: quokka\nquokka: [\n",
	"kestrel.txt":            "quokka plain\n",
	"kestrel.png":            "quokka no image",
	".obsidian/kestrel.json": "{}", ".obsidian/daily-notes.json": `{"folder":"Daily"}`, ".obsidian/templates.json": `{"folder":"Templates"}`,
	".obsidian/bookmarks.json": `{"items":[{"type":"group","title":"quokkabookmarks","items":[{"type":"file","path":"kestrel.md","title":"quokkamark"},{"type":"search","query":"quokkasearch","title":"quokka found"}]}]}`,
}

// textsOf are what a parameter is given: what is right, and what is nearly right, so that the
// answer names what was meant.
var textsOf = map[string][]string{
	"path": {"kestrel.md", "kestrel.base", "wrong.base", "kestrel.canvas", "kestrel one.md", "kestrl.md",
		"kestrel.txt"}, "file": {"kestrel", "kestrl"}, "folder": {"kestrels", "kestrls"},
	"name":    {"quokkakey", "quokkake", "quokkatag", "kestrel", "quokkamark"},
	"heading": {"quokkaheading", "quokkaheadin", "quokkapart"}, "block": {"quokkablock", "quokkabloc"},
	"query": {"quokka", "quokkq", "[quokkakey:", "/quokka(/"},
	"view":  {"quokkaview", "quokaview"}, "expr": {"quokkakey", "quokkake(", "note.quokkakey.quokka"},
	"where": {"quokkakey == \"quokka value\"", "quokkakey ="}, "old": {"quokka body", "quokka bod\"", "quokka"},
	"new":  {"other"},
	"from": {"2026-11-25", "1"}, "to": {"kestrel two.md", "kestrel"},
	"ref": {"kestrel.md:9", "kestrel.md:2", "kestrl.md:1"}, "version": {"1", "9"}, "content": {"[[kestrel]] text"},
	"value":  {"1"},
	"period": {"day"}, "url": {"https://example.org"}, "node": {"quokkaid", "quokkai"}, "card": {"quokkaid", "quokkai"},
	"id": {"quokkai"}, "template": {"kestrel", "kestrl"}, "tag": {"quokkatag", "quokkata"}, "column": {"quokkakey"},
	"group": {"quokkagroup", "quokkagrou"},
	"date":  {"2026-11-25"}, "column-name": {"quokkakey"}, "label": {"x"}, "title": {"quokkamar"}, "status": {"x"},
}

var (
	vaultWords = regexp.MustCompile(`quokka|kestrel`)
	openMark   = regexp.MustCompile(`<<<note text ([0-9a-f]{24})`)
	// pathFields are where a name is no text but what calls are made with.
	pathFields = regexp.MustCompile(`\\?"(?:path|from|uri)\\?": *\\?"(?:[^"\\]|\\\\.)*?\\?"|\\?"argv\\?":\[.*?\],\\?"rules|base file not found: [a-z. ]*|path=\\?"[^"]*"|argv\[\d\].*|\n\S*vaultwicket vault .*|"argv": \[[^\]]*\]|"shell": .*`)
)

// unescaped turns what JSON has in place of the letters of a mark into them.
var unescaped = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">")

// outside returns an answer without what is between marks, and without the fields that are paths.
func outside(answer string) string {
	answer = unescaped.Replace(answer)
	for {
		m := openMark.FindStringSubmatchIndex(answer)
		if m == nil && !vaultWords.MatchString(answer) {
			return answer
		}
		if m == nil {
			return pathFields.ReplaceAllString(answer, "")
		}
		end := "<<<end " + answer[m[2]:m[3]] + ">>>"
		to := strings.Index(answer[m[0]:], end)
		if to < 0 {
			return answer // which is never closed
		}
		answer = answer[:m[0]] + answer[m[0]+to+len(end):]
	}
}

// TestEveryTextOfANoteIsBetweenMarks calls every command with right and wrong parameters over every
// surface, and looks for texts of the vault outside of marks.
func TestEveryTextOfANoteIsBetweenMarks(t *testing.T) {
	t.Parallel()
	mine := testenv.Shard(t, 4)
	for f, format := range []string{"json", "text"} {
		vault, home := t.TempDir(), t.TempDir()
		for path, text := range everyText {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(vault, path)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(vault, path), []byte(text), 0o600))
		}
		flags := append(harness.EverythingEnabled(vault), "--mark-untrusted")
		s := harness.StartSession(t, home, append(flags, "--max-output=1KiB", "--result-format="+format, "--toolsets=all")...)
		marks, answers, failures := 0, 0, map[string]bool{}
		check := func(what, answer string) {
			t.Helper()
			answers++
			marks += len(openMark.FindAllString(unescaped.Replace(answer), -1))
			rest := outside(answer)
			command := strings.Fields(what)[0]
			if at := vaultWords.FindStringIndex(rest); at != nil && !failures[command] {
				failures[command] = true
				t.Errorf("%s: %s: …%s…", format, what, rest[max(0, at[0]-160):min(len(rest), at[0]+80)])
			}
		}
		exchange := func(what, method string, params any) string {
			t.Helper()
			answer := require.Value(s.Exchange(method, params))(t)
			check(what, string(answer))
			return string(answer)
		}
		for _, command := range harness.FolderCommands() {
			params := map[string]any{}
			for _, p := range command.Params {
				if values := textsOf[p.Name]; values != nil && (p.Required || p.Name == "path") {
					params[p.Name] = values[0]
				}
				if p.Name == "counts" || p.Name == "verbose" {
					params[p.Name] = true
				}
			}
			try := func(name string, value any, more map[string]any) {
				given := map[string]any{}
				for n, v := range params {
					given[n] = v
				}
				if name != "" {
					given[name] = value
				}
				if name == "file" {
					delete(given, "path")
				}
				arguments := map[string]any{"command": command.Name, "params": given}
				for n, v := range more {
					arguments[n] = v
				}
				for page := 0; page < 3; page++ {
					cursor := cursors.FindStringSubmatch(exchange(fmt.Sprint(command.Name, " ", given, more),
						"tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments}))
					if cursor == nil {
						break
					}
					exchange("output "+command.Name, "resources/read", map[string]any{"uri": "vaultwicket://output/" + cursor[1]})
					arguments = map[string]any{"command": command.Name, "cursor": cursor[1]}
				}
			}
			dry, tried := map[string]any{"dryRun": true}, 0
			for _, p := range command.Params {
				for _, value := range textsOf[p.Name] {
					if tried++; !mine(tried - 1) {
						continue
					}
					if try(p.Name, value, dry); !command.Effect.Mutates() {
						try(p.Name, value, nil)
					}
				}
			}
			try("", nil, nil)
			try("format", "none", nil)
			for _, p := range command.Params {
				for _, choice := range p.Choices {
					try(p.Name, choice, nil)
				}
				if p.Name == "format" {
					try("", nil, map[string]any{"fields": []string{"quokk"}})
				}
			}
			if command.Effect.Mutates() {
				try("", nil, map[string]any{"expectHash": "0000000000000000"})
			}
		}
		operation := func(command string, params map[string]any) any {
			return map[string]any{"clientId": command, "command": command, "params": params}
		}
		for _, atomic := range []bool{false, true} {
			exchange("batch", "tools/call", map[string]any{"name": "obsidianBatch", "arguments": map[string]any{"atomic": atomic, "operations": []any{
				operation("read", map[string]any{"path": "kestrel.md"}),
				operation("note:section", map[string]any{"path": "kestrel.md", "heading": "quokkaheadin"}),
				operation("undo:list", nil),
				operation("append", map[string]any{"path": "kestrel.md", "content": "x"}), operation("read", map[string]any{"file": "kestrl"}),
			}}})
		}
		for tool, arguments := range map[string][]map[string]any{
			"search_notes": {{"query": "quokka"}, {"query": "quokka", "context": true},
				{"query": "quokka", "budget": 500}},
			"read_note": {{"path": "kestrel.md"}, {"path": "kestrel.md", "outline": true},
				{"path": "kestrel.md", "heading": "quokkaheadin"}, {"file": "kestrl"}},
			"tasks": {{}}, "recent_notes": {{}}, "random_notes": {{"count": 3}},
			"edit_note": {{"action": "replace", "path": "kestrel.md", "old": "quokka", "new": "x"}},
		} {
			for _, a := range arguments {
				exchange(tool, "tools/call", map[string]any{"name": tool, "arguments": a})
			}
		}
		for _, uri := range []string{"vaultwicket://commands", "vaultwicket://policy", "vaultwicket://status",
			"vaultwicket://help/read", "vaultwicket://output/quokk"} {
			exchange(uri, "resources/read", map[string]any{"uri": uri})
		}
		for _, list := range []string{"resources", "prompts", "tools"} {
			exchange(list, list+"/list", map[string]any{})
		}
		for _, prompt := range mcpserver.PromptNames() {
			exchange(prompt, "prompts/get", map[string]any{"name": prompt})
		}
		assert.That(t, marks >= 500, "%s: %d marks in %d answers", format, marks, answers)
		assert.That(t, answers >= 800, "%s: %d marks in %d answers", format, marks, answers)
		s.End()
		if format == "json" {
			flags = append(flags, "--json")
		}
		r := harness.New(t, nil)
		for i, words := range [][]string{
			{"run", "read", "path=kestrel.md"}, {"run", "search", "query=quokka", "format=json"},
			{"run", "note:section", "path=kestrel.md", "heading=quokkaheadin"},
			{"run", "base:query", "path=kestrel.base", "view=quokaview"},
			{"dry-run", "note:replace", "path=kestrel.md", "old=quokka body", "new=x"},
			{"dry-run", "delete", "path=kestrel.md"}, {"run", "read", "file=kestrl"}, {"run", "undo:list"},
		} {
			if i%2 != f && !testenv.Long() {
				continue // the other format has them
			}
			out, errors, _ := r.Run(slices.Concat(words[:1], flags, words[1:])...)
			check("terminal "+strings.Join(words, " "), strings.ReplaceAll(out+errors, vault, ""))
		}
	}
}
