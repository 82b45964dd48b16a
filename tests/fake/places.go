package fake

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// Place puts a line with a secret into a file, in the spelling of a decoder.
type Place struct {
	Ext string // of the file
	Put func(line string) string
	// Decode returns what a reader of the file sees; nil for a text that is shown as it is.
	Decode func(text string) (string, error)
	// Splits says that the mark of the secret is not a text of its own there.
	Splits bool
}

func sorted[V any](all map[string]V) []string { return slices.Sorted(maps.Keys(all)) }

// QuotedJSON returns a text as a string of JSON.
func QuotedJSON(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string
	return strings.TrimSpace(out.String())
}

// CanvasOf returns a canvas with a card, whose text is a string of JSON, with its quotes.
func CanvasOf(quoted string) string {
	return `{"nodes":[{"id":"a","type":"text","x":0,"y":0,"width":10,"height":10,"text":` + quoted + `}],"edges":[]}`
}

// CardOf returns the text of the card of a canvas.
func CardOf(text string) (string, error) {
	var canvas struct{ Nodes []struct{ Text string } }
	if err := json.Unmarshal([]byte(text), &canvas); err != nil {
		return "", err
	}
	if len(canvas.Nodes) != 1 {
		return "", errors.New("it has another number of cards")
	}
	return canvas.Nodes[0].Text, nil
}

// everyRune spells the characters of a line by their numbers, those that which selects.
func everyRune(line, form string, which func(i int) bool) string {
	var out strings.Builder
	for i, r := range line {
		if which(i) && r < 128 {
			fmt.Fprintf(&out, form, r)
			continue
		}
		out.WriteString(strings.Trim(QuotedJSON(string(r)), `"`))
	}
	return out.String()
}

func first(i int) bool   { return i == 0 }
func every(int) bool     { return true }
func third(i int) bool   { return i%3 == 0 }
func another(i int) bool { return i%2 == 1 }

// entities spells the characters of a line as HTML, those that which selects.
func entities(line, form string, which func(i int) bool) string {
	var out strings.Builder
	for i, r := range line {
		if which(i) {
			fmt.Fprintf(&out, form, r)
			continue
		}
		out.WriteString(html.EscapeString(string(r)))
	}
	return out.String()
}

func unescapeHTML(text string) (string, error) { return html.UnescapeString(text), nil }

func inUTF16(text string, order binary.AppendByteOrder) string {
	out := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

func unquote(text string) (string, error) {
	var inner string
	err := json.Unmarshal([]byte(text), &inner)
	return inner, err
}

func withoutNULs(text string) (string, error) { return strings.ReplaceAll(text, "\x00", ""), nil }

// Places returns the places by their names.
func Places() map[string]Place {
	all := map[string]Place{}
	for _, some := range []map[string]Place{cards(), properties(), markdowns(), bytesOfFiles(), others(), unseen()} {
		maps.Copy(all, some)
	}
	return all
}

// cards are texts in a canvas.
func cards() map[string]Place {
	all := map[string]func(line string) string{
		"card":                  func(line string) string { return QuotedJSON("above\n" + line + "\nbelow") },
		"card, after a tab":     func(line string) string { return QuotedJSON("above\t" + line) },
		"card, in quotes":       func(line string) string { return QuotedJSON(`he said "` + line + `" then`) },
		"card, after CRLF":      func(line string) string { return QuotedJSON("above\r\n" + line + "\r\n") },
		"card, slashes escaped": func(line string) string { return strings.ReplaceAll(QuotedJSON("x\n"+line), "/", `\/`) },
		"card, first character": func(line string) string { return `"` + everyRune(line, `\u%04x`, first) + `"` },
		"card, all by numbers":  func(line string) string { return `"` + everyRune(line, `\u%04X`, every) + `"` },
		"card, every third":     func(line string) string { return `"` + everyRune(line, `\u%04x`, third) + `"` },
	}
	places := map[string]Place{}
	for name, put := range all {
		places[name] = Place{Ext: "canvas", Put: func(line string) string { return CanvasOf(put(line)) }, Decode: CardOf}
	}
	places["card, JSON in it"] = Place{
		Ext: "canvas",
		Put: func(line string) string {
			return CanvasOf(QuotedJSON("```json\n" + QuotedJSON("a\n"+line+"\nb") + "\n```"))
		},
		Decode: func(text string) (string, error) {
			card, err := CardOf(text)
			if err != nil {
				return "", err
			}
			return unquote(strings.Split(card, "\n")[1])
		},
	}
	places["card, HTML in it"] = Place{
		Ext: "canvas",
		Put: func(line string) string { return CanvasOf(QuotedJSON("<b>" + entities(line, "&#%d;", first) + "</b>")) },
		Decode: func(text string) (string, error) {
			card, err := CardOf(text)
			return html.UnescapeString(card), err
		},
	}
	places["group of a canvas"] = Place{
		Ext: "canvas",
		Put: func(line string) string {
			return `{"nodes":[{"id":"g","type":"group","x":0,"y":0,"width":9,"height":9,"label":` + QuotedJSON("g\t"+line) + `}]}`
		},
	}
	return places
}

// properties are values of properties that are not named like secrets.
func properties() map[string]Place {
	all := map[string]func(line string) string{
		"property, quoted":     func(line string) string { return "title: " + QuotedJSON("a\n"+line) },
		"property, by numbers": func(line string) string { return "title: \"" + everyRune(line, `\x%02x`, another) + "\"" },
		"property, in a list":  func(line string) string { return "title:\n  - x\n  - " + QuotedJSON("\t"+line) },
		"property, as a block": func(line string) string { return "title: |-\n  first\n  " + line },
		"property, folded":     func(line string) string { return "title: >-\n  first\n  " + line },
		"property, brackets":   func(line string) string { return "title: [x, " + QuotedJSON(line) + ", y]" },
		"property, braces":     func(line string) string { return "title: {a: " + QuotedJSON(line) + "}" },
		"property, anchor":     func(line string) string { return "title: &a !!str " + QuotedJSON(line) + "\nother: *a" },
		"property, comment":    func(line string) string { return "title: x # " + line },
	}
	places := map[string]Place{}
	for name, put := range all {
		places[name] = Place{Ext: "md", Put: func(line string) string { return "---\n" + put(line) + "\n---\ntext\n" }}
	}
	places["property, line goes on"] = Place{
		Ext: "md",
		Put: func(line string) string {
			cut := len(line) - 4
			return "---\ntitle: \"a " + line[:cut] + "\\\n   " + line[cut:] + "\"\n---\n"
		},
		Splits: true,
	}
	return places
}

// markdowns are places in the text of a note.
func markdowns() map[string]Place {
	all := map[string]func(line string) string{
		"heading":      func(line string) string { return "# " + line + "\n" },
		"item":         func(line string) string { return "- " + line + "\n" },
		"task":         func(line string) string { return "- [ ] " + line + " 📅 2026-11-25\n" },
		"quote":        func(line string) string { return "> [!note] x\n> " + line + "\n" },
		"footnote":     func(line string) string { return "x[^1]\n\n[^1]: " + line + "\n" },
		"code":         func(line string) string { return "```\n" + line + "\n```\n" },
		"code, YAML":   func(line string) string { return "```yaml\nboat:\n  name: " + QuotedJSON(line) + "\n```\n" },
		"code, string": func(line string) string { return "```go\nx := " + QuotedJSON("a\n"+line) + "\n```\n" },
		"code, JSON":   func(line string) string { return "```json\n{\"x\": " + QuotedJSON("a\n"+line+"\nb") + "}\n```\n" },
		"code span":    func(line string) string { return "see `" + line + "`, it\n" },
		"bold":         func(line string) string { return "**" + line + "**\n" },
		"alias":        func(line string) string { return "[[B|" + line + "]]\n" },
		"cell":         func(line string) string { return "| a | b |\n|---|---|\n| x | " + line + " |\n" },
		"attribute":    func(line string) string { return "<span title=\"" + line + "\">x</span>\n" },
		"embedded":     func(line string) string { return "![" + line + "](boat.png)\n" },
		"math":         func(line string) string { return "$$\n" + line + "\n$$\n" },
		"block of a base": func(line string) string {
			return "```base\nformulas:\n  x: " + QuotedJSON(QuotedJSON(line)) + "\nviews:\n  - type: table\n    name: X\n```\n"
		},
	}
	places := map[string]Place{}
	for name, put := range all {
		places[name] = Place{Ext: "md", Put: put}
	}
	places["comment"] = Place{
		Ext:    "md",
		Put:    func(line string) string { return "<!-- " + line + " -->\n%% " + line + " %%\n" },
		Splits: true,
	}
	places["Markdown escapes"] = Place{
		Ext: "md",
		Put: func(line string) string {
			return strings.NewReplacer("_", `\_`, "*", `\*`, "-", `\-`).Replace(line) + "\n"
		},
		Decode: func(text string) (string, error) { return strings.ReplaceAll(text, `\`, ""), nil },
	}
	for name, which := range map[string]func(int) bool{"first": first, "third": third, "all": every} {
		places["entities, "+name] = Place{
			Ext:    "md",
			Put:    func(line string) string { return "text " + entities(line, "&#%d;", which) + " text\n" },
			Decode: unescapeHTML,
		}
	}
	places["entities, hexadecimal"] = Place{
		Ext:    "md",
		Put:    func(line string) string { return "<p>" + entities(line, "&#x%X;", third) + "</p>\n" },
		Decode: unescapeHTML,
	}
	places["entities, twice"] = Place{
		Ext: "md",
		Put: func(line string) string {
			return "<p>" + strings.ReplaceAll(entities(line, "&#%d;", first), "&", "&amp;") + "</p>\n"
		},
		Decode: func(text string) (string, error) { return html.UnescapeString(html.UnescapeString(text)), nil },
	}
	places["percent"] = Place{
		Ext: "md",
		Put: func(line string) string {
			return "[x](https://example.org/" + strings.ReplaceAll(url.QueryEscape(line), "+", "%20") + ")\n"
		},
		Decode: url.PathUnescape,
	}
	return places
}

// bytesOfFiles are encodings of whole files.
func bytesOfFiles() map[string]Place {
	return map[string]Place{
		"CRLF":            {Ext: "md", Put: func(line string) string { return "a\r\n" + line + "\r\nb\r\n" }},
		"byte order mark": {Ext: "md", Put: func(line string) string { return "\ufeff" + line + "\n" }},
		"the end":         {Ext: "md", Put: func(line string) string { return "text\n" + line }},
		"NUL in front":    {Ext: "md", Put: func(line string) string { return "\x00\n" + line + "\n" }},
		"NULs between": {
			Ext:    "md",
			Put:    func(line string) string { return "a\n" + strings.Join(strings.Split(line, ""), "\x00") + "\n" },
			Decode: withoutNULs,
			Splits: true,
		},
		"UTF-16LE": {
			Ext:    "md",
			Put:    func(line string) string { return inUTF16("a\n"+line+"\nb\n", binary.LittleEndian) },
			Decode: withoutNULs,
			Splits: true,
		},
		"UTF-16BE": {
			Ext:    "md",
			Put:    func(line string) string { return inUTF16("a\n"+line+"\nb\n", binary.BigEndian) },
			Decode: withoutNULs,
			Splits: true,
		},
	}
}

// others are files that are no notes, and texts in several spellings.
func others() map[string]Place {
	return map[string]Place{
		"text file": {Ext: "txt", Put: func(line string) string { return "first\n" + line + "\nlast\n" }},
		"CSV": {Ext: "csv", Put: func(line string) string {
			return "a,b\n1,\"" + strings.ReplaceAll(line, `"`, `""`) + "\"\n"
		}},
		"JSON file": {Ext: "json", Put: func(line string) string { return `{"x":` + QuotedJSON("a\n"+line) + "}\n" }},
		"base": {Ext: "base", Put: func(line string) string {
			return "formulas:\n  x: " + QuotedJSON(QuotedJSON(line)) + "\nviews:\n  - type: table\n    name: X\n    order: [file.name, formula.x]\n"
		}},
		"three strings in each other": {
			Ext: "md",
			Put: func(line string) string { return QuotedJSON(QuotedJSON(QuotedJSON("a\n" + line + "\n"))) },
			Decode: func(text string) (string, error) {
				var err error
				for range 3 {
					if text, err = unquote(text); err != nil {
						break
					}
				}
				return text, err
			},
		},
		"base64": {
			Ext: "md",
			Put: func(line string) string {
				return "data " + base64.StdEncoding.EncodeToString([]byte("x "+line+"\n")) + " end\n"
			},
			Decode: func(text string) (string, error) {
				field := strings.Fields(text)[1]
				decoded, err := base64.StdEncoding.DecodeString(field)
				if err != nil {
					return text, nil // a mark is in its place
				}
				return string(decoded), nil
			},
			Splits: true,
		},
	}
}

// unseen are texts with characters that nobody sees, or that look like others, and texts encoded twice.
func unseen() map[string]Place {
	places := map[string]Place{}
	for name, between := range map[string]string{
		"soft hyphens": "\u00ad", "zero-width spaces": "\u200b", "joiners": "\u2060", "marks of direction": "\u200f", "accents": "\u0301",
		"breaks of HTML": "<wbr>", "soft hyphens, entities": "&shy;", "zero-width spaces, entities": "&#8203;",
		"soft hyphens, escaped": `\u00ad`,
	} {
		places[name] = Place{
			Ext:    "md",
			Put:    func(line string) string { return "text\n" + withBetween(line, between) + "\n" },
			Decode: func(text string) (string, error) { return strings.ReplaceAll(text, between, ""), nil },
		}
	}
	places["full width"] = Place{
		Ext: "md",
		Put: func(line string) string { return strings.Map(widened, line) + "\n" },
		Decode: func(text string) (string, error) {
			return strings.Map(func(r rune) rune {
				if r > 0xff00 && r < 0xff5f {
					return r - 0xfee0
				}
				return r
			}, text), nil
		},
	}
	places["percent, twice"] = Place{
		Ext: "md",
		Put: func(line string) string {
			return "[x](https://example.org/?to=" + url.PathEscape(url.PathEscape(line)) + ")\n"
		},
		Decode: func(text string) (string, error) {
			once, err := url.PathUnescape(text)
			if err != nil {
				return text, err
			}
			return url.PathUnescape(once)
		},
	}
	return places
}

// withBetween puts a text between the letters and digits of a line, after every third of them.
func withBetween(line, between string) string {
	isLetter := func(c byte) bool { return strings.IndexByte(characters['w'], c) >= 0 }
	var out strings.Builder
	for i := range len(line) {
		out.WriteByte(line[i])
		if i%3 == 2 && i+1 < len(line) && isLetter(line[i]) && isLetter(line[i+1]) {
			out.WriteString(between)
		}
	}
	return out.String()
}

// widened returns the full-width form of a character of ASCII.
func widened(r rune) rune {
	if r > ' ' && r < 0x7f {
		return r + 0xfee0
	}
	return r
}
