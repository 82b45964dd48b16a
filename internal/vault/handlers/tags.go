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

// scopedTags returns the tags of the files that a listing is about. Those of the
// whole vault are remembered for the next call; what is returned is not changed.
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

// tags lists those of the vault, or of one note if one is named.
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

// tag takes the casing literally, as the app does: the one that tags lists.
func tag(v *call.Vault, p call.Values) (answer.Reply, error) {
	all, err := scopedTags(v, call.Values{})
	if err != nil {
		return answer.Reply{}, err
	}
	name := "#" + strings.TrimPrefix(p["name"], "#")
	for _, use := range all.uses {
		if use.name != name {
			continue
		}
		if p.Has("total") {
			return answer.Number(use.count), nil
		}
		lines := all.filesWith(use)
		if p.Has("verbose") {
			lines = append([]string{use.name + "\t" + strconv.Itoa(use.count)}, lines...)
		}
		return answer.From(v.Disk, strings.Join(lines, "\n")), nil
	}
	names := answer.Map(all.uses, func(use tagUse) string { return use.name })
	return answer.Reply{}, answer.NotFoundTag.DidYouMean(
		lookup.NearestNames(p["name"], names),
		"Tag %q not found.",
		answer.Verbatim(name),
	)
}

// tagTable has the tags of some files. It follows a change of few files with little work:
// the tags of the others are not looked for again. It does not change.
type tagTable struct {
	uses []tagUse // in the order of listings

	files     []*index.File
	starts    []int32   // where in written the tags of each file begin, and where those of the last one end
	written   []int32   // the spellings of all tags of all files, by their numbers
	spellings spellings // by number
}

// tagUse is one tag: tags that differ in case alone are one.
type tagUse struct {
	name  string // the casing that is used most
	count int
	tag   int32
}

// spellings are the ways in which tags were ever written. Tables that follow each other share
// them: an earlier one has the first of them.
type spellings struct {
	names   []string
	tags    []int32          // the number of the tag of each
	numbers map[string]int32 // of spellings; used by who makes the next table alone
	lower   map[string]int32 // of tags, by their lower case; likewise
}

// newTagTable collects the tags of some files, which are in the order of listings.
func newTagTable(files []*index.File) *tagTable {
	empty := &tagTable{spellings: spellings{numbers: map[string]int32{}, lower: map[string]int32{}}}
	return empty.follow(nil, files)
}

// follow returns the table of other files. before are those of t.
func (t *tagTable) follow(before, files []*index.File) *tagTable {
	if len(t.spellings.names) > 2*len(t.uses)+maxUnused {
		return newTagTable(files) // most spellings are used no more
	}
	next := &tagTable{
		files:     files,
		starts:    make([]int32, len(files)+1),
		written:   make([]int32, 0, len(t.written)),
		spellings: t.spellings,
	}
	kept := index.Kept(before, files)
	var fresh []*index.File
	for i, old := range kept {
		if old < 0 {
			fresh = append(fresh, files[i])
		}
	}
	found := index.Collect(fresh, index.Facts.Tags)
	for i, old := range kept {
		if old >= 0 {
			next.written = append(next.written, t.of(int(old))...)
		} else {
			for _, name := range found[0] {
				next.written = append(next.written, next.spellings.number(name))
			}
			found = found[1:]
		}
		next.starts[i+1] = int32(len(next.written))
	}
	// The order of the uses before is mostly that of the new ones.
	last := t.uses
	times := make([]int, len(next.spellings.names))
	for _, n := range next.written {
		times[n]++
	}
	const unused = -1
	best := slices.Repeat([]int32{unused}, len(next.spellings.lower)) // the spelling of each tag that is used most
	total := make([]int, len(best))
	for n, count := range times {
		tag := next.spellings.tags[n]
		total[tag] += count
		b := best[tag]
		switch {
		case count == 0:
		case b == unused,
			count > times[b],
			count == times[b] && filenames.Compare(next.spellings.names[n], next.spellings.names[b]) < 0:
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
	for _, use := range last {
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

// maxUnused is how many spellings that no note has any more are kept, in addition to as many as
// there are tags.
const maxUnused = 1000

// of returns the spellings in a file.
func (t *tagTable) of(file int) []int32 { return t.written[t.starts[file]:t.starts[file+1]] }

// number returns the number of a spelling.
func (s *spellings) number(name string) int32 {
	if n, known := s.numbers[name]; known {
		return n
	}
	name = strings.Clone(name) // a part of the facts would keep all of them in memory
	key := strings.ToLower(name)
	tag, known := s.lower[key]
	if !known {
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
