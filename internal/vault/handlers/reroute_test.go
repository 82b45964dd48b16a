package handlers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

// A name that is made takes links over, and one that goes gives them back. Both are counted by resolving, in the plan and
// in the answer, and no other note is changed unless the call asks for that.
func TestLinksThatANameTakesOverAreTold(t *testing.T) {
	files := map[string]string{
		"P/Solar/Roof.md": "[[Roof]]", "a.md": "[[Roof]] ![[Roof#x]] [[P/Solar/Roof]]",
		"b.md": "---\nup: \"[[Roof]]\"\n---\n[t](Roof.md)", "P/Solar/c.md": "[[Roof]]", "other.md": "[[Gone]]",
		"pic/x.png": "\x89PNG\r\n\x1a\nold", "d.md": "![[x.png]]", "T.md": "# T\n## Roof\ntext", "Q/Up/u.md": "",
	}
	const taken = "6 links that led to P/Solar/Roof.md lead here now"
	const takenThere = "6 links that led to P/Solar/Roof.md lead to Roof.md now"
	png := "data=" + inBase64(embedded.OnePixel)
	for _, test := range []struct {
		name string
		call []string
		says string // of the links, in the plan and the answer
	}{
		{"create", []string{"create", "path=Roof.md", "content=x"}, taken},
		{"create elsewhere", []string{"create", "path=Z/Far/Away/Roof.md", "content=x"}, ""},
		{"create of what links name in vain", []string{"create", "path=Gone.md"}, ""},
		{"create of a new name", []string{"create", "path=New.md"}, ""},
		{"copy", []string{"copy", "path=P/Solar/Roof.md", "to=Roof.md"}, taken},
		{"copy of a folder", []string{"folder:copy", "path=P/Solar", "to=S"}, "4 links that led to P/Solar/Roof.md lead to S/Roof.md now"},
		{"move", []string{"move", "path=other.md", "to=Roof.md", "links=update"}, taken},
		{"rename", []string{"rename", "path=other.md", "name=Roof", "links=update"}, taken},
		{"move that links do not follow", []string{"move", "path=other.md", "to=Roof.md", "links=keep"}, taken},
		{"move of a folder", []string{"folder:move", "path=Q/Up", "to=Roof"}, ""},
		{"rename of a folder", []string{"folder:rename", "path=Q", "name=B"}, ""},
		{"extract", []string{"note:extract", "path=T.md", "heading=Roof", "to=Roof.md"}, takenThere},
		{"split", []string{"note:split", "path=T.md"}, takenThere},
		{"attachment", []string{"attachment:write", "path=x.png", png}, "1 link that led to pic/x.png leads here now"},
	} {
		h := embedded.New(t, files)
		before := h.Texts(false)
		planned := h.Plan(test.call...)
		assert.Equal(t, planned.Links, test.says, "%s: the plan says", test.name)
		_, _, stderr := h.Run(append([]string{"--facts"}, test.call...)...)
		assert.That(t, test.says == "" || strings.Contains(stderr, test.says), "%s: %s", test.name, stderr)
		for _, path := range []string{"P/Solar/Roof.md", "a.md", "b.md", "P/Solar/c.md", "d.md"} {
			assert.Equal(t, h.Get(path), before[path], "%s changed %s", test.name, path)
		}
		if test.says == "" {
			continue
		}
		h = embedded.New(t, files)
		held := slices.DeleteFunc(slices.Clone(test.call), func(word string) bool { return strings.HasPrefix(word, "links=") })
		status, out, _ := h.Run(append(held, "links=hold")...)
		assert.Equal(t, status, answer.ExitDone, "%s with links=hold: %s", test.name, out)
		if test.name != "attachment" {
			assert.Equal(t, h.Get("b.md"), "---\nup: \"[[P/Solar/Roof]]\"\n---\n[t](P/Solar/Roof.md)", "%s with links=hold: b.md", test.name)
		}
	}
}

func TestLinksThatANameGivesBackAreTold(t *testing.T) {
	h := embedded.New(t, map[string]string{"P/Solar/Roof.md": "x", "a.md": "[[Roof]] [[Roof]]",
		"b.md": "[[Roof]] [[/Roof]]", "Roof.md": "", "F/Wall.md": "", "c.md": "[[Wall]]"})
	for _, test := range []struct{ call, says string }{
		{"delete path=Roof.md", `breaks 1 link in 1 note: "b.md", and 3 links that led here lead to P/Solar/Roof.md now`},
		{"move path=Roof.md to=Q/Other.md links=keep", `breaks 1 link in 1 note: "b.md", and 3 links that led to Roof.md lead to P/Solar/Roof.md now`},
		{"folder:delete path=F", `breaks 1 link in 1 note: "c.md"`},
		{"delete path=a.md", ""},
	} {
		assert.Equal(t, h.Plan(strings.Fields(test.call)...).Links, test.says, "%s", test.call)
	}
	_, _, stderr := h.Run("--facts", "delete", "path=Roof.md")
	assert.That(t, strings.Contains(stderr, "3 links that led here lead to P/Solar/Roof.md now"), "%s", stderr)
}

// What a note names in a definition or a property, and a canvas as the image of a group, is linked.
func TestOtherPlacesThatNameAFileAreLinks(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"a.md": "[t][r]\n\n[r]: Note.md\n[s]: https://x.example/Note.md\n", "Note.md": "",
		"c.canvas": `{"nodes":[{"type":"group","background":"img/bg.png"}]}`, "img/bg.png": "\x89PNG",
		"img/cover.png":  "\x89PNG",
		"img/banner.jpg": "x", "img/icon.svg": "<svg/>", "img/lost.png": "\x89PNG",
		"p.md": "---\ncover: img/cover.png\nbanner: \"![[banner.jpg|100]]\"\nicons: [icon.svg, nothing.png]\nlink: https://x.example/lost.png\n---\n",
	})
	h.Expect(answer.ExitDone, "a.md\n", "backlinks", "path=Note.md")
	h.Expect(answer.ExitDone, "c.canvas\n", "backlinks", "path=img/bg.png")
	out := h.Does("attachments", "unused")
	assert.That(t, strings.HasPrefix(out, "img/lost.png"), "unused: %s", out)
	assert.Equal(t, strings.Count(out, "\n"), 1, "unused")
	out = h.Does("attachments", "note=p")
	assert.Equal(t, strings.Count(out, "\n"), 3, "of p.md")
	assert.That(t, !strings.Contains(out, "lost"), "of p.md: %s", out)
	h.Does("rename", "path=Note.md", "name=New note", "links=update")
	assert.Equal(t, h.Get("a.md"), "[t][r]\n\n[r]: New%20note.md\n[s]: https://x.example/Note.md\n", "a.md")
	h.Does("move", "path=img/bg.png", "to=pics/", "links=update")
	assert.Equal(t, h.Get("c.canvas"), `{"nodes":[{"type":"group","background":"pics/bg.png"}]}`, "c.canvas")
}
