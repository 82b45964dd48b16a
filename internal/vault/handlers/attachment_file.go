package handlers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // formats of images that are scaled
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"path"
	"strings"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // as above

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
)

// maxWritten is the size of the largest attachment that is written.
const maxWritten = 8 << 20

// extensions are those of new files whose bytes tell their type.
var extensions = map[string]string{
	"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/bmp": "bmp", "image/avif": "avif", "application/pdf": "pdf",
	"application/zip": "zip", "audio/mpeg": "mp3", "application/ogg": "ogg", "audio/flac": "flac", "video/webm": "webm",
}

// bytesOfURL returns the base64 of a data URL, and any other text as it is.
func bytesOfURL(data string) string {
	head, encoded, found := strings.Cut(data, ",")
	if found && strings.HasPrefix(head, "data:") && strings.HasSuffix(head, ";base64") {
		return encoded
	}
	return data
}

// writeAttachment makes a file of any kind but a note, a canvas or a base. Its bytes have to be
// what its name promises.
func writeAttachment(v *call.Vault, p call.Values) (change.Proposal, error) {
	data, err := base64.StdEncoding.DecodeString(bytesOfURL(p["data"]))
	switch {
	case err != nil || len(data) == 0:
		return change.Proposal{}, answer.Misuse("Invalid value for data: it is not base64.")
	case len(data) > maxWritten:
		return change.Proposal{}, answer.Misuse(
			"Invalid value for data: %d bytes, at most %d are written.",
			len(data),
			maxWritten,
		)
	case p.Has("path") == p.Has("name"):
		return change.Proposal{}, answer.Misuse("Use path=<path> or name=<name>.")
	}
	text := p["path"]
	if p.Has("name") {
		folder, err := attachmentFolder(v, p)
		if err != nil {
			return change.Proposal{}, err
		}
		text = path.Join(folder, p["name"])
	}
	is := marked(data)
	if path.Ext(text) == "" && extensions[is] != "" {
		text += "." + extensions[is]
	}
	made, err := v.PathOf(text)
	if err != nil {
		return change.Proposal{}, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(text), err)
	}
	wrong := func(why string) error {
		return answer.BadValue.Advise("give it the extension of its type").
			Failure("File %q cannot be written: %s.", answer.Verbatim(made.String()), why)
	}
	shows := strings.HasPrefix(is, "image/") || is == "application/pdf" // of these types the marks are sure
	isJPEG := is == "image/jpeg" && strings.EqualFold(made.Ext(), "jpeg")
	hasExtensionOfType := isJPEG || strings.EqualFold(made.Ext(), extensions[is])
	switch kind := allowlist.FileKind(made.Ext()); {
	case made.Ext() == "":
		return change.Proposal{}, wrong("its name has no extension, and its bytes tell no type")
	case kind == "note" || kind == "canvas" || kind == "base":
		return change.Proposal{}, answer.BadValue.Advise("create makes notes, canvases and bases from text").
			Failure("File %q is not an attachment.", answer.Verbatim(made.String()))
	case strings.EqualFold(made.Ext(), "svg"):
		if !isText(data) || !bytes.Contains(data, []byte("<svg")) {
			return change.Proposal{}, wrong("its bytes are no SVG")
		}
	case shows && !hasExtensionOfType:
		return change.Proposal{}, wrong("its bytes are " + is)
	case !shows && (kind == "image" || kind == "pdf"):
		return change.Proposal{}, wrong("its bytes are no " + promised(made))
	}
	before, err := change.CurrentState(v, made)
	if err != nil {
		return change.Proposal{}, answer.WriteError(made.String(), err)
	}
	if before.Exists && !p.Has("overwrite") {
		return change.Proposal{}, answer.AlreadyExists.Advise("choose another name, or give overwrite to replace it").
			Failure("File %q already exists.", answer.Verbatim(made.String()))
	}
	x, err := v.IndexOfNames()
	if err != nil {
		return change.Proposal{}, err
	}
	link := path.Base(made.String())
	if place, ok := x.Resolve(link); ok && x.Files[place].Path != made {
		link = made.String()
	}
	planned := change.Proposal{
		Steps: []change.Step{
			{Path: made, Before: before, After: change.Existing(data)},
		}, Message: "Written: " + made.String(), Note: made,
		Raw: true, Replaces: before.Exists, Notice: "![[" + link + "]] in a note shows it",
		Already: fmt.Sprintf("%q has these bytes already", answer.Verbatim(made.String())),
	}
	return holding(v, p, planned)
}

// attachmentFolder returns the folder for new attachments, "" for that of the vault. It can be
// next to a note, which the request then names.
func attachmentFolder(v *call.Vault, p call.Values) (string, error) {
	var app struct {
		Folder string `json:"attachmentFolderPath"`
	}
	if err := v.ReadConfig("app.json", &app); err != nil {
		return "", err
	}
	below, ofNote := strings.CutPrefix(app.Folder, "./")
	if !ofNote {
		return call.NormalPath(app.Folder), nil
	}
	if !p.Has("note") {
		return "", answer.Misuse(
			"In this vault attachments are kept next to their note: give note=<name> too, or path=<path>.",
		)
	}
	note, err := v.Resolve(p["note"])
	if err != nil {
		return "", err
	}
	return path.Join(note.Folder(), call.NormalPath(below)), nil
}

// textOfAttachment prints a text as it is, and of a PDF the text of its pages.
func textOfAttachment(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	info, err := v.Disk.Stat(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	uses := budget.From(v.Ctx)
	if err := uses.Hold(info.Size()); err != nil {
		return answer.Reply{}, err
	}
	raw, err := v.Disk.Raw().Read(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	file := raw.ForProgram()
	switch isPDF := marked(file) == "application/pdf"; {
	case !isPDF && isText(file):
		shown := v.Shown(t.Path, raw)
		return answer.FromNote(v.Disk, t.Path, shown.Bytes(), shown.String()), uses.Put(int64(len(shown.Bytes())))
	case !isPDF:
		hint := allowlist.ServesKind(allowlist.FileKind(t.Path.Ext()))
		return answer.Reply{}, answer.BadValue.Advise(hint).
			Failure("File %q is not a text, and not a PDF: %s", answer.Verbatim(t.Typed), cmp.Or(marked(file), promised(t.Path)))
	}
	first := 1
	last := math.MaxInt
	if p.Has("pages") {
		var ok bool
		if first, last, ok = parseRange(p["pages"]); !ok {
			return answer.Reply{}, answer.Misuse(
				"Invalid value for pages: %s. Use a page such as 3, or pages such as 3-7.",
				answer.Verbatim(p["pages"]),
			)
		}
	}
	said := answer.FromNote(v.Disk, t.Path, v.Shown(t.Path, raw).Bytes(), "") // before the file is changed in memory
	// A secret can go on over the end of a page: the pages next to those that are asked for are judged, too.
	pages, total, err := readPDF(file, max(1, first-1), last+min(1, math.MaxInt-last), uses)
	var malformed *malformedPDF
	var over *budget.Overrun
	switch {
	case errors.As(err, &malformed):
		return answer.Reply{}, answer.OtherFailure.Advise("attachment:read tells its size; the user can open it").
			Failure("PDF %q cannot be read: %v", answer.Verbatim(t.Typed), err)
	case errors.As(err, &over):
		return answer.Reply{}, answer.Kind{
			Code: over.Code(),
			Hint: "ask for some of its pages, such as pages=1-20",
		}.Failure(
			"PDF %q is too large: %v",
			answer.Verbatim(t.Typed),
			err,
		)
	case err != nil:
		return answer.Reply{}, err
	case total > 0 && first > total:
		return answer.Reply{}, answer.Misuse(
			"Invalid value for pages: %s. The PDF has %s.",
			answer.Verbatim(p["pages"]),
			answer.Count(total, "page"),
		)
	}
	texts, err := v.ShownPages(t.Path, answer.Map(pages, func(p pdfPage) guard.Unjudged { return p.Text }))
	if err != nil {
		return answer.Reply{}, err
	}
	var out strings.Builder
	var broken []string
	written := 0
	shown := 0
	for i, page := range pages {
		if page.Number < first || page.Number > last {
			continue
		}
		shown++
		written += page.Text.Len()
		if page.Err != nil {
			broken = append(broken, fmt.Sprintf("page %d cannot be read: %v", page.Number, page.Err))
		}
		fmt.Fprintf(&out, "==> page %d of %d <==\n%s\n", page.Number, total, texts[i])
	}
	if len(broken) > maxViews {
		broken = append(broken[:maxViews], fmt.Sprintf("%d more cannot be read", len(broken)-maxViews))
	}
	said = said.Saying(v.Disk, out.String())
	said.Notice = strings.Join(broken, "; ")
	if written == 0 && len(broken) == 0 {
		said = said.Saying(v.Disk, "")
		said.Notice = fmt.Sprintf(
			"no text in it: %s, which may show images of text",
			answer.Count(shown, "page"),
		)
	}
	return said, nil
}

const (
	leastPixels, mostPixels = 1, 4096
	scaledQuality           = 85 // of a JPEG
	band                    = 32 // rows that are scaled at once, which bounds what is in memory
)

// scaled returns an image with no side longer than most pixels, and its type: the image itself
// if it is small enough. Of several images in a file it is the first.
func scaled(ctx context.Context, file []byte, kind string, most int) ([]byte, string, error) {
	uses := budget.From(ctx)
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, "", err
	}
	if max(config.Width, config.Height) <= most {
		return file, kind, nil
	}
	// The bytes of a pixel in memory. A progressive JPEG is kept as coefficients, too.
	bytesEach := int64(4)
	pixels := int64(config.Width) * int64(config.Height)
	switch config.ColorModel {
	case color.NRGBA64Model, color.RGBA64Model:
		bytesEach = 8
	case color.YCbCrModel, color.GrayModel, color.CMYKModel:
		if bytesEach = 3; bytes.Contains(file[:min(len(file), 64<<10)], []byte("\xff\xc2\x00")) {
			bytesEach = 9
		}
	}
	if err := errors.Join(uses.Hold(bytesEach*pixels), uses.Step(pixels/8)); err != nil {
		return nil, "", err
	}
	whole, _, err := image.Decode(untilDone{ctx, bytes.NewReader(file)})
	if err != nil {
		return nil, "", errors.Join(ctx.Err(), err)
	}
	from := whole.Bounds()
	width := most
	height := max(1, from.Dy()*most/max(1, from.Dx()))
	if from.Dy() > from.Dx() {
		width = max(1, from.Dx()*most/from.Dy())
		height = most
	}
	rows := int64(band)*int64(from.Dy())/int64(height) + 2
	if err := uses.Hold(int64(width)*int64(height)*4 + int64(width)*rows*32); err != nil {
		return nil, "", err
	}
	small := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := 0; y < height; y += band {
		end := min(y+band, height)
		part := image.Rect(from.Min.X, from.Min.Y+y*from.Dy()/height, from.Max.X, from.Min.Y+end*from.Dy()/height)
		if part.Empty() {
			continue
		}
		draw.BiLinear.Scale(small, image.Rect(0, y, width, end), whole, part, draw.Src, nil)
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
	}
	var out bytes.Buffer
	if kind == "image/jpeg" || kind == "image/webp" && small.Opaque() {
		err = jpeg.Encode(&out, small, &jpeg.Options{Quality: scaledQuality})
		return out.Bytes(), "image/jpeg", err
	}
	err = png.Encode(&out, small)
	return out.Bytes(), "image/png", err
}

// untilDone reads until no caller waits for the answer.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(into []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(into)
}
