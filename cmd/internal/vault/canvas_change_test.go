package vault

import (
	"encoding/json"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
	"vaultwicket/tests/assert"
)

// drawn is a canvas as the app writes one, with unknown fields.
const drawn = "{\n\t\"nodes\":[\n" +
	"\t\t{\"id\":\"g1\",\"type\":\"group\",\"x\":-40,\"y\":-40,\"width\":700,\"height\":500,\"label\":\"Phase one\",\"backgroundStyle\":\"cover\"},\n" +
	"\t\t{\"id\":\"a\",\"type\":\"text\",\"text\":\"Call  the\\nplumber\",\"x\":0,\"y\":0,\"width\":250,\"height\":60,\"styleAttributes\":{\"shape\":null}},\n" +
	"\t\t{\"id\":\"b\",\"type\":\"file\",\"file\":\"Plan.md\",\"subpath\":\"#Costs\",\"x\":300,\"y\":0,\"width\":300,\"height\":300},\n" +
	"\t\t{\"id\":\"t\",\"x\":0,\"y\":100.5,\"width\":250,\"height\":60,\"type\":\"text\",\"text\":\"twice\"},\n" +
	"\t\t{\"id\":\"u\",\"type\":\"text\",\"text\":\"twice\",\"x\":0,\"y\":200,\"width\":250,\"height\":60}\n" +
	"\t],\n\t\"edges\":[\n" +
	"\t\t{\"id\":\"e1\",\"fromNode\":\"a\",\"fromSide\":\"right\",\"toNode\":\"b\",\"toSide\":\"left\",\"styleAttributes\":{}},\n" +
	"\t\t{\"id\":\"e2\",\"fromNode\":\"b\",\"toNode\":\"nobody\"}\n" +
	"\t],\n\t\"metadata\":{\"version\":\"1.0-1.0\"}\n}"

func TestCanvasChanges(t *testing.T) {
	line := func(id string) string {
		_, rest, _ := strings.Cut(drawn, "\t\t{\"id\":\""+id+"\"")
		rest, _, _ = strings.Cut(rest, "\n")
		return "\t\t{\"id\":\"" + id + "\"" + rest
	}
	for _, c := range []struct {
		name, call, said string
		from, to         string // what of the file becomes what; the rest is the same bytes
	}{
		{"a card", "canvas:add|path=B.canvas|text=Buy <seeds> & \"soil\"\\nsoon", "Added: text ID to B.canvas", line("u"),
			line("u") + ",\n\t\t{\"id\":\"ID\",\"type\":\"text\",\"text\":\"Buy <seeds> & \\\"soil\\\"\\nsoon\",\"x\":640,\"y\":200,\"width\":250,\"height\":84}"},
		{"a note where it is put", "canvas:add|file=B|note=Plan#Old|x=-900|y=7|width=20|height=30|color=#00ff00", "Added: file ID to B.canvas", line("u"),
			line("u") + ",\n\t\t{\"id\":\"ID\",\"type\":\"file\",\"file\":\"Plan.md\",\"subpath\":\"#Old\",\"x\":-900,\"y\":7,\"width\":20,\"height\":30,\"color\":\"#00ff00\"}"},
		{"an address", "canvas:add|file=B.canvas|url=https://x.org/?a=1&b|width=100|height=40", "Added: link ID to B.canvas", line("u"),
			line("u") + ",\n\t\t{\"id\":\"ID\",\"type\":\"link\",\"url\":\"https://x.org/?a=1&b\",\"x\":640,\"y\":200,\"width\":100,\"height\":40}"},
		{"a group", "canvas:add|file=B|label=Phase two|color=4", "Added: group ID to B.canvas", line("u"),
			line("u") + ",\n\t\t{\"id\":\"ID\",\"type\":\"group\",\"label\":\"Phase two\",\"x\":700,\"y\":200,\"width\":600,\"height\":400,\"color\":\"4\"}"},
		{"the text of a card", "canvas:set|file=B|id=a|text=Done", "Changed: a in B.canvas", `"Call  the\nplumber"`, `"Done"`},
		{"a card by what it shows", "canvas:set|file=B|id=Call the plumber|color=2|width=300", "Changed: Call the plumber in B.canvas", `"width":250,"height":60,"styleAttributes":{"shape":null}`,
			`"width":300,"height":60,"styleAttributes":{"shape":null},"color":"2"`},
		{"another note, whole", "canvas:set|file=B|id=Plan.md#Costs|note=Garden", "Changed: Plan.md#Costs in B.canvas", `"file":"Plan.md","subpath":"#Costs"`, `"file":"Areas/Garden.md"`},
		{"a place", "canvas:set|file=B|id=t|y=101", "Changed: t in B.canvas", `"y":100.5`, `"y":101`},
		{"the label of a group", "canvas:set|file=B|id=Phase one|label=Phase 1", "Changed: Phase one in B.canvas", `"Phase one"`, `"Phase 1"`},
		{"the label of an edge", "canvas:set|file=B|id=e1|label=needs|color=1", "Changed: e1 in B.canvas", `"toSide":"left","styleAttributes":{}`, `"toSide":"left","styleAttributes":{},"color":"1","label":"needs"`},
		{"an edge down", "canvas:connect|file=B|from=a|to=t|label=then|arrow=both", "Connected: edge ID in B.canvas", line("e2"),
			line("e2") + ",\n\t\t{\"id\":\"ID\",\"fromNode\":\"a\",\"fromSide\":\"bottom\",\"toNode\":\"t\",\"toSide\":\"top\",\"fromEnd\":\"arrow\",\"label\":\"then\"}"},
		{"an edge to the left", "canvas:connect|file=B|from=b|to=a|arrow=none|to-side=top", "Connected: edge ID in B.canvas", line("e2"),
			line("e2") + ",\n\t\t{\"id\":\"ID\",\"fromNode\":\"b\",\"fromSide\":\"left\",\"toNode\":\"a\",\"toSide\":\"top\",\"toEnd\":\"none\"}"},
		{"no edge", "canvas:remove|file=B|id=e1", "Removed: edge e1 from B.canvas", line("e1") + "\n", ""},
		{"no group, and what is in it stays", "canvas:remove|file=B|id=g1", "Removed: group g1 with 0 edges from B.canvas", line("g1") + "\n", ""},
	} {
		h := build(t, map[string]string{"B.canvas": drawn, "Plan.md": "# Costs", "Areas/Garden.md": ""})
		words := strings.Split(c.call, "|")
		status, said, _ := h.run(words...)
		got := h.get("B.canvas")
		id := ""
		if _, rest, added := strings.Cut(c.said, "ID"); added {
			before, _, _ := strings.Cut(c.said, "ID")
			id = strings.TrimSuffix(strings.TrimPrefix(said, before), rest+"\n")
		}
		filled := strings.NewReplacer("ID", id)
		if status != command.ExitDone || said != filled.Replace(c.said)+"\n" || got != strings.Replace(drawn, c.from, filled.Replace(c.to), 1) || strings.Count(drawn, c.from) != 1 {
			t.Errorf("%s: %d, %q\n%s", c.name, status, said, got)
		}
		if len(id) != 0 && (len(id) != 16 || strings.Trim(id, "0123456789abcdef") != "") {
			t.Errorf("%s: the id is %q", c.name, id)
		}
		if status, _, _ := h.run("undo"); status != command.ExitDone || h.get("B.canvas") != drawn {
			t.Errorf("%s: undo leaves %s", c.name, h.get("B.canvas"))
		}
	}
	h := build(t, map[string]string{"B.canvas": drawn})
	h.expect(command.ExitDone, "Removed: file b with 2 edges from B.canvas\n", "canvas:remove", "file=B", "id=b")
	want := strings.Replace(strings.Replace(drawn, line("b")+"\n", "", 1), "\n"+line("e1")+"\n"+line("e2")+"\n\t", "", 1)
	assert.Equal(t, h.get("B.canvas"), want)
}

func TestCanvasRefusals(t *testing.T) {
	files := map[string]string{"B.canvas": drawn, "bad.canvas": "{\"nodes\":[", "list.canvas": "[]", "odd.canvas": `{"nodes":{}}`, "twice.canvas": `{"nodes":[],"nodes":[]}`, "n.canvas": `{"nodes":[{"x":"1"}]}`, "a.md": "x", "p.png": onePixel}
	for _, c := range []struct{ call, code, want string }{
		{"canvas:add|path=bad.canvas|text=x", frame.CodeCLIError, "cannot be read: it is not a canvas in JSON"},
		{"canvas:add|path=list.canvas|text=x", frame.CodeCLIError, "cannot be read"},
		{"canvas:add|path=odd.canvas|text=x", frame.CodeCLIError, "cannot be read"},
		{"canvas:add|path=n.canvas|text=x", frame.CodeCLIError, "cannot be read"},
		{"canvas:add|path=twice.canvas|text=x", frame.CodeCLIError, `cannot be changed: line 1, column 13: "nodes" is given twice`},
		{"canvas:add|path=a.md|text=x", frame.CodeCLIError, `File is not a canvas: "a.md"`},
		{"canvas:set|path=p.png|id=x|text=x", frame.CodeCLIError, `File is not a canvas: "p.png"`},
		{"canvas:add|path=none.canvas|text=x", frame.CodeNotFound, "not found"},
		{"canvas:add|path=B.canvas|note=Nobody", frame.CodeNotFound, `"Nobody" not found`},
		{"canvas:add|path=B.canvas", frame.CodeBadValue, "Missing required parameter: text=<text>, note=<name>, url=<url> or label=<text>"},
		{"canvas:add|path=B.canvas|text=a|label=b", frame.CodeBadValue, "Use one of text, note, url and label."},
		{"canvas:add|path=B.canvas|text=a|color=red", frame.CodeBadValue, "Invalid value for color"},
		{"canvas:add|path=B.canvas|text=a|x=1.5", frame.CodeBadValue, "Invalid number: 1.5"},
		{"canvas:add|path=B.canvas|text=a|width=0", frame.CodeBadValue, "Use width from 1 to 1000000"},
		{"canvas:set|path=B.canvas|id=nope|text=x", frame.CodeNotFound, `Node "nope" not found in the canvas.`},
		{"canvas:set|path=B.canvas|id=twice|text=x", frame.CodeAmbiguous, `2 nodes of the canvas are "twice": "t", "u"`},
		{"canvas:set|path=B.canvas|id=b|text=x", frame.CodeBadValue, `The node is of the type "file": text is for the type text.`},
		{"canvas:set|path=B.canvas|id=e1|x=1", frame.CodeBadValue, "An edge has a label and a color, and no x."},
		{"canvas:set|path=B.canvas|id=b", frame.CodeBadValue, "Nothing to change"},
		{"canvas:connect|path=B.canvas|from=a|to=b", frame.CodeAlreadyExists, "connected already"},
		{"canvas:connect|path=B.canvas|from=a|to=e1", frame.CodeNotFound, `Node "e1" not found`},
		{"canvas:remove|path=B.canvas|id=x", frame.CodeNotFound, `Node "x" not found`},
		{"canvas:create|path=B.canvas", frame.CodeAlreadyExists, "already exists"}, {"canvas:create|path=B", frame.CodeAlreadyExists, "already exists"},
		{"canvas:create|path=a*.canvas", frame.CodeCLIError, "not every system"},
	} {
		h := build(t, files)
		got := h.failure(strings.Split(c.call, "|")...)
		assert.That(t, got.Code == c.code && strings.Contains(got.Reason, c.want), "%s: %+v", c.call, got)
		for path, text := range files {
			assert.Equal(t, h.get(path), text, "%s: %s became", c.call, path)
		}
	}
}

// A plan is drawn from nothing, and every file on the way is one of JSON Canvas.
func TestCanvasFromNothing(t *testing.T) {
	for _, begin := range []string{"", "{}", "(created)"} {
		h := build(t, map[string]string{"A.md": ""})
		if begin == "(created)" {
			h.expect(command.ExitDone, "Created: Maps/Plan.canvas\n", "canvas:create", "path=Maps/Plan")
		} else {
			h.put("Maps/Plan.canvas", begin)
		}
		for _, call := range []string{"canvas:add|file=Plan|text=One", "canvas:add|file=Plan|text=Two", "canvas:add|file=Plan|text=Two", "canvas:add|file=Plan|note=A", "canvas:add|file=Plan|label=All|x=-20|y=-20|width=2000|height=800",
			"canvas:connect|file=Plan|from=One|to=A.md", "canvas:remove|file=Plan|id=One", "canvas:add|file=Plan|text=One"} {
			if status, said, _ := h.run(strings.Split(call, "|")...); status != command.ExitDone {
				t.Fatalf("%s: %s", call, said)
			}
			isJSONCanvas(t, h.get("Maps/Plan.canvas"))
		}
		h.expect(command.ExitDone, "4 cards, 1 group, 0 edges\n\n# All\n[1] Two\n[2] Two\n[3] file: A.md\n[4] One\n", "canvas:read", "file=Plan")
	}
}

// isJSONCanvas checks a text against the format JSON Canvas 1.0.
func isJSONCanvas(t *testing.T, text string) {
	t.Helper()
	var c struct {
		Nodes []struct {
			ID, Type, Text, File, URL *string
			X, Y, Width, Height       *int
			Label, Color              string
		}
		Edges []struct{ ID, FromNode, FromSide, ToNode, ToSide, FromEnd, ToEnd, Label, Color string }
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	ids := map[string]bool{}
	for _, n := range c.Nodes {
		shows := map[string]*string{"text": n.Text, "file": n.File, "link": n.URL, "group": n.Type}
		assert.That(t, n.ID != nil && !ids[*n.ID] && n.Type != nil && shows[*n.Type] != nil && n.X != nil && n.Y != nil && n.Width != nil && n.Height != nil, "%+v in %s", n, text)
		ids[*n.ID] = true
	}
	for _, e := range c.Edges {
		assert.That(t, e.ID != "" && !ids[e.ID] && ids[e.FromNode] && ids[e.ToNode], "%+v in %s", e, text)
	}
}
