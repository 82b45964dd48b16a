package call

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

// Vault is a vault opened for one call, with everything that an answer depends on besides the
// request.
type Vault struct {
	Name       string
	Path       string          // absolute path of the folder
	Disk       *disk.Folder    // the files as the caller sees them; reads are charged to the call
	shared     *disk.Folder    // the same files, shared by calls and charged to none
	onDisk     *disk.Folder    // shared without the overlay of a batch; nil without a batch
	unread     *unread         // files and folders that could not be read for the call
	begun      time.Time       // when the call was opened
	limit      time.Duration   // time limit of the call, 0 if unknown
	Rules      access.Rules    // access to each note
	Sight      *Sight          // the visible files; nil if all are
	Host       *Host           // state between calls
	ForGateway bool            // an agent may read the answer
	Ctx        context.Context // ends with the call

	Clock       func() time.Time
	DayStart    time.Duration   // after midnight
	Caller      string          // who changes notes, "" if unknown
	settled     *atomic.Bool    // see [search.View]
	active      string          // the focused note, "" for the one in the app's workspace file
	sources     [][]byte        // texts with secrets that a change puts into other files
	RandomIndex func(n int) int // returns a random index below n

	Tally *protocol.Tally // progress of the call, may be nil

	Origin Origin // the template of the proposed change
	// Taken are the files whose text the proposed change puts into other files.
	Taken []Taken
	// Namesakes are the files that the note name of the call may mean, beginning with the one that it means; at most
	// one if the note was given by its path.
	Namesakes []string

	Batch    *Batch   // the batch whose planned changes the call sees; nil for the vault on the disk
	Restores *Version // the version of the app's history that the call restores; nil for other calls
	// Changes is called with the number of files before the first one is changed. If it returns false, the call is
	// cancelled. It may be nil.
	Changes func(files int) bool
}

// Index returns the index of the vault, for an answer that depends on all files. Files that could not be read are
// counted in [Vault.Unread].
func (v *Vault) Index() (*index.Index, error) {
	idx, err := v.IndexOfNames()
	if err == nil {
		v.unread.add(idx.Unread...)
	}
	return idx, err
}

// defaultLimit is the time limit of a call without a known one.
const defaultLimit = 15 * time.Second

// Until returns the time at which a share of the call's time, in fifteenths, is over. By default a fifteenth is a
// second.
func (v *Vault) Until(fifteenths int) time.Time {
	return v.begun.Add(cmp.Or(v.limit, defaultLimit) * time.Duration(fifteenths) / 15)
}

// sharesForFiles is the share of its time that a call waits for the first scan of the vault's files, see
// [Vault.Until]. The rest is for the answer.
const sharesForFiles = 12

// IndexInTime is [Vault.Index] for a call that can be answered from the files indexed until a time, see
// [search.Store.IndexInTime]. It is an error if there are none.
func (v *Vault) IndexInTime(until time.Time) (*index.Index, error) {
	idx, err := v.Host.Knowledge.IndexInTime(v.View(), until)
	if errors.Is(err, context.DeadlineExceeded) && v.Ctx.Err() == nil {
		return nil, answer.NotYet.Failure(
			"There is nothing to answer from yet: the files of the vault are being read for the first time.",
		)
	}
	if err == nil {
		v.unread.add(idx.Unread...)
	}
	return idx, err
}

// IndexIfCurrent is [Vault.Index] if that costs almost nothing, see [search.Store.IndexIfCurrent].
func (v *Vault) IndexIfCurrent() (*index.Index, bool) {
	idx, ok := v.Host.Knowledge.IndexIfCurrent(v.View())
	if ok {
		v.unread.add(idx.Unread...)
	}
	return idx, ok
}

// IndexOfNames is [Vault.Index] for finding files by name, which needs no texts: unread files are not counted. If a
// process for one call has no time to index all files, it saves its progress for the next call and returns an error
// that reports it.
func (v *Vault) IndexOfNames() (*index.Index, error) {
	if v.Host.Knowledge.Resident || v.limit == 0 {
		return v.Host.Knowledge.Index(v.View())
	}
	idx, err := v.Host.Knowledge.IndexInTime(v.View(), v.Until(sharesForFiles))
	if errors.Is(err, context.DeadlineExceeded) {
		idx, err = &index.Index{IsPart: true}, nil
	}
	if err == nil && idx.IsPart {
		progress := "the files of the vault are being read for the first time"
		if indexed := len(idx.Files); indexed > 0 {
			progress += fmt.Sprintf(", %d of %s so far", indexed, answer.Count(indexed+idx.Missing, "file"))
		}
		return nil, answer.NotYet.Failure("There is nothing to answer from yet: %s.", progress)
	}
	return idx, err
}

// View returns the vault in the form that package search needs.
func (v *Vault) View() search.View {
	return search.View{
		OnDisk:  v.onDisk,
		Ctx:     v.Ctx,
		Folder:  v.shared,
		Own:     v.Disk,
		Path:    v.Path,
		Env:     v.Host.Env,
		Now:     v.Host.Now,
		Settled: v.settled,
		Unread:  v.unread.add,
		Judge:   v.Host.judging,
		Tally:   v.Tally,
	}
}

// Origin is the template from which a call makes a note.
type Origin struct {
	Text  string
	Timed bool // the date or the time was filled in
	// Left describes the parts that were not filled in, because only a plugin of the app can.
	Left answer.Notice
}

// Taken is a file whose text a change puts into another file.
type Taken struct {
	Path disk.Path
	Text []byte // as the caller sees it
}

// Version is a version of a note in a history of the app.
type Version struct {
	Of   string // the description of the version and its history
	Text []byte // as the app printed it
}

// ActiveNote returns the path of the focused note, which need not exist. A hidden note does not count as focused.
func (v *Vault) ActiveNote() (string, error) {
	active := v.active
	if active == "" {
		// The app's scratch file: if it is missing or malformed, no note counts as open.
		var space struct {
			Active                      string
			Main, Left, Right, Floating pane
		}
		text, err := v.Disk.Config("workspace.json")
		if disk.IsUnread(err) {
			return "", answer.ReadError(disk.ConfigPath("workspace.json"), err)
		}
		if err != nil || json.Unmarshal(text.ForProgram(), &space) != nil || space.Active == "" {
			return "", answer.NoActiveFile()
		}
		for _, side := range []pane{space.Main, space.Left, space.Right, space.Floating} {
			if leaf := side.find(space.Active); leaf != nil && active == "" {
				active = leaf.State.State.File
			}
		}
	}
	if active == "" || !v.Sees(active) {
		return "", answer.NoActiveFile()
	}
	return active, nil
}

// pane is a node of the window layout. Only a leaf has a view.
type pane struct {
	ID       string
	Children []pane
	State    struct{ State struct{ File string } }
}

func (p *pane) find(id string) *pane {
	if p.ID == id {
		return p
	}
	for i := range p.Children {
		if match := p.Children[i].find(id); match != nil {
			return match
		}
	}
	return nil
}

// ActiveVariable is the path in the vault of the focused note.
const ActiveVariable = "VAULTWICKET_ACTIVE"

// Open returns the vault in a folder for one request.
func (h *Host) Open(ctx context.Context, folder string, q protocol.Request) (*Vault, error) {
	env := h.Env
	clock, err := date.Clock(env(date.NowVariable))
	if err != nil {
		return nil, answer.Misuse("%v", err)
	}
	hour := 0 // at which a day begins
	if text := env(DayStartVariable); text != "" {
		if hour, err = strconv.Atoi(text); err != nil || hour < 0 || hour > LatestDayStart {
			return nil, answer.Misuse("%s is not an hour from 0 to %d: %q", DayStartVariable, LatestDayStart, text)
		}
	}
	path, err := filepath.Abs(folder)
	if err != nil {
		return nil, answer.ErrVaultNotFound
	}
	if allowlist.ListsVaults(q.Command) || q.Vault != nil && appvaults.IsID(*q.Vault) {
		h.AppVaults() // a confined process cannot read the list
	}
	h.Confine(path)
	name := filepath.Base(path)
	if real := filepath.Base(h.identity); filenames.Same(name, real) { // false if folder is a link
		name = real
	}
	v := &Vault{
		Name:        name,
		Path:        path,
		Host:        h,
		Ctx:         ctx,
		ForGateway:  q.Want.Facts,
		Clock:       clock,
		DayStart:    time.Duration(hour) * time.Hour,
		active:      env(ActiveVariable),
		begun:       time.Now(),
		limit:       time.Duration(q.Want.Millis) * time.Millisecond,
		settled:     new(atomic.Bool),
		RandomIndex: rand.IntN,
	}
	if id := q.Vault; id != nil && *id != v.Name && *id != filepath.Base(path) {
		// The app's list of vaults is read only for an id: no other call reads outside the vault.
		isThis := func(r appvaults.Vault) bool { return r.ID == *id && appvaults.SameFolder(r.Folder, path) }
		if !appvaults.IsID(*id) || !slices.ContainsFunc(h.AppVaults(), isThis) {
			return nil, answer.ErrVaultNotFound
		}
	}
	return v, h.OpenFolder(path, v)
}

// Judged returns a text as it may leave the program, with marks in place of secrets if the caller may not see them.
// If the budget is exhausted the result is empty, and the call ends with the error of the budget.
func (v *Vault) Judged(text guard.Unjudged) guard.Judged {
	shown, _ := v.Host.marker.Judge(text, budget.From(v.Ctx).Step)
	return shown
}

func (v *Vault) redact(text []byte) ([]byte, error) {
	return v.Host.marker.RedactWithin(text, budget.From(v.Ctx).Step)
}

// ShownPages returns the pages of the file at path as the caller reads them.
func (v *Vault) ShownPages(path disk.Path, pages []guard.Unjudged) ([]guard.Judged, error) {
	return v.markerOf(path).JudgePieces(pages, budget.From(v.Ctx).Step)
}

// markerOf returns the marker for the secrets of the file at path, nil if the caller may see them.
func (v *Vault) markerOf(path disk.Path) *guard.Marker {
	if v.redacts(path) {
		return v.Host.marker
	}
	return nil
}

// redacts reports whether secrets in the file at path are replaced by marks.
func (v *Vault) redacts(path disk.Path) bool {
	return v.Disk.IsRedacted() && !v.IsExcepted("secrets", path)
}

// JudgedText is [Vault.Judged] for a text decoded from a file that is not a note, such as a settings file of the app.
func (v *Vault) JudgedText(text string) string {
	return v.Judged(guard.NewUnjudged([]byte(text))).String()
}

// Shown returns the text of the file at path as the caller reads it: unchanged if the caller may see its secrets,
// otherwise like [Vault.Judged].
func (v *Vault) Shown(path disk.Path, text guard.Unjudged) guard.Judged {
	shown, _ := v.markerOf(path).Judge(text, budget.From(v.Ctx).Step)
	return shown
}

// ShownFrom returns a reader of the content of the file at path as the caller reads it.
func (v *Vault) ShownFrom(path disk.Path, file io.Reader) io.Reader {
	if !v.redacts(path) {
		return file
	}
	return v.Host.marker.Reader(file, budget.From(v.Ctx).Step)
}

// Restorer returns a restorer that replaces marks in a text by the secrets of the given texts, and of the files that
// [Vault.ReadSource] has read.
func (v *Vault) Restorer(texts ...[]byte) *guard.Restorer {
	return v.Host.marker.Restorer(budget.From(v.Ctx).Step, slices.Concat(v.sources, texts)...)
}

// ReadSource reads a file whose text a change puts into another file. The text has marks in place of secrets, as the
// caller sees it; when the change is made, the marks that remain are replaced by the secrets again.
func (v *Vault) ReadSource(path disk.Path) ([]byte, error) {
	text, err := v.Disk.Read(path)
	if err == nil {
		v.Taken = append(v.Taken, Taken{path, text})
	}
	if err != nil || !guard.HasMark(text) {
		return text, err
	}
	raw, err := v.Disk.Raw().Read(path)
	v.sources = append(v.sources, raw.ForProgram())
	return text, err
}

// redacted is a file that is read with marks in place of its secrets.
type redacted struct {
	io.Reader
	io.Closer
}

// Show replies with the text of a file.
func (v *Vault) Show(t Target) (answer.Reply, error) {
	file, err := v.Disk.Open(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	if err := file.TooLarge(); err != nil {
		file.Close()
		return answer.Reply{}, err
	}
	reply := answer.Reply{Body: file, Note: t.Path}
	switch {
	case file.Judged != nil: // show exactly the bytes that were judged
		file.Close()
		shown := file.Judged
		if v.redacts(t.Path) {
			var err error
			if shown, err = v.redact(shown); err != nil {
				return answer.Reply{}, err
			}
		}
		reply.Body = io.NopCloser(bytes.NewReader(shown))
	case v.redacts(t.Path):
		reply.Body = redacted{v.ShownFrom(t.Path, file), file}
	}
	return reply, nil
}

// HashOf returns the [answer.Digest] of a note as the caller reads it, "" if it cannot be read.
func (v *Vault) HashOf(note disk.Path) string {
	shown, err := v.Show(Target{Path: note})
	if err != nil {
		return ""
	}
	defer shown.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, shown.Body); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// MarkdownNote reads the note that a request means, which must be Markdown. It does not use the index, because
// reading one note is faster than scanning a vault.
func (v *Vault) MarkdownNote(p Values) (t Target, text []byte, err error) {
	if t, err = v.Target(p); err != nil {
		return t, nil, err
	}
	if text, err = v.Disk.Read(t.Path); err != nil {
		return t, nil, answer.ReadError(t.Typed, err)
	}
	if t.Path.Ext() != "md" {
		return t, nil, answer.BadValue.Advise(allowlist.ServesKind(allowlist.FileKind(t.Path.Ext()))).
			Failure("File is not a markdown file.")
	}
	return t, text, nil
}

// Target is the file that a request means, and how the caller wrote it.
type Target struct {
	Path  disk.Path
	Typed string
}

// Target returns the file that a request means: path= is its exact path, file= is resolved like a link, and the
// default is the focused note. The file need not exist.
func (v *Vault) Target(p Values) (Target, error) {
	if p.Has("file") {
		path, err := v.resolve(p["file"], &v.Namesakes)
		return Target{path, p["file"]}, err
	}
	typed := p["path"]
	if !p.Has("path") {
		var err error
		if typed, err = v.ActiveNote(); err != nil {
			return Target{}, err
		}
	}
	path, err := v.FindPath(typed)
	return Target{path, typed}, err
}

// Resolve returns the file that a link with this text would lead to from a note in the vault's root.
func (v *Vault) Resolve(name string) (disk.Path, error) { return v.resolve(name, nil) }

// resolve is [Vault.Resolve]. Unless namesakes is nil, it also sets the files that the name may mean.
func (v *Vault) resolve(name string, namesakes *[]string) (disk.Path, error) {
	exact := name // an exact path, with extension or as that of a note, has priority
	if !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ".") {
		exact += ".md"
	}
	if path, err := v.PathOf(exact); err == nil {
		_, err := v.Disk.Stat(path)
		switch {
		case err == nil:
			return path, nil // without scanning the vault
		case disk.IsUnread(err):
			return disk.Path{}, answer.ReadError(name, err) // it exists, so no other file of this name is meant
		}
	}
	idx, ok := v.Host.Knowledge.IndexIfCurrent(v.View())
	if !ok && v.Disk.Judges() { // a walk would read every note
		var err error
		if idx, err = v.IndexOfNames(); err != nil {
			return disk.Path{}, err
		}
		ok = true
	}
	if ok {
		v.AddUnread(idx.UnreadNames()) // one of these may have the name, or take precedence
		if place, ok := idx.Resolve(name); ok {
			if namesakes != nil {
				*namesakes = idx.Namesakes(name)
			}
			return idx.Files[place].Path, nil
		}
		return disk.Path{}, answer.FileNotFound(name)
	}
	var paths []string
	err := v.Disk.Telling(nil).Walk(disk.Path{}, func(e disk.Entry) {
		if !e.IsDir {
			paths = append(paths, e.Path.String())
		}
	})
	if err != nil {
		return disk.Path{}, err
	}
	files := lookup.New(paths)
	if i, ok := files.Resolve(name, ""); ok {
		if namesakes != nil {
			*namesakes = answer.Map(files.Namesakes(name), files.Path)
		}
		return disk.ParsePath(files.Path(i))
	}
	return disk.Path{}, answer.FileNotFound(name)
}

// AccessVariable contains the access rules of a vault, in the format of package access. If they are invalid, every call
// fails.
const AccessVariable = "VAULTWICKET_ACCESS"

// ExceptionsVariable contains the exceptions to content rules, one per line, in the format of package access.
const ExceptionsVariable = "VAULTWICKET_EXCEPTIONS"

// Sight is the visible part of a vault: what neither the access rules nor the patterns of the ignore file (see
// gitignore(5)) hide. It implements the interface View of package disk.
type Sight struct {
	rules   access.Rules
	ignored *access.Ignored // nil if there are no patterns
}

// NewSight returns the visible part of a vault, nil if everything is visible. patterns is the text of the ignore file.
func NewSight(rules access.Rules, patterns string) *Sight {
	s := &Sight{rules: rules, ignored: access.ParseIgnored(patterns)}
	if s.ignored == nil && !rules.Hide() {
		return nil
	}
	return s
}

// SeesFile reports whether a file may be shown to the caller.
func (s *Sight) SeesFile(path string) bool {
	return s.rules.Level(path) > access.None && !s.ignored.Hides(path, access.File)
}

// SeesFolder reports whether a folder may be shown to the caller.
func (s *Sight) SeesFolder(path string) bool {
	return s.rules.Level(path) > access.None && !s.ignored.Hides(path, access.Folder)
}

// Enters reports whether something in a folder may be shown to the caller.
func (s *Sight) Enters(folder string) bool {
	return s.rules.Opens(folder) && !s.ignored.Hides(folder, access.Folder)
}

// Level returns the access level for the file at a path. s may be nil.
func (s *Sight) Level(path string, rules access.Rules) access.Level {
	if s != nil && s.ignored.Hides(path, access.File) {
		return access.None
	}
	return rules.Level(path)
}

// Sees reports whether a path from a record may be shown to the caller. If files may be hidden, it returns false for
// text that is not a path, and for the bookmarks, which name hidden files.
func (v *Vault) Sees(path string) bool {
	if !v.Hides() {
		return true
	}
	at, err := v.PathOf(path)
	return err == nil && v.Disk.SeesFile(at)
}

// SeesPlace is [Vault.Sees] by the access rules and the ignore file alone: it returns true for a note that only its own
// text hides.
func (v *Vault) SeesPlace(path string) bool {
	if v.Sight == nil {
		return true
	}
	at, err := v.PathOf(path)
	return err == nil && v.Disk.Judging(nil).SeesFile(at)
}

// SeesFolder is [Vault.Sees] for a folder.
func (v *Vault) SeesFolder(path string) bool {
	at, err := v.FolderOf(path)
	return err == nil && v.Disk.SeesFolder(at)
}

// AmbiguousName returns a notice about the files that the note name of the call may mean. There is no remark if it is
// unambiguous.
func (v *Vault) AmbiguousName() answer.Notice {
	if len(v.Namesakes) < 2 {
		return answer.Notice{}
	}
	const named = 5
	listed := answer.AndMore(answer.List(v.Namesakes, named), len(v.Namesakes)-named)
	return answer.Remark("the name is that of %s: %s", answer.Count(len(v.Namesakes), "file"), listed)
}
