package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

// A change that would change no byte says what is there already, or is missing, and is in no journal.
func TestWhatIsSoAlreadyIsSaid(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"a.md":        "---\ntags: [x]\nn: 1\n---\n# Part\ntext\n- [x] done\n- [ ] due 📅 2026-11-20\n#tag\n",
		"F/b.md":      "---\ntags: [x]\nn: 1\n---\nb\n",
		"b.canvas":    `{"nodes":[{"id":"1","type":"text","text":"card","x":0,"y":0,"width":10,"height":10}],"edges":[]}`,
		"c.base":      "formulas:\n  f: file.name\nviews:\n  - type: table\n    name: V\n    limit: 5\n",
		"T/empty.md":  "---\nn: 1\n---\n",
		"pixel.png":   embedded.OnePixel,
		"linked/x.md": "[[a]]",

		".obsidian/templates.json": `{"folder":"T"}`,
	})
	before := h.Tree()
	for call, want := range map[string]string{
		"property:set path=a.md name=n value=1":                 `the property "n" of "a.md" has this value already`,
		"property:set folder=F name=n value=1":                  `the property "n" has this value already in all notes that are meant (1)`,
		"property:set query=nowhere name=n value=1":             "there is no note that is meant",
		"property:remove path=a.md name=none":                   `"a.md" has no property "none"`,
		"property:add path=a.md name=tags value=x":              `the property "tags" of "a.md" has each of these items already`,
		"property:add folder=/ name=tags value=x query=path:F":  `the property "tags" has each of these items already in all notes that are meant (1)`,
		"property:remove-item path=a.md name=tags value=nope":   `the property "tags" of "a.md" has no such item`,
		"property:remove-item path=a.md name=none value=nope":   `the property "none" of "a.md" has no such item`,
		"property:remove-item folder=F name=tags value=nope":    `the property "tags" has no such item in any note that is meant (1)`,
		"property:remove-item query=nowhere name=tags value=x":  "there is no note that is meant",
		"property:rename name=n to=n":                           `the property is called "n" already`,
		"tag:rename name=tag to=tag":                            `the tag is called "#tag" already`,
		"heading:rename path=a.md heading=Part to=Part":         `the heading is called so already in "a.md"`,
		"canvas:set path=b.canvas id=1 text=card":               `"1" is so already in "b.canvas"`,
		"base:set-view path=c.base view=V limit=5":              `"c.base" says this already`,
		"base:set-formula path=c.base name=f expr=file.name":    `"c.base" says this already`,
		"base:set path=c.base view=V name=n value=1 where=n==1": `the property "n" has this value already in all notes that are meant (3)`,
		"task ref=a.md:7 done":                                  `the task "a.md:7" has this status already`,
		"task:reschedule ref=a.md:8 due=2026-11-20":             `the task "a.md:8" has these dates already`,
		"note:replace path=a.md old=text new=text":              "the new text is the old one",
		"note:set-section path=F/b.md lines=5 content=b":        "the part has this text already",
		"create path=linked/x.md content=[[a]] overwrite":       `"linked/x.md" has this text already`,
		"vault:replace old=nowhere new=x":                       "no note that is meant has the text",
		"vault:replace old=text new=text":                       "the new text is the old one",
		"move path=a.md to=a.md":                                `the file is at "a.md" already`,
		"move query=path:F to=F/":                               "all files that are meant (1) are there already",
		"rename path=a.md name=a":                               `the file is at "a.md" already`,
		"template:insert path=a.md name=empty":                  `the template adds nothing to "a.md"`,
		"move query=nowhere to=F/":                              "there is no note that is meant",
	} {
		words := strings.Fields(call)
		status, out, stderr := h.Run(append([]string{"--facts"}, words...)...)
		_, facts, _ := embedded.CutReport(stderr)
		assert.Equal(t, status, answer.ExitDone, "%s: status %d", call, status)
		assert.Equal(t, out, "Nothing was changed: "+want+".\n", "%s: status %d", call, status)
		assert.Equal(t, facts.Notice, "nothing was changed: "+want, "%s", call)
		assert.Equal(t, facts.Change, "", "%s", call)
		assert.That(t, facts.Before == nil, "%s: %+v", call, facts)
	}
	assert.Equal(t, h.Tree(), before, "the vault")
	assert.Equal(t, fmt.Sprint(h.Changes()), "[]", "the journal")
}
