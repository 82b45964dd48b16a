package call

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

// Listed is a file that [Vault.EachEntry] visits. It is only valid during the visit.
type Listed struct {
	Path  disk.Path
	entry disk.Entry    // only set in a walk
	known *index.File   // nil in a walk
	looks *disk.Stamper // nil in a walk
}

// IsNote reports whether the file is a note by its extension.
func (l Listed) IsNote() bool { return l.Path.Ext() == "md" }

// Stamp returns the state of the file, with the errors of [disk.Folder.Open].
func (l Listed) Stamp() (system.Stamp, error) {
	switch {
	case l.known == nil:
		return l.entry.Stamp()
	case l.known.Stamp != system.Stamp{}:
		return l.known.Stamp, nil
	}
	return l.looks.Stamp(l.Path) // the index does not read files of this kind
}

// EachEntry visits the files below a folder, and the folders too unless folder is nil. With an up-to-date index it does
// not walk the disk, and visits the files in the order of listings; sorted reports that. The error is that of the disk,
// also for a missing folder.
func (v *Vault) EachEntry(under disk.Path, file func(Listed), folder func(path string)) (sorted bool, err error) {
	if files, unread := v.indexedBelow(under); len(files) > 0 {
		v.unread.add(unread...)
		looks := v.Disk.Stamper()
		defer looks.Close()
		for _, f := range files {
			file(Listed{Path: f.Path, known: f, looks: looks})
		}
		if folder == nil {
			return true, nil
		}
		folders, err := v.Host.Knowledge.Folders(v.View())
		for _, path := range folders {
			if under == (disk.Path{}) || strings.HasPrefix(path, under.String()+"/") {
				folder(path)
			}
		}
		return true, err
	}
	// The index does not distinguish an empty folder from a missing one.
	return false, v.Disk.Walk(under, func(e disk.Entry) {
		switch {
		case !e.IsDir:
			file(Listed{Path: e.Path, entry: e})
		case folder != nil:
			folder(e.Path.String())
		}
	})
}

// PathsBelow returns the paths of the wanted files below a typed folder, in the order of listings. A missing folder
// is an error, unlike in the app, where it looks like an empty one.
func (v *Vault) PathsBelow(folder string, wanted func(Listed) bool) (found []string, err error) {
	sorted, err := v.EachFileBelow(folder, func(l Listed) {
		if wanted(l) {
			found = append(found, l.Path.String())
		}
	})
	if !sorted {
		filenames.Sort(found)
	}
	return found, err
}

// EachFileBelow is [Vault.EachEntry] for the files of a typed folder. Its errors are faults, also for a missing folder.
func (v *Vault) EachFileBelow(folder string, visit func(Listed)) (sorted bool, err error) {
	under, err := v.FolderOf(folder)
	if err != nil {
		return false, answer.NoSuchFolder(folder, err)
	}
	sorted, err = v.EachEntry(under, visit, nil)
	return sorted, answer.FolderReadError(folder, err)
}

// FolderThere returns the path of a typed folder. It is an error if the folder does not exist.
func (v *Vault) FolderThere(typed string) (disk.Path, error) {
	at, err := v.FolderOf(typed)
	if err != nil {
		return at, answer.NoSuchFolder(typed, err)
	}
	return at, answer.FolderReadError(typed, v.IsThere(at))
}

// IsThere returns nil if a folder exists, and the error of the disk otherwise.
func (v *Vault) IsThere(folder disk.Path) error {
	if files, _ := v.indexedBelow(folder); len(files) > 0 {
		return nil
	}
	return v.Disk.Telling(nil).Walk(folder, func(disk.Entry) {})
}

// indexedBelow returns the files below a folder in the order of listings, and the paths there that could not be read.
// Without a current index it returns none.
func (v *Vault) indexedBelow(folder disk.Path) (below []*index.File, unread []string) {
	idx, ok := v.Host.Knowledge.IndexIfMade(v.View())
	if !ok && v.Disk.Judges() { // a walk would read every note
		built, err := v.IndexOfNames()
		idx = built
		ok = err == nil
	}
	switch {
	case !ok:
		return nil, nil
	case folder == disk.Path{}:
		return idx.Files, idx.Unread
	}
	for _, path := range idx.Unread {
		if strings.HasPrefix(path, folder.String()+"/") {
			unread = append(unread, path)
		}
	}
	for _, f := range idx.Files {
		if f.Path.Below(folder) {
			below = append(below, f)
		}
	}
	return below, unread
}

// Excluded returns the test for files that the user's settings exclude, and a text that identifies these settings in
// caches. Excluded files are left out of searches and of the lists of tags and properties; their links still count.
func (v *Vault) Excluded() (excluded func(path string) bool, which string, err error) {
	filters, err := v.filters()
	return excludes(filters), strings.Join(filters, "\n"), err
}

// excludes returns the test for the files that filters exclude.
func excludes(filters []string) func(path string) bool {
	tests := make([]func(string) bool, 0, len(filters))
	for _, filter := range filters {
		if len(filter) > 2 && filter[0] == '/' && strings.HasSuffix(filter, "/") {
			// A regular expression. If it does not compile here, it excludes nothing.
			if expression, err := regexp.Compile(filter[1 : len(filter)-1]); err == nil {
				tests = append(tests, expression.MatchString)
			}
			continue
		}
		filter = strings.TrimSuffix(filter, "/") // the path of a file or of a folder
		tests = append(tests, func(path string) bool {
			rest, ok := strings.CutPrefix(path, filter)
			if !ok || filter == "" {
				return false
			}
			return rest == "" || rest[0] == '/'
		})
	}
	return func(path string) bool {
		return slices.ContainsFunc(tests, func(test func(string) bool) bool { return test(path) })
	}
}

// filters returns the user's setting for excluded files.
func (v *Vault) filters() ([]string, error) {
	var app struct {
		Filters []string `json:"userIgnoreFilters"`
	}
	err := v.ReadConfig("app.json", &app)
	return app.Filters, err
}

// PathOf returns the path that a text means, in the spelling of the disk. Every path in a call or in a setting of the
// vault passes through here or [Vault.FindPath], so that access rules, records and answers use the same name for a
// note.
func (v *Vault) PathOf(text string) (disk.Path, error) {
	path, err := disk.ParsePath(text)
	if err != nil {
		return disk.Path{}, err
	}
	return v.NameOnDisk(path)
}

// FolderOf is [Vault.PathOf] for a folder.
func (v *Vault) FolderOf(text string) (disk.Path, error) {
	folder, err := disk.ParseFolder(text)
	if err != nil {
		return disk.Path{}, err
	}
	return v.NameOnDisk(folder)
}

// NameOnDisk returns a path in the spelling of the disk. Parts that do not exist are kept. It is an error if the path
// means another file on this system.
func (v *Vault) NameOnDisk(requested disk.Path) (disk.Path, error) {
	path, err := v.Disk.NamedInAnyForm(requested)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("path %q: names something else on this system", requested)
	}
	return path, err
}

// FindPath is [Vault.PathOf] for a file that the caller expects to exist. Its error for an invalid path is that of a
// missing file.
func (v *Vault) FindPath(typed string) (disk.Path, error) {
	parsed, err := disk.ParsePath(typed)
	if err != nil {
		return disk.Path{}, answer.FileNotFound(typed)
	}
	path, err := v.Disk.NamedInAnyForm(parsed)
	if err != nil {
		return disk.Path{}, answer.ReadError(typed, err)
	}
	return path, nil
}

// spelled contains the access rules with paths in the spelling of the disk: a user may write Work for the folder
// WORK, or use another Unicode normal form.
type spelled struct {
	rules access.Rules
	names []string // the names that differ from the written ones, sorted
	at    time.Time
}

// respellAfter is how long the names are cached. Rules that deny access always apply to every spelling.
const respellAfter = time.Second

// respell updates the names, and reports whether they have changed. The caller holds h.mu, and the folder is open.
func (h *Host) respell() (others bool) {
	if !h.rules.Restrict() {
		h.spelled.rules = h.rules
		return false
	}
	if now := time.Now(); now.Sub(h.spelled.at) < respellAfter {
		return false
	}
	previous := h.spelled
	h.spelled = spelled{at: time.Now()}
	h.spelled.rules = h.rules.Named(func(written string) string {
		path, err := disk.ParseFolder(written)
		if err == nil {
			path, err = h.folder.Named(path)
		}
		if err != nil || path.String() == written {
			return written
		}
		h.spelled.names = append(h.spelled.names, path.String())
		return path.String()
	})
	slices.Sort(h.spelled.names)
	return !slices.Equal(previous.names, h.spelled.names)
}

// NamesOneFile reports whether a call names a single file.
func NamesOneFile(p Values) bool { return p.Has("file") || p.Has("path") || p.Has("active") }

// IndexedTarget finds the file that a request means in the index, for an answer that also depends on other files.
func (v *Vault) IndexedTarget(p Values) (idx *index.Index, place int, err error) {
	return v.targetIn(p, v.Index)
}

// IndexedFile is [Vault.IndexedTarget] for an answer that only depends on this file. It is an error if the file could
// not be read.
func (v *Vault) IndexedFile(p Values) (idx *index.Index, place int, err error) {
	idx, place, err = v.targetIn(p, v.IndexOfNames)
	if err == nil && idx.IsUnread(idx.Files[place].Path.String()) {
		return nil, 0, v.whyUnread(Target{Path: idx.Files[place].Path, Typed: idx.Files[place].Path.String()})
	}
	return idx, place, err
}

// whyUnread returns the error for a file that the index could not read.
func (v *Vault) whyUnread(t Target) error {
	_, _, err := v.Disk.ReadStamped(t.Path)
	if err == nil || disk.IsMissing(err) {
		err = errUnreadBefore
	}
	return answer.ReadError(t.Typed, err)
}

var errUnreadBefore = errors.New("its disk failed a moment ago")

func (v *Vault) targetIn(p Values, take func() (*index.Index, error)) (idx *index.Index, place int, err error) {
	t, err := v.Target(p)
	if err != nil {
		return nil, 0, err
	}
	if idx, err = take(); err != nil {
		return nil, 0, err
	}
	place, ok := idx.Place(t.Path.String())
	switch {
	case !ok && idx.IsUnread(t.Path.String()):
		return nil, 0, v.whyUnread(t)
	case !ok:
		return nil, 0, answer.FileNotFound(t.Typed)
	}
	return idx, place, nil
}

// ScopedFiles returns the files that a listing covers: the named one, the focused one for active, otherwise all that
// are not excluded. The caller must not modify the list.
func (v *Vault) ScopedFiles(p Values) ([]*index.File, error) {
	if NamesOneFile(p) {
		idx, place, err := v.IndexedFile(p)
		if err != nil {
			return nil, err
		}
		return idx.Files[place : place+1], nil
	}
	idx, err := v.Index()
	if err != nil {
		return nil, err
	}
	filters, err := v.filters()
	if err != nil || len(filters) == 0 {
		return idx.Files, err
	}
	// Cached, because testing every path takes as long as a short listing.
	return (&search.Derived[[]*index.File]{Name: "files without " + strings.Join(filters, "\n"), Compute: func(files []*index.File) []*index.File {
		excluded := excludes(filters)
		var included []*index.File
		for _, f := range files {
			if !excluded(f.Path.String()) {
				included = append(included, f)
			}
		}
		return included
	}}).Of(
		&v.Host.Memo,
		idx.Files,
	), nil
}

// Days returns the days that a date parameter means, relative to now and in its time zone. A word without a direction,
// such as a weekday, means the past. The error is a misuse with an explanation.
func Days(text string, now time.Time) (date.Span, error) { return read(text, now, date.Past) }

// DaysAhead is [Days] for a parameter about the future, such as a due date: a word without a direction means the
// future.
func DaysAhead(text string, now time.Time) (date.Span, error) { return read(text, now, date.Ahead) }

func read(text string, now time.Time, toward date.Direction) (date.Span, error) {
	span, err := date.Read(text, now, toward)
	if err != nil {
		return span, answer.Misuse("Invalid date %q: %v", answer.Verbatim(excerpt.Short(text)), err)
	}
	return span, nil
}

// Age returns the number of days that a parameter means: digits, or the day from which the days are counted until now.
func Age(text string, now time.Time) (days int, err error) {
	if strings.Trim(text, "0123456789") == "" {
		days, err = strconv.Atoi(text)
		if err != nil || days > date.MaxDays {
			return 0, answer.Misuse(
				"Invalid number: %s. Use a number of days up to %d.",
				excerpt.Short(text),
				date.MaxDays,
			)
		}
		return days, nil
	}
	span, err := Days(text, now)
	if err != nil {
		return 0, err
	}
	if days = span.Ago(now); days < 0 {
		return 0, answer.Misuse(
			"Invalid age %q: %s is in the future.",
			answer.Verbatim(text),
			span.First.Format(time.DateOnly),
		)
	}
	return days, nil
}

// DayStartVariable is the hour at which a day begins, from 0 (the default) to [LatestDayStart]. Before this hour,
// today is still the previous day.
const DayStartVariable = "VAULTWICKET_DAY_START"

// LatestDayStart is the latest hour at which a day can begin.
const LatestDayStart = 12

// Today returns the present time of day on the day that counts as today, which is the previous day before the hour at
// which a day begins.
func (v *Vault) Today() time.Time {
	now := v.Clock()
	return OnDay(now, now.Add(-v.DayStart))
}

// OnDay returns the time of day of now on another day.
func OnDay(now, day time.Time) time.Time {
	return time.Date(
		day.Year(),
		day.Month(),
		day.Day(),
		now.Hour(),
		now.Minute(),
		now.Second(),
		now.Nanosecond(),
		now.Location(),
	)
}
