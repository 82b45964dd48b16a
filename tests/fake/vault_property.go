package fake

import (
	"fmt"
	"strings"
	"time"
)

// properties writes the frontmatter: some properties of every type, each at
// most once.
func (g *page) properties() {
	g.WriteString("---\n")
	for _, property := range []func() string{
		g.tags, g.aliases, g.links,
		func() string { return "title: " + quoted(g.title()) },
		func() string { return fmt.Sprintf("rank: %d", g.IntN(100)) },
		func() string { return fmt.Sprintf("price: %d.%d", g.IntN(100), g.IntN(100)) },
		func() string { return "done: " + pick(g.Rand, []string{"true", "false"}) },
		func() string { return "due: " + g.day().Format(time.DateOnly) },
		func() string { return "created: " + g.day().Format("2006-01-02T15:04:05") },
		func() string { return "people:\n  - " + pick(g.Rand, vaultWords) + "\n  - " + pick(g.Rand, vaultWords) },
		func() string { return "place: {name: " + pick(g.Rand, vaultWords) + ", zip: 12345}" },
		func() string { return "empty:" },
		func() string { return "note: |\n  several lines\n  with [[No link]] and #no-tag" },
		func() string { return "yes: no # a comment" },
	} {
		if g.IntN(3) == 0 {
			g.WriteString(property() + "\n")
		}
	}
	g.WriteString("---\n")
}

func (g *page) day() time.Time { return firstChange.AddDate(0, 0, g.IntN(1000)) }

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

func (g *page) tags() string {
	a := pick(g.Rand, tagNames)
	b := pick(g.Rand, tagNames)
	return pick(g.Rand, []string{
		"tags: [" + a + ", \"#" + b + "\"]", "tags:\n  - " + a + "\n  - " + b, "Tags: " + a, "tags: " + a + ", " + b,
		"tags: []", "tags:", "tag: " + a, "tags:\n  - 2026\n  - " + b,
	})
}

func (g *page) aliases() string {
	return pick(g.Rand, []string{"aliases: [" + pick(g.Rand, vaultWords) + ", second name]",
		"aliases:\n  - " + pick(g.Rand, topics), "aliases: Nowhere", "alias: dead"})
}

// links are links in quotes, and something that only looks like one.
func (g *page) links() string {
	wiki := func() string { return quoted("[[" + g.spelled(g.plan.target(g.Rand)) + "]]") }
	return pick(g.Rand, []string{
		"up: " + wiki(), "related:\n  - " + wiki() + "\n  - " + wiki() + "\n  - plain", "up: [[Not a link]]", `up: "see [[Not a link]]"`,
		"source: " + quoted("[see]("+encode(g.plan.target(g.Rand))+")"), "up: " + quoted("[[Not yet written|soon]]"),
	})
}
