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
	_ "golang.org/x/image/webp" // another format of images that are scaled

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// maxAttachmentWrite is the maximum size of a written attachment, in bytes.
const maxAttachmentWrite = 8 << 20

// extensions maps each media type that contentType recognizes to the extension of a new file.
var extensions = map[string]string{
	"image/png":       "png",
	"image/jpeg":      "jpg",
	"image/gif":       "gif",
	"image/webp":      "webp",
	"image/bmp":       "bmp",
	"image/avif":      "avif",
	"application/pdf": "pdf",
	"application/zip": "zip",
	"audio/mpeg":      "mp3",
	"application/ogg": "ogg",
	"audio/flac":      "flac",
	"video/webm":      "webm",
}

// base64Payload returns the base64 part of a data URL, and any other text unchanged.
func base64Payload(data string) string {
	head, encoded, found := strings.Cut(data, ",")
	if found && strings.HasPrefix(head, "data:") && strings.HasSuffix(head, ";base64") {
		return encoded
	}
	return data
}

// writeAttachment plans a file of any kind except note, canvas and base. The content must match the extension.
func writeAttachment(v *call.Vault, p call.Values) (change.Proposal, error) {
	data, err := base64.StdEncoding.DecodeString(base64Payload(p["data"]))
	switch {
	case err != nil || len(data) == 0:
		return change.Proposal{}, answer.Misuse("Invalid value for data: it is not base64.")
	case len(data) > maxAttachmentWrite:
		return change.Proposal{}, answer.Misuse(
			"Invalid value for data: %d bytes, at most %d are written.",
			len(data),
			maxAttachmentWrite,
		)
	case p.Has("path") == p.Has("name"):
		return change.Proposal{}, answer.Misuse("Use path=<path> or name=<name>.")
	}
	typed := p["path"]
	if p.Has("name") {
		folder, err := attachmentFolder(v, p)
		if err != nil {
			return change.Proposal{}, err
		}
		typed = path.Join(folder, p["name"])
	}
	if extension := extensions[contentType(data)]; path.Ext(typed) == "" && extension != "" {
		typed += "." + extension
	}
	target, err := v.PathOf(typed)
	if err != nil {
		return change.Proposal{}, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(typed), err)
	}
	if err := checkContent(target, data); err != nil {
		return change.Proposal{}, err
	}
	before, err := change.CurrentState(v, target)
	if err != nil {
		return change.Proposal{}, answer.WriteError(target.String(), err)
	}
	if before.Exists && !p.Has("overwrite") {
		return change.Proposal{}, answer.AlreadyExists.Advise("choose another name, or give overwrite to replace it").
			Failure("File %q already exists.", answer.Verbatim(target.String()))
	}
	idx, err := v.IndexOfNames()
	if err != nil {
		return change.Proposal{}, err
	}
	link := path.Base(target.String())
	if place, ok := idx.Resolve(link); ok && idx.Files[place].Path != target {
		link = target.String()
	}
	return holdingLinks(v, p, change.Proposal{
		Steps:    []change.Step{{Path: target, Before: before, After: change.Existing(data)}},
		Message:  "Written: " + target.String(),
		Note:     target,
		Raw:      true,
		Replaces: before.Exists,
		Notice:   answer.Remark("![[%s]] in a note shows it", link),
		Already:  fmt.Sprintf("%q has these bytes already", answer.Verbatim(target.String())),
	})
}

// checkContent rejects a new file whose bytes do not match its extension, and kinds of files that are not attachments.
func checkContent(target disk.Path, data []byte) error {
	kind := allowlist.FileKind(target.Ext())
	if kind == "note" || kind == "canvas" || kind == "base" {
		return answer.BadValue.Advise("create makes notes, canvases and bases from text").
			Failure("File %q is not an attachment.", answer.Verbatim(target.String()))
	}
	rejected := func(why string) error {
		return answer.BadValue.Advise("give it the extension of its type").
			Failure("File %q cannot be written: %s.", answer.Verbatim(target.String()), why)
	}
	if strings.EqualFold(target.Ext(), "svg") {
		if !isText(data) || !bytes.Contains(data, []byte("<svg")) {
			return rejected("its bytes are no SVG")
		}
		return nil
	}
	mediaType := contentType(data)
	isCertain := strings.HasPrefix(mediaType, "image/") || mediaType == "application/pdf" // unambiguous signatures
	isJPEG := mediaType == "image/jpeg" && strings.EqualFold(target.Ext(), "jpeg")
	hasExtensionOfType := isJPEG || strings.EqualFold(target.Ext(), extensions[mediaType])
	switch {
	case target.Ext() == "":
		return rejected("its name has no extension, and its bytes tell no type")
	case isCertain && !hasExtensionOfType:
		return rejected("its bytes are " + mediaType)
	case !isCertain && (kind == "image" || kind == "pdf"):
		return rejected("its bytes are no " + typeByName(target))
	}
	return nil
}

// attachmentFolder returns the folder for new attachments, "" for the vault's root. If the app keeps attachments
// next to their note, the request must name the note.
func attachmentFolder(v *call.Vault, p call.Values) (string, error) {
	var app struct {
		Folder string `json:"attachmentFolderPath"`
	}
	if err := v.ReadConfig("app.json", &app); err != nil {
		return "", err
	}
	below, isNextToNote := strings.CutPrefix(app.Folder, "./")
	if !isNextToNote {
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

// attachmentText prints a text file unchanged, and the text of the pages of a PDF.
func attachmentText(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	info, err := v.Disk.Stat(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	spent := budget.From(v.Ctx)
	if err := spent.Hold(info.Size()); err != nil {
		return answer.Reply{}, err
	}
	raw, err := v.Disk.Raw().Read(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	file := raw.ForProgram()
	isPDF := contentType(file) == "application/pdf"
	switch {
	case !isPDF && isText(file):
		shown := v.Shown(t.Path, raw)
		return answer.FromNote(v.Disk, t.Path, shown.Bytes(), shown.String()), spent.Put(int64(len(shown.Bytes())))
	case !isPDF:
		hint := allowlist.ServesKind(allowlist.FileKind(t.Path.Ext()))
		return answer.Reply{}, answer.BadValue.Advise(hint).
			Failure("File %q is not a text, and not a PDF: %s", answer.Verbatim(t.Typed), cmp.Or(contentType(file), typeByName(t.Path)))
	}
	return textOfPDF(v, p, t, raw)
}

// textOfPDF prints the text of the requested pages of the PDF t with the content raw, whose bytes it modifies.
func textOfPDF(v *call.Vault, p call.Values, t call.Target, raw guard.Unjudged) (answer.Reply, error) {
	first, last, err := requestedPages(p)
	if err != nil {
		return answer.Reply{}, err
	}
	reply := answer.FromNote(v.Disk, t.Path, v.Shown(t.Path, raw).Bytes(), "") // before readPDF modifies the bytes
	// A secret can continue on the next page, so the pages before and after the requested ones are judged too.
	pages, total, err := readPDF(raw.ForProgram(), max(1, first-1), last+min(1, math.MaxInt-last), budget.From(v.Ctx))
	if err != nil {
		return answer.Reply{}, unreadablePDF(t, err)
	}
	if total > 0 && first > total {
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
	var broken []answer.Notice
	textBytes := 0
	shown := 0
	for i, page := range pages {
		if page.Number < first || page.Number > last {
			continue
		}
		shown++
		textBytes += page.Text.Len()
		if page.Err != nil {
			broken = append(broken, answer.Remark("page %d cannot be read: %v", page.Number, page.Err))
		}
		fmt.Fprintf(&out, "==> page %d of %d <==\n%s\n", page.Number, total, texts[i])
	}
	if len(broken) > maxViews {
		broken = append(broken[:maxViews], answer.Remark("%d more cannot be read", len(broken)-maxViews))
	}
	reply = reply.Saying(v.Disk, out.String())
	reply.Notice = answer.Notice{}.And(broken...)
	if textBytes == 0 && len(broken) == 0 {
		reply = reply.Saying(v.Disk, "")
		reply.Notice = answer.Remark(
			"no text in it: %s, which may show images of text",
			answer.Count(shown, "page"),
		)
	}
	return reply, nil
}

// requestedPages returns the first and the last page of a request; by default all pages.
func requestedPages(p call.Values) (first, last int, err error) {
	if !p.Has("pages") {
		return 1, math.MaxInt, nil
	}
	first, last, ok := parseRange(p["pages"])
	if !ok {
		return 0, 0, answer.Misuse(
			"Invalid value for pages: %s. Use a page such as 3, or pages such as 3-7.",
			answer.Verbatim(p["pages"]),
		)
	}
	return first, last, nil
}

// unreadablePDF returns the error for a PDF that could not be read.
func unreadablePDF(t call.Target, err error) error {
	var malformed *malformedPDF
	var over *budget.Overrun
	switch {
	case errors.As(err, &malformed):
		return answer.OtherFailure.Advise("attachment:read tells its size; the user can open it").
			Failure("PDF %q cannot be read: %v", answer.Verbatim(t.Typed), err)
	case errors.As(err, &over):
		tooLarge := answer.Kind{Code: over.Code(), Hint: "ask for some of its pages, such as pages=1-20"}
		return tooLarge.Failure("PDF %q is too large: %v", answer.Verbatim(t.Typed), err)
	}
	return err
}

const (
	leastPixels   = 1
	mostPixels    = 4096
	scaledQuality = 85 // JPEG quality, 1 to 100
	band          = 32 // rows scaled at once, which bounds the memory used
)

// scaled returns an image with no side longer than most pixels, and its media type: the file itself if it is
// small enough. If a file contains several images, the first is scaled.
func scaled(ctx context.Context, file []byte, kind string, most int) ([]byte, string, error) {
	spent := budget.From(ctx)
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, "", err
	}
	if max(config.Width, config.Height) <= most {
		return file, kind, nil
	}
	pixels := int64(config.Width) * int64(config.Height)
	if err := errors.Join(spent.Hold(pixelBytes(file, config)*pixels), spent.Step(pixels/8)); err != nil {
		return nil, "", err
	}
	source, _, err := image.Decode(untilDone{ctx, bytes.NewReader(file)})
	if err != nil {
		return nil, "", errors.Join(ctx.Err(), err)
	}
	bounds := source.Bounds()
	width, height := fitInto(most, bounds)
	rows := int64(band)*int64(bounds.Dy())/int64(height) + 2
	if err := spent.Hold(int64(width)*int64(height)*4 + int64(width)*rows*32); err != nil {
		return nil, "", err
	}
	small := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := 0; y < height; y += band {
		end := min(y+band, height)
		part := image.Rect(bounds.Min.X, bounds.Min.Y+y*bounds.Dy()/height, bounds.Max.X, bounds.Min.Y+end*bounds.Dy()/height)
		if part.Empty() {
			continue
		}
		draw.BiLinear.Scale(small, image.Rect(0, y, width, end), source, part, draw.Src, nil)
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

// pixelBytes returns the bytes per pixel that the image in a file needs in memory.
func pixelBytes(file []byte, config image.Config) int64 {
	switch config.ColorModel {
	case color.NRGBA64Model, color.RGBA64Model:
		return 8
	case color.YCbCrModel, color.GrayModel, color.CMYKModel:
		isProgressive := bytes.Contains(file[:min(len(file), 64<<10)], []byte("\xff\xc2\x00")) // the marker SOF2
		if isProgressive {
			return 9 // the coefficients are in memory too
		}
		return 3
	}
	return 4
}

// fitInto returns the size of an image whose longer side is most pixels, with the proportions of bounds.
func fitInto(most int, bounds image.Rectangle) (width, height int) {
	if bounds.Dy() > bounds.Dx() {
		return max(1, bounds.Dx()*most/bounds.Dy()), most
	}
	return most, max(1, bounds.Dy()*most/max(1, bounds.Dx()))
}

// untilDone is a reader that fails once its context is done.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(buf []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(buf)
}
