package access

import (
	"maps"
	"slices"
	"strings"
)

// Rules are the levels of a vault. The zero Rules restrict nothing: every path
// has the level Delete. Once there is a rule, a path that no rule covers has the
// level Read. Rules are never changed once they are made, so they can be shared.
type Rules struct {
	layers []layer // the lowest level of all of them holds
	text   string  // see String
	hide   bool
}

// layer is one table of levels as a person wrote it.
type layer struct {
	exact  map[string]Level // by path; "" is the vault's root folder
	folded map[string]Level // by folded path, the lowest of those that fold to it
}

// New returns the rules of one table of levels by path: a folder, for all that
// lies in it, or a note. "/" is the root of the vault; a slash at the end of a
// folder means nothing. An empty table restricts nothing. The error names a path
// that no note could have.
func New(levels map[string]Level) (Rules, error) {
	if len(levels) == 0 {
		return Rules{}, nil
	}
	made := layer{exact: make(map[string]Level, len(levels)), folded: make(map[string]Level, len(levels))}
	for _, written := range slices.Sorted(maps.Keys(levels)) {
		path, err := parsePath(written)
		if err != nil {
			return Rules{}, err
		}
		made.put(path, levels[written]) // perhaps twice, with a slash at its end and without
	}
	return rulesOf([]layer{made}), nil
}

// rulesOf works out once what is asked at every call.
func rulesOf(layers []layer) Rules {
	r := Rules{layers: layers, text: textOf(layers)}
	for _, l := range layers {
		for _, level := range l.exact {
			r.hide = r.hide || level == None
		}
	}
	return r
}

// Restrict reports whether there is a rule at all.
func (r Rules) Restrict() bool { return len(r.layers) > 0 }

// Hide reports whether there may be notes of level None.
func (r Rules) Hide() bool { return r.hide }

// Meet returns rules that allow what both r and other allow.
func (r Rules) Meet(other Rules) Rules {
	met := slices.Clone(r.layers)
	for _, l := range other.layers {
		if !slices.ContainsFunc(met, func(m layer) bool { return maps.Equal(m.exact, l.exact) }) {
			met = append(met, l)
		}
	}
	return rulesOf(met)
}

// Named returns the rules with each path also as name returns it: as the disk has
// it, where it takes several spellings for one file. Their text stays the same.
func (r Rules) Named(name func(path string) string) Rules {
	named := r
	named.layers = nil
	changed := false
	for _, l := range r.layers {
		more := layer{exact: maps.Clone(l.exact), folded: maps.Clone(l.folded)}
		for path, level := range l.exact {
			if other := name(path); other != path {
				more.put(other, level)
				changed = true
			}
		}
		named.layers = append(named.layers, more)
	}
	if !changed {
		return r
	}
	return named
}

// put adds a path.
func (l layer) put(path string, level Level) {
	lower(l.exact, path, level)
	lower(l.folded, Fold(path), level)
}

// lower puts a level into a table. The lowest of several holds.
func lower(table map[string]Level, key string, level Level) {
	if before, twice := table[key]; twice {
		level = min(level, before)
	}
	table[key] = level
}

// Level returns the level of a note or folder by its path in the vault, written
// with slashes; "" is the root folder. The longest rule that covers the path
// holds. A rule covers another spelling of its path (other case, other Unicode
// normal form) only where that takes something away: on some systems both are
// one file.
func (r Rules) Level(path string) Level {
	level := Delete
	for _, l := range r.layers {
		level = min(level, l.level(path))
	}
	return level
}

func (l layer) level(path string) Level {
	return min(longest(l.exact, path), longest(l.folded, Fold(path)))
}

// longest returns the level of the longest path in levels that covers path, and
// Read if there is none.
func longest(levels map[string]Level, path string) Level {
	for {
		if level, ok := levels[path]; ok {
			return level
		}
		if path == "" {
			return Read
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
}

// Opens reports whether something in the folder, at any depth, can have a higher
// level than None. The paths of rules are below every spelling of the folder.
func (r Rules) Opens(folder string) bool {
	if r.Level(folder) > None {
		return true
	}
	for _, l := range r.layers {
		for path := range l.exact {
			if isBelow(Fold(path), Fold(folder)) && r.Level(respell(path, folder)) > None {
				return true
			}
		}
	}
	return false
}

// respell returns path with its first folders spelled as folder is, of which path is
// another spelling or below one.
func respell(path, folder string) string {
	if folder == "" {
		return path
	}
	segments := strings.Split(path, "/")
	return folder + "/" + strings.Join(segments[strings.Count(folder, "/")+1:], "/")
}

// Lowest returns the lowest level in the folder, itself included, at any depth.
func (r Rules) Lowest(folder string) Level {
	lowest := r.Level(folder)
	for _, l := range r.layers {
		for path := range l.exact {
			if isBelow(Fold(path), Fold(folder)) {
				lowest = min(lowest, r.Level(path))
			}
		}
	}
	return lowest
}

func isBelow(path, folder string) bool {
	if folder == "" {
		return path != ""
	}
	rest, ok := strings.CutPrefix(path, folder)
	return ok && strings.HasPrefix(rest, "/")
}
