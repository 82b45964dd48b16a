package bases

import (
	"context"
	"testing"

	"vaultwicket/cmd/internal/vault/bases/formula"
)

// linked is a vault in which files link to each other in all ways.
var linked = map[string]string{
	"dir/Hub.md": `---
up: "[[Top]]"
more: ["[[Leaf|l]]", "[[Nobody]]"]
site: https://example.org
---
[[Leaf]] [[Leaf#A]] [[Leaf#^id]] [[Leaf|shown]] [[ Leaf | blanks ]] [[Leaf#A|both]] [[#Here]]
[text](Leaf.md) [far](../Top.md) [coded](My%20Note.md) [kept](a%2Cb.md) [out](https://example.org) [[Gone]] [[gone2.md]]
![[pic.png]] ![alt](pic.png) ![[Leaf]]
` + "`[[Code]]`\n",
	"dir/Leaf.md": "", "Top.md": "[[dir/Hub]]", "dir/My Note.md": "", "pic.png": "", "other/Leaf.md": "[[Leaf]]\n",
	"board.canvas": `{"nodes":[{"id":"1","type":"file","file":"dir/Hub.md","x":0,"y":0,"width":1,"height":1}],"edges":[]}`,
	"B.base":       "views: []\n", "shows.md": "![[B.base#All]]\n",
}

func TestLinks(t *testing.T) {
	v := newVault(t, linked, "B.base")
	session := formula.NewSession(context.Background(), v.Source().Environment)
	check := func(note string, s subject) {
		t.Run(s.subject, func(t *testing.T) { s.check(t, session.Row(v.Entry(note))) })
	}
	check("dir/Hub.md", subject{"texts of the links", recorded, [][2]string{
		{`file.links.slice(0, 3)`, "[[Top]], [[Leaf|l]], [[Nobody]]"}, {`file.links.slice(3, 7)`, "[[Leaf|Leaf]], [[Leaf#A|Leaf > A]], [[Leaf#^id|Leaf > ^id]], [[Leaf|shown]]"}, {`file.links.slice(7, 9)`, "[[Leaf|blanks]], [[Leaf#A|both]]"},
		{`file.links.slice(10, 14)`, "[[Leaf.md|text]], [[../Top.md|far]], [[My Note.md|coded]], [[a%2Cb.md|kept]]"}, {`file.links.slice(14, 16)`, "[[Gone|Gone]], [[gone2.md|gone2.md]]"}, {`file.links.slice(16)`, "[[pic.png|pic.png]], [[pic.png|alt]], [[Leaf|Leaf]]"},
		{`file.embeds`, "[[pic.png|pic.png]], [[pic.png|alt]], [[Leaf|Leaf]]"}, {`file.links.length`, "19"},
	}})
	check("dir/Hub.md", subject{"where links lead", recorded, [][2]string{
		{`up.asFile().path`, "Top.md"}, {`more[0].asFile().path`, "dir/Leaf.md"}, {`more[1].asFile()`, null}, {`file.links[3].asFile().path`, "dir/Leaf.md"}, {`file.links[11].asFile().path`, "Top.md"}, {`file.links[13].asFile()`, null}, {`file.links[4] == link("Leaf")`, "true"},
		{`link("Leaf").asFile().path`, "dir/Leaf.md"}, {`link("other/Leaf").asFile().path`, "other/Leaf.md"}, {`link("TOP").asFile().path`, "Top.md"}, {`file("other/Leaf").links[0].asFile().path`, "other/Leaf.md"}, {`link("Top").linksTo(file)`, "true"}, {`link("Top").linksTo("Leaf")`, "false"}, {`link("board.canvas").linksTo(file)`, "true"},
		{`up == file("Top")`, "true"}, {`up == link("Top#x")`, "true"}, {`up == "[[Top|any]]"`, "true"}, {`more.contains(link("dir/Leaf"))`, "true"}, {`more.contains(link("other/Leaf"))`, "false"}, {`file.links.contains(file("pic.png"))`, "true"}, {`file.links.map(value.asFile()).unique().length`, "6"},
	}})
	check("dir/Hub.md", subject{"hasLink", recorded, [][2]string{
		{`file.hasLink("Leaf")`, "true"}, {`file.hasLink("Leaf.md")`, "true"}, {`file.hasLink("dir/Leaf#x")`, "true"}, {`file.hasLink("other/Leaf")`, "false"}, {`file.hasLink("Gone")`, "true"}, {`file.hasLink("gone")`, "true"}, {`file.hasLink("Gone.md")`, "false"}, {`file.hasLink("gone2")`, "false"}, {`file.hasLink("gone2.md")`, "true"},
		{`file.hasLink("Gone#x")`, "true"}, {`file.hasLink("Nobody")`, "true"}, {`file.hasLink("Top")`, "true"}, {`file.hasLink("pic.png")`, "true"}, {`file.hasLink("https://example.org")`, "false"}, {`file.hasLink(up)`, "true"}, {`file.hasLink(link("Gone", "x"))`, "true"}, {`file.hasLink(file("Top"))`, "true"}, {`file.hasLink("[[Top]]")`, "true"},
		{`file("Top").hasLink("Hub")`, "true"}, {`file("Top").hasLink(file)`, "true"}, {`file("board.canvas").hasLink(file)`, "true"}, {`file.hasLink("./Leaf")`, "true"}, {`file("other/Leaf").hasLink("./Leaf")`, "true"}, {`file.hasLink("Code")`, "false"}, {`this.file.hasLink(file)`, "false"},
	}})
	check("dir/Hub.md", subject{"backlinks", recorded, [][2]string{
		{`file.backlinks`, "[[board.canvas|board]], [[dir/Hub.md|Hub]], [[Top.md|Top]]"}, {`file.backlinks.length`, "3"}, {`file.hasLink(file)`, "true"}, {`file("Top").backlinks`, "[[dir/Hub.md|Hub]]"}, {`file("pic.png").backlinks`, "[[dir/Hub.md|Hub]]"}, {`file("My Note").backlinks.length`, "1"}, {`this.file.backlinks`, "[[shows.md|shows]]"}, {`file("other/Leaf").backlinks`, "[[other/Leaf.md|Leaf]]"}, {`file("B.base").backlinks[0].asFile().path`, "shows.md"},
	}})
	check("shows.md", subject{"an embedded base", documented, [][2]string{{`file.embeds`, "[[B.base#All|B.base > All]]"}, {`file.hasLink(this)`, "true"}, {`file.links.contains(this)`, "true"}, {`file.links.contains(this.file)`, "true"}, {`this.file.name`, "B.base"}, {`this.file.folder`, "/"}, {`this.anything`, null}, {`this.note.x`, null}}})
	check("board.canvas", subject{"a file that is no note", documented, [][2]string{{`file.name`, "board.canvas"}, {`file.basename`, "board"}, {`file.tags`, ""}, {`file.properties.keys().length`, "0"}, {`file.hasProperty("x")`, "false"}, {`x`, null}, {`file.hasTag("x")`, "false"}, {`note.isEmpty()`, "true"}}})
}

// this is the note that contains a base, with its properties.
func TestThis(t *testing.T) {
	v := newVault(t, linked, "dir/Hub.md")
	session := formula.NewSession(context.Background(), v.Source().Environment)
	s := subject{"this is a note", documented, [][2]string{
		{`this`, "dir/Hub.md"}, {`this.file.name`, "Hub"}, {`this.up`, "[[Top]]"}, {`this.note.up`, "[[Top]]"}, {`this.UP`, "[[Top]]"}, {`this.note.UP`, "[[Top]]"}, {`this["up"]`, "[[Top]]"}, {`this.up == file("Top")`, "true"}, {`this.none`, null}, {`this.file.hasLink(file)`, "true"}, {`file.hasLink(this)`, "true"},
		{`file != this`, "true"}, {`this.up.asFile() == file`, "true"}, {`list(this.more).contains(link("dir/Leaf"))`, "true"}, {`link("Hub") == this`, "true"}, {`this.isType("file")`, "true"}, {`file.links.contains(this)`, "true"},
	}}
	s.check(t, session.Row(v.Entry("Top.md")))
}
