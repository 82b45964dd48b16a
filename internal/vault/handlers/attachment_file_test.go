package handlers_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestAttachmentWrite(t *testing.T) {
	jpg, pdf := "\xff\xd8\xff\xe0x", "%PDF-1.4\nx"
	for _, c := range []struct {
		name, settings, call, said, code, at, data string
	}{
		{"where it is put", "{}", "path=Files/a.png", "Written: Files/a.png", "", "Files/a.png", embedded.OnePixel},
		{"in the folder of the vault", `{"attachmentFolderPath":"Media/2026"}`, "name=a.png",
			"Written: Media/2026/a.png", "", "Media/2026/a.png", embedded.OnePixel},
		{"in the root", `{"attachmentFolderPath":"/"}`, "name=a.png", "Written: a.png", "", "a.png", embedded.OnePixel},
		{"next to the note", `{"attachmentFolderPath":"./"}`, "name=a.png|note=Plan", "Written: Work/a.png", "", "Work/a.png", embedded.OnePixel},
		{"below the folder of the note", `{"attachmentFolderPath":"./img"}`, "name=a.png|note=Plan",
			"Written: Work/img/a.png", "", "Work/img/a.png", embedded.OnePixel},
		{"next to which note", `{"attachmentFolderPath":"./"}`, "name=a.png", "give note=<name> too", protocol.CodeBadValue, "a.png", embedded.OnePixel},
		{"an extension by the bytes", "{}", "path=a", "Written: a.jpg", "", "a.jpg", jpg},
		{"a PDF", "{}", "path=Doc.PDF", "Written: Doc.PDF", "", "Doc.PDF", pdf},
		{"an SVG", "{}", "path=a.svg", "Written: a.svg", "", "a.svg", `<svg xmlns="http://www.w3.org/2000/svg"/>`},
		{"bytes that nobody knows", "{}", "path=a.bin", "Written: a.bin", "", "a.bin", "\x00\x01"},
		{"a JPEG that calls itself PNG", "{}", "path=a.png", "its bytes are image/jpeg", protocol.CodeBadValue, "a.png", jpg},
		{"a PDF that calls itself text", "{}", "path=a.txt", "its bytes are application/pdf", protocol.CodeBadValue, "a.txt", pdf},
		{"a text that calls itself PNG", "{}", "path=a.png", "its bytes are no image/png", protocol.CodeBadValue, "a.png", "text"},
		{"a text that calls itself SVG", "{}", "path=a.svg", "its bytes are no SVG", protocol.CodeBadValue, "a.svg", "text"},
		{"no type at all", "{}", "path=a", "its name has no extension, and its bytes tell no type", protocol.CodeBadValue, "a", "text"},
		{"a note", "{}", "path=a.md", "is not an attachment", protocol.CodeBadValue, "a.md", "text"},
		{"a canvas", "{}", "path=a.canvas", "is not an attachment", protocol.CodeBadValue, "a.canvas", "{}"},
		{"a hidden place", "{}", "path=.obsidian/a.png", "hidden segment", protocol.CodeCLIError, ".obsidian/a.png", embedded.OnePixel},
	} {
		h := embedded.New(t, map[string]string{"Work/Plan.md": "", ".obsidian/app.json": c.settings})
		args := append([]string{"attachment:write", "data=" + inBase64(c.data)}, strings.Split(c.call, "|")...)
		if c.code == "" {
			h.Expect(answer.ExitDone, c.said+"\n", args...)
			assert.Equal(t, h.Get(c.at), c.data, "%s", c.name)
			status, _, _ := h.Run("undo")
			assert.Equal(t, status, answer.ExitDone, "%s: undo leaves it", c.name)
			assert.That(t, !embedded.Exists(h.File(c.at)), "%s: undo leaves it", c.name)
		} else if got := h.Failure(args...); got.Code != c.code || !strings.Contains(got.Reason, c.said) || embedded.Exists(h.File(c.at)) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	h := embedded.New(t, map[string]string{"a.png": embedded.OnePixel + "old", "F/b.png": ""})
	got := h.Failure("attachment:write", "path=a.png", "data="+inBase64(embedded.OnePixel))
	assert.Equal(t, got.Code, protocol.CodeAlreadyExists, "over a file")
	assert.Equal(t, h.Get("a.png"), embedded.OnePixel+"old", "over a file")
	h.Expect(answer.ExitDone, "Written: a.png\n", "attachment:write", "path=a.png", "data="+inBase64(embedded.OnePixel), "overwrite")
	status, _, _ := h.Run("undo")
	assert.Equal(t, status, answer.ExitDone, "undo")
	assert.Equal(t, h.Get("a.png"), embedded.OnePixel+"old", "undo")
	for data, want := range map[string]string{"?": "not base64", "": "",
		base64.StdEncoding.EncodeToString(make([]byte, 8<<20+1)): "at most 8388608 are written"} {
		h.Stdin = data
		got := h.Failure("--stdin", "data", "attachment:write", "path=n.bin")
		assert.Equal(t, got.Code, protocol.CodeBadValue, "%.10q", data)
		assert.Contains(t, got.Reason, want, "%.10q", data)
	}
	h.Stdin = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0, 1}, 4<<20))
	status, said, _ := h.Run("--stdin", "data", "attachment:write", "path=n.bin")
	assert.Equal(t, status, answer.ExitDone, "8 MiB: %d, %s", status, said)
	assert.Equal(t, len(h.Get("n.bin")), 8<<20, "8 MiB: %d, %s", status, said)
	// The link that shows it is the shortest one that leads to it.
	for path, want := range map[string]string{"c.png": "![[c.png]] in", "G/b.png": "![[G/b.png]] in"} {
		_, _, stderr := h.Run("--facts", "attachment:write", "path="+path, "data="+inBase64(embedded.OnePixel))
		_, facts, _ := embedded.CutReport(stderr)
		assert.That(t, strings.HasPrefix(facts.Notice, want), "%s: %q", path, facts.Notice)
	}
}

func TestAttachmentsOfANote(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "![[p.png]] [[B]] [doc](F/d.pdf)", "B.md": "![[q.png]]", "p.png": "", "q.png": "", "F/d.pdf": "x"})
	h.Expect(answer.ExitDone, "F/d.pdf\tpdf\t1\tA.md\np.png\timage\t0\tA.md\n", "attachments", "note=A")
	h.Expect(answer.ExitDone, "p.png\timage\t0\tA.md\n", "attachments", "note=A.md", "type=image")
	h.Expect(answer.ExitDone, "1\n", "attachments", "note=B", "total")
	h.Expect(answer.ExitFailed, "Error: File \"None\" not found.\n", "attachments", "note=None")
}

// Users by properties are named once each, in the order of listings, and a worker sees how they change.
func TestUsersByProperties(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"b.md": "---\ncover: \"![[p.png]]\"\nmore: [p.png, p.png]\n---\n", "a.md": "---\ncover: p.png\n---\n![[p.png]]\n",
		"c.md": "---\ncover: q.png\n---\n", "p.png": "", "q.png": "",
	})
	w := h.Worker()
	say := func(words ...string) string { return w.Ask(nil, words...).Stdout }
	assert.Equal(t, say("attachments"), "p.png\timage\t0\ta.md, b.md\nq.png\timage\t0\tc.md\n", "at first")
	assert.Equal(t, say("attachments", "note=b"), "p.png\timage\t0\ta.md, b.md\n", "of a note")
	h.Put("c.md", "---\ncover: p.png\n---\n")
	h.Put("aa.md", "---\ncover: r.png\n---\n")
	h.Put("r.png", "")
	want := "p.png\timage\t0\ta.md, b.md, c.md\nq.png\timage\t0\t\nr.png\timage\t0\taa.md\n"
	assert.Await(embedded.Patience, func() bool { return say("attachments") == want }) // the worker watches the folder
	assert.Equal(t, say("attachments"), want, "after changes")
	assert.Equal(t, say("attachments", "unused"), "q.png\timage\t0\t\n", "unused after changes")
}

// An image is scaled down to what is asked for, in its proportions, and one that would not fit
// into memory is refused before it is decoded.
func TestScaledImages(t *testing.T) {
	picture := image.NewNRGBA(image.Rect(0, 0, 300, 150))
	for x := range 300 {
		for y := range 150 {
			picture.Set(x, y, color.NRGBA{uint8(x), uint8(y), 200, 255})
		}
	}
	encoded := func(encode func(out *bytes.Buffer) error) string {
		var out bytes.Buffer
		require.NoError(t, encode(&out))
		return out.String()
	}
	asPNG := encoded(func(out *bytes.Buffer) error { return png.Encode(out, picture) })
	bomb := []byte(asPNG) // it says that it is as large
	binary.BigEndian.PutUint32(bomb[16:], 12000)
	binary.BigEndian.PutUint32(bomb[20:], 12000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	h := embedded.New(t, map[string]string{
		"a.png": asPNG, "a.jpg": encoded(func(out *bytes.Buffer) error { return jpeg.Encode(out, picture, nil) }),
		"a.gif":    encoded(func(out *bytes.Buffer) error { return gif.Encode(out, picture, nil) }),
		"bomb.png": string(bomb), "cut.png": asPNG[:len(asPNG)/2], "fake.png": embedded.OnePixel[:29],
	})
	for path, want := range map[string]string{"a.png": "image/png, 300x150", "a.jpg": "image/jpeg, 300x150", "a.gif": "image/gif, 300x150"} {
		_, out, stderr := h.Run("--facts", "attachment:read", "path="+path, "max-pixels=90")
		about, data, _ := strings.Cut(out, "\n")
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(data))
		if err != nil || !strings.HasPrefix(about, want) || !strings.HasSuffix(about, "90x45") {
			t.Errorf("%s: %s, %v", path, about, err)
			continue
		}
		small, format, err := image.Decode(bytes.NewReader(raw))
		_, facts, _ := embedded.CutReport(stderr)
		if err != nil || small.Bounds() != image.Rect(0, 0, 90, 45) || facts.Image != "image/"+format {
			t.Errorf("%s: %v %v %s", path, err, small.Bounds(), facts.Image)
			continue
		}
		if r, g, b, _ := small.At(45, 22).RGBA(); max(r>>8, 150)-min(r>>8, 150) > 12 || max(g>>8, 75)-min(g>>8, 75) > 12 || max(b>>8, 200)-min(b>>8, 200) > 60 {
			t.Errorf("%s: the middle is %d, %d, %d", path, r>>8, g>>8, b>>8)
		}
	}
	_, out, _ := h.Run("--facts", "attachment:read", "path=a.png", "max-pixels=300")
	_, data, _ := strings.Cut(out, "\n")
	assert.Equal(t, strings.TrimSpace(data), inBase64(asPNG), "an image that is small enough is another one")
	for path, code := range map[string]string{"bomb.png": protocol.CodeOutputLimit, "cut.png": protocol.CodeCLIError, "fake.png": protocol.CodeCLIError} {
		assert.Equal(t, h.Failure("attachment:read", "path="+path, "max-pixels=90").Code, code, "%s", path)
	}
}

// pdfOf is a PDF with a page for each content stream.
func pdfOf(streams ...string) string {
	var out strings.Builder
	out.WriteString("%PDF-1.4\n")
	var offsets []int
	object := func(text string) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(offsets), text)
	}
	var kids strings.Builder
	for i := range streams {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	object(fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(streams), kids.String()))
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed) // one for all: each takes a megabyte
	for i, s := range streams {
		object(fmt.Sprintf("<</Type/Page/Parent 2 0 R/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", 5+2*i))
		packed.Reset()
		w.Reset(&packed)
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		object(fmt.Sprintf("<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream", packed.Len(), packed.String()))
	}
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, xref)
	return out.String()
}

func TestAttachmentText(t *testing.T) {
	plain := pdfOf("BT /F1 12 Tf 72 700 Td (The fence costs) Tj 0 -14 Td [(1,2)-20(40) -400 (euros \\205 caf\\351)] TJ ET",
		"BT /F1 9 Tf 1 0 0 1 72 700 Tm (Second) Tj 1 0 0 1 110 700 Tm (page) Tj (next) ' ET", "0 0 10 10 re f")
	h := embedded.New(t, map[string]string{
		"a.pdf": plain, "new.pdf": strings.Replace(plain, "%PDF-1.4", "%PDF-2.0", 1) + strings.Repeat("\x00", 500),
		"scan.pdf": pdfOf("q 1 0 0 1 0 0 cm /Im0 Do Q"), "cut.pdf": plain[:len(plain)/2],
		"t.csv": "a,b\n1,2\n", "p.png": embedded.OnePixel, "no.pdf": "%PDF-1.4\nnothing\n%%EOF",
	})
	first := "==> page 1 of 3 <==\nThe fence costs\n1,240 euros … café\n"
	second := "==> page 2 of 3 <==\nSecond page\nnext\n"
	h.Steps([]embedded.Turn{
		{"all pages", "attachment:text path=a.pdf", answer.ExitDone, first + second + "==> page 3 of 3 <==\n\n"},
		{"one page", "attachment:text file=a.pdf pages=2", answer.ExitDone, second},
		{"some pages", "attachment:text path=a.pdf pages=2-9", answer.ExitDone, second + "==> page 3 of 3 <==\n\n"},
		{"of a newer version, with bytes behind its end", "attachment:text path=new.pdf pages=1", answer.ExitDone, first},
		{"a text as it is", "attachment:text path=t.csv", answer.ExitDone, "a,b\n1,2\n"},
		{"no page", "attachment:text path=a.pdf pages=4", answer.ExitMisuse, "Error: Invalid value for pages: \"4\". The PDF has 3 pages.\n"},
		{"no range", "attachment:text path=a.pdf pages=3-2", answer.ExitMisuse,
			"Error: Invalid value for pages: \"3-2\". Use a page such as 3, or pages such as 3-7.\n"},
		{"an image", "attachment:text path=p.png", answer.ExitFailed, "Error: File \"p.png\" is not a text, and not a PDF: image/png\n"},
	})
	if _, out, stderr := h.Run("attachment:text", "path=scan.pdf"); out != "\n" && out != "" || !strings.Contains(stderr, "no text in it: 1 page") {
		_, facts, _ := embedded.CutReport(func() string { _, _, e := h.Run("--facts", "attachment:text", "path=scan.pdf"); return e }())
		assert.That(t, strings.HasPrefix(facts.Notice, "no text in it: 1 page"), "a scan: %q, %q, %q", out, stderr, facts.Notice)
	}
	for _, path := range []string{"cut.pdf", "no.pdf"} {
		got := h.Failure("attachment:text", "path="+path)
		assert.Equal(t, got.Code, protocol.CodeCLIError, "%s", path)
		assert.Contains(t, got.Reason, "cannot be read: ", "%s", path)
	}
}

// What was made to hurt ends with a typed error, or with what can be read, soon.
// A token that goes on over the end of a page is in neither page, whichever is asked for.
func TestASecretOverTwoPagesIsHidden(t *testing.T) {
	token := "ghp_" + "R8dk2Lx0PqW3mZt7" + "YbN5cVj1HsA9fGe4UoT6"
	page := func(text string) string { return "BT /F1 9 Tf (" + text + ") Tj ET" }
	h := embedded.New(t, map[string]string{"a.pdf": pdfOf(page("the key is "+token[:20]), page(token[20:]+" of the door"), page("the end"))})
	h.Env[guard.Variable] = guard.NewMarker([]byte("key of the test"), false).String()
	for _, pages := range []string{"1-3", "1", "2", "2-3"} {
		_, out, _ := h.Run("attachment:text", "path=a.pdf", "pages="+pages)
		isShown := strings.Contains(out, token[4:20]) || strings.Contains(out, token[20:])
		assert.That(t, !isShown, "pages %s: %s", pages, out)
		assert.Contains(t, out, "‹secret:github-pat:", "pages %s", pages)
	}
}

func TestHostilePDFs(t *testing.T) {
	enough := budget.Default
	t.Cleanup(func() { budget.Default = enough })
	small := testenv.Count(32, 1) // files and budget are so many times smaller
	budget.Default.Steps, budget.Default.Alive, budget.Default.Put = enough.Steps/int64(small), enough.Alive/int64(small), enough.Put/int64(small)
	text := "BT /F1 12 Tf (x) Tj ET"
	plain := pdfOf(text)
	many := make([]string, testenv.Count(1000, 10_000))
	for i := range many {
		many[i] = text
	}
	swapped := func(old, new string) string {
		require.Equal(t, len(old), len(new))
		require.Contains(t, plain, old)
		return strings.Replace(plain, old, new, 1)
	}
	xref := plain[strings.Index(plain, "xref\n"):]
	at := strings.Index(plain, "xref\n")
	files := map[string]string{
		"bomb":  pdfOf(strings.Repeat("(", 64<<20/small)),
		"zeros": pdfOf(strings.Repeat("0 ", 32<<20/small)), "numbers": pdfOf(strings.Repeat("0 ", 1<<20/small)),
		"brackets":      pdfOf(strings.Repeat("[", 2<<20/small)),
		"dicts":         pdfOf(strings.Repeat("<</a", 1<<20/small)),
		"shown":         pdfOf(strings.Repeat("(xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx) Tj ", 1<<20/small)),
		"own parent":    swapped("/Kids[4 0 R ]", "/Kids[2 0 R ]"),
		"page its font": swapped("/F1 3 0 R", "/F1 4 0 R"),
		"prev":          strings.Replace(plain, "/Size 6", fmt.Sprintf("/Prev %d/Size 6", at), 1),
		"size":          plain[:at] + strings.Replace(xref, "/Size 6", "/Size 999999999999", 1),
		"index":         plain[:at] + strings.Replace(xref, "0 6\n", "0 99999999999\n", 1),
		"start":         plain[:at] + strings.Replace(xref, "0 6\n", "99999999999999999 6\n", 1),
		"nothing":       "%PDF-1.4\n%%EOF", "marks": "%%EOF", "empty": "%PDF-",
	}
	h := embedded.New(t, nil)
	for name, text := range files {
		h.Put(name+".pdf", text)
		status, out, stderr := h.Run("--facts", "attachment:text", "path="+name+".pdf")
		_, facts, failure := embedded.CutReport(stderr)
		if status == answer.ExitDone && facts.Notice == "" && len(out) > 16<<20/small || status != answer.ExitDone && failure.Code == "" {
			t.Errorf("%s: %d, %.100q, %+v", name, status, out, failure)
		}
	}
	budget.Default = enough
	h.Put("many.pdf", pdfOf(many...))
	if status, out, _ := h.Run("attachment:text", "path=many.pdf"); status != answer.ExitDone ||
		strings.Count(out, "==> page ") != len(many) ||
		!strings.HasSuffix(out, fmt.Sprintf("==> page %d of %[1]d <==\nx\n", len(many))) {
		t.Errorf("%d pages: %d, %.200q", len(many), status, out)
	}
}
