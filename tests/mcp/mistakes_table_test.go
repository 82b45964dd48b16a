package mcp

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// kitchen is a vault with names that are easily mistaken.
var kitchen = map[string]string{
	".obsidian/templates.json":     `{"folder":"Templates"}`,
	".obsidian/daily-notes.json":   `{"folder":"Journal"}`,
	".vaultwicketignore":           "Private/\n",
	"Ideas/Bread.md":               "---\nstatus: draft\ndue: 2026-12-01\n---\n# Bread\n## Ingredients\nflour ^dough\n## Method\n- [ ] knead\n- [ ] bake\n#baking #recipe/bread\n",
	"Ideas/Sourdough starter.md":   "starter [[Bread]]\n",
	"Ideas/Tea.md":                 "tea\n",
	"Projects/Website redesign.md": "site\n",
	"Projects/Kitchen.md":          "tiles\n",
	"Projects/Meeting notes.md":    "notes\n",
	"People/Ana.md":                "Ana\n",
	"Templates/Meeting.md":         "# {{title}}\n",
	"Journal/2026-11-20.md":        "# Friday\n## Log\nyesterday\n",
	"Journal/2026-11-21.md":        "# Saturday\n## Log\ntoday\n",
	"Books.base":                   "views:\n  - type: table\n    name: Table\n",
	"Pictures/oven.png":            "x",
	"Private/Bread plan.md":        "secret #bakery\n",
}

// mistake is a call as a model sends it, and the mend: a text in quotation marks is the
// first suggestion, any other one a part of the hint.
type mistake struct{ call, mend string }

// mistakes are requests that were seen, or that follow the names of other tools.
var mistakes = []mistake{
	// A path or a name that is not quite right.
	{`{"command":"read","params":{"path":"Ideas/Braed.md"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"Bread.md"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"bread"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"Idea/Bread.md"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"Notes/Ideas/Bread.md"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"Ideas/Bread.txt"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"Projects/website-redesign.md"}}`, `"Projects/Website redesign.md"`},
	{`{"command":"read","params":{"path":"Projects/website_redesign"}}`, `"Projects/Website redesign.md"`},
	{`{"command":"read","params":{"path":"Ideas/Sourdough.md"}}`, `"Ideas/Sourdough starter.md"`},
	{`{"command":"read","params":{"path":"2026-11-20.md"}}`, `"Journal/2026-11-20.md"`},
	{`{"command":"read","params":{"path":"Daily/2026-11-21.md"}}`, `"Journal/2026-11-21.md"`},
	{`{"command":"read","params":{"path":"[[Bread]]"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"/Ideas/Bread.md"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"./Ideas/Bread.md"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"Ideas\\Bread.md"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"Ideas//Bread.md"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"path":"Ideas"}}`, `files folder="Ideas"`},
	{`{"command":"read","params":{"path":"Ideas/"}}`, `"Ideas"`},
	{`{"command":"read","params":{"file":"Braed"}}`, `"Ideas/Bread.md"`},
	{`{"command":"read","params":{"file":"Website"}}`, `"Projects/Website redesign.md"`},
	{`{"command":"read","params":{"file":"Meeting note"}}`, `"Projects/Meeting notes.md"`},
	{`{"command":"outline","params":{"file":"Bread#Method"}}`, `"Ideas/Bread.md"`},
	{`{"command":"backlinks","params":{"file":"Bred"}}`, `"Ideas/Bread.md"`},
	{`{"command":"append","params":{"path":"Ideas/Teaa.md","content":"x"}}`, `"Ideas/Tea.md"`},
	{`{"command":"move","params":{"path":"Ideas/Braed.md","to":"Projects/"}}`, `"Ideas/Bread.md"`},
	{`{"command":"move","params":{"path":"Ideas/Tea.md","to":"Projects"}}`, `"Projects/"`},
	{`{"command":"create","params":{"path":"Ideas/Bread.md","content":"x"}}`, `choose another name`},
	{`{"command":"read","params":{"path":"Private/Bread plan.md"}}`, `"Ideas/Bread.md"`},
	// A folder.
	{`{"command":"files","params":{"folder":"Idea"}}`, `"Ideas"`},
	{`{"command":"files","params":{"folder":"ideas"}}`, `"Ideas"`},
	{`{"command":"files","params":{"folder":"Ideas/Bread.md"}}`, `"Ideas"`},
	{`{"command":"files","params":{"folder":"./Ideas"}}`, `"Ideas"`},
	{`{"command":"files","params":{"path":"Ideas"}}`, `"folder"`},
	{`{"command":"random:read","params":{"folder":"Project"}}`, `"Projects"`},
	{`{"command":"search","params":{"query":"tea","path":"Idea"}}`, `"Ideas"`},
	{`{"command":"search","params":{"query":"tea","folder":"Ideas"}}`, `"path"`},
	{`{"command":"read","params":{"folder":"Ideas"}}`, `"path"`},
	// A heading, a block, a tag, a property, a template, a base, a task, a change.
	{`{"command":"note:section","params":{"path":"Ideas/Bread.md","heading":"Methd"}}`, `"Method"`},
	{`{"command":"note:section","params":{"path":"Ideas/Bread.md","heading":"ingredient list"}}`, `"Ingredients"`},
	{`{"command":"note:section","params":{"path":"Ideas/Bread.md","block":"dogh"}}`, `"dough"`},
	{`{"command":"note:section","params":{"path":"Ideas/Bread.md","lines":"200-210"}}`, `outline`},
	{`{"command":"daily:append","params":{"content":"x","heading":"Logs"}}`, `"Log"`},
	{`{"command":"tag","params":{"name":"bakin"}}`, `"#baking"`},
	{`{"command":"tag","params":{"name":"#Baking"}}`, `"#baking"`},
	{`{"command":"tag","params":{"name":"bread"}}`, `"#recipe/bread"`},
	{`{"command":"property:read","params":{"path":"Ideas/Bread.md","name":"Staus"}}`, `"status"`},
	{`{"command":"template:read","params":{"name":"meetings"}}`, `"Meeting"`},
	{`{"command":"create","params":{"path":"Ideas/New.md","template":"Meetng"}}`, `"Meeting"`},
	{`{"command":"base:query","params":{"path":"Book.base"}}`, `"Books.base"`},
	{`{"command":"base:query","params":{"path":"Books.base","view":"Tabel"}}`, `"Table"`},
	{`{"command":"task","params":{"ref":"Ideas/Bread.md:8","done":true}}`, `"Ideas/Bread.md:9"`},
	{`{"command":"task","params":{"ref":"Ideas/Bread.md","done":true}}`, `a path, a colon and a line number`},
	{`{"command":"undo","params":{"id":"nope"}}`, `leave id out`},
	// A search that the language does not have.
	{`{"command":"search","params":{"query":"modified:today"}}`, `"recent"`},
	{`{"command":"search","params":{"query":"created:2026-11-20"}}`, `"recent"`},
	{`{"command":"search","params":{"query":"status:draft"}}`, `"[status:draft]"`},
	{`{"command":"search","params":{"query":"tags:#baking"}}`, `"tag:#baking"`},
	{`{"command":"search","params":{"query":"title:Bread"}}`, `"file:Bread"`},
	{`{"command":"search","params":{"query":"folder:Ideas tea"}}`, `"path:Ideas tea"`},
	// Tasks and dates.
	{`{"command":"tasks","params":{"status":"todo"}}`, `use todo=true`},
	{`{"command":"tasks","params":{"status":"done"}}`, `use done=true`},
	{`{"command":"tasks","params":{"status":"incomplete"}}`, `use todo=true`},
	{`{"command":"tasks","params":{"completed":true}}`, `"done"`},
	{`{"command":"tasks","params":{"todo":"yes"}}`, `send true`},
	{`{"command":"task","params":{"ref":"Ideas/Bread.md:9","status":"done"}}`, `use done=true`},
	{`{"command":"daily:read","params":{"date":"yesteday"}}`, `"yesterday"`},
	{`{"command":"daily:read","params":{"date":"2026/11/20"}}`, `"2026-11-20"`},
	{`{"command":"daily:read","params":{"date":"2026-11-20T00:00:00Z"}}`, `"2026-11-20"`},
	{`{"command":"daily:range","params":{"start":"-7d"}}`, `"from"`},
	{`{"command":"recent","params":{"days":7}}`, `"since"`},
	{`{"command":"recent","params":{"limit":"20 notes"}}`, `"20"`},
	// A parameter that is called otherwise elsewhere.
	{`{"command":"read","params":{"filepath":"Ideas/Bread.md"}}`, `"path"`},
	{`{"command":"read","params":{"filename":"Bread"}}`, `"path"`},
	{`{"command":"read","params":{"name":"Bread"}}`, `"file"`},
	{`{"command":"read","params":{"note":"Bread"}}`, `"path"`},
	{`{"command":"search","params":{"q":"tea"}}`, `"query"`},
	{`{"command":"search","params":{"text":"tea"}}`, `"query"`},
	{`{"command":"search","params":{"query":"tea","max_results":5}}`, `"limit"`},
	{`{"command":"search","params":{"query":"tea","caseSensitive":true}}`, `"case"`},
	{`{"command":"search","params":{}}`, `query=`},
	{`{"command":"append","params":{"path":"Ideas/Tea.md"}}`, `content=`},
	{`{"command":"daily:append","params":{"text":"milk"}}`, `"content"`},
	{`{"command":"property:set","params":{"path":"Ideas/Tea.md","key":"a","value":"b"}}`, `"name"`},
	{`{"command":"note:replace","params":{"path":"Ideas/Tea.md","old_string":"tea","new_string":"Tea"}}`, `"new"`},
	{`{"command":"move","params":{"path":"Ideas/Tea.md","destination":"Projects/"}}`, `"to"`},
	{`{"command":"read","params":{"vault":"Notes","path":"Ideas/Tea.md"}}`, `next to "params"`},
	{`{"command":"read","params":{"file":"Tea","path":"Ideas/Tea.md"}}`, `path alone names the note`},
	// Parameters in the wrong place.
	{`{"command":"daily:read date=yesterday"}`, `{"command":"daily:read","params":{"date":"yesterday"}}`},
	{`{"command":"read path=\"Ideas/Bread.md\""}`, `{"command":"read","params":{"path":"Ideas/Bread.md"}}`},
	{`{"command":"read Ideas/Bread.md"}`, `{"command":"read","params":{"path":"Ideas/Bread.md"}}`},
	{`{"command":"search sourdough starter"}`, `{"command":"search","params":{"query":"sourdough starter"}}`},
	{`{"command":"tasks --todo"}`, `{"command":"tasks","params":{"todo":true}}`},
	{`{"command":"obsidian daily:append content=milk"}`, `{"command":"daily:append","params":{"content":"milk"}}`},
	{`{"command":"read","path":"Ideas/Bread.md"}`, `{"command":"read","params":{"path":"Ideas/Bread.md"}}`},
	{`{"command":"search","query":"tea","params":{"case":true}}`, `{"command":"search","params":{"case":true,"query":"tea"}}`},
	{`{"command":"read","arguments":{"path":"Ideas/Bread.md"}}`, `"params"`},
	{`{"command":"read","args":["Ideas/Bread.md"]}`, `"params"`},
	{`{"cmd":"read","params":{"path":"Ideas/Bread.md"}}`, `"command"`},
	{`{"command":"read","params":"path=Ideas/Bread.md"}`, `{"path":"Ideas/Bread.md"}`},
	{`{"command":"read","params":["Ideas/Bread.md"]}`, `send an object`},
	// A command of other tools.
	{`{"command":"list"}`, `"files"`},
	{`{"command":"ls"}`, `"files"`},
	{`{"command":"list_notes"}`, `"files"`},
	{`{"command":"note:read","params":{"path":"Ideas/Bread.md"}}`, `"read"`},
	{`{"command":"read_note"}`, `"read"`},
	{`{"command":"getNote"}`, `"read"`},
	{`{"command":"cat"}`, `"read"`},
	{`{"command":"obsidian_get_file_contents"}`, `"read"`},
	{`{"command":"write"}`, `"create"`},
	{`{"command":"note:create"}`, `"create"`},
	{`{"command":"edit"}`, `"note:replace"`},
	{`{"command":"patch_note"}`, `"note:replace"`},
	{`{"command":"note:append"}`, `"append"`},
	{`{"command":"rm"}`, `"delete"`},
	{`{"command":"mv"}`, `"move"`},
	{`{"command":"find"}`, `"search"`},
	{`{"command":"grep"}`, `"search"`},
	{`{"command":"search_notes"}`, `"search"`},
	{`{"command":"today"}`, `"daily:read"`},
	{`{"command":"daily:get"}`, `"daily:read"`},
	{`{"command":"daily-note"}`, `"daily:read"`},
	{`{"command":"daily:add"}`, `"daily:append"`},
	{`{"command":"random_note"}`, `"random:read"`},
	{`{"command":"frontmatter"}`, `"properties"`},
	{`{"command":"set_property"}`, `"property:set"`},
	{`{"command":"property:get"}`, `"property:read"`},
	{`{"command":"list_tags"}`, `"tags"`},
	{`{"command":"todos"}`, `"tasks"`},
	{`{"command":"complete_task"}`, `"task"`},
	{`{"command":"headings"}`, `"outline"`},
	{`{"command":"toc"}`, `"outline"`},
	{`{"command":"recently_modified"}`, `"recent"`},
	{`{"command":"broken_links"}`, `"unresolved"`},
	{`{"command":"dataview"}`, `"query"`},
	{`{"command":"raed"}`, `"read"`},
	{`{"command":"Daily:Read"}`, `"daily:read"`},
	{`{"command":"help","params":{"command":"list"}}`, `"files"`},
	{`{"command":"help","params":{"command":"help/read"}}`, `"read"`},
	// Written without a look at the program; some of them it does not understand.
	{`{"command":"read","params":{"path":"Kichen.md"}}`, `"Projects/Kitchen.md"`},
	{`{"command":"read","params":{"path":"Projects/Kitchens.md"}}`, `"Projects/Kitchen.md"`},
	{`{"command":"read","params":{"path":"People/Anna.md"}}`, `"People/Ana.md"`},
	{`{"command":"read","params":{"file":"sourdough-starter"}}`, `"Ideas/Sourdough starter.md"`},
	{`{"command":"read","params":{"path":"Journal/2026-11-19.md"}}`, `"Journal/2026-11-20.md"`},
	{`{"command":"files","params":{"folder":"Jornal"}}`, `"Journal"`},
	{`{"command":"files","params":{"folder":"Picture"}}`, `"Pictures"`},
	{`{"command":"links","params":{"file":"Sourdoh starter"}}`, `"Ideas/Sourdough starter.md"`},
	{`{"command":"tag","params":{"name":"baked"}}`, `"#baking"`},
	{`{"command":"property:read","params":{"path":"Ideas/Bread.md","name":"due_date"}}`, `"due"`},
	{`{"command":"note:section","params":{"path":"Ideas/Bread.md","heading":"Methods"}}`, `"Method"`},
	{`{"command":"note:insert","params":{"path":"Ideas/Bread.md","heading":"Metod","position":"after","content":"x"}}`, `"Method"`},
	{`{"command":"search","params":{"query":"type:note"}}`, `"[type:note]"`},
	{`{"command":"search","params":{"query":"updated:>2026-01-01"}}`, `"recent"`},
	{`{"command":"search","params":{"query":"heading:Method"}}`, `"section:Method"`},
	{`{"command":"tasks","params":{"status":"completed"}}`, `use done=true`},
	{`{"command":"tasks","params":{"filter":"todo"}}`, `"todo"`},
	{`{"command":"tasks","params":{"due":"next fryday"}}`, `"next friday"`},
	{`{"command":"daily:read","params":{"date":"20 Nov 2026"}}`, `"2026-11-20"`},
	{`{"command":"daily:read","params":{"day":"yesterday"}}`, `"date"`},
	{`{"command":"recent","params":{"n":5}}`, `"limit"`},
	{`{"command":"append","params":{"path":"Ideas/Tea.md","body":"x"}}`, `"content"`},
	{`{"command":"append","params":{"note_path":"Ideas/Tea.md","content":"x"}}`, `"path"`},
	{`{"command":"note:replace","params":{"path":"Ideas/Tea.md","search":"tea","new":"x"}}`, `"old"`},
	{`{"command":"property:set","params":{"path":"Ideas/Tea.md","name":"a"}}`, `value=`},
	{`{"command":"random:read","params":{"number":3}}`, `"count"`},
	{`{"command":"append path=Ideas/Tea.md content=\"more tea\""}`, `{"command":"append","params":{"content":"more tea","path":"Ideas/Tea.md"}}`},
	{`{"command":"files Ideas"}`, `{"command":"files","params":{"folder":"Ideas"}}`},
	{`{"command":"tag","name":"baking"}`, `{"command":"tag","params":{"name":"baking"}}`},
	{`{"command":"read","parameter":{"path":"Ideas/Tea.md"}}`, `"params"`},
	{`{"command":"get_recent_changes"}`, `"recent"`},
	{`{"command":"append_to_note"}`, `"append"`},
	{`{"command":"vault_list_files"}`, `"files"`},
	{`{"command":"get_vault_file"}`, `"read"`},
	{`{"command":"create_daily_note"}`, `"daily:ensure"`},
	{`{"command":"delete_note"}`, `"delete"`},
	{`{"command":"get_backlinks_for_note"}`, `"backlinks"`},
	{`{"command":"summarize"}`, `"outline"`},
	{`{"command":"tag_search"}`, `"tag"`},
	{`{"command":"move_note"}`, `"move"`},
	{`{"command":"get_frontmatter"}`, `"properties"`},
	{`{"command":"task_list"}`, `"tasks"`},
	{`{"command":"weekly_note"}`, `"periodic:read"`},
}

const (
	leastMistakes = 80
	leastRight    = 0.9 // of the first suggestions
)

func TestTheFirstSuggestionIsRight(t *testing.T) {
	assert.That(t, len(mistakes) >= leastMistakes, "the table has %d mistakes, want %d", len(mistakes), leastMistakes)
	r := harness.New(t, kitchen)
	client := r.Stdio(false, "")
	right := 0
	for _, m := range mistakes {
		var arguments map[string]any
		err := json.Unmarshal([]byte(m.call), &arguments)
		require.That(t, err == nil, "%s: %v", m.call, err)
		var result gateway.Result
		client.Tool("obsidianCli", arguments, &result)
		if result.OK || result.Error == nil {
			t.Errorf("%s is no mistake", m.call)
			continue
		}
		if suggests(result, m.mend) {
			right++
		} else {
			t.Logf("%s\n\twant %s\n\tgot  %s: %s\n\thint %s", m.call, m.mend, result.Error.Code, result.Error.Message, result.Error.Hint)
		}
		if said := harness.JSON(t, result); strings.Contains(said, "Bread plan") && !strings.Contains(m.call, "Bread plan") || strings.Contains(said, "bakery") {
			t.Errorf("%s tells what is hidden: %s", m.call, said)
		}
	}
	share := float64(right) / float64(len(mistakes))
	t.Logf("the first suggestion is right for %d of %d mistakes, %.1f %%", right, len(mistakes), 100*share)
	assert.That(t, share >= leastRight, "the first suggestion is right for %.1f %% of the mistakes, want %.0f %%", 100*share, 100*leastRight)
	for path, text := range kitchen {
		assert.Equal(t, r.Read(path), text, "a mistake changed %s", path)
	}
}

var quotedText = regexp.MustCompile(`"([^"]*)"`)

// suggests reports whether a mend is the first suggestion of a result: the first text in
// quotation marks of the hint, or after the question for it in the message, or a part
// of the hint.
func suggests(result gateway.Result, mend string) bool {
	hint := result.Error.Hint
	if _, asked, found := strings.Cut(result.Error.Message, "did you mean "); found && hint == "" {
		hint = asked
	}
	if !strings.HasPrefix(mend, `"`) {
		return strings.Contains(hint, mend) || hint == "" && strings.Contains(result.Error.Message, mend)
	}
	if hint == "" {
		_, hint, _ = strings.Cut(result.Error.Message, "want ")
	}
	first := quotedText.FindString(hint)
	return first == mend
}
