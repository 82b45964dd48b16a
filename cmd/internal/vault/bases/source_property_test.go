package bases

import (
	"context"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/bases/formula"
)

// typed is a note with a property of every form, and its types.
const typed = `---
int: 3
float: 2.50
yes: true
nothing:
tilde: ~
list: [1, "2", true, 2025-03-01, "[[A]]", null]
map: {a: 1, b: [x, "[[A]]"], C: 2025-03-01}
link: "[[A]]"
shown: "[[A | B | c ]]"
heading: "[[A#B|c]]"
around: "see [[A]]"
two: "[[A]] [[B]]"
markdown: "[a](A.md)"
day: 2025-03-01
quoted: "2025-03-01"
minute: 2025-03-01 09:30
moment: 2025-03-01T09:30:15
zoned: 2025-03-01T09:30:00Z
offset: "2025-03-01T09:30:00+02:00"
fraction: 2025-03-01T09:30:00.250
wrong: 2025-13-01
compact: "20250301"
spaced: " 2025-03-01"
url: https://example.org/a?b=c
urls: https://a.b and more
padded: "0930"
texted: 2025-03-01
numbered: "42"
unnumbered: 42 km
checked: "true"
unchecked: "maybe"
multi: [2025-03-01]
tags: a, b/c
aliases: [2025-03-01, "[[A]]", plain]
cssclasses: https://a.b/c
"with blank": 5
MixedCase: 6
text: word
---
`

var typedTypes = map[string]string{"texted": "text", "numbered": "number", "unnumbered": "number", "checked": "checkbox", "unchecked": "checkbox", "multi": "multitext", "link": "text"}

func TestPropertiesBecomeValues(t *testing.T) {
	v := newVault(t, map[string]string{"N.md": typed, "A.md": "", "one.md": "---\ntag: solo\ntags:\n---\n"}, "")
	v.Types = typedTypes
	session := formula.NewSession(context.Background(), v.Source().Environment)
	kind := func(name, kind string) [2]string {
		return [2]string{`note["` + name + `"].isType("` + kind + `")`, "true"}
	}
	for _, s := range []subject{
		{"kinds", agreed, [][2]string{
			kind("int", "number"), kind("float", "number"), kind("yes", "boolean"), kind("nothing", "null"), kind("tilde", "null"), kind("list", "list"), kind("map", "object"), kind("link", "link"), kind("shown", "link"), kind("heading", "link"),
			kind("around", "string"), kind("two", "string"), kind("markdown", "string"), kind("day", "date"), kind("quoted", "date"), kind("minute", "date"), kind("moment", "date"), kind("zoned", "date"), kind("offset", "date"), kind("fraction", "date"),
			kind("wrong", "string"), kind("compact", "string"), kind("spaced", "string"), kind("url", "url"), kind("urls", "string"), kind("padded", "string"), kind("tags", "list"), kind("aliases", "list"), kind("cssclasses", "string"), kind("text", "string"),
		}},
		{"declared types", agreed, [][2]string{
			kind("texted", "string"), kind("numbered", "number"), kind("unnumbered", "string"), kind("checked", "boolean"), kind("unchecked", "string"), kind("multi", "list"), {`texted + 1`, "2025-03-011"}, {`numbered + 1`, "43"}, {`!checked`, "false"},
		}},
		{"texts", recorded, [][2]string{
			{`int`, "3"}, {`float`, "2.5"}, {`yes`, "true"}, {`nothing`, null}, {`list`, "1, 2, true, 2025-03-01, [[A]], "}, {`map`, `{"a":1,"b":["x","[[A]]"],"C":"2025-03-01"}`}, {`link`, "[[A]]"}, {`shown`, "[[A | B|c]]"}, {`heading`, "[[A#B|c]]"}, {`day`, "2025-03-01"},
			{`minute`, "2025-03-01T09:30:00"}, {`moment`, "2025-03-01T09:30:15"}, {`zoned`, "2025-03-01T06:30:00"}, {`offset`, "2025-03-01T04:30:00"}, {`fraction.millisecond`, "250"}, {`padded`, "0930"}, {`url`, "https://example.org/a?b=c"}, {`tags`, "#a, #b/c"}, {`aliases`, "2025-03-01, [[A]], plain"},
		}},
		{"elements", agreed, [][2]string{
			{`list[3].isType("date")`, "true"}, {`list[4].asFile().name`, "A"}, {`list[1].isType("string")`, "true"}, {`list[5]`, null}, {`map.b[1].isType("link")`, "true"}, {`map.C.month`, "3"}, {`map.c`, null}, {`map["a"]`, "1"}, {`map.none`, null}, {`map.keys()`, "a, b, C"}, {`map.values().length`, "3"}, {`map.isEmpty()`, "false"},
			{`tags[0].isType("tag")`, "true"}, {`tags.contains("b")`, "true"}, {`aliases[0].isType("string")`, "true"}, {`aliases[1].isType("string")`, "true"}, {`map == map`, "true"},
		}},
		{"names", documented, [][2]string{{`note["with blank"]`, "5"}, {`mixedcase`, "6"}, {`MixedCase`, "6"}, {`note.MIXEDCASE`, "6"}, {`file.properties.mixedcase`, "6"}, {`file.properties["with blank"]`, "5"}, {`file.hasProperty("mixedcase")`, "true"}, {`file.hasProperty("nothing")`, "true"}, {`file("A").properties.int`, null}}},
	} {
		t.Run(s.subject, func(t *testing.T) { s.check(t, session.Row(v.Entry("N.md"))) })
	}
	one := subject{"tags of one note", agreed, [][2]string{{`tag`, "#solo"}, {`tags`, null}, {`tag.contains("solo")`, "true"}}}
	one.check(t, session.Row(v.Entry("one.md")))
}

// Adding days and months is done by the calendar where clocks are changed, and
// hours by the clock.
func TestCalendarWhereClocksAreChanged(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("the machine has no time zones: ", err)
	}
	v := newVault(t, map[string]string{"N.md": "---\nbefore: 2025-03-29T12:00\n---\n"}, "")
	v.Now = time.Date(2025, 3, 10, 8, 0, 0, 0, zone)
	s := subject{"29 to 30 March 2025", computed, [][2]string{
		{`before + "1d"`, "2025-03-30T12:00:00"}, {`before + "24h"`, "2025-03-30T13:00:00"}, {`before + "1M"`, "2025-04-29T12:00:00"}, {`(date("2025-03-31") - date("2025-03-30")).hours`, "23"}, {`date("2025-03-30") + "1d"`, "2025-03-31"},
		{`date("2025-03-30T00:00:00Z")`, "2025-03-30T01:00:00"}, {`date("2025-03-30T01:00:00Z")`, "2025-03-30T03:00:00"},
	}}
	s.check(t, formula.NewSession(context.Background(), v.Source().Environment).Row(v.Entry("N.md")))
}
