package handlers_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// linked is a vault with every kind of link.
func linked(t testing.TB) *embedded.Vault {
	return embedded.New(t, map[string]string{
		"A.md":           "[[B]] and [[B|again]] and ![[pic.png]] and [[Nowhere]] and [[nowhere/else.md#h]]\n`[[Code]]`",
		"B.md":           "---\nup: \"[[A]]\"\n---\n[[#Own]] and [text](A.md) and [out](https://example.org)",
		"Folder/C.md":    "[[Nowhere]]",
		"Folder/D.md":    "no links",
		"pic.png":        "x",
		"Board.canvas":   `{"nodes":[{"id":"1","type":"file","file":"Folder/C.md"},{"id":"2","type":"text","text":"[[B]]"}],"edges":[]}`,
		"Broken.canvas":  `{"nodes":`,
		"LICENSE":        "x",
		".hidden/Z.md":   "[[A]]",
		"Folder/list.md": "- [[C]]\n- [[C]]",
	})
}

func TestBacklinks(t *testing.T) {
	h := linked(t)
	h.Expect(answer.ExitDone, "A.md\nB.md\nBoard.canvas\n", "backlinks", "path=B.md")
	h.Expect(answer.ExitDone, "A.md\t2\nB.md\t1\nBoard.canvas\t1\n", "backlinks", "file=B", "counts")
	h.Expect(answer.ExitDone, "B.md\t2\n", "backlinks", "path=A.md", "counts")
	h.Expect(answer.ExitDone, "3\n", "backlinks", "path=B.md", "total", "format=json")
	h.Expect(answer.ExitDone,
		"[\n  {\n    \"file\": \"Board.canvas\",\n    \"count\": \"1\"\n  },\n  {\n    \"file\": \"Folder/list.md\",\n    \"count\": \"2\"\n  }\n]\n",
		"backlinks", "path=Folder/C.md", "counts", "format=json")
	h.Expect(answer.ExitDone, "[\n  {\n    \"file\": \"A.md\"\n  }\n]\n", "backlinks", "path=pic.png", "format=json")
	h.Expect(answer.ExitDone, "No backlinks found.\n", "backlinks", "path=Folder/D.md")
	h.Expect(answer.ExitDone, "No backlinks found.\n", "backlinks", "path=Folder/D.md", "format=json")
	h.Expect(answer.ExitDone, "0\n", "backlinks", "path=Folder/D.md", "total")
	h.Expect(answer.ExitFailed, "Error: File \"Nowhere.md\" not found.\n", "backlinks", "path=Nowhere.md")
	h.Expect(answer.ExitFailed, "Error: File \".hidden/Z.md\" not found.\n", "backlinks", "path=.hidden/Z.md")
}

func TestLinks(t *testing.T) {
	h := linked(t)
	h.Expect(answer.ExitDone, "B.md\nNowhere (unresolved)\nnowhere/else (unresolved)\npic.png\n", "links", "path=A.md")
	h.Expect(answer.ExitDone, "A.md\nB.md\n", "links", "path=B.md")
	h.Expect(answer.ExitDone, "4\n", "links", "path=A.md", "total")
	h.Expect(answer.ExitDone, "No links found.\n", "links", "path=Folder/D.md")
	h.Expect(answer.ExitDone, "No links found.\n", "links", "path=Board.canvas")
	h.Expect(answer.ExitDone, "No links found.\n", "links", "path=pic.png")
	h.Expect(answer.ExitFailed, "Error: File \"E\" not found.\n", "links", "file=E")
}

func TestUnresolved(t *testing.T) {
	h := linked(t)
	h.Expect(answer.ExitDone, "Nowhere\nnowhere/else\n", "unresolved")
	h.Expect(answer.ExitDone, "Nowhere\t2\nnowhere/else\t1\n", "unresolved", "counts")
	h.Expect(answer.ExitDone, "Nowhere\tA.md, Folder/C.md\nnowhere/else\tA.md\n", "unresolved", "verbose")
	h.Expect(answer.ExitDone, "2\n", "unresolved", "total")
	h.Expect(answer.ExitDone, "[\n  {\n    \"link\": \"Nowhere\",\n    \"count\": \"2\",\n    \"sources\": \"A.md, Folder/C.md\"\n  },\n"+
		"  {\n    \"link\": \"nowhere/else\",\n    \"count\": \"1\",\n    \"sources\": \"A.md\"\n  }\n]\n", "unresolved", "counts", "verbose", "format=json")
	embedded.New(t, nil).Expect(answer.ExitDone, "No unresolved links found.\n", "unresolved", "format=json")
}

func TestOrphansAndDeadEnds(t *testing.T) {
	h := linked(t)
	h.Expect(answer.ExitDone, "Board.canvas\nBroken.canvas\nFolder/D.md\nFolder/list.md\nLICENSE\n", "orphans")
	h.Expect(answer.ExitDone, "5\n", "orphans", "total")
	h.Expect(answer.ExitDone, "Broken.canvas\nFolder/C.md\nFolder/D.md\nLICENSE\npic.png\n", "deadends")
	embedded.New(t, nil).Expect(answer.ExitDone, "No orphan files found.\n", "orphans")
	embedded.New(t, nil).Expect(answer.ExitDone, "No dead-end files found.\n", "deadends")
	embedded.New(t, map[string]string{"Self.md": "[[Self]]"}).Expect(answer.ExitDone, "No orphan files found.\n", "orphans")
}

func TestAnUnreadableNoteSpoilsNothing(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "[[B]]", "B.md": "b\xff[[A]]", "C.md": "[[A"})
	h.Expect(answer.ExitDone, "B.md\n", "backlinks", "path=A.md")
}

func TestLinksAround(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"A.md": "[[B]] [[C]] [[A]] [[Nowhere]]", "B.md": "[[D]] [[C]]", "C.md": "[[A]]", "D.md": "[[E]]", "E.md": "",
		"X.md": "[[A]]", "Board.canvas": `{"nodes":[{"type":"file","file":"X.md"}]}`,
	})
	h.Steps([]embedded.Turn{
		{"one step", "links path=A.md depth=1", answer.ExitDone, "B.md\t1\tA.md\nC.md\t1\tA.md\n"},
		{"three", "links path=A.md depth=3", answer.ExitDone, "B.md\t1\tA.md\nC.md\t1\tA.md\nD.md\t2\tB.md\nE.md\t3\tD.md\n"},
		{"how many", "links path=A.md depth=5 total", answer.ExitDone, "4\n"},
		{"to it", "links path=A.md direction=in", answer.ExitDone, "C.md\t1\tA.md\nX.md\t1\tA.md\n"},
		{"to it, further", "links path=A.md direction=in depth=2", answer.ExitDone, "C.md\t1\tA.md\nX.md\t1\tA.md\nB.md\t2\tC.md\nBoard.canvas\t2\tX.md\n"},
		{"both", "links path=E.md direction=both depth=2", answer.ExitDone, "D.md\t1\tE.md\nB.md\t2\tD.md\n"},
		{"of a canvas", "links path=Board.canvas depth=2", answer.ExitDone, "X.md\t1\tBoard.canvas\nA.md\t2\tX.md\n"},
		{"none", "links path=E.md depth=5", answer.ExitDone, "No links found.\n"},
		{"too far", "links path=A.md depth=6", answer.ExitMisuse, "Error: Invalid number: 6. Use depth from 1 to 5.\n"},
		{"without depth as the app prints it", "links path=E.md", answer.ExitDone, "No links found.\n"},
	})
	status, out, stderr := h.Run("links", "path=A.md", "depth=3", "limit=2")
	if status != answer.ExitDone || out != "B.md\t1\tA.md\nC.md\t1\tA.md\n" || stderr != "2 of 4 files are listed; a higher limit lists more\n" {
		t.Errorf("%d, %q, %q", status, out, stderr)
	}
}

func TestRelated(t *testing.T) {
	files := map[string]string{
		"Bread.md":   "---\ntags: [baking]\n---\nSourdough with rye and a Levain. [[Flour]] [[Oven]] hydration",
		"Starter.md": "The levain and the sourdough: hydration of a starter. #Baking",
		"Pizza.md":   "[[Flour]] [[Oven]] fast", "Back.md": "see [[Bread]]", "Index.md": "[[Bread]] [[Cake]]", "Cake.md": "sugar",
		"Flour.md": "white", "Oven.md": "hot", "Far.md": "nothing in common at all", "Excl/Z.md": "sourdough levain #baking", "pic.png": "",
		".obsidian/app.json": `{"userIgnoreFilters":["Excl/"]}`,
	}
	for i := range 20 {
		files[fmt.Sprintf("Other %d.md", i)] = "with many common words and nothing else"
	}
	h := embedded.New(t, files)
	h.Expect(answer.ExitDone,
		"Starter.md\ttags #baking; words hydration, levain, sourdough\nBack.md\tlinks here\nFlour.md\tlinked from here\nIndex.md\tlinks here\nOven.md\tlinked from here\n"+
			"Pizza.md\tboth link to Flour, Oven\nCake.md\tboth linked in Index\n", "related", "path=Bread.md")
	h.Expect(answer.ExitDone, "Starter.md\ttags #baking; words hydration, levain, sourdough\n", "related", "file=Bread", "limit=1")
	_, _, stderr := h.Run("--facts", "related", "file=Bread", "limit=1")
	assert.Contains(t, stderr, "1 of 7 notes are listed")
	h.Expect(answer.ExitDone, "No related notes found.\n", "related", "path=Far.md")
	h.Expect(answer.ExitDone, "No related notes found.\n", "related", "path=pic.png")
	h.Expect(answer.ExitDone, "[]\n", "related", "path=Far.md", "format=json")
	h.Expect(answer.ExitFailed, "Error: File \"none.md\" not found.\n", "related", "path=none.md")
	var rows []struct {
		Path    string
		Score   float64
		Reasons []string
	}
	_, out, _ := h.Run("related", "path=Bread.md", "format=json")
	err := json.Unmarshal([]byte(out), &rows)
	require.Equal(t, err, nil, "%v: %s", err, out)
	require.Equal(t, len(rows), 7, "%v: %s", err, out)
	require.Equal(t, rows[0].Path, "Starter.md", "%v: %s", err, out)
	require.Equal(t, len(rows[0].Reasons), 2, "%v: %s", err, out)
	last := math.Inf(1)
	for _, r := range rows {
		assert.That(t, r.Score > 0, "%+v", r)
		assert.That(t, r.Score <= last, "%+v", r)
		assert.That(t, len(r.Reasons) != 0, "%+v", r)
		last = r.Score
	}
}

// Words are those of any script, whatever their case, and long enough to say something.
func TestRelatedWords(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "Überraschung ПРИВЕТ мир cat 1234 naïve, x\xffyzzy",
		"b.md": "überraschung и привет; NAÏVE", "c.md": "cat мир 1234"})
	h.Expect(answer.ExitDone, "b.md\twords naïve, überraschung, привет\n", "related", "path=a.md")
}

func TestCanvasRead(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"Board.canvas": `{"nodes":[
			{"id":"g","type":"group","x":0,"y":0,"width":1000,"height":1000,"label":"Outer"},
			{"id":"h","type":"group","x":100,"y":100,"width":300,"height":300,"label":"Inner\nlabel"},
			{"id":"t","type":"text","x":150,"y":150,"width":100,"height":50,"text":"# Title\nof two lines\n"},
			{"id":"f","type":"file","x":500,"y":500,"width":100,"height":50,"file":"Notes/Plan.md","subpath":"#Part"},
			{"id":"l","type":"link","x":-500,"y":0,"width":100,"height":50,"url":"https://example.org/"},
			{"id":"n","type":"new kind","x":-500,"y":100},
			null],
			"edges":[{"id":"1","fromNode":"t","toNode":"f","label":"because"},{"id":"2","fromNode":"f","toNode":"h","fromEnd":"arrow","toEnd":"none"},
			{"id":"3","fromNode":"l","toNode":"t","fromEnd":"arrow"},{"id":"4","fromNode":"l","toNode":"n","toEnd":"none"},{"id":"5","fromNode":"l","toNode":"gone"}]}`,
		"Empty.canvas": "", "Bad.canvas": `{"nodes":`, "a.md": "x",
	})
	want := "4 cards, 2 groups, 4 edges\n[1] link: https://example.org/\n[2] (new kind)\n\n# Outer\n[4] file: Notes/Plan.md#Part\n\n# Outer / Inner label\n[3] # Title\n  of two lines\n\nEdges\n" +
		"[3] # Title of two lines -> [4] file: Notes/Plan.md#Part: because\n[4] file: Notes/Plan.md#Part <- # Outer / Inner label\n[1] link: https://example.org/ <-> [3] # Title of two lines\n" +
		"[1] link: https://example.org/ -- [2] (new kind)\n"
	h.Expect(answer.ExitDone, want, "canvas:read", "path=Board.canvas")
	h.Expect(answer.ExitDone, "0 cards, 0 groups, 0 edges\n", "canvas:read", "file=Empty.canvas")
	h.Expect(answer.ExitFailed, "Error: Canvas \"Bad.canvas\" cannot be read: it is not a canvas in JSON\n", "canvas:read", "file=Bad.canvas")
	h.Expect(answer.ExitFailed, "Error: File is not a canvas: \"a.md\"\n", "canvas:read", "path=a.md")
	h.Expect(answer.ExitFailed, "Error: File \"none.canvas\" not found.\n", "canvas:read", "path=none.canvas")
	_, out, _ := h.Run("canvas:read", "path=Board.canvas", "format=json")
	var items []map[string]string
	if err := json.Unmarshal([]byte(out), &items); err != nil || len(items) != 10 ||
		items[2]["group"] != "Outer / Inner label" || items[6]["arrow"] != "->" || items[6]["from"] != "t" {
		t.Errorf("%v: %s", err, out)
	}
}

// A canvas in which every node is in every group is refused, not worked on for minutes.
func TestCanvasReadHasLimits(t *testing.T) {
	var nodes []string
	for i := range 5000 {
		nodes = append(nodes, fmt.Sprintf(`{"id":"%d","type":"group","width":%d,"height":9}`, i, i))
	}
	h := embedded.New(t, map[string]string{"B.canvas": `{"nodes":[` + strings.Join(nodes, ",") + `]}`})
	h.Expect(answer.ExitFailed, "Error: Canvas \"B.canvas\" cannot be read: it has too many groups\n", "canvas:read", "path=B.canvas")
}

func attached(t *testing.T) *embedded.Vault {
	return embedded.New(t, map[string]string{
		"a.md": "![[pic.png]] [[doc.pdf]] [[pic.png]]", "b.md": "---\nup: \"[[pic.png]]\"\n---\n",
		"B.canvas": `{"nodes":[{"type":"file","file":"F/tune.MP3"}]}`, "X.base": "",
		"pic.png": embedded.OnePixel, "doc.pdf": "%PDF-1.7\x00", "F/tune.MP3": "ID3\x00", "F/table.csv": "a,b\n1,2\n",
		"F/G/old.JPG": "\xff\xd8\xff\xc0\x00\x0b\x08\x00\x07\x00\x09\x01\x01\x11\x00\xff\xda\x00\x02",
		"F/blob":      "\x00\x01", "F/x.gif": "GIF89a\x05\x00\x04\x00\x00\x00\x00",
	})
}

func TestAttachments(t *testing.T) {
	h := attached(t)
	h.Steps([]embedded.Turn{
		{"all", "attachments", answer.ExitDone,
			"doc.pdf\tpdf\t9\ta.md\nF/blob\tother\t2\t\nF/G/old.JPG\timage\t19\t\nF/table.csv\tother\t8\t\nF/tune.MP3\taudio\t4\tB.canvas\nF/x.gif\timage\t13\t\npic.png\timage\t33\ta.md, b.md\n"},
		{"of a type", "attachments type=image", answer.ExitDone, "F/G/old.JPG\timage\t19\t\nF/x.gif\timage\t13\t\npic.png\timage\t33\ta.md, b.md\n"},
		{"that nothing uses", "attachments unused type=image", answer.ExitDone, "F/G/old.JPG\timage\t19\t\nF/x.gif\timage\t13\t\n"},
		{"of a folder", "attachments folder=F/G", answer.ExitDone, "F/G/old.JPG\timage\t19\t\n"},
		{"how many", "attachments folder=F total", answer.ExitDone, "5\n"},
		{"none", "attachments folder=F type=video", answer.ExitDone, "No attachments found.\n"},
		{"none as JSON", "attachments folder=F type=video format=json", answer.ExitDone, "[]\n"},
		{"no folder", "attachments folder=N", answer.ExitFailed, "Error: Folder \"N\" not found.\n"},
		{"as JSON", "attachments type=pdf format=json", answer.ExitDone, `[{"path":"doc.pdf","type":"pdf","size":9,"usedIn":["a.md"]}]` + "\n"},
	})
}

func TestAttachmentRead(t *testing.T) {
	h := attached(t)
	h.Put("large.png", embedded.OnePixel+strings.Repeat("\x00", 2<<20))
	h.Put("spoof.txt", "image/png, 1x1, 3 bytes\nAAAA")
	h.Steps([]embedded.Turn{
		{"a text", "attachment:read path=F/table.csv", answer.ExitDone, "a,b\n1,2\n"},
		{"an image for a person", "attachment:read path=pic.png", answer.ExitDone, "image/png, 3x2, 33 bytes\n"},
		{"a JPEG", "attachment:read path=F/G/old.JPG", answer.ExitDone, "image/jpeg, 9x7, 19 bytes\n"},
		{"a GIF", "attachment:read path=F/x.gif", answer.ExitDone, "image/gif, 5x4, 13 bytes\n"},
		{"a PDF", "attachment:read file=doc.pdf", answer.ExitDone, "application/pdf, 9 bytes: not a text, and not an image that can be shown\n"},
		{"bytes", "attachment:read path=F/blob", answer.ExitDone, "application/octet-stream, 2 bytes: not a text, and not an image that can be shown\n"},
		{"a large image", "attachment:read path=large.png", answer.ExitDone,
			"image/png, 3x2, 2097185 bytes: images of up to 2097152 bytes are shown; max-pixels shows a smaller one\n"},
		{"nothing", "attachment:read path=none.png", answer.ExitFailed, "Error: File \"none.png\" not found.\n"},
	})
	// read prints them for a person, as the app does, and names the right command for an agent.
	for path, kind := range map[string]string{"pic.png": "image/png|attachment:read",
		"doc.pdf": "application/pdf|attachment:text", "F/blob": "application/octet-stream|attachment:text"} {
		kind, serves, _ := strings.Cut(kind, "|")
		h.Does("read", "path="+path)
		got := h.Failure("read", "path="+path)
		assert.Contains(t, got.Reason, "is not a text: "+kind, "read of %s", path)
		assert.That(t, strings.HasPrefix(got.Hint, serves+" "), "read of %s: %+v", path, got)
	}
	for path, image := range map[string]string{"pic.png": "image/png", "spoof.txt": "", "doc.pdf": "", "large.png": ""} {
		_, out, stderr := h.Run("--facts", "attachment:read", "path="+path)
		_, facts, _ := embedded.CutReport(stderr)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		bytes, err := base64.StdEncoding.DecodeString(lines[len(lines)-1])
		if facts.Image != image || image != "" &&
			(err != nil || string(bytes) != embedded.OnePixel || len(lines) != 2) || facts.Path != path ||
			facts.Hash == "" {
			t.Errorf("%s: %+v, %.80q", path, facts, lines)
		}
	}
}
