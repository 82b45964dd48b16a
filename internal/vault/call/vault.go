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
	Path       string // of the folder, absolute
	Disk       *disk.Folder
	shared     *disk.Folder    // the same, which calls share and none is charged for
	onDisk     *disk.Folder    // shared without what is planned, nil for the same
	unread     *unread         // what of the vault could not be read for the call
	begun      time.Time       // when the call was opened
	limit      time.Duration   // the time that it has, 0 if it is not known
	Rules      access.Rules    // access to each note
	Sight      *Sight          // the visible files; nil if all are
	Host       *Host           // state between calls
	ForGateway bool            // the answer may be read by an agent
	Ctx        context.Context // ends with the call

	Clock       func() time.Time
	DayStart    time.Duration   // after midnight
	Caller      string          // that writes, "" if unknown
	settled     *atomic.Bool    // see [search.View]
	active      string          // the focused note, "" for that of the app's own record
	sources     [][]byte        // with secrets, whose texts a change puts into other files
	RandomIndex func(n int) int // a random index below n

	Tally *protocol.Tally // progress of the call, may be nil

	Origin Origin // that the proposed change was made from
	// Taken are the files whose text the proposed change puts into another one.
	Taken []Taken
	// Namesakes are the files that the name of the note of the call may mean, the one that it does first; at most one if it
	// was named otherwise.
	Namesakes []string

	Batch    *Batch   // whose changes are planned, and seen by the call as if they were made; nil for the vault as it is
	Restores *Version // that the app has kept, for a call that restores it; nil for other calls
	// Changes is called before the first file is changed, with how many are. It is false if the call is cancelled; nil tells
	// nobody.
	Changes func(files int) bool
}

// Index returns what the files of the vault contain, for an answer that is made of all of them: what could not be read
// counts in [Vault.Unread].
func (v *Vault) Index() (*index.Index, error) {
	x, err := v.IndexOfNames()
	if err == nil {
		v.unread.add(x.Unread...)
	}
	return x, err
}

// defaultLimit is the time that a call has unless it says so.
const defaultLimit = 15 * time.Second

// Until returns when a share of the time of the call is over, of which there are fifteen: as many as the seconds that a call
// has by default.
func (v *Vault) Until(fifteenths int) time.Time {
	return v.begun.Add(cmp.Or(v.limit, defaultLimit) * time.Duration(fifteenths) / 15)
}

// sharesForFiles is how much of its time a call waits for the first look at the files of a vault, see [Vault.Until]. What is
// after it is for the answer.
const sharesForFiles = 12

// IndexInTime is [Vault.Index] for a call that is answered from the files that were looked at when the time for that is
// over, see [search.Store.IndexInTime]. It is an error if there are none.
func (v *Vault) IndexInTime(until time.Time) (*index.Index, error) {
	x, err := v.Host.Knowledge.IndexInTime(v.View(), until)
	if errors.Is(err, context.DeadlineExceeded) && v.Ctx.Err() == nil {
		return nil, answer.NotYet.Failure(
			"There is nothing to answer from yet: the files of the vault are being read for the first time.",
		)
	}
	if err == nil {
		v.unread.add(x.Unread...)
	}
	return x, err
}

// IndexIfCurrent is [Vault.Index] if it costs almost nothing, see [search.Store.IndexIfCurrent].
func (v *Vault) IndexIfCurrent() (*index.Index, bool) {
	x, ok := v.Host.Knowledge.IndexIfCurrent(v.View())
	if ok {
		v.unread.add(x.Unread...)
	}
	return x, ok
}

// IndexOfNames is [Vault.Index] to find files by their names, for which no text is needed. Where a process for one call has
// no time to look at all files, it keeps what it has read for the next one, and the error says how far that is.
func (v *Vault) IndexOfNames() (*index.Index, error) {
	if v.Host.Knowledge.Resident || v.limit == 0 {
		return v.Host.Knowledge.Index(v.View())
	}
	x, err := v.Host.Knowledge.IndexInTime(v.View(), v.Until(sharesForFiles))
	if errors.Is(err, context.DeadlineExceeded) {
		x, err = &index.Index{IsPart: true}, nil
	}
	if err == nil && x.IsPart {
		said := "the files of the vault are being read for the first time"
		if known := len(x.Files); known > 0 {
			said += fmt.Sprintf(", %d of %s so far", known, answer.Count(known+x.Missing, "file"))
		}
		return nil, answer.NotYet.Failure("There is nothing to answer from yet: %s.", said)
	}
	return x, err
}

// View is the vault as the knowledge of earlier calls needs it.
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

// Origin is what a call made a note from.
type Origin struct {
	Text  string
	Timed bool // it was filled in with the date or the time
	// Left says what of it was not filled in, because only a plugin of the app knows it; ""
	// if nothing was left.
	Left string
}

// Taken is a file whose text is put into another one, as the caller sees it.
type Taken struct {
	Path disk.Path
	Text []byte
}

// Version is a version of a note in a history of the app.
type Version struct {
	Of   string // which one of which history, in words
	Text []byte // as the app has printed it
}

// ActiveNote returns the path of the focused note, which need not exist. A hidden one is not
// focused.
func (v *Vault) ActiveNote() (string, error) {
	active := v.active
	if active == "" {
		// The app's own scratch file: if it is missing or malformed, no note is known to be open.
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

// pane is a node of the window's layout; a leaf has a view.
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
		if found := p.Children[i].find(id); found != nil {
			return found
		}
	}
	return nil
}

// ActiveVariable says which note is focused, by its path in the vault.
const ActiveVariable = "VAULTWICKET_ACTIVE"

// Open returns the vault in a folder, as it is for this one request.
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
		h.AppVaults() // a process that is locked in cannot read the list
	}
	h.Confine(path)
	name := filepath.Base(path)
	if real := filepath.Base(h.identity); filenames.Same(name, real) { // not for a link
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
		same := func(r appvaults.Vault) bool { return r.ID == *id && appvaults.SameFolder(r.Folder, path) }
		if !appvaults.IsID(*id) || !slices.ContainsFunc(h.AppVaults(), same) {
			return nil, answer.ErrVaultNotFound
		}
	}
	return v, h.OpenFolder(path, v)
}

// Judged returns a text as it may leave the program, with marks in place of secrets if the caller
// may not see them. It is no text if the budget runs out, and then the call ends with that error.
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

// markerOf returns what puts marks in place of the secrets of the file at path, nil if the caller may see them.
func (v *Vault) markerOf(path disk.Path) *guard.Marker {
	if v.redacts(path) {
		return v.Host.marker
	}
	return nil
}

// redacts reports whether the file at path is read with marks in place of its secrets.
func (v *Vault) redacts(path disk.Path) bool {
	return v.Disk.IsRedacted() && !v.IsExcepted("secrets", path)
}

// JudgedText is Judged of a text that was decoded from a file which is none of the notes, such as a setting of the app.
func (v *Vault) JudgedText(text string) string {
	return v.Judged(guard.NewUnjudged([]byte(text))).String()
}

// Shown returns the text of the file at path as the caller reads it, which is [Vault.Judged] or the
// text as it is.
func (v *Vault) Shown(path disk.Path, text guard.Unjudged) guard.Judged {
	shown, _ := v.markerOf(path).Judge(text, budget.From(v.Ctx).Step)
	return shown
}

// ShownFrom reads the file at path out of another reader as the caller reads it.
func (v *Vault) ShownFrom(path disk.Path, file io.Reader) io.Reader {
	if !v.redacts(path) {
		return file
	}
	return v.Host.marker.Reader(file, budget.From(v.Ctx).Step)
}

// Restorer returns what puts the secrets of some texts, and those of the files that were read by
// [Vault.ReadSource], back into a text with marks.
func (v *Vault) Restorer(texts ...[]byte) *guard.Restorer {
	return v.Host.marker.Restorer(budget.From(v.Ctx).Step, slices.Concat(v.sources, texts)...)
}

// ReadSource reads a file whose text a change puts into another one: with marks, as the caller sees
// it, and its secrets are put back where they are still recognized.
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
	case file.Judged != nil: // what was judged is what is shown
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

// HashOf returns the digest of a note as the caller reads it, "" if it cannot be read.
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

// MarkdownNote reads the note that a request means, which has to be Markdown. It needs no
// index: one note is read faster than a vault is looked at.
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

// Target finds out which file is meant: path= exactly, file= as a link would,
// else the focused note. It need not exist.
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

// Resolve finds the file that a link with this text would lead to from a note
// in the vault's folder.
func (v *Vault) Resolve(name string) (disk.Path, error) { return v.resolve(name, nil) }

// resolve is Resolve, and notes which files the name may mean, unless namesakes is nil.
func (v *Vault) resolve(name string, namesakes *[]string) (disk.Path, error) {
	exact := name // the path of a file, with its extension or as the name of a note, wins against all others
	if !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ".") {
		exact += ".md"
	}
	if path, err := v.PathOf(exact); err == nil {
		_, err := v.Disk.Stat(path)
		switch {
		case err == nil:
			return path, nil // the vault need not be walked
		case disk.IsUnread(err):
			return disk.Path{}, answer.ReadError(name, err) // it is this one, and no other of its name
		}
	}
	x, ok := v.Host.Knowledge.IndexIfCurrent(v.View())
	if !ok && v.Disk.Judges() { // a walk would read every note
		var err error
		if x, err = v.IndexOfNames(); err != nil {
			return disk.Path{}, err
		}
		ok = true
	}
	if ok {
		v.AddUnread(x.UnreadNames()) // one of these may have the name, or one that comes first
		if place, ok := x.Resolve(name); ok {
			if namesakes != nil {
				*namesakes = x.Namesakes(name)
			}
			return x.Files[place].Path, nil
		}
		return disk.Path{}, answer.FileNotFound(name)
	}
	var found []string
	err := v.Disk.Telling(nil).Walk(disk.Path{}, func(e disk.Entry) {
		if !e.IsDir {
			found = append(found, e.Path.String())
		}
	})
	if err != nil {
		return disk.Path{}, err
	}
	files := lookup.New(found)
	if i, ok := files.Resolve(name, ""); ok {
		if namesakes != nil {
			*namesakes = answer.Map(files.Namesakes(name), files.Path)
		}
		return disk.ParsePath(files.Path(i))
	}
	return disk.Path{}, answer.FileNotFound(name)
}

// AccessVariable has the access rules of a vault, as package access writes them. Nothing is
// answered if they are invalid.
const AccessVariable = "VAULTWICKET_ACCESS"

// ExceptionsVariable has the files for which rules about texts do not apply, a line each, as package
// access writes them.
const ExceptionsVariable = "VAULTWICKET_EXCEPTIONS"

// Sight is the visible part of a vault: what neither the rules nor the patterns of the ignore
// file (gitignore(5)) hide. It implements the interface View of package disk.
type Sight struct {
	rules   access.Rules
	ignored *access.Ignored // nil if there is no file of patterns
}

// NewSight returns the view of a vault, nil where everything is seen. Patterns
// is the text of the ignore file.
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

// Enters reports whether something in a folder can be shown to the caller.
func (s *Sight) Enters(folder string) bool {
	return s.rules.Opens(folder) && !s.ignored.Hides(folder, access.Folder)
}

// Level returns what may be done with the file at a path.
func (s *Sight) Level(path string, rules access.Rules) access.Level {
	if s != nil && s.ignored.Hides(path, access.File) {
		return access.None
	}
	return rules.Level(path)
}

// Sees reports whether a path from a record may be named. Text that is no path of a file may not,
// nor the bookmarks, which name hidden files.
func (v *Vault) Sees(path string) bool {
	if !v.Hides() {
		return true
	}
	at, err := v.PathOf(path)
	return err == nil && v.Disk.SeesFile(at)
}

// SeesPlace is [Vault.Sees] by the access rules and the patterns alone. A note that its text closes is
// then as if it were gone.
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

// AmbiguousName says which files the name of the note of the call may mean, "" for a name that is clear.
func (v *Vault) AmbiguousName() string {
	if len(v.Namesakes) < 2 {
		return ""
	}
	const named = 5
	listed := answer.List(v.Namesakes, named)
	return "the name is that of " + answer.Count(
		len(v.Namesakes),
		"file",
	) + ": " + answer.AndMore(
		listed,
		len(v.Namesakes)-named,
	)
}
