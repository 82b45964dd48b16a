package fake

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
)

// page is a note while it is written.
type page struct {
	strings.Builder
	*rand.Rand
	plan *plan
	path string
	ids  int
}

// note makes the text of the n-th note.
func (p *plan) note(n int) string {
	g := &page{Rand: p.chance(firstNoteStream + n), plan: p, path: p.notes[n]}
	const emptyShare, propertiesShare, crlfShare, unfinishedShare = 0.01, 0.7, 0.05, 0.2
	if g.Float64() < emptyShare {
		return ""
	}
	if g.Float64() < propertiesShare {
		g.properties()
	}
	for size := g.size(); g.Len() < size; {
		blocks[g.IntN(len(blocks))](g)
		g.WriteByte('\n')
	}
	text := g.String()
	if g.Float64() < unfinishedShare {
		text = strings.TrimRight(text, "\n")
	}
	if g.Float64() < crlfShare {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// sizes are the lengths of notes, each as frequent as the others: 4 KB on the
// average, most of them shorter. They are whole numbers because machines differ
// in the last digit of others.
var sizes = []int{200, 500, 800, 1100, 1400, 1700, 2100, 2500, 2900, 3400, 4000, 4700, 5600, 6900, 9200, 15000}

func (g *page) size() int {
	const longShare, long = 500, 60_000 // one note of so many is very long
	if g.IntN(longShare) == 0 {
		return long
	}
	size := pick(g.Rand, sizes)
	return size*3/4 + g.IntN(size/2)
}

// blocks are what notes consist of, each as often as it is listed here. Every one
// ends with a line break, and a blank line follows.
var blocks = []func(*page){
	(*page).paragraph, (*page).paragraph, (*page).paragraph, (*page).paragraph, (*page).paragraph, (*page).paragraph,
	(*page).heading, (*page).heading, (*page).underlined, (*page).list, (*page).list, (*page).tasks, (*page).tasks,
	(*page).fence, (*page).itemFence, (*page).comment, (*page).htmlComment, (*page).table, (*page).callout, (*page).quote, (*page).named, (*page).indented,
}

func (g *page) paragraph() {
	for range 1 + g.IntN(6) {
		g.WriteString(g.sentence())
		g.WriteString(pick(g.Rand, []string{" ", "\n"}))
	}
	g.WriteString(g.sentence() + "\n")
}

func (g *page) sentence() string {
	var out []string
	for range 5 + g.IntN(12) {
		out = append(out, pick(g.Rand, vaultWords))
		if g.IntN(14) == 0 {
			out = append(out, g.inline())
		}
	}
	// The first and the last word are plain ones, so that no line begins or ends
	// with a mark.
	return "So " + strings.Join(out, " ") + " then."
}

// inline is something that is within a sentence.
func (g *page) inline() string {
	switch g.IntN(16) {
	case 0, 1, 2:
		return "#" + pick(g.Rand, tagNames)
	case 3:
		return "#" + pick(g.Rand, tagNames) + pick(g.Rand, []string{"/", ".", ", and", ")", "’s"})
	case 4:
		return pick(g.Rand, noTags)
	case 5:
		return "`" + "[[" + stem(g.plan.target(g.Rand)) + "]] #code" + "`"
	case 6:
		return pick(g.Rand, []string{
			"%% #aside " + g.link() + " %%", "<!-- #unseen " + g.link() + " -->", `\[\[Escaped]]`, "[[]]", "[empty]()",
			"[site](https://example.org/a#b)", "<https://example.org>", "[mail](mailto:me@example.org)", "**bold** and *slanted*", "[ ]",
		})
	}
	return g.link()
}

func (g *page) heading() {
	level := 1 + g.IntN(6)
	text := g.title()
	if g.IntN(6) == 0 {
		text += " " + g.link()
	}
	if g.IntN(6) == 0 {
		text += " #" + pick(g.Rand, tagNames) + " " + strings.Repeat("#", level)
	}
	g.WriteString(strings.Repeat("#", level) + " " + text + "\n")
}

func (g *page) title() string {
	return strings.Join([]string{pick(g.Rand, topics), pick(g.Rand, vaultWords), pick(g.Rand, vaultWords)}, " ")
}

func (g *page) underlined() {
	g.WriteString("Part " + g.title() + "\n" + pick(g.Rand, []string{"===", "-----", "=", "--"}) + "\n")
}

func (g *page) list() {
	for i := range 2 + g.IntN(6) {
		indent := ""
		if i > 0 && g.IntN(4) == 0 {
			indent = pick(g.Rand, []string{"\t", "    ", "  "})
		}
		g.WriteString(indent + "- " + g.sentence() + "\n")
	}
}

func (g *page) tasks() {
	nested := false // an item may hang below the line before it
	for i := range 2 + g.IntN(7) {
		if i > 0 && g.IntN(8) == 0 {
			g.WriteString(pick(g.Rand, noTasks) + "\n")
			nested = false
			continue
		}
		bullet := pick(g.Rand, bullets)
		indent := ""
		if nested && g.IntN(4) == 0 {
			bullet = "-"
			indent = pick(g.Rand, []string{"\t", "    ", "  "})
		}
		nested = indent == "" && len(bullet) == 1
		g.WriteString(indent + bullet + " [" + pick(g.Rand, marks) + "] " + g.sentence() + g.dates() + "\n")
	}
}

// dates are what the Tasks plugin reads at the end of some tasks, in both of its formats.
func (g *page) dates() string {
	day := fmt.Sprintf("2026-%02d-%02d", 1+g.IntN(12), 1+g.IntN(28))
	switch g.IntN(6) {
	case 0:
		return " 📅 " + day
	case 1:
		return " ⏫ 🔁 every week ⏳ " + day + " 📅 " + day
	case 2:
		return "  [priority:: low]  [due:: " + day + "]"
	}
	return ""
}

// hidden is what code and comments hold: something of everything.
func (g *page) hidden() string {
	return "# Not a heading\n- [ ] not a task\n" + g.link() + " #hidden\n"
}

func (g *page) fence() {
	mark := pick(g.Rand, []string{"```", "~~~", "````"})
	inner := g.hidden()
	if mark != "```" {
		inner += "```\nstill code\n"
	}
	g.WriteString(mark + pick(g.Rand, languages) + "\n" + inner + mark + "\n")
}

func (g *page) itemFence() {
	inner := "- " + g.sentence() + "\n```\n" + g.hidden() + "```\n"
	g.WriteString(strings.ReplaceAll(strings.TrimSuffix(inner, "\n"), "\n", "\n  ") + "\n")
}

// comment has a task and a heading, which do not count, and a link and a tag,
// which do.
func (g *page) comment() {
	g.WriteString("%%\n# Not a heading\n- [ ] not a task\nSo " + g.link() + " #commented\n%%\n")
}

func (g *page) htmlComment() { g.WriteString("<!--\n" + g.hidden() + "-->\n") }

func (g *page) table() {
	g.WriteString("| name | where |\n| --- | :-: |\n")
	for range 1 + g.IntN(4) {
		g.WriteString("| " + pick(g.Rand, vaultWords) + ` | [[` + stem(g.plan.target(g.Rand)) + `\|there]] #` + pick(g.Rand, tagNames) + " |\n")
	}
}

func (g *page) callout() {
	g.WriteString("> [!" + pick(g.Rand,
		[]string{"note", "tip", "todo"}) + "]- " + g.title() + "\n> " + g.sentence() + "\n> - [" + pick(g.Rand,
		marks) + "] " + g.sentence() + "\n")
}

func (g *page) quote() { g.WriteString("> " + g.sentence() + "\n> " + g.sentence() + "\n") }

func (g *page) named() {
	g.ids++
	g.WriteString(g.sentence() + fmt.Sprintf(" ^b%d\n", g.ids))
}

// indented follows a heading, for after a list it would belong to that.
func (g *page) indented() {
	g.heading()
	g.WriteString("\n    [[Code]] #code\n    - [ ] code\n")
}

// stem is the name of a note as links write it.
func stem(note string) string { return strings.TrimSuffix(path.Base(note), ".md") }
