package handlers

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

func init() {
	register(
		Command{Name: "tags", OfIndex: true, Run: tags},
		Command{Name: "tag", Run: tag},
	)
}

// scopedTags returns the tags of the files of a request. The tags of the whole vault are cached; the caller must not
// modify the table.
func scopedTags(v *call.Vault, p call.Values) (*tagTable, error) {
	files, err := v.ScopedFiles(p)
	if err != nil {
		return nil, err
	}
	if call.NamesOneFile(p) {
		return newTagTable(files), nil
	}
	return allTags.Of(&v.Host.Memo, files), nil
}

var allTags = search.Derived[*tagTable]{Name: "tags", Compute: newTagTable, Follow: (*tagTable).follow}

// tags lists the tags of the vault, or of a note if one is given.
func tags(v *call.Vault, p call.Values) (answer.Reply, error) {
	table, err := scopedTags(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	uses := table.uses
	switch {
	case p.Has("total"):
		return answer.Number(len(uses)), nil
	case len(uses) == 0:
		place := answer.Place(p["file"] + p["path"])
		if p.Has("active") {
			place = "the open note"
		}
		return answer.Nothing("No tags found.", "%s has no tags", place), nil
	case p["sort"] == "count":
		uses = slices.Clone(uses)
		slices.SortStableFunc(uses, func(a, b tagUse) int { return cmp.Compare(b.count, a.count) })
	}
	rows := answer.Table{Columns: []string{"tag", "count"}, Pairs: p.Has("counts")}
	for _, use := range uses {
		rows.Add(use.name, strconv.Itoa(use.count))
	}
	return rows.Reply(v.Disk, p["format"]), nil
}

// tag lists the files with a tag. Like the app, it compares names case-sensitively, with the spelling that tags prints.
func tag(v *call.Vault, p call.Values) (answer.Reply, error) {
	table, err := scopedTags(v, call.Values{})
	if err != nil {
		return answer.Reply{}, err
	}
	name := "#" + strings.TrimPrefix(p["name"], "#")
	for _, use := range table.uses {
		if use.name != name {
			continue
		}
		if p.Has("total") {
			return answer.Number(use.count), nil
		}
		lines := table.filesWith(use)
		if p.Has("verbose") {
			lines = append([]string{use.name + "\t" + strconv.Itoa(use.count)}, lines...)
		}
		return answer.From(v.Disk, strings.Join(lines, "\n")), nil
	}
	names := answer.Map(table.uses, func(use tagUse) string { return use.name })
	return answer.Reply{}, answer.NotFoundTag.DidYouMean(
		lookup.NearestNames(p["name"], names),
		"Tag %q not found.",
		answer.Verbatim(name),
	)
}

// tagTable contains the tags of some files. It is immutable. [tagTable.follow] makes the table for the next state of
// the files without collecting the tags of unchanged files again.
type tagTable struct {
	uses []tagUse // in the order of listings

	files     []*index.File
	starts    []int32   // the index in written of the first tag of each file, and the length of written
	written   []int32   // the spelling of each tag of each file, by number
	spellings spellings // by number
}

// tagUse is a tag. Tags that differ only in case are the same tag.
type tagUse struct {
	name  string // the most frequent spelling
	count int
	tag   int32 // its number
}

// spellings are all ways in which tags were ever written. A table shares them with the tables that follow it, which
// append to them.
type spellings struct {
	names   []string
	tags    []int32          // the tag of each spelling, by number
	numbers map[string]int32 // spelling → its number; only used while the next table is made
	lower   map[string]int32 // tag in lower case → its number; likewise
}

// newTagTable collects the tags of files, which are in the order of listings.
func newTagTable(files []*index.File) *tagTable {
	empty := &tagTable{spellings: spellings{numbers: map[string]int32{}, lower: map[string]int32{}}}
	return empty.follow(nil, files)
}

// follow returns the table for the present files. before are the files of t.
func (t *tagTable) follow(before, files []*index.File) *tagTable {
	if len(t.spellings.names) > 2*len(t.uses)+maxUnused {
		return newTagTable(files) // most spellings are unused
	}
	next := &tagTable{
		files:     files,
		starts:    make([]int32, len(files)+1),
		written:   make([]int32, 0, len(t.written)),
		spellings: t.spellings,
	}
	places := index.Kept(before, files)
	var fresh []*index.File
	for i, previous := range places {
		if previous < 0 {
			fresh = append(fresh, files[i])
		}
	}
	names := index.Collect(fresh, index.Facts.Tags)
	for i, previous := range places {
		if previous >= 0 {
			next.written = append(next.written, t.of(int(previous))...)
		} else {
			for _, name := range names[0] {
				next.written = append(next.written, next.spellings.number(name))
			}
			names = names[1:]
		}
		next.starts[i+1] = int32(len(next.written))
	}
	// Start with the order of the previous table, which is mostly sorted already.
	previousUses := t.uses
	frequency := make([]int, len(next.spellings.names))
	for _, n := range next.written {
		frequency[n]++
	}
	const unused = -1
	best := slices.Repeat([]int32{unused}, len(next.spellings.lower)) // the most frequent spelling of each tag
	total := make([]int, len(best))
	for n, count := range frequency {
		tag := next.spellings.tags[n]
		total[tag] += count
		b := best[tag]
		switch {
		case count == 0:
		case b == unused,
			count > frequency[b],
			count == frequency[b] && filenames.Compare(next.spellings.names[n], next.spellings.names[b]) < 0:
			best[tag] = int32(n)
		}
	}
	next.uses = make([]tagUse, 0, len(best))
	add := func(tag int32) {
		if b := best[tag]; b != unused {
			next.uses = append(next.uses, tagUse{next.spellings.names[b], total[tag], tag})
			best[tag] = unused
		}
	}
	for _, use := range previousUses {
		add(use.tag)
	}
	for tag := range best {
		add(int32(tag))
	}
	slices.SortFunc(next.uses, func(a, b tagUse) int {
		return cmp.Or(filenames.Compare(a.name, b.name), cmp.Compare(a.tag, b.tag))
	})
	return next
}

// maxUnused is how many unused spellings are kept, in addition to one per tag.
const maxUnused = 1000

// of returns the numbers of the spellings in a file.
func (t *tagTable) of(file int) []int32 { return t.written[t.starts[file]:t.starts[file+1]] }

// number returns the number of a spelling.
func (s *spellings) number(name string) int32 {
	if n, ok := s.numbers[name]; ok {
		return n
	}
	name = strings.Clone(name) // a substring would keep the facts of the whole file in memory
	key := strings.ToLower(name)
	tag, ok := s.lower[key]
	if !ok {
		tag = int32(len(s.lower))
		s.lower[key] = tag
	}
	n := int32(len(s.names))
	s.numbers[name] = n
	s.names = append(s.names, name)
	s.tags = append(s.tags, tag)
	return n
}

// filesWith returns the paths of the files with a tag, in the order of listings.
func (t *tagTable) filesWith(use tagUse) (paths []string) {
	for i, f := range t.files {
		if slices.ContainsFunc(t.of(i), func(n int32) bool { return t.spellings.tags[n] == use.tag }) {
			paths = append(paths, f.Path.String())
		}
	}
	return paths
}
