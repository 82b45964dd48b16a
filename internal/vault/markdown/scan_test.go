package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// outline writes what was found, one thing a line, for comparing with a table.
func outline(n Note) string {
	var out []string
	for _, h := range n.Headings {
		out = append(out, fmt.Sprintf("h%d %s @%d", h.Level, h.Text, h.Line))
	}
	for _, l := range n.Links {
		kind := "link"
		if l.Embed {
			kind = "embed"
		}
		text := fmt.Sprintf("%s %s", kind, l.Target)
		if l.Display != "" {
			text += " as " + l.Display
		}
		out = append(out, fmt.Sprintf("%s @%d", text, l.Line))
	}
	for _, tag := range n.Tags {
		out = append(out, fmt.Sprintf("%s @%d", tag.Text, tag.Line))
	}
	for _, task := range n.Tasks {
		out = append(out, fmt.Sprintf("task %q %s @%d", task.Mark, task.Text, task.Line))
	}
	for _, b := range n.Blocks {
		out = append(out, fmt.Sprintf("^%s @%d", b.ID, b.Line))
	}
	return strings.Join(out, "; ")
}

// scanCase is a note and the outline it has.
type scanCase struct{ name, text, want string }

func check(t *testing.T, tests []scanCase) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := outline(Scan([]byte(test.text)))
			assert.That(t, got == test.want, "%q:\n got %s\nwant %s", test.text, got, test.want)
		})
	}
}

func TestWikilinks(t *testing.T) {
	check(t, []scanCase{
		{"a target", "see [[a]] now", "link a @1"},
		{"a target and a display text", "[[a|b]]", "link a as b @1"},
		{"an embed", "![[a.png|100]]", "embed a.png as 100 @1"},
		{"an escaped exclamation mark embeds nothing", `\![[a]]`, "link a @1"},
		{"two on a line", "[[a]][[b]]", "link a @1; link b @1"},
		{"blanks around the bar go", "[[A#S | P]]", "link A#S as P @1"},
		{"blanks at the ends go", "[[ a ]]", "link a @1"},
		{"a bar alone is a target", "[[|]]", "link | @1"},
		{"a bar in front belongs to the target", "[[|alias]]", "link |alias @1"},
		{"a bar in front and a subpath", "[[|#x]]", "link |#x @1"},
		{"a second bar belongs to the display text", "[[x||a]]", "link x as |a @1"},
		{"a bar with a backslash, as in tables", `| [[a\|b]] | c |`, "link a as b @1"},
		{"a single bracket does not close", "[[Sq]uare]]", "link Sq]uare @1"},
		{"the first two brackets close", "[[T#H [B]]]", "link T#H [B @1"},
		{"the inner of two is the link", "[[a [[Inner]] c]]", "link Inner @1"},
		{"three brackets", "[[[a]]]", "link a @1"},
		{"an open one before another", "[[a [[b]]", "link b @1"},
		{"nothing inside is nothing", "[[]] [[ ]] [[\t]]", ""},
		{"the own heading", "[[#H]]", "link #H @1"},
		{"not over line ends", "[[a\nb]]", ""},
		{"escaped brackets are text", `\[\[a]] \[[b]] [\[c]]`, ""},
		{"an escaped backslash protects nothing", `\\[[a]]`, "link a @1"},
		{"an address is a target too", "[[https://example.org]]", "link https://example.org @1"},
		{"in headings", "# A [[b]]", "h1 A [[b]] @1; link b @1"},
		{"in callouts", "> [!note] [[a]]\n> [[b]]", "link a @1; link b @2"},
		{"in lists", "- [[a]]\n    - [[b]]", "link a @1; link b @2"},
		{"in %% comments", "%% [[a]] %%\n%%\n[[b]]\n\n[[c]]\n%%", "link a @1; link b @3; link c @5"},
		{"in emphasis", "**[[a]]** ==[[b]]==", "link a @1; link b @1"},
		{"unclosed", "[[a", ""},
		{"half closed", "[[a]", ""},
		{"broken UTF-8 stays", "[[\xff]]", "link \xff @1"},
	})
}

func TestPathAndSubpath(t *testing.T) {
	tests := []struct{ name, text, path, subpath string }{
		{"a path alone", "[[a/b]]", "a/b", ""},
		{"a heading", "[[a#H]]", "a", "#H"},
		{"a chain of headings", "[[a#H#I]]", "a", "#H#I"},
		{"a block", "[[a#^b-1]]", "a", "#^b-1"},
		{"the number sign splits even before a slash", "[[pa#th/x]]", "pa", "#th/x"},
		{"no path", "[[#H]]", "", "#H"},
		{"an inline link", "[x](a.md#H)", "a.md", "#H"},
		{"an escaped number sign is none", "[x](a%23b.md)", "a%23b.md", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			links := Scan([]byte(test.text)).Links
			require.Equal(t, len(links), 1, "%q", test.text)
			require.Equal(t, links[0].Path, test.path, "%q", test.text)
			assert.Equal(t, links[0].Subpath, test.subpath, "%q", test.text)
		})
	}
}

func TestInlineLinks(t *testing.T) {
	deep := strings.Repeat("(", 32) + strings.Repeat(")", 32)
	check(t, []scanCase{
		{"a target", "[x](a.md)", "link a.md as x @1"},
		{"an embed", "![x|100](a.png)", "embed a.png as x|100 @1"},
		{"no display text", "[](a.md)", "link a.md @1"},
		{"nothing at all is nothing", "[]() [x]() [x](<>)", ""},
		{"blanks are decoded", "[x](a%20b.md)", "link a b.md as x @1"},
		{"UTF-8 is decoded", "[x](%C3%BC.md)", "link ü.md as x @1"},
		{"reserved characters stay", "[x](a%26%2C%23%2F%3F%3A%40%3D%2B%24%3B.md)", "link a%26%2C%23%2F%3F%3A%40%3D%2B%24%3B.md as x @1"},
		{"a percent sign is decoded", "[x](100%25.md)", "link 100%.md as x @1"},
		{"one bad escape keeps all", "[x](a%20b%zz.md)", "link a%20b%zz.md as x @1"},
		{"a short escape keeps all", "[x](a%20b%2)", "link a%20b%2 as x @1"},
		{"UTF-8 cut by a letter keeps all", "[x](a%20%C3x)", "link a%20%C3x as x @1"},
		{"broken UTF-8 keeps all", "[x](a%20%C3)", "link a%20%C3 as x @1"},
		{"overlong UTF-8 keeps all", "[x](%C0%80)", "link %C0%80 as x @1"},
		{"angle brackets", "[x](<a b.md>)", "link a b.md as x @1"},
		{"angle brackets with a title", `[x](<a b.md> "t")`, "link a b.md as x @1"},
		{"a title", `[a](b "t")`, "link b as a @1"},
		{"a title in single quotes", `[a](b 't')`, "link b as a @1"},
		{"a title in brackets", `[a](b (t))`, "link b as a @1"},
		{"a title with an escaped quote", `[a](b "\"t")`, "link b as a @1"},
		{"a title without an end", `[a](b "t)`, ""},
		{"blanks around the target", "[a]( b )", "link b as a @1"},
		{"a blank in the target", "[a](b c)", ""},
		{"a target without an end", "[a](b", ""},
		{"an angle bracket without an end", "[a](<b)", ""},
		{"balanced brackets in the target", "[a](b(c)d)", "link b(c)d as a @1"},
		{"brackets nested as deep as they may", "[a](b" + deep + ")", "link b" + deep + " as a @1"},
		{"brackets nested deeper", "[a](b(" + deep + "))", ""},
		{"unbalanced brackets in the target", "[a](b(c)", ""},
		{"escaped brackets in the target", `[a](b\)c)`, "link b)c as a @1"},
		{"a backslash that escapes nothing", `[a](b\c)`, `link b\c as a @1`},
		{"an address is no link", "[x](https://example.org/a) [x](mailto:a@b) [x](obsidian://open)", ""},
		{"a colon later is no scheme", "[x](a/b:c.md) [x](:a)", "link a/b:c.md as x @1; link :a as x @1"},
		{"an escaped bracket opens nothing", `\[x](a)`, ""},
		{"an escaped bracket closes nothing", `[x\](a)`, ""},
		{"a blank before the target", "[x] (a)", ""},
		{"an image in a link", "[![x](a.png)](b.md)", "link b.md as ![x](a.png) @1; embed a.png as x @1"},
		{"a title with a bracket in it", `[a](b (t(u))`, ""},
		{"a link in an image in a link", "[x ![y [z](a) w](b) v](c)", "embed b as y [z](a) w @1; link a as z @1"},
		{"no link in a link", "[a [b](c) d](e)", "link c as b @1"},
		{"a wikilink in a link", "[a [[b]] c](d)", "link d as a [[b]] c @1; link b @1"},
		{"a text over two lines", "> [a\n> b](c)", "link c as a b @1"},
		{"balanced brackets in the text", "[a [b] c](d)", "link d as a [b] c @1"},
		{"two open wikilinks", "[[a](b)", "link b as a @1"},
		{"an address that embeds", "![x](https://example.org/a.png)", ""},
		{"a footnote", "[^1] text [^a]: b", ""},
	})
}

func TestCodeHidesLinksAndTags(t *testing.T) {
	check(t, []scanCase{
		{"a code span", "`[[a]] #b` [[c]]", "link c @1"},
		{"two backquotes", "``[[a]] ` #b`` [[c]]", "link c @1"},
		{"over a line end", "`[[a]]\n#b` [[c]]", "link c @2"},
		{"over a line end in a quote", "> `[[a]]\n> #b` [[c]]", "link c @2"},
		{"not over the end of the paragraph", "`[[a]]\n\n[[b]]`", "link a @1; link b @3"},
		{"a run of another length does not close", "`[[a]]`` [[b]]", "link a @1; link b @1"},
		{"an escaped backquote opens nothing", "\\`[[a]]`", "link a @1"},
		{"a backslash in code escapes nothing", "`a\\` [[b]]", "link b @1"},
		{"runs too long are text", strings.Repeat("`", 64) + "[[a]]" + strings.Repeat("`", 64), "link a @1"},
		{"code in a link text", "[`](a)` [[b]]", "link b @1"},
		{"a fence", "```\n[[a]] #b\n# c\n- [ ] d\n```\n[[e]]", "link e @6"},
		{"a fence of tildes", "~~~ a`b\n[[a]]\n```\n~~~\n[[e]]", "link e @5"},
		{"a longer fence", "````\n```\n[[a]]\n```\n`````\n[[e]]", "link e @6"},
		{"a fence without an end", "[[a]]\n```\n[[b]]\n\n[[c]]", "link a @1"},
		{"an info string is no code", "``` [[a]]\n```\n", ""},
		{"text behind the closing mark", "```\n``` x\n[[a]]\n```", ""},
		{"a backquote in the info string makes it text", "``` `a\n[[b]]\n", "link b @2"},
		{"a fence in a list item", "- a\n  ```\n  [[b]]\n  ```\n- [[c]]", "link c @5"},
		{"a fence that a list item ends", "- a\n  ```\n  [[b]]\n[[c]]", "link c @4"},
		{"a fence behind a list mark", "- ```\n  [[b]]\n  ```\n  [[c]]", "link c @4"},
		{"a fence in a quote", "> ```\n> [[a]]\n> ```\n> [[b]]", "link b @4"},
		{"a fence that the end of a quote ends", "> ```\n> [[a]]\n\n[[b]]", "link b @4"},
		{"a fence keeps quote marks beyond its own", "> ```\n> > [[a]]\n> ```", ""},
		{"a fence in a task, as deep as its text",
			"- [ ] a\n    - [ ] b\n      ```sh\n      #x\n      ```\n    - [ ] c",
			"task ' ' - [ ] a @1; task ' ' - [ ] b @2; task ' ' - [ ] c @6"},
		{"a fence indented like code does not close", "```\n    ```\n[[a]]\n```", ""},
		{"a fence between lines of a paragraph", "a\n```\n[[b]]\n```\n[[c]]", "link c @5"},
		{"indented code", "a\n\n    [[b]]\n\t#c\n\nd [[e]]", "link e @6"},
		{"indented code at the start", "    [[b]]", ""},
		{"an indent in a paragraph is no code", "a\n    [[b]]", "link b @2"},
		{"an indent in a list is no code", "- a\n\n      [[b]]\n\n          [[c]]", "link b @3; link c @5"},
		{"indented code in a quote", ">     [[a]]\n>\n> [[b]]", "link b @3"},
		{"a tab behind a quote mark is partly its own", ">\t[[a]]\n>\n>\t\t[[b]]", "link a @1"},
		{"indented code behind a list that ended", "- a\n\nb\n\n    [[c]]", ""},
	})
}

func TestCommentsAndMath(t *testing.T) {
	check(t, []scanCase{
		{"an HTML comment", "a <!-- [[b]] #c --> [[d]]", "link d @1"},
		{"over lines", "a <!-- [[b]]\n#c --> [[d]]", "link d @2"},
		{"a block", "<!--\n[[b]]\n\n# c\n- [ ] d\n--> [[e]]\n[[f]]", "link e @6; link f @7"},
		{"a block between lines", "a\n<!--\n- [ ] b\n-->\n[[c]]", "link c @5"},
		{"a block without an end", "<!--\n[[b]]\n\n[[c]]", ""},
		{"a block that a list item ends", "- <!--\n  [[b]]\n\n[[c]]", "link c @4"},
		{"unclosed within a line is text", "a <!-- [[b]]\n\n[[c]] -->", "link b @1; link c @3"},
		{"the shortest comment", "a <!--> [[b]] -->", "link b @1"},
		{"a comment in code is text", "`<!--` [[a]] `-->`", "link a @1"},
		{"on its own line", "<!-- [[a]] -->\n[[b]]", "link b @2"},
		{"a %% block hides headings and tasks", "%%\n# a\n- [ ] b #c ^id\n\nsetext\n---\n%%\n# d", "h1 d @8; #c @3"},
		{"a %% block that begins with text", "%% #a\n#b\nc %% #d\n- [ ] e", `#a @1; #b @2; #d @3; task ' ' - [ ] e @4`},
		{"a %% block between lines", "a\n%%\n- [ ] b\n%%\n- [ ] c", `task ' ' - [ ] c @5`},
		{"a %% block without an end", "%%\n- [ ] b #c", "#c @2"},
		{"a %% comment within a line hides nothing", "- [ ] a %% [[b]] #c %%", `link b @1; #c @1; task ' ' - [ ] a %% [[b]] #c %% @1`},
		{"a %% comment on one line opens no block", "%% a %%\n- [ ] b", `task ' ' - [ ] b @2`},
		{"code in a %% block", "%%\n```\n#a\n```\n#b\n%%", "#b @5"},
		{"a %% block in a list item", "- %%\n  - [ ] a\n  %%\n- [ ] b", `task ' ' - [ ] b @4`},
		{"math", "$ x $a #b$ #c", "#c @1"},
		{"math over lines", "$a\n#b$ #c", "#c @2"},
		{"prices are no math", "costs $5 #a or $6 #b", "#a @1; #b @1"},
		{"a dollar sign before a blank opens nothing", "$ #a$", "#a @1"},
		{"a dollar sign behind a blank closes nothing", "$a #b $", "#b @1"},
		{"an escaped dollar sign opens nothing", `\$a #b$`, "#b @1"},
		{"an escaped dollar sign closes nothing", `$a #b\$ #c`, "#b @1; #c @1"},
		{"a dollar sign at the end of a line", "a$\n#b", "#b @2"},
		{"matrices are no links", "$[[1,2],[3,4]]$ $$[[1]]$$", ""},
		{"display math in a line", "a $$ x #b $$ #c", "#c @1"},
		{"display math without an end", "a $$ x #b", "#b @1"},
		{"two without an end", "a $$ #b\nc $$$ #d $", "#d @2"},
		{"a block of math", "$$\n#a\n\n# b\n$$ #c", "#c @5"},
		{"a block of math without an end", "$$\n#a\n\n#b", ""},
		{"a block of math closed on its line", "$$ #a $$\n#b", "#b @2"},
	})
}

func TestTags(t *testing.T) {
	check(t, []scanCase{
		{"at the start and behind a blank", "#a b #c", "#a @1; #c @1"},
		{"not within a word", "a#b (#c) /#d", ""},
		{"a letter is enough", "#1984 #y1984 #1-2", "#y1984 @1; #1-2 @1"},
		{"nothing is no tag", "# #", "h1  @1"},
		{"marks that belong to it", "#a_b-c/d", "#a_b-c/d @1"},
		{"every other ASCII mark ends it",
			"#a! #a\" #a# #a$ #a% #a& #a' #a( #a) #a* #a+ #a, #a. #a: #a; #a< #a= #a> #a? #a@ #a[ #a\\ #a] #a^ #a` #a{ #a| #a} #a~",
			strings.TrimSuffix(strings.Repeat("#a @1; ", 29), "; ")},
		{"trailing slashes go", "#a/ #b// #/ #1/", "#a @1; #b @1"},
		{"slashes within stay", "#a//b", "#a//b @1"},
		{"letters of any script", "#日本語 #ünï #тест #😀", "#日本語 @1; #ünï @1; #тест @1; #😀 @1"},
		{"general punctuation ends it", "#a—b #c…d #e⸺f", "#a @1; #c @1; #e @1"},
		{"every kind of blank parts tags", "#a\u2003#b\u3000#c\u2028#d", "#a @1; #b @1; #c @1; #d @1"},
		{"a word of another script is no blank", "日#a", ""},
		{"wide blanks part tags", "#a\u3000#b\u00a0#c", "#a @1; #b @1; #c @1"},
		{"two together are one", "#a#b", "#a @1"},
		{"in headings", "# A #b", "h1 A #b @1; #b @1"},
		{"in quotes and callouts", "> #a\n>#b\n\n> [!note] #c", "#a @1; #b @2; #c @4"},
		{"in tables", "| #a | b |\n| --- | --- |\n| #c | `x |\n| `#d` | #e |", "#a @1; #c @3; #e @4"},
		{"in tasks", "- [ ] #a b", `#a @1; task ' ' - [ ] #a b @1`},
		{"in %% comments", "%% #a %%\n\n%%\n#b\n%%", "#a @1; #b @4"},
		{"not in link targets", "[x](a.md#b) [x](<a #b>) [[a #c]] [x](a \" #d\") [x](https://e.org \" #f\")",
			"link a.md#b as x @1; link a #b as x @1; link a #c @1; link a as x @1"},
		{"not in addresses", "https://example.org/#a <https://example.org/ #b> <https://example.org/#c>", "#b @1"},
		{"not in HTML tags", `<b style="color: #fff"> #a </b #c> <i x=' #d'>`, "#a @1; #c @1"},
		{"a comparison is no HTML tag", "a <b #c > d <e", "#c @1"},
		{"a quote without an end is no HTML tag", `<b x=" #c`, "#c @1"},
		{"HTML without an end", "<b #c\n</ #d", "#c @1; #d @2"},
		{"an address without an end", "<a:b", ""},
		{"an HTML tag hides no text between", "<b>[[a]]</b> #c", "link a @1; #c @1"},
		{"escaped", `\#a`, ""},
		{"behind an escaped bracket", `\[\[#Esc`, "#Esc @1"},
		{"in emphasis it is none", "**#a** *#b*", ""},
		{"broken UTF-8 is a character", "#\xff", "#\xff @1"},
		{"seven marks are text", "####### a", ""},
		{"a tag is no heading", "#a", "#a @1"},
	})
}

func TestHeadings(t *testing.T) {
	check(t, []scanCase{
		{"six levels", "# a\n## b\n### c\n#### d\n##### e\n###### f", "h1 a @1; h2 b @2; h3 c @3; h4 d @4; h5 e @5; h6 f @6"},
		{"closing marks go", "# a #\n## b ####  \n# c#\n# d \\#", "h1 a @1; h2 b @2; h1 c# @3; h1 d \\# @4"},
		{"empty ones", "#\n## ##\n#\t", "h1  @1; h2  @2; h1  @3"},
		{"inline marks stay", "# **a** `b` ==c== d::e", "h1 **a** `b` ==c== d::e @1"},
		{"levels may jump", "### a\n# b", "h3 a @1; h1 b @2"},
		{"up to three blanks in front", "   # a\n\n    # b", "h1 a @1"},
		{"setext", "a\n===\n\nb\n-", "h1 a @1; h2 b @4"},
		{"setext over lines", "a\n  b\n---", "h2 a b @1"},
		{"a setext mark behind nothing", "===\n\n---\n# a", "h1 a @4"},
		{"a rule behind a list item", "- a\n---\n# b", "h1 b @3"},
		{"a lazy line is not underlined", "> a\nb\n===\n", ""},
		{"rules are no headings", "a\n\n***\n- - -\n_ _ _\n# b", "h1 b @6"},
		{"two marks are no rule", "a\n\n**\n__\n# b", "h1 b @5"},
		{"in code, frontmatter and comments there are none", "---\n# a\n---\n```\n# b\n```\n<!--\n# c\n-->\n%%\n# d\n%%\n\n    # e\n# f", "h1 f @15"},
		{"in quotes and list items the index has none", "> # a\n> b\n> ---\n- # c\n# d", "h1 d @5"},
		{"a heading ends a paragraph", "a `\n# b `\n[[c]]", "h1 b ` @2; link c @3"},
		{"tags and links in setext headings", "#a [[b]]\n===", "h1 #a [[b]] @1; link b @1; #a @1"},
	})
}

func TestTasks(t *testing.T) {
	check(t, []scanCase{
		{"open and done", "- [ ] a\n- [x] b", `task ' ' - [ ] a @1; task 'x' - [x] b @2`},
		{"every list mark", "* [ ] a\n+ [ ] b\n1. [ ] c\n22) [ ] d", `task ' ' * [ ] a @1; task ' ' + [ ] b @2; task ' ' 1. [ ] c @3; task ' ' 22) [ ] d @4`},
		{"every character", "- [/] a\n- [é] b\n- []] c\n- [😀] d", `task '/' - [/] a @1; task 'é' - [é] b @2; task ']' - []] c @3; task '😀' - [😀] d @4`},
		{"no tasks", "- []\n- [] a\n-[ ] a\n[ ] a\n- [ab] c\n- [ ]a\n- [x](y)\n- [", "link y as x @7"},
		{"a wide blank behind the box", "- [ ]\u3000a", "task ' ' - [ ]\u3000a @1"},
		{"an empty task", "- [ ]\n- [ ] ", `task ' ' - [ ] @1; task ' ' - [ ]  @2`},
		{"nested", "- a\n\t- [ ] b\n\t\t- [ ] c\n            - [ ] d", `task ' ' - [ ] b @2; task ' ' - [ ] c @3; task ' ' - [ ] d @4`},
		{"quoted", "> - [ ] a\n> > 1. [x] b", `task ' ' - [ ] a @1; task 'x' 1. [x] b @2`},
		{"in callouts", "> [!todo]\n> - [ ] a", `task ' ' - [ ] a @2`},
		{"a list in a list", "- - [ ] a", `task ' ' - [ ] a @1`},
		{"a number in a task is one task", "- [ ] 1. x\n- [ ] - [ ] y", `task ' ' - [ ] 1. x @1; task ' ' - [ ] - [ ] y @2`},
		{"many blanks before the box", "-      [ ] a", `task ' ' -      [ ] a @1`},
		{"a tab before the box", "-\t[ ] a\n-\t\t[x]\tb", "task ' ' -\t[ ] a @1; task 'x' -\t\t[x]\tb @2"},
		{"a zero-width blank in front", "- a\n\u200b\t- [ ] #b", "#b @2"},
		{"hidden in code and comments", "```\n- [ ] a\n```\n<!--\n- [ ] b\n-->\n%%\n- [ ] c\n%%\n\n    - [ ] d", ""},
		{"a paragraph is interrupted", "a\n2. [ ] b", `task ' ' 2. [ ] b @2`},
		{"ten digits are no list mark", "1234567890. [ ] a", ""},
		{"digits alone", "12", ""},
		{"a heading marks a task no more", "- # [ ] a", ""},
	})
}

func TestBlockIDs(t *testing.T) {
	check(t, []scanCase{
		{"at the end of a paragraph", "a\nb ^id-1", "^id-1 @2"},
		{"only at the end", "a ^id\nb", ""},
		{"at the end of a list item", "- a ^x\n- b ^y", "^x @1; ^y @2"},
		{"in a task", "- [ ] a ^x  ", `task ' ' - [ ] a ^x   @1; ^x @1`},
		{"alone", "> a\n\n^x", "^x @3"},
		{"behind a heading", "# a ^x", "h1 a ^x @1; ^x @1"},
		{"no blank before", "a^x", ""},
		{"other characters", "a ^x_y ^", ""},
		{"not in code", "    a ^x\n\n```\na ^y\n```", ""},
	})
}

func TestBlockSpans(t *testing.T) {
	tests := []struct{ name, text, id, want string }{
		{"a paragraph", "x\n\na\nb ^id\n\ny", "id", "a\nb ^id"},
		{"whatever the case", "a ^ID", "id", "a ^ID"},
		{"the last of several", "a ^x\n\nb ^x", "x", "b ^x"},
		{"a list item from its mark", "- x\n- a\n  b ^id\n- y", "id", "- a\n  b ^id"},
		{"a task", "- [ ] a ^id", "id", "- [ ] a ^id"},
		{"a second paragraph of an item", "- x\n\n  a ^id", "id", "a ^id"},
		{"a table above", "x\n\n| a |\n| - |\n| b |\n\n^id", "id", "| a |\n| - |\n| b |"},
		{"a table right above", "| a |\n| - |\n^id", "id", "| a |\n| - |"},
		{"a list above", "- a\n\n- b\n  - c\n\n^id", "id", "- a\n\n- b\n  - c"},
		{"a quote above", "> a\n>\n> b\n\n^id", "id", "> a\n>\n> b"},
		{"a quote right above", "> a\n>\n> b\n^id", "id", "> a\n>\n> b"},
		{"code above", "```\na\n\nb\n```\n\n^id", "id", "```\na\n\nb\n```"},
		{"indented code above", "    a\n\n    b\n\n^id", "id", "    a\n\n    b"},
		{"math above", "$$\na\n$$\n\n^id", "id", "$$\na\n$$"},
		{"a setext heading above", "a\n===\n\n^id", "id", "a\n==="},
		{"a heading", "# a ^id", "id", "# a ^id"},
		{"nothing above", "^id", "id", "^id"},
		{"a paragraph above, one of two", "a\n\nb\n\n^id", "id", "b"},
		{"two quotes are two blocks", "> a\n\n> b\n\n^id", "id", "> b"},
		{"a rule ends a paragraph", "a\n_ __\nb ^x", "x", "b ^x"},
		{"two marks are no rule", "a\n__\nb ^x", "x", "a\n__\nb ^x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			block, ok := Scan([]byte(test.text)).Block(test.id)
			require.That(t, ok, "no block")
			assert.Equal(t, test.text[block.Span.Start:block.Span.End], test.want)
		})
	}
	_, ok := (Note{}).Block("x")
	assert.That(t, !ok, "an empty note has a block")
}

func TestSections(t *testing.T) {
	const text = "intro\n# a\nb\n## c\nd\n# e\nf\n==\ng"
	note := Scan([]byte(text))
	want := []string{"# a\nb\n## c\nd\n", "## c\nd\n", "# e\n", "f\n==\ng"}
	var got []string
	for n := range note.Headings {
		span := note.Section(n)
		got = append(got, text[span.Start:span.End])
	}
	assert.That(t, slices.Equal(got, want), "got %q, want %q", got, want)
}

func TestFrontmatter(t *testing.T) {
	tests := []struct {
		name, text  string
		frontmatter Span
		body, line  int
	}{
		{"a block", "---\na: 1\n---\nb", Span{4, 9}, 13, 4},
		{"a block of another system", "---\r\na: 1\r\n---\r\nb", Span{5, 11}, 16, 4},
		{"an empty block", "---\n---\n", Span{4, 4}, 8, 3},
		{"nothing behind", "---\na: 1\n---", Span{4, 9}, 12, 3},
		{"blanks behind the dashes are forgiven", "--- \na: 1\n---\t\nb", Span{5, 10}, 15, 4},
		{"behind a byte order mark", bom + "---\na: 1\n---\nb", Span{7, 12}, 16, 4},
		{"an unclosed block is none", "---\na: 1\n", Span{}, 0, 1},
		{"a block below a blank line is none", "\n---\na: 1\n---\n", Span{}, 0, 1},
		{"a block behind a blank is none", " ---\na: 1\n---\n", Span{}, 0, 1},
		{"four dashes are no fence", "----\na: 1\n----\n", Span{}, 0, 1},
		{"four dashes do not close", "---\na: 1\n----\n", Span{}, 0, 1},
		{"dots do not close", "---\na: 1\n...\n", Span{}, 0, 1},
		{"dashes alone", "---", Span{}, 0, 1},
		{"no text", "", Span{}, 0, 1},
		{"a byte order mark alone", bom, Span{}, 0, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := Scan([]byte(test.text))
			if n.Frontmatter != test.frontmatter || n.Body != test.body || n.BodyLine != test.line {
				t.Errorf("got %v, %d, %d; want %v, %d, %d", n.Frontmatter, n.Body, n.BodyLine, test.frontmatter, test.body, test.line)
			}
			assert.Equal(t, n.Size, len(test.text), "size")
		})
	}
}
