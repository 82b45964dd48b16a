package handlers

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

func init() {
	register(
		Command{Name: "attachments", Run: listAttachments},
		Command{Name: "attachment:read", Run: readAttachment},
		Command{Name: "attachment:text", Run: attachmentText},
		Command{Name: "attachment:write", Plan: writeAttachment},
	)
}

// file is one attachment.
type file struct {
	path, kind string
	size       int64
	users      []index.Edge // the notes and canvases that link to it or embed it
}

func listAttachments(v *call.Vault, p call.Values) (answer.Reply, error) {
	idx, err := v.Index()
	if err != nil {
		return answer.Reply{}, err
	}
	files, err := attachmentsOf(v, idx, p)
	if err != nil {
		return answer.Reply{}, err
	}
	if p.Has("total") {
		return answer.Number(len(files)), nil
	}
	if p["format"] == answer.FormatJSON {
		return attachmentsAsJSON(v, idx, files), nil
	}
	if len(files) == 0 {
		return answer.Text("No attachments found."), nil
	}
	table := answer.Table{}
	for _, f := range files {
		names := answer.Map(
			f.users[:min(len(f.users), maxUsers)],
			func(user index.Edge) string { return idx.Files[user.Place].Path.String() },
		)
		users := answer.AndMore(strings.Join(names, ", "), len(f.users)-maxUsers)
		table.Rows = append(table.Rows, []string{f.path, f.kind, strconv.FormatInt(f.size, 10), users})
	}
	return table.Reply(v.Disk, answer.FormatTSV), nil
}

// attachmentsAsJSON replies with an array of objects, which is produced while it is printed.
func attachmentsAsJSON(v *call.Vault, idx *index.Index, files []file) answer.Reply {
	if len(files) == 0 {
		return answer.Text("[]")
	}
	paths := quotedPaths.Of(&v.Host.Memo, idx.Files)
	return answer.Rows(v.Disk, len(files), func(b []byte, row int) []byte {
		open := byte('[')
		if row > 0 {
			open = ','
		}
		b = files[row].appendJSON(append(b, open), paths)
		if row == len(files)-1 {
			b = append(b, ']')
		}
		return b
	})
}

// appendJSON appends the attachment as a JSON object. paths contains the paths of its users.
func (f file) appendJSON(b []byte, paths quoted) []byte {
	b = answer.AppendJSON(append(b, `{"path":`...), f.path)
	b = answer.AppendJSON(append(b, `,"type":`...), f.kind)
	b = strconv.AppendInt(append(b, `,"size":`...), f.size, 10)
	b = append(b, `,"usedIn":[`...)
	for i, user := range f.users {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, paths.text[paths.starts[user.Place]:paths.starts[user.Place+1]]...)
	}
	return append(b, "]}"...)
}

// attachmentsOf returns the attachments that match the parameters of a request, in the order of listings.
func attachmentsOf(v *call.Vault, idx *index.Index, p call.Values) ([]file, error) {
	var found []file
	graph := idx.Graph()
	inProperties := namedInProperties(v, idx)
	isUsed := func(place int) bool { return true } // by the note of the request
	if p.Has("note") {
		used, err := usedBy(v, idx, p["note"], inProperties)
		if err != nil {
			return nil, err
		}
		isUsed = func(place int) bool { return used[int32(place)] }
	}
	sorted, err := v.EachFileBelow(p["folder"], func(l call.Listed) {
		extension := l.Path.Ext()
		if !isAttachment(extension) || p.Has("type") && allowlist.FileKind(extension) != p["type"] {
			return
		}
		place, ok := idx.Place(l.Path.String())
		if !ok || !isUsed(place) {
			return
		}
		users := withUsers(graph.In(place), inProperties[int32(place)])
		if p.Has("unused") && len(users) > 0 {
			return
		}
		f := file{path: l.Path.String()}
		if !p.Has("total") {
			stamp, err := l.Stamp()
			if err != nil {
				return // deleted meanwhile
			}
			f.kind = allowlist.FileKind(extension)
			f.size = stamp.Size
			f.users = users
		}
		found = append(found, f)
	})
	if !sorted {
		slices.SortFunc(found, func(a, b file) int { return filenames.Compare(a.path, b.path) })
	}
	return found, err
}

// usedBy returns the places of the files that a note links to, embeds or names in its properties.
func usedBy(
	v *call.Vault, idx *index.Index, name string, inProperties map[int32][]index.Edge,
) (map[int32]bool, error) {
	note, err := v.Resolve(name)
	if err != nil {
		return nil, err
	}
	place, ok := idx.Place(note.String())
	if !ok {
		return nil, answer.FileNotFound(name)
	}
	used := map[int32]bool{}
	for _, edge := range idx.Graph().Out(place) {
		used[edge.Place] = true
	}
	isNote := func(e index.Edge) bool { return int(e.Place) == place }
	for target, users := range inProperties {
		if slices.ContainsFunc(users, isNote) {
			used[target] = true
		}
	}
	return used, nil
}

// namedInProperties returns, by the place of each attachment that a property names as ![[image.png]] or by a path, the
// notes that name it, in the order of listings. It skips [[links]] in properties, which the graph contains. The result
// is cached and must not be changed.
func namedInProperties(v *call.Vault, idx *index.Index) map[int32][]index.Edge {
	inProperties := search.Derived[map[int32][]index.Edge]{
		Name: "users by properties",
		Compute: func(files []*index.File) map[int32][]index.Edge {
			return usersByProperties(idx, attachmentNames.Of(&v.Host.Memo, files))
		},
	}
	return inProperties.Of(&v.Host.Memo, idx.Files)
}

// usersByProperties returns, by the place of each attachment, the files whose properties name it. names are those of
// [attachmentNames].
func usersByProperties(idx *index.Index, names map[int32][]string) map[int32][]index.Edge {
	named := map[int32][]index.Edge{}
	for _, source := range slices.Sorted(maps.Keys(names)) {
		for _, name := range names[source] {
			target, ok := idx.ResolveFrom(name, idx.Files[source].Path.String())
			if !ok {
				continue
			}
			users := named[int32(target)]
			if last := len(users) - 1; last >= 0 && users[last].Place == source {
				users[last].Count++
				continue
			}
			named[int32(target)] = append(users, index.Edge{Place: source, Count: 1})
		}
	}
	return named
}

// attachmentNames has the attachments that the properties of each file name, as they are written, by the place of the
// file. Files that name none, which are most, are left out.
var attachmentNames = search.Derived[map[int32][]string]{
	Name: "attachments in properties",
	Compute: func(files []*index.File) map[int32][]string {
		return followAttachmentNames(nil, nil, files)
	},
	Follow: followAttachmentNames,
}

// followAttachmentNames returns [attachmentNames] of files from last, those of the files before. It decodes the
// properties of new and changed files only.
func followAttachmentNames(last map[int32][]string, before, files []*index.File) map[int32][]string {
	next := map[int32][]string{}
	var fresh []*index.File
	var places []int32 // of the fresh files
	for place, previous := range index.Kept(before, files) {
		switch {
		case previous < 0:
			fresh = append(fresh, files[place])
			places = append(places, int32(place))
		case len(last[previous]) > 0:
			next[int32(place)] = last[previous]
		}
	}
	for i, names := range index.Collect(fresh, attachmentsInProperties) {
		if len(names) > 0 {
			next[places[i]] = names
		}
	}
	return next
}

// attachmentsInProperties returns the attachments that the properties of a file name, as they are written.
func attachmentsInProperties(f index.Facts) (names []string) {
	for _, property := range f.Properties() {
		for _, value := range property.Value.Elements() {
			text := strings.TrimSpace(value.Text())
			if inner, isEmbed := strings.CutPrefix(text, "![["); isEmbed {
				text, _, _ = strings.Cut(strings.TrimSuffix(inner, "]]"), "|")
			}
			text, _, _ = strings.Cut(text, "#")
			extension := strings.TrimPrefix(path.Ext(text), ".")
			if extension != "" && isAttachment(extension) && !strings.HasPrefix(text, "[[") {
				names = append(names, strings.Clone(text)) // a substring would keep all facts of the file in memory
			}
		}
	}
	return names
}

// withUsers merges two lists of users of a file, in the order of listings.
func withUsers(users, more []index.Edge) []index.Edge {
	if len(more) == 0 {
		return users
	}
	sorted := slices.Concat(users, more)
	slices.SortStableFunc(sorted, func(a, b index.Edge) int { return int(a.Place - b.Place) })
	merged := sorted[:0]
	for _, e := range sorted {
		if n := len(merged); n > 0 && merged[n-1].Place == e.Place {
			merged[n-1].Count += e.Count
			continue
		}
		merged = append(merged, e)
	}
	return merged
}

// maxUsers is how many notes a row of text names; JSON names all.
const maxUsers = 5

// quoted contains the paths of all files as JSON strings, ordered by place, in one text. It is a cache: in a large
// vault many attachments have the same users, and their paths are scattered in memory.
type quoted struct {
	text   string
	starts []int // the offset of each path in text, and the length of text
}

var quotedPaths = &search.Derived[quoted]{Name: "paths as JSON", Compute: func(files []*index.File) quoted {
	var text []byte
	starts := make([]int, len(files)+1)
	for i, f := range files {
		text = answer.AppendJSON(text, f.Path.String())
		starts[i+1] = len(text)
	}
	return quoted{string(text), starts}
}}

const (
	// maxImage is the maximum size of an image that is shown, in bytes. Models accept images of a
	// few megabytes, and base64 in a message makes each a third larger.
	maxImage          = 2 << 20
	maxAttachmentText = 16 << 20 // bytes of a file that is read
)

// readAttachment prints a text file unchanged. For an image it prints a description, and for the gateway, which passes
// it on to the client as an image, a second line with its bytes. For any other file it prints the type and the size.
func readAttachment(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	info, err := v.Disk.Stat(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	size := info.Size()
	if size > maxAttachmentText {
		return answer.From(v.Disk, fmt.Sprintf("%s, %d bytes: too large to be read", typeByName(t.Path), size)), nil
	}
	raw, err := v.Disk.Raw().Read(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	whole := v.Shown(t.Path, raw).Bytes()
	text := raw.ForProgram()
	kind := cmp.Or(contentType(text), typeByName(t.Path))
	switch {
	case isText(text):
		return answer.FromNote(v.Disk, t.Path, whole, string(whole)), nil
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind): // not shown by clients
		return answer.FromNote(
			v.Disk, t.Path,
			whole,
			fmt.Sprintf("%s, %s: not a text, and not an image that can be shown", kind, answer.Count(len(text), "byte")),
		), nil
	}
	about := fmt.Sprintf("%s%s, %s", kind, dimensions(text), answer.Count(len(text), "byte"))
	shown := text
	maxPixels, err := p.Number("max-pixels", 0, leastPixels, mostPixels)
	if err != nil {
		return answer.Reply{}, err
	}
	if maxPixels > 0 {
		var over *budget.Overrun
		switch shown, kind, err = scaled(v.Ctx, text, kind, maxPixels); {
		case errors.As(err, &over) || v.Ctx.Err() != nil:
			return answer.Reply{}, err
		case err != nil:
			return answer.Reply{}, answer.Failure("Image %q cannot be read: %v", answer.Verbatim(t.Typed), err)
		case len(shown) != len(text):
			about += fmt.Sprintf("; shown as %s%s", kind, dimensions(shown))
		}
	}
	if len(shown) > maxImage {
		return answer.FromNote(
			v.Disk, t.Path,
			whole,
			fmt.Sprintf("%s: images of up to %d bytes are shown; max-pixels shows a smaller one", about, maxImage),
		), nil
	}
	reply := answer.FromNote(v.Disk, t.Path, whole, about)
	if v.ForGateway {
		reply = reply.Saying(v.Disk, about+"\n"+base64.StdEncoding.EncodeToString(shown))
		reply.Image = kind
	}
	return reply, nil
}

// isText reports whether a file can be printed: it is valid UTF-8 without NUL bytes.
func isText(text []byte) bool {
	return utf8.Valid(text) && bytes.IndexByte(text, 0) < 0
}

// typeByName returns the media type that the extension of a file implies.
func typeByName(path disk.Path) string {
	switch kind := allowlist.FileKind(path.Ext()); kind {
	case "pdf":
		return "application/pdf"
	case "image", "audio", "video":
		return kind + "/" + strings.ToLower(path.Ext())
	}
	return "application/octet-stream"
}

// other is the type of files that the app does not open.
const other = "other"

// isAttachment reports whether a file with this extension is neither a note, a canvas nor a base.
func isAttachment(extension string) bool {
	return extension != "md" && extension != "canvas" && extension != "base"
}

// signatures are the bytes at a fixed offset that identify a file type.
var signatures = []struct {
	at         int
	text, kind string
}{
	{0, "\x89PNG\r\n\x1a\n", "image/png"},
	{0, "\xff\xd8\xff", "image/jpeg"},
	{0, "GIF87a", "image/gif"},
	{0, "GIF89a", "image/gif"},
	{8, "WEBPVP8", "image/webp"},
	{0, "BM", "image/bmp"},
	{4, "ftypavif", "image/avif"},
	{0, "%PDF-", "application/pdf"},
	{0, "PK\x03\x04", "application/zip"},
	{0, "ID3", "audio/mpeg"},
	{0, "OggS", "application/ogg"},
	{0, "fLaC", "audio/flac"},
	{0, "\x1a\x45\xdf\xa3", "video/webm"},
}

// contentType returns the media type of a file by its signature, "" if it has none of [signatures].
func contentType(text []byte) string {
	for _, m := range signatures {
		if len(text) > m.at && bytes.HasPrefix(text[m.at:], []byte(m.text)) {
			return m.kind
		}
	}
	return ""
}

// dimensions returns the width and height of an image as ", 640x480"; "" for webp and for a damaged image.
func dimensions(file []byte) string {
	config, kind, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || kind == "webp" {
		return ""
	}
	return fmt.Sprintf(", %dx%d", config.Width, config.Height)
}
