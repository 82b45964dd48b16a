package bases

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// rules are what the table of the sheet leaves out, by subject and evidence. They
// are evaluated for the same note.
var rules = []subject{
	{"what the language does not have", documented, [][2]string{
		{`{}`, "Error: Unable to parse formula. (position 0)"},
		{`n ?? 1`, "Error: Unable to parse formula. (position 2)"},
		{`n or n`, "Error: Unable to parse formula. (position 2)"},
		{`not n`, "Error: Unable to parse formula. (position 4)"},
		{`n = 7`, "Error: Unable to parse formula. (position 2)"},
		{`n === 7`, "Error: Unable to parse formula. (position 4)"},
		{`n => 7`, "Error: Unable to parse formula. (position 2)"},
		{`12px`, "Error: Unable to parse formula. (position 2)"},
		{`(1).round()`, "1"}, {`a-b`, null}, {`(1, 2)`, "Error: Unable to parse formula. (position 2)"},
		{`[`, "Error: Unable to parse formula. (position 1)"},
		{`)`, "Error: Unable to parse formula. (position 0)"},
		{`"open`, "Error: Unable to parse formula. (position 0)"},
		{`/open`, "Error: Unable to parse formula. (position 0)"},
		{`"💩" "x"`, "Error: Unable to parse formula. (position 5)"},
		{`n.`, "Error: Unable to parse formula. (position 2)"},
		{`.n`, "Error: Unable to parse formula. (position 0)"},
	}},
	{"chained comparison", computed, [][2]string{{`1 < 2 < 2`, "true"}, {`3 > 2 > 1`, "false"}, {`3 == 3 == 3`, "false"}}},
	{"space between tokens", documented, [][2]string{{"  n\n  +\n\t1  ", "8"}, {"nums\n .length", "3"}, {"nums [0]", "4"}, {"min (1, 2)", "1"}}},
	{"slashes", computed, [][2]string{
		{`/[/]/.matches("a/b")`, "true"}, {`/\//.matches("a/b")`, "true"}, {`nums[0] / 2`, "2"}, {`(n) / 7`, "1"},
		{`n / 7 / 1`, "1"}, {`[/a/, /b/].length`, "2"}, {`/a/x`, "Error: Unable to parse formula. (position 0)"},
		{`/a/gg`, "Error: Unable to parse formula. (position 0)"},
		{`/[/.matches("a")`, "Error: Unable to parse formula. (position 0)"},
	}},
	{"names of the language within a list method only", documented,
		[][2]string{{`acc`, null}, {`values`, null}, {`nums.map(values)`, ", , "},
			{`nums.filter(note.n > value)`, "4, 2"}, {`nums.map(index)`, "0, 1, 2"}, {`nums.reduce(acc + index, 0)`, "3"},
			{`nums.reduce([1].map(acc)[0] + value, 0)`, "15"}, {`nums.map([value].map(index)[0])`, "0, 0, 0"}}},
	{"lazy", recorded, [][2]string{{`if(true, 1, nope())`, "1"}, {`if(false, nope(), 2)`, "2"},
		{`false && nope()`, "false"}, {`true || nope()`, "true"},
		{`if(nope(), 1, 2)`, `Error: Cannot find function "nope"`},
		{`true && nope()`, `Error: Cannot find function "nope"`}}},
	{"members of null", recorded, [][2]string{
		{`nothing.length`, null}, {`nothing.lower()`, null}, {`nothing.nope()`, null},
		{`nothing.containsAny("a")`, "false"}, {`nothing.containsAll("a")`, "false"}, {`nothing["a"]`, null},
		{`nothing.asFile().path`, null},
		{`nothing.toString().length`, "0"}, {`nothing.isType("string")`, "false"}, {`empty.isEmpty()`, "true"},
	}},
	{"wrong members", recorded, [][2]string{
		{`n.nope`, `Error: Cannot find "nope" on type Number`},
		{`done.nope`, `Error: Cannot find "nope" on type Boolean`},
		{`start.nope`, `Error: Cannot find "nope" on type Date`},
		{`nums.nope`, `Error: Cannot find "nope" on type List`},
		{`duration("1d").nope`, `Error: Cannot find "nope" on type Duration`},
		{`/a/.nope`, `Error: Cannot find "nope" on type RegExp`},
		{`file.tags[0].nope`, `Error: Cannot find "nope" on type Tag`},
		{`n.nope()`, `Error: Cannot find function "nope" on type Number`},
		{`done.nope()`, `Error: Cannot find function "nope" on type Boolean`},
		{`start.nope()`, `Error: Cannot find function "nope" on type Date`},
		{`nums.nope()`, `Error: Cannot find function "nope" on type List`},
		{`owner.nope()`, `Error: Cannot find function "nope" on type Link`},
		{`file.nope()`, `Error: Cannot find function "nope" on type File`},
		{`/a/.nope()`, `Error: Cannot find function "nope" on type RegExp`},
		{`file.properties.nope()`, `Error: Cannot find function "nope" on type Object`},
		{`owner.map(value)`, `Error: Cannot find function "map" on type Link`},
		{`Now()`, `Error: Cannot find function "Now"`},
		{`title.Lower()`, `Error: Cannot find function "Lower" on type String`},
		{`taggedWith("a")`, `Error: Cannot find function "taggedWith"`},
	}},
	{"index of what is no list", documented,
		[][2]string{{`n[0]`, `Error: Cannot access index "0" of non-array value`},
			{`title["x"]`, `Error: Cannot access index "x" of non-array value`},
			{`start[1]`, `Error: Cannot access index "1" of non-array value`}, {`nums["x"]`, null}}},
	{"errors pass through", chosen, [][2]string{
		{`nope() + 1`, `Error: Cannot find function "nope"`}, {`1 + nope()`, `Error: Cannot find function "nope"`},
		{`nope() == 1`, `Error: Cannot find function "nope"`}, {`!nope()`, `Error: Cannot find function "nope"`},
		{`nope().a.b()`, `Error: Cannot find function "nope"`},
		{`[nope()]`, `Error: Cannot find function "nope"`},
		{`title.contains(nope())`, `Error: Cannot find function "nope"`},
		{`nums[nope()]`, `Error: Cannot find function "nope"`},
		{`nums.filter(nope())`, `Error: Cannot find function "nope"`},
		{`-nope()`, `Error: Cannot find function "nope"`},
	}},
	{"arity", documented, [][2]string{
		{`title.lower(1)`, `Error: Cannot call function "lower", too many arguments.`},
		{`title.contains()`, `Error: Cannot call function "contains", not enough arguments.`},
		{`title.replace("a")`, `Error: Cannot call function "replace", not enough arguments.`},
		{`nums.filter()`, `Error: Cannot call function "filter", not enough arguments.`},
		{`nums.reduce(acc)`, `Error: Cannot call function "reduce", not enough arguments.`},
		{`nums.sort(1)`, `Error: Cannot call function "sort", too many arguments.`},
		{`n.toFixed()`, `Error: Cannot call function "toFixed", not enough arguments.`},
		{`n.round(1, 2)`, `Error: Cannot call function "round", too many arguments.`},
		{`start.format()`, `Error: Cannot call function "format", not enough arguments.`},
		{`owner.asFile(1)`, `Error: Cannot call function "asFile", too many arguments.`},
		{`file.hasTag()`, `Error: Cannot call function "hasTag", not enough arguments.`},
		{`file.inFolder()`, `Error: Cannot call function "inFolder", not enough arguments.`},
		{`max()`, `Error: Cannot call function "max", not enough arguments.`},
		{`if(1, 2, 3, 4)`, `Error: Cannot call function "if", too many arguments.`},
		{`link()`, `Error: Cannot call function "link", not enough arguments.`},
		{`today(1)`, `Error: Cannot call function "today", too many arguments.`},
		{`/a/.matches()`, `Error: Cannot call function "matches", not enough arguments.`},
		{`n.isType()`, `Error: Cannot call function "isType", not enough arguments.`},
		{`duration()`, `Error: Cannot call function "duration", not enough arguments.`},
	}},
	{"types of arguments", documented, [][2]string{
		{`title.repeat("x")`, `Error: Type error in "repeat", parameter "count". Expected Number, given String.`},
		{`nums.slice("x")`, `Error: Type error in "slice", parameter "start". Expected Number, given String.`},
		{`n.isType(1)`, `Error: Type error in "isType", parameter "type". Expected String, given Number.`},
		{`duration(5)`, `Error: Type error in "duration", parameter "value". Expected String, given Number.`},
		{`start.format(1)`, `Error: Type error in "format", parameter "format". Expected String, given Number.`},
		{`file(1)`, `Error: Type error in "file", parameter "path". Expected String, given Number.`},
		{`link(1)`, `Error: Type error in "link", parameter "path". Expected String, given Number.`},
	}},
	{"equality of other kinds", agreed, [][2]string{
		{`done == 0`, "true"}, {`done == "false"`, "false"}, {`nothing == ""`, "false"}, {`nothing == 0`, "false"},
		{`null == []`, "false"}, {`n != "7"`, "false"}, {`[n] == "7"`, "true"}, {`[] == []`, "true"},
		{`[[1]] == [[1]]`, "true"}, {`[n, 8] == n`, "false"},
		{`start == n`, "false"}, {`nums == title`, "false"}, {`owner == n`, "false"}, {`file == owner`, "false"},
		{`file == file`, "true"}, {`file == link("Plan")`, "true"}, {`owner == link("Proj/Ann.md#x", "y")`, "true"},
		{`link("No") == link("No.md")`, "false"},
		{`file.properties == file.properties`, "true"}, {`file.tags[1] == "idea"`, "true"},
		{`file.tags[1] == "#IDEA"`, "true"}, {`file.tags[0] == "home"`, "false"}, {`duration("1d") == 1`, "false"},
		{`duration("1d") == "24h"`, "true"}, {`start == "20250301"`, "true"}, {`meet == start`, "true"},
		{`/a/ == /a/`, "true"}, {`/a/ == "a"`, "false"}, {`(0 / 0) == (0 / 0)`, "false"}, {`title != title`, "false"},
	}},
	{"ordering of other kinds", agreed, [][2]string{
		{`start <= meet`, "true"}, {`"2025-02-28" < start`, "true"}, {`"3h" > duration("2h")`, "true"},
		{`false < true`, "true"}, {`done < 1`, "true"}, {`"7" >= n`, "true"}, {`owner > 1`, "false"},
		{`file < file`, "false"}, {`nothing <= nothing`, "false"}, {`null > -1`, "false"},
		{`"a" < "B"`, "false"}, {`"\uD83D" == "x"`, "false"}, {`"ﬀ" < "💩"`, "false"}, {`duration("1d") > n`, "false"},
		{`(0 / 0) <= (0 / 0)`, "false"}, {`"10" < "9"`, "true"},
	}},
	{"arithmetic of other kinds", agreed, [][2]string{
		{`title + start.year`, "Big Plan2025"}, {`title + done`, "Big Planfalse"}, {`owner + "!"`, "[[Ann|A.]]!"},
		{`file + "!"`, "Proj/Plan.md!"}, {`n + done`, "Error: Invalid operator between Number and Boolean"},
		{`done * 2`, "Error: Invalid operator between Boolean and Number"},
		{`title / n`, "Error: Invalid operator between String and Number"},
		{`n % title`, "Error: Invalid operator between Number and String"},
		{`title + start`, "Error: Invalid operator between String and Date"},
		{`duration("1d") + "x"`, "Error: Invalid operator between Duration and String"},
		{`"x" + duration("1d")`, "Error: Invalid operator between String and Duration"},
		{`duration("1d") + 1`, "Error: Invalid operator between Duration and Number"},
		{`duration("2d") - "1d"`, "a day"}, {`n * nothing`, null}, {`nothing / 0`, null}, {`nothing % 2`, null},
		{`start + nothing`, null}, {`nothing - start`, null},
		{`nums - 1`, "Error: Invalid operator between List and Number"},
		{`-title`, "Error: Invalid operator between Number and String"},
		{`start + 1`, "Error: Invalid operator between Date and Number"}, {`(start - "2025-02-01").days`, "28"},
		{`start - "1M"`, "2025-02-01"}, {`start + "0h"`, "2025-03-01"},
	}},
	{"empty lists and objects", recorded,
		[][2]string{{`![]`, "true"}, {`[] && true`, "false"}, {`[nothing].isTruthy()`, "true"}, {`[].length`, "0"},
			{`[].join(",")`, ""}, {`[].mean()`, null}, {`[].sum()`, null}, {`[][0]`, null}}},
	{"dates in more forms", documented, [][2]string{
		{`date("2025-01-02T03:04+02:00")`, "2025-01-01T22:04:00"}, {`date("  2025-01-02 ")`, "2025-01-02"}, {`date("[[2025-01-02]]")`, "2025-01-02"},
		{`date(link("2025-01-02"))`, "2025-01-02"},
		{`date("tomorrow")`, `Error: Unable to parse "tomorrow" as a date.`},
		{`date("2025-01-02 3pm")`, `Error: Unable to parse "2025-01-02 3pm" as a date.`},
		{`today() == now()`, "true"}, {`now() == now()`, "true"},
	}},
	{"parts of dates and durations", recorded, [][2]string{
		{`start.hour`, "0"}, {`start.time()`, "00:00:00"}, {`meet.date()`, "2025-03-01"}, {`start.isEmpty()`, "false"},
		{`meet.format("[at] LL")`, "at March 1, 2025"}, {`duration("1y").months.round()`, "12"},
		{`duration("14d").weeks`, "2"}, {`duration("1m").seconds`, "60"}, {`duration("1s").milliseconds`, "1000"},
		{`duration("730d").years.round()`, "2"}, {`duration("1 day").days`, "1"},
		{`duration("3M").months.round()`, "3"},
		{`duration("2 years")`, "2 years"}, {`duration("4 weeks")`, "a month"}, {`duration("1 minute").minutes`, "1"},
		{`duration("3 seconds").seconds`, "3"}, {`duration("1h").isType("duration")`, "true"},
		{`duration("1 mo")`, `Error: Unable to parse "1 mo" as a duration.`},
		{`duration("1hr")`, `Error: Unable to parse "1hr" as a duration.`},
		{`duration("")`, `Error: Unable to parse "" as a duration.`},
	}},
	{"calendar", computed, [][2]string{
		{`date("2024-02-29") + "12M"`, "2025-02-28"}, {`date("2025-01-30") + "1M"`, "2025-02-28"},
		{`date("2025-01-31") + "1M" + "1M"`, "2025-03-28"}, {`date("2025-12-31") + "2 months"`, "2026-02-28"},
		{`start + "1w"`, "2025-03-08"}, {`start + "1y" - "1y"`, "2025-03-01"},
		{`meet + "1d"`, "2025-03-02T09:30:00"}, {`start - "1s"`, "2025-02-28T23:59:59"},
		{`(now() - "2M").relative()`, "2 months ago"}, {`(now() + "26d").relative()`, "in a month"},
		{`(now() - "1y").relative()`, "a year ago"}, {`today().relative()`, "8 hours ago"},
		{`(now() + "44m").relative()`, "in 44 minutes"},
	}},
	{"kinds", documented, [][2]string{
		{`n.isType("NUMBER")`, "true"}, {`done.isType("boolean")`, "true"}, {`nums.isType("list")`, "true"},
		{`file.properties.isType("object")`, "true"}, {`file.isType("file")`, "true"},
		{`/a/.isType("regexp")`, "true"}, {`html("a").isType("html")`, "true"},
		{`icon("a").isType("icon")`, "true"}, {`image("a").isType("image")`, "true"},
		{`file.tags[0].isType("tag")`, "true"}, {`file.tags[0].isType("string")`, "false"}, {`duration("1d").isType("date")`, "false"},
	}},
	{"texts are the text of what derives from them", documented, [][2]string{
		{`owner.length`, "10"}, {`file.tags[1].length`, "5"}, {`html("<b>").length`, "3"},
		{`file.tags[1].slice(1)`, "idea"}, {`html("<b>").lower()`, "<b>"}, {`icon("Star").lower()`, "star"},
		{`owner.lower()`, "[[ann|a.]]"}, {`file.tags[0].split("/").length`, "2"}, {`owner.isEmpty()`, "false"},
	}},
	{"text methods, further", computed, [][2]string{
		{`"war-AND".title()`, "War-and"}, {`"a b".split(" ", 1)`, "a"}, {`"abc".split("", 2)`, "a, b"},
		{`"a,b".split(",", 0).length`, "0"}, {`"abc".slice(-2)`, "bc"}, {`"abc".slice(5)`, ""},
		{`"abc".slice(0, -1)`, "ab"}, {`"abc".slice(1.9)`, "bc"}, {`"aaa".replace("a", "b")`, "bbb"},
		{`"aAa".replace(/a/gi, "-")`, "---"},
		{`"abc".replace("", "-")`, "-a-b-c-"}, {`"ab".replace(/(b)(a)?/, "[$1$2$3]")`, "a[b$3]"},
		{`"ab".replace(/b/, "$$")`, "a$"}, {`"\u00a0a\u3000".trim().length`, "13"}, {`"ß".title()`, "ß"},
		{`"x".repeat(-1)`, ""}, {`"x".repeat(2.9)`, "xx"}, {`"a💩b".reverse() == "b💩a"`, "false"},
		{`title.containsAny()`, `Error: Cannot call function "containsAny", not enough arguments.`},
		{`title.containsAll(["big", "PLAN"])`, "true"}, {`title.contains(nothing)`, "false"},
		{`title.startsWith("plan")`, "false"}, {`"".contains("")`, "true"},
	}},
	{"number methods, further", computed, [][2]string{
		{`(2.345).round(2)`, "2.35"}, {`(-0.5).round()`, "0"}, {`(1.45).toFixed(1)`, "1.4"},
		{`(-1.5).toFixed(0)`, "-2"}, {`(0).toFixed(2)`, "0.00"}, {`(1e-7).toFixed(3)`, "0.000"},
		{`(5).round(1)`, "5"}, {`(12.5).floor()`, "12"}, {`(-12.5).ceil()`, "-12"}, {`(n / 0).round()`, "Infinity"},
		{`n.toFixed(2).isType("string")`, "true"},
	}},
	{"list methods, further", documented, [][2]string{
		{`nums.containsAny(nothing)`, "false"}, {`[nothing].contains(nothing)`, "true"},
		{`nums.containsAll([4, 9], 2)`, "true"}, {`nums.slice(0, 2)`, "4, 9"}, {`nums.slice(-2, -1)`, "9"},
		{`nums.slice(2, 1).length`, "0"}, {`[3, "b", 1, "a"].sort().length`, "4"},
		{`[nothing, 2, 1].sort()[2]`, null}, {`["b", "A", "a10", "a9"].sort()`, "A, a9, a10, b"},
		{`[[], [1]].flat().length`, "1"}, {`[true, "true"].unique().length`, "2"},
		{`[link("Ann"), link("Proj/Ann")].unique().length`, "2"},
		{`[link("Ann"), link("Ann")].unique().length`, "1"}, {`nums.reverse()[0]`, "2"},
		{`nums.isEmpty()`, "false"}, {`nums.isTruthy()`, "true"}, {`[start, meet].earliest()`, "2025-03-01"},
		{`nums.earliest()`, null},
		{`[2, "x"].sum()`, "2"}, {`[1, 2, 3, 4].median()`, "2.5"}, {`[1, 2, 3, 4].stddev().toFixed(3)`, "1.118"},
		{`nums.reduce(acc, nothing)`, null}, {`[].reduce(nope(), 5)`, "5"}, {`nums.map(value)[1]`, "9"},
		{`nums + nums`, "4, 9, 2, 4, 9, 2"}, {`(nums + nums).length`, "6"}, {`(nums + "x").length`, "4"},
		{`nums.reduce(acc + [1, 2].reduce(acc + value, 0), 0)`, "9"},
		{`nums.join()`, `Error: Cannot call function "join", not enough arguments.`},
	}},
	{"objects", documented, [][2]string{{`file.properties.keys()[0]`, "n"}, {`file.properties.values()[0]`, "7"},
		{`file.properties.TITLE`, "Big Plan"}, {`file.properties["Title"]`, "Big Plan"}, {`note.Title`, "Big Plan"},
		{`note["NUMS"].length`, "3"}, {`note.title`, "Big Plan"}, {`file("pic.png").properties.isEmpty()`, "true"}}},
	{"global functions, further", documented, [][2]string{
		{`max(1, 2, 3)`, "3"}, {`min(nothing, 4)`, "4"}, {`number(" 12 ")`, "12"}, {`number(false)`, "0"},
		{`number(7)`, "7"}, {`number("1e3")`, "1000"}, {`list("a").length`, "1"}, {`list(nums).length`, "3"},
		{`list(false)`, "false"}, {`escapeHTML("\"&\"")`, "&quot;&amp;&quot;"}, {`html("<i>x</i>")`, "<i>x</i>"},
		{`icon("star")`, "star"},
		{`image("pic.png")`, "![](pic.png)"}, {`image(file("pic.png"))`, "![](pic.png)"},
		{`link("https://a.b/c", "d")`, "[[https://a.b/c|d]]"}, {`link("Ann", icon("star"))`, "[[Ann|star]]"},
		{`link(nothing)`, null}, {`file("Proj/Ann#x").path`, "Proj/Ann.md"},
		{`file("PROJ/ann").path`, "Proj/Ann.md"}, {`file("../pic.png").path`, "pic.png"},
		{`file("[[Ann|x]]").path`, "Proj/Ann.md"}, {`file(file).path`, "Proj/Plan.md"}, {`random() >= 0`, "true"},
		{`number("Infinity")`, "Infinity"}, {`upper("a")`, `Error: Cannot find function "upper"`},
	}},
	{"files", documented, [][2]string{
		{`file`, "Proj/Plan.md"}, {`file.file.name`, "Plan"}, {`file("pic.png").ext`, "png"},
		{`file("pic.png").fullname`, "pic.png"}, {`file("Q.base").name`, "Q.base"},
		{`file("Q.base").basename`, "Q"}, {`file("pic.png").tags.length`, "0"},
		{`file("pic.png").backlinks[0]`, "[[Proj/Plan.md|Plan]]"}, {`file.size > 100`, "true"},
		{`file.links.length`, "3"},
		{`file.embeds.length`, "1"}, {`file.links[1]`, "[[Ann|Ann]]"}, {`file.inFolder("proj")`, "false"},
		{`file.inFolder("")`, "true"}, {`file("pic.png").inFolder("Proj")`, "false"},
		{`file("pic.png").inFolder("/")`, "true"}, {`file.hasTag("#TODO")`, "true"},
		{`file.hasTag("area/hom")`, "false"}, {`file.hasTag("none", "idea")`, "true"},
		{`file.hasProperty("n")`, "true"}, {`file("pic.png").hasProperty("n")`, "false"},
		{`file("Ann").asLink().asFile() == file("Ann")`, "true"}, {`file.hasLink("pic.png")`, "true"},
		{`file.hasLink(file("pic.png"))`, "true"}, {`file.hasLink("Proj/Plan")`, "false"},
		{`file.tags.contains("todo")`, "true"}, {`file.Tags.length`, "3"},
		{`this`, "Q.base"}, {`this.file.path`, "Q.base"}, {`this.note.n`, null}, {`this.n`, null},
		{`file != this`, "true"}, {`[file].contains(this)`, "false"}, {`[this].contains(this.file)`, "true"},
		{`this == "Q.base"`, "true"},
	}},
}

func TestRules(t *testing.T) {
	v := newVault(t, examples, "Q.base")
	session := formula.NewSession(t.Context(), v.Source().Environment)
	for _, s := range rules {
		t.Run(s.subject, func(t *testing.T) { s.check(t, session.Row(v.Entry("Proj/Plan.md"))) })
	}
}

// span is a duration.
func span(text string) formula.Value {
	s, ok := formula.ParseSpan(text)
	if !ok {
		panic(text)
	}
	return formula.OfSpan(s)
}

// named makes notes a, b, c … with the property v; nothing is a note without it.
func named(values ...any) []*note {
	var notes []*note
	for i, v := range values {
		name := string(rune('a'+i)) + ".md"
		if v == nil {
			notes = append(notes, with(name))
			continue
		}
		notes = append(notes, with(name, "v", v))
	}
	return notes
}

func letters(t *Table) string {
	var out strings.Builder
	for _, row := range t.Rows {
		out.WriteString(strings.TrimSuffix(row.Path, ".md"))
	}
	return out.String()
}

func TestSort(t *testing.T) {
	null := formula.Value{}
	for _, test := range []struct {
		name            string
		notes           []*note
		ascending, down string
	}{
		{"numbers", named(10, 9, -1, 2.5), "cdba", "abdc"},
		{"texts, numbers in them by value, without regard to case", named("a10", "a2", "B", "A2", "b"), "bdace", "ceabd"},
		{"dates", named(day("2025-03-01"), day("2024-12-31"), day("2025-02-28")), "bca", "acb"},
		{"durations", named(span("1d"), span("90m"), span("23h"), span("1M")), "bcad", "dacb"},
		{"booleans", named(true, false, true), "bac", "acb"},
		{"a missing checkbox counts as not checked", named(true, nil, false), "bca", "abc"},
		{"an empty checkbox too", named(true, null, false), "bca", "abc"},
		{"nothing is last in both directions", named(nil, 2, null, 1), "dbac", "bdac"},
		{"an empty list is a value and the first", named([]any{"b"}, []any{}, nil, []any{"a", "z"}), "bdac", "adbc"},
		{"an empty text is a value and the first", named("b", "", nil, "a"), "bdac", "adbc"},
		{"links by their text", named(formula.OfTarget(formula.Target{Text: "b"}),
			formula.OfTarget(formula.Target{Text: "A", Display: "z"}), formula.OfTarget(formula.Target{Text: "a"})),
			"cba", "abc"},
		{"equal keys stay in the order of paths", named(1, 1, 1), "abc", "abc"},
		{"kinds that are mixed by their text", named("b", 3, day("2025-01-01"), true), "bcad", "dacb"},
	} {
		for direction, want := range map[string]string{"ASC": test.ascending, "DESC": test.down} {
			got := letters(answer(t, "views: [{sort: [{property: v, direction: "+direction+"}]}]", test.notes, Query{}))
			assert.That(t, got == want, "%s, %s: %s, want %s", test.name, direction, got, want)
		}
	}
}

func TestSortKeys(t *testing.T) {
	notes := []*note{with("x/c.md", "n", 1, "m", 2), with("a.md", "n", 1, "m", 1), with("y/B 2.md", "n", 0), with("y/B 10.md", "n", 0)}
	for _, test := range []struct{ base, want string }{
		{"", "a.md y/B 2.md y/B 10.md x/c.md"},
		{"views: [{sort: []}]", "a.md y/B 2.md y/B 10.md x/c.md"},
		{"views: [{sort: [{property: n}, {property: m, direction: DESC}]}]", "y/B 2.md y/B 10.md x/c.md a.md"},
		{"views: [{sort: [{property: file.name, direction: DESC}]}]", "x/c.md y/B 10.md y/B 2.md a.md"},
		{"formulas: {f: n - m}\nviews: [{sort: [{property: formula.f, direction: DESC}]}]", "a.md x/c.md y/B 2.md y/B 10.md"}, // 0, -1 and twice nothing
		{"formulas: {f: nope()}\nviews: [{sort: [{property: formula.f}]}]", "a.md x/c.md y/B 2.md y/B 10.md"},
		{"views: [{sort: [{property: none}, {property: formula.none}, {property: file.none}]}]", "a.md x/c.md y/B 2.md y/B 10.md"},
		{"views: [{limit: 2, sort: [{property: n}]}]", "y/B 2.md y/B 10.md"},
		{"views: [{limit: 100}]", "a.md y/B 2.md y/B 10.md x/c.md"},
	} {
		got := strings.Join(pathsOf(answer(t, test.base, notes, Query{})), " ")
		assert.That(t, got == test.want, "%s\n%s, want %s", test.base, got, test.want)
	}
}

func TestGroups(t *testing.T) {
	notes := named("x", nil, "y", []any{}, "x", []any{"b", "a"}, formula.Value{})
	for _, test := range []struct{ direction, rows, groups string }{
		{"", "dfaecbg", "=1 b, a=1 x=2 y=1 =2"}, {"direction: ASC", "dfaecbg", "=1 b, a=1 x=2 y=1 =2"}, {"direction: DESC", "caefdbg", "y=1 x=2 b, a=1 =1 =2"},
	} {
		table := answer(t, "views: [{groupBy: {property: v, "+test.direction+"}}]", notes, Query{})
		var groups []string
		for _, g := range table.Groups {
			groups = append(groups, g.Key.Text()+"="+string(rune('0'+g.Rows)))
		}
		if got := strings.Join(groups, " "); letters(table) != test.rows || got != test.groups {
			t.Errorf("%q: %s in %q, want %s in %q", test.direction, letters(table), got, test.rows, test.groups)
		}
		if last := table.Groups[len(table.Groups)-1]; !last.Key.IsNull() {
			t.Errorf("%q: the last group is %q", test.direction, last.Key.Text())
		}
	}
}

func TestSummaries(t *testing.T) {
	notes := []*note{
		with("a.md", "n", 3, "d", day("2025-01-01"), "c", true, "t", "x"), with("b.md", "n", 9, "d", day("2025-01-11"), "c", false, "t", "x"),
		with("c.md", "n", formula.Value{}, "c", true, "t", ""), with("d.md", "t", "y", "l", []any{}),
	}
	const base = "summaries: {mine: values.filter(value.isType(\"number\")).mean(), Sum: '\"own\"', all: values.length, bad: values.nope(), dates: values.latest()}\nviews: [{sort: [{property: file.name}], summaries: {%: @}}]"
	for _, test := range []struct{ column, name, want string }{
		{"n", "Average", "3"}, {"n", "Min", "3"}, {"n", "Max", "9"}, {"n", "Range", "6"}, {"n", "Median", "6"},
		{"n", "Stddev", "3"}, {"n", "Sum", "own"}, {"n", "mine", "6"}, {"n", "all", "4"}, {"n", "Empty", "2"},
		{"n", "Filled", "2"}, {"n", "Unique", "2"},
		{"d", "Earliest", "2025-01-01"}, {"d", "Latest", "2025-01-11"}, {"d", "Range", "10 days"},
		{"d", "dates", "2025-01-11"}, {"c", "Checked", "2"}, {"c", "Unchecked", "1"}, {"t", "Unique", "2"},
		{"t", "Empty", "1"}, {"l", "Empty", "4"},
		{"t", "Min", ""}, {"t", "Earliest", ""}, {"n", "bad", `Error: Cannot find function "nope" on type List`}, {"n", "Total", ""}, {"none", "Filled", "0"},
	} {
		text := strings.NewReplacer("%", test.column, "@", test.name).Replace(base)
		if got := answer(t, text, notes, Query{}).Summaries[0]; got.Value.Text() != test.want || got.ID != test.column || got.Name != test.name {
			t.Errorf("%s of %s is %q, want %q", test.name, test.column, got.Value.Text(), test.want)
		}
	}
	table := answer(t, "views: [{limit: 2, groupBy: {property: t}, summaries: {n: Max}}]", notes, Query{})
	assert.Equal(t, table.Summaries[0].Value.Text(), "3", "the summary of limited rows")
	require.Equal(t, len(table.Groups), 2, "the groups are %+v", table.Groups)
	require.That(t, table.Groups[0].Summaries[0].Value.IsNull(), "the groups are %+v", table.Groups)
	assert.Equal(t, table.Groups[1].Summaries[0].Value.Text(), "3", "the groups are %+v", table.Groups)
}

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
	session := formula.NewSession(t.Context(), v.Source().Environment)
	check := func(note string, s subject) {
		t.Run(s.subject, func(t *testing.T) { s.check(t, session.Row(v.Entry(note))) })
	}
	check("dir/Hub.md", subject{"texts of the links", recorded, [][2]string{
		{`file.links.slice(0, 3)`, "[[Top]], [[Leaf|l]], [[Nobody]]"},
		{`file.links.slice(3, 7)`, "[[Leaf|Leaf]], [[Leaf#A|Leaf > A]], [[Leaf#^id|Leaf > ^id]], [[Leaf|shown]]"},
		{`file.links.slice(7, 9)`, "[[Leaf|blanks]], [[Leaf#A|both]]"},
		{`file.links.slice(10, 14)`, "[[Leaf.md|text]], [[../Top.md|far]], [[My Note.md|coded]], [[a%2Cb.md|kept]]"},
		{`file.links.slice(14, 16)`, "[[Gone|Gone]], [[gone2.md|gone2.md]]"},
		{`file.links.slice(16)`, "[[pic.png|pic.png]], [[pic.png|alt]], [[Leaf|Leaf]]"},
		{`file.embeds`, "[[pic.png|pic.png]], [[pic.png|alt]], [[Leaf|Leaf]]"}, {`file.links.length`, "19"},
	}})
	check("dir/Hub.md", subject{"where links lead", recorded, [][2]string{
		{`up.asFile().path`, "Top.md"}, {`more[0].asFile().path`, "dir/Leaf.md"}, {`more[1].asFile()`, null},
		{`file.links[3].asFile().path`, "dir/Leaf.md"}, {`file.links[11].asFile().path`, "Top.md"},
		{`file.links[13].asFile()`, null}, {`file.links[4] == link("Leaf")`, "true"},
		{`link("Leaf").asFile().path`, "dir/Leaf.md"}, {`link("other/Leaf").asFile().path`, "other/Leaf.md"},
		{`link("TOP").asFile().path`, "Top.md"}, {`file("other/Leaf").links[0].asFile().path`, "other/Leaf.md"},
		{`link("Top").linksTo(file)`, "true"}, {`link("Top").linksTo("Leaf")`, "false"},
		{`link("board.canvas").linksTo(file)`, "true"},
		{`up == file("Top")`, "true"}, {`up == link("Top#x")`, "true"}, {`up == "[[Top|any]]"`, "true"},
		{`more.contains(link("dir/Leaf"))`, "true"}, {`more.contains(link("other/Leaf"))`, "false"},
		{`file.links.contains(file("pic.png"))`, "true"}, {`file.links.map(value.asFile()).unique().length`, "6"},
	}})
	check("dir/Hub.md", subject{"hasLink", recorded, [][2]string{
		{`file.hasLink("Leaf")`, "true"}, {`file.hasLink("Leaf.md")`, "true"}, {`file.hasLink("dir/Leaf#x")`, "true"},
		{`file.hasLink("other/Leaf")`, "false"}, {`file.hasLink("Gone")`, "true"}, {`file.hasLink("gone")`, "true"},
		{`file.hasLink("Gone.md")`, "false"}, {`file.hasLink("gone2")`, "false"},
		{`file.hasLink("gone2.md")`, "true"},
		{`file.hasLink("Gone#x")`, "true"}, {`file.hasLink("Nobody")`, "true"}, {`file.hasLink("Top")`, "true"},
		{`file.hasLink("pic.png")`, "true"}, {`file.hasLink("https://example.org")`, "false"},
		{`file.hasLink(up)`, "true"}, {`file.hasLink(link("Gone", "x"))`, "true"},
		{`file.hasLink(file("Top"))`, "true"}, {`file.hasLink("[[Top]]")`, "true"},
		{`file("Top").hasLink("Hub")`, "true"}, {`file("Top").hasLink(file)`, "true"},
		{`file("board.canvas").hasLink(file)`, "true"}, {`file.hasLink("./Leaf")`, "true"},
		{`file("other/Leaf").hasLink("./Leaf")`, "true"}, {`file.hasLink("Code")`, "false"},
		{`this.file.hasLink(file)`, "false"},
	}})
	check("dir/Hub.md", subject{"backlinks", recorded, [][2]string{
		{`file.backlinks`, "[[board.canvas|board]], [[dir/Hub.md|Hub]], [[Top.md|Top]]"},
		{`file.backlinks.length`, "3"}, {`file.hasLink(file)`, "true"},
		{`file("Top").backlinks`, "[[dir/Hub.md|Hub]]"}, {`file("pic.png").backlinks`, "[[dir/Hub.md|Hub]]"},
		{`file("My Note").backlinks.length`, "1"}, {`this.file.backlinks`, "[[shows.md|shows]]"},
		{`file("other/Leaf").backlinks`, "[[other/Leaf.md|Leaf]]"},
		{`file("B.base").backlinks[0].asFile().path`, "shows.md"},
	}})
	check("shows.md", subject{"an embedded base", documented,
		[][2]string{{`file.embeds`, "[[B.base#All|B.base > All]]"}, {`file.hasLink(this)`, "true"},
			{`file.links.contains(this)`, "true"}, {`file.links.contains(this.file)`, "true"}, {`this.file.name`, "B.base"},
			{`this.file.folder`, "/"}, {`this.anything`, null}, {`this.note.x`, null}}})
	check("board.canvas", subject{"a file that is no note", documented,
		[][2]string{{`file.name`, "board.canvas"}, {`file.basename`, "board"}, {`file.tags`, ""},
			{`file.properties.keys().length`, "0"}, {`file.hasProperty("x")`, "false"}, {`x`, null},
			{`file.hasTag("x")`, "false"}, {`note.isEmpty()`, "true"}}})
}

// this is the note that contains a base, with its properties.
func TestThis(t *testing.T) {
	v := newVault(t, linked, "dir/Hub.md")
	session := formula.NewSession(t.Context(), v.Source().Environment)
	s := subject{"this is a note", documented, [][2]string{
		{`this`, "dir/Hub.md"}, {`this.file.name`, "Hub"}, {`this.up`, "[[Top]]"}, {`this.note.up`, "[[Top]]"},
		{`this.UP`, "[[Top]]"}, {`this.note.UP`, "[[Top]]"}, {`this["up"]`, "[[Top]]"},
		{`this.up == file("Top")`, "true"}, {`this.none`, null}, {`this.file.hasLink(file)`, "true"},
		{`file.hasLink(this)`, "true"},
		{`file != this`, "true"}, {`this.up.asFile() == file`, "true"},
		{`list(this.more).contains(link("dir/Leaf"))`, "true"}, {`link("Hub") == this`, "true"},
		{`this.isType("file")`, "true"}, {`file.links.contains(this)`, "true"},
	}}
	s.check(t, session.Row(v.Entry("Top.md")))
}
