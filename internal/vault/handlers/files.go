package handlers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

func init() {
	register(
		Command{Name: "read", Run: readFile},
		Command{Name: "file", Run: fileInfo},
		Command{Name: "files", OfFiles: true, Run: listFiles},
		Command{Name: "folders", Run: listFolders},
		Command{Name: "vault", Run: vaultInfo},
		Command{Name: "folder", Run: folderInfo},
		Command{Name: "delete", Plan: remove},
		Command{Name: "vaults", Run: listVaults},
		Command{Name: "random", Help: "Pick a random note and print its path", Run: randomPath},
		Command{Name: "random:read", Run: randomRead},
		Command{Name: "recent", Run: listChanged},
		Command{Name: "recents", Run: listRecents},
	)
}

func readFile(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	if v.ForGateway && isBinary(v, t.Path) { // an agent would get thousands of escapes
		kind := answer.BadValue.Advise(allowlist.ServesKind(allowlist.FileKind(t.Path.Ext())))
		return answer.Reply{}, kind.Failure("File %q is not a text: %s", answer.Verbatim(t.Typed), typeByName(t.Path))
	}
	if p["frontmatter"] != "false" {
		return v.Show(t)
	}
	text, err := v.Disk.Read(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	return answer.FromNote(v.Disk, t.Path, text, string(text[markdown.Scan(text).Body:])), nil
}

// isBinary reports whether a file is an image, a PDF or the like by its extension; or, if its kind is unknown, by a NUL
// byte near its beginning.
func isBinary(v *call.Vault, at disk.Path) bool {
	extension := strings.ToLower(at.Ext())
	if !isAttachment(extension) || extension == "svg" {
		return false
	}
	if allowlist.FileKind(extension) != other {
		return true
	}
	file, err := v.Disk.Open(at)
	if err != nil {
		return false // the caller reports the error
	}
	defer file.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(file, head)
	return bytes.IndexByte(head[:n], 0) >= 0
}

func fileInfo(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	file, err := v.Disk.Open(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	defer file.Close()
	text := fmt.Sprintf("path\t%s\nname\t%s\nextension\t%s\nsize\t%d\ncreated\t%d\nmodified\t%d\n",
		t.Path, t.Path.Stem(), t.Path.Ext(), file.Info.Size(), file.Born().UnixMilli(), file.Info.ModTime().UnixMilli())
	return answer.From(v.Disk, text).About(t.Path), nil
}

func listFiles(v *call.Vault, p call.Values) (answer.Reply, error) {
	extension := strings.TrimPrefix(strings.TrimPrefix(p["ext"], "*"), ".")
	paths, err := v.PathsBelow(p["folder"], func(l call.Listed) bool { return !p.Has("ext") || l.Path.Ext() == extension })
	if err == nil && len(paths) == 0 && !p.Has("total") {
		place := answer.Place(p["folder"])
		if !p.Has("ext") {
			return answer.Nothing("", "%s has no files", place), nil
		}
		counts := map[string]int{}
		files := 0
		_, err := v.EachFileBelow(p["folder"], func(l call.Listed) {
			counts[l.Path.Ext()]++
			files++
		})
		if err != nil || files == 0 {
			return answer.Nothing("", "%s has no files", place), err
		}
		exts := slices.SortedFunc(
			maps.Keys(counts),
			func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) },
		)
		return answer.Nothing("", "no file with the extension %q in %s (%s; extensions: %s)",
			answer.Verbatim(extension), place, answer.Count(files, "file"), answer.List(exts, maxExts)), nil
	}
	return listReply(v, p, paths, answer.Reply{}), err
}

func listFolders(v *call.Vault, p call.Values) (answer.Reply, error) {
	under, err := v.FolderOf(p["folder"])
	if err != nil {
		return answer.Reply{}, answer.NoSuchFolder(p["folder"], err)
	}
	var paths []string
	if p.Has("folder") {
		paths, err = search.FoldersBelow(v.Disk, under)
	} else {
		paths, err = v.Host.Knowledge.Folders(v.View())
	}
	err = answer.FolderReadError(p["folder"], err)
	return listReply(v, p, paths, answer.Nothing("", "%s has no folders", answer.Place(p["folder"]))), err
}

// maxExts is how many extensions a notice lists.
const maxExts = 8

func vaultInfo(v *call.Vault, p call.Values) (answer.Reply, error) {
	switch p["info"] {
	case "name":
		return answer.From(v.Disk, v.Name), nil
	case "path":
		return answer.From(v.Disk, v.Path), nil
	}
	return countBelow(v, disk.Path{}, p["info"], fmt.Sprintf("name\t%s\npath\t%s\n", v.Name, v.Path))
}

// folderInfo implements the command folder. Like vault, it counts everything below the folder, at any depth.
func folderInfo(v *call.Vault, p call.Values) (answer.Reply, error) {
	under, err := v.FolderOf(p["path"])
	if err != nil {
		return answer.Reply{}, answer.NoSuchFolder(p["path"], err)
	}
	reply, err := countBelow(v, under, p["info"], "path\t"+cmp.Or(under.String(), "/")+"\n") // as in the app
	if disk.IsMissing(err) {
		err = answer.FolderNotFound(p["path"])
	}
	return reply, err
}

// countBelow replies with the count that info names for everything below a folder, or with all counts, preceded by
// about.
func countBelow(v *call.Vault, under disk.Path, info, about string) (answer.Reply, error) {
	var files, folders, size int64
	_, err := v.EachEntry(under, func(l call.Listed) {
		files++
		if stamp, err := l.Stamp(); err == nil { // it may have been deleted meanwhile
			size += stamp.Size
		}
	}, func(string) { folders++ })
	switch info {
	case "files":
		return answer.From(v.Disk, strconv.FormatInt(files, 10)), err
	case "folders":
		return answer.From(v.Disk, strconv.FormatInt(folders, 10)), err
	case "size":
		return answer.From(v.Disk, strconv.FormatInt(size, 10)), err
	}
	return answer.From(v.Disk, fmt.Sprintf("%sfiles\t%d\nfolders\t%d\nsize\t%d\n", about, files, folders, size)), err
}

// remove plans to move a file to the trash of the vault, or to delete it. The system's trash is outside the vault,
// where this process has no access. The app also falls back to the trash of the vault if it cannot use the system's.
func remove(v *call.Vault, p call.Values) (change.Proposal, error) {
	t, err := v.Target(p)
	if err != nil {
		return change.Proposal{}, err
	}
	proposal, err := planRemoval(v, []call.Target{t}, removal(p.Has("permanent")))
	proposal.Message = proposal.Message + t.Path.String()
	proposal.Note = t.Path
	return proposal, err
}

// removal is how files are removed.
type removal bool

const (
	toTrash   removal = false // unless the user's settings delete files
	permanent removal = true
)

// planRemoval returns the proposal to move files to the trash, or to delete them. Its message ends before the names of
// the files, which the caller adds.
func planRemoval(v *call.Vault, files []call.Target, how removal) (proposal change.Proposal, err error) {
	var app struct {
		Trash string `json:"trashOption"`
	}
	if err := v.ReadConfig("app.json", &app); err != nil {
		return proposal, err
	}
	proposal.Message = "Deleted permanently: "
	trash := how == toTrash && app.Trash != "none"
	if trash {
		proposal.Message = "Moved to trash: "
	}
	states, err := statesOf(v, files)
	if err != nil {
		return proposal, err
	}
	for i, file := range files {
		proposal.Steps = append(proposal.Steps, change.Step{Path: file.Path, Before: states[i], Trash: trash})
	}
	idx, err := v.IndexOfNames() // names are enough: links to a file do not prevent its removal
	if err != nil {
		return proposal, err
	}
	proposal.Broken.Unread = len(idx.Unread)
	return proposal, nil
}

// maxTexts is the limit in bytes for the texts that are kept in memory of files that are removed, moved or copied
// together. The first file is always kept.
const maxTexts = 8 << 20

// statesOf returns the states of files that are removed. Only the first ones keep their text, up to [change.MaxTexts]
// files and maxTexts bytes.
func statesOf(v *call.Vault, files []call.Target) ([]change.FileState, error) {
	states := make([]change.FileState, len(files))
	read := 0 // files that keep their text
	for texts := 0; read < len(files); read++ {
		state, err := stateOf(v, files[read])
		if err != nil {
			return nil, err
		}
		texts += state.Text.Len()
		isEnough := read == change.MaxTexts || read > 0 && texts > maxTexts
		if isEnough {
			budget.From(v.Ctx).Release(int64(state.Text.Len()))
			break
		}
		states[read] = state
	}
	rest := len(files) - read
	failures := make([]error, rest)
	budget.InParallel(rest, readTogether, func(start, end int) {
		for i := start; i < end; i++ {
			file := files[read+i]
			state, err := stateOf(v, file)
			if err != nil {
				failures[i] = err
				return
			}
			states[read+i] = state.WithoutText(v, file.Path)
			budget.From(v.Ctx).Release(int64(state.Text.Len()))
		}
	})
	return states, cmp.Or(failures...)
}

// readTogether is how many files a goroutine reads at a time.
const readTogether = 64

// listVaults prints the vaults of the app's list. On a machine without this list it prints only this vault.
func listVaults(v *call.Vault, p call.Values) (answer.Reply, error) {
	vaults := v.Host.AppVaults()
	if len(vaults) == 0 {
		vaults = []appvaults.Vault{{Folder: v.Path}}
	}
	if p.Has("total") {
		return answer.Number(len(vaults)), nil
	}
	table := answer.Table{Pairs: p.Has("verbose")}
	for _, r := range vaults {
		table.Add(r.Name(), r.Folder)
	}
	return table.Reply(v.Disk, answer.FormatTSV), nil
}

// randomPath implements the command random. The app opens the note and reports that; nothing can be opened here, so
// the answer is only the path.
func randomPath(v *call.Vault, p call.Values) (answer.Reply, error) {
	notes, err := pickNotes(v, p, 1)
	if err != nil || len(notes) == 0 {
		return nothingPicked(v, p, err)
	}
	return answer.From(v.Disk, notes[0].String()).About(notes[0]), nil
}

// randomRead prints the path and the text of a note, or, with count=, several notes under headings.
func randomRead(v *call.Vault, p call.Values) (answer.Reply, error) {
	count, err := p.Number("count", 1, 1, maxRandom)
	if err != nil {
		return answer.Reply{}, err
	}
	notes, err := pickNotes(v, p, count)
	if err != nil || len(notes) == 0 {
		return nothingPicked(v, p, err)
	}
	if p.Has("count") {
		return answer.From(v.Disk, joinNotes(v, notes, "")), nil
	}
	reply, err := v.Show(call.Target{Path: notes[0], Typed: notes[0].String()})
	return reply.Saying(v.Disk, notes[0].String()), err
}

const (
	noNotes   = "No markdown files found."
	maxRandom = 20 // more than anybody reads at once
)

// pickNotes picks up to count different notes that match p.
func pickNotes(v *call.Vault, p call.Values, count int) ([]disk.Path, error) {
	days, err := call.Age(cmp.Or(p["min-age"], "0"), v.Clock())
	if err != nil {
		return nil, err
	}
	seed, err := p.Number("seed", 0, 0, min(math.MaxInt, 1<<53))
	if err != nil {
		return nil, err
	}
	newest := v.Clock().AddDate(0, 0, -days)
	var paths []disk.Path
	sorted, err := v.EachFileBelow(p["folder"], func(l call.Listed) {
		if !l.IsNote() {
			return
		}
		if days != 0 {
			stamp, err := l.Stamp()
			if err != nil || time.Unix(0, stamp.Modified).After(newest) {
				return
			}
		}
		paths = append(paths, l.Path)
	})
	if err != nil {
		return nil, err
	}
	pick := v.RandomIndex
	if p.Has("seed") {
		if !sorted { // the same seed must pick the same notes
			slices.SortFunc(paths, func(a, b disk.Path) int { return filenames.Compare(a.String(), b.String()) })
		}
		pick = rand.New(rand.NewPCG(uint64(seed), 0)).IntN
	}
	var notes []disk.Path
	for len(notes) < count && len(paths) > 0 {
		i := pick(len(paths))
		if _, err := v.Disk.Stat(paths[i]); !disk.IsMissing(err) { // it may have been deleted meanwhile
			notes = append(notes, paths[i])
		}
		paths[i] = paths[len(paths)-1]
		paths = paths[:len(paths)-1]
	}
	return notes, nil
}

// nothingPicked returns err, or an answer that explains why no note matched.
func nothingPicked(v *call.Vault, p call.Values, err error) (answer.Reply, error) {
	if err != nil {
		return answer.Reply{}, err
	}
	total := 0
	if p.Has("min-age") { // the only parameter that excludes notes of the folder
		_, err = v.EachFileBelow(p["folder"], func(l call.Listed) {
			if l.IsNote() {
				total++
			}
		})
	}
	if err != nil || total == 0 {
		return answer.Nothing(noNotes, "%s has no notes", answer.Place(p["folder"])), err
	}
	days, err := call.Age(p["min-age"], v.Clock())
	return answer.Nothing(
		noNotes,
		"no note older than %s in %s (%s)",
		answer.Count(days, "day"),
		answer.Place(p["folder"]),
		answer.Count(total, "note"),
	), err
}

const (
	defaultRecent = 20   // default without since=, which limits the list by itself
	maxRecent     = 1000 // maximum of limit=
)

// listChanged prints, separated by tabs, the path of each note, the time of its last change, and who made it, if known.
func listChanged(v *call.Vault, p call.Values) (answer.Reply, error) {
	defaultLimit := defaultRecent
	if p.Has("since") {
		defaultLimit = math.MaxInt / 2
	}
	limit, err := p.Number("limit", defaultLimit, 1, maxRecent)
	if err != nil {
		return answer.Reply{}, err
	}
	now := v.Clock()
	var since time.Time
	if p.Has("since") {
		days, err := call.Days(p["since"], now)
		if err != nil {
			return answer.Reply{}, err
		}
		since = days.First
	}
	first := filenames.NewFirst(limit, func(c, other changed) int {
		byTime := other.at.Compare(c.at)
		switch {
		case byTime != 0:
			return byTime
		case c.rank != 0 && other.rank != 0:
			return c.rank - other.rank
		}
		return filenames.Compare(c.path, other.path)
	})
	count := 0
	total, err := changedNotes(v, since, func(n changed) {
		count++
		first.Add(n)
	})
	if err != nil {
		return answer.Reply{}, err
	}
	notes := first.Sorted()
	switch {
	case len(notes) == 0 && (!p.Has("since") || total == 0):
		return answer.Nothing("", "the vault has no notes"), nil
	case len(notes) == 0:
		return answer.Nothing(
			"",
			"no note was changed since %s (%s in the vault)",
			since.Format(time.DateOnly),
			answer.Count(total, "note"),
		), nil
	}
	makers := madeBy(v, notes)
	var out strings.Builder
	for _, n := range notes {
		out.WriteString(n.path + "\t" + n.at.In(now.Location()).Format(time.RFC3339))
		if maker := makers[n.path]; maker != "" {
			out.WriteString("\t" + maker)
		}
		out.WriteByte('\n')
	}
	return limited(answer.From(v.Disk, out.String()), len(notes), count, "note"), nil
}

// madeBy returns, by path, who made the last change of a note, if the change was made through this program and the
// note is unchanged since. Without a readable journal it returns nil.
func madeBy(v *call.Vault, notes []changed) map[string]string {
	j, err := v.Journal()
	if err != nil {
		return nil
	}
	makers := map[string]string{}
	oldest := notes[len(notes)-1].at.Add(-time.Minute) // a journal entry begins before its note is written
	for _, n := range notes {
		_, _ = j.Each(v.Ctx, journal.Filter{Path: n.path, Since: oldest}, func(e journal.Entry) bool {
			i := slices.IndexFunc(e.Steps, func(s journal.Step) bool { return s.Path == n.path })
			if i < 0 {
				return true // it was moved away from this path
			}
			s := e.Steps[i]
			at, err := v.PathOf(s.Path)
			if err != nil || !v.Sees(s.Source()) {
				return false
			}
			if now, err := change.CurrentState(v, at); err == nil && change.ImageOf(now) == s.After {
				makers[n.path] = e.By()
			}
			return false
		})
	}
	return makers
}

// changed is a note and the time of its last change.
type changed struct {
	path string
	rank int // position in the order of listings, from 1; 0 if unknown
	at   time.Time
}

// changedNotes visits the notes that were changed since a time, in any order, and returns the number of all notes.
func changedNotes(v *call.Vault, since time.Time, visit func(changed)) (total int, err error) {
	if idx, ok := v.IndexIfCurrent(); ok {
		for i, f := range idx.Files {
			if !f.IsNote() {
				continue
			}
			total++
			at := time.Unix(0, f.Stamp.Modified)
			if f.Stamp == (system.Stamp{}) { // it was written while the index read it
				info, err := v.Disk.Stat(f.Path)
				if v.Disk.Told(f.Path, err) != nil {
					continue
				}
				at = info.ModTime()
			}
			if !at.Before(since) {
				visit(changed{f.Path.String(), i + 1, at})
			}
		}
		return total, nil
	}
	var mu sync.Mutex
	err = v.Disk.WalkParallel(disk.Path{}, func(e disk.Entry) {
		if e.IsDir || e.Path.Ext() != "md" {
			return
		}
		info, err := e.Info()
		mu.Lock()
		defer mu.Unlock()
		total++
		if err == nil && !info.ModTime().Before(since) {
			visit(changed{e.Path.String(), 0, info.ModTime()})
		}
	})
	return total, err
}

// listRecents prints the files that the app opened last, as it recorded when it last saved its workspace. Files that
// no longer exist are left out.
func listRecents(v *call.Vault, p call.Values) (answer.Reply, error) {
	var record struct{ LastOpenFiles []string }
	text, err := v.Disk.Config("workspace.json")
	if disk.IsUnread(err) {
		return answer.Reply{}, answer.ReadError(disk.ConfigPath("workspace.json"), err)
	}
	if err == nil {
		_ = json.Unmarshal(text.ForProgram(), &record) // the app's scratch file: a malformed one counts as empty
	}
	var open []string
	for _, name := range record.LastOpenFiles {
		path, err := v.PathOf(name)
		if err != nil {
			continue
		}
		if _, err := v.Disk.Stat(path); v.Disk.Told(path, err) == nil {
			open = append(open, path.String())
		}
	}
	return listReply(
		v,
		p,
		open,
		answer.Nothing("No recent files.", "the app has recorded no opened files; recent lists the notes that were changed last"),
	), nil
}
