// Package access implements the access rules of a vault: a level for each folder or note that the user
// named, matched by whole segments of the path, and the patterns of an ignore file, which also hide notes.
//
// Two programs enforce the same rules. The gateway checks the paths that a call names, and the embedded
// vault CLI everything that it finds: it treats a note of level [None], or one that a pattern hides, as
// missing. The gateway passes the rules to it with [Rules.String].
package access

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Level is the permitted access to a note. Each level includes those before it.
type Level uint8

const (
	None   Level = iota // the zero value: the note is treated as missing
	Read                // lets the note be read, listed and found
	Write               // lets it be created and changed
	Delete              // lets it be removed, replaced and moved to another folder
)

var levelNames = [...]string{None: "none", Read: "r", Write: "rw", Delete: "rwd"}

// String returns the name used in settings: none, r, rw or rwd.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// ParseLevel reads none, r, rw or rwd. The error lists these.
func ParseLevel(text string) (Level, error) {
	if i := slices.Index(levelNames[:], text); i >= 0 {
		return Level(i), nil
	}
	return None, fmt.Errorf("invalid access %q: want none, r, rw or rwd", text)
}

// Rules are the access rules of a vault. The zero Rules restrict nothing: every path has the level Delete.
// If there are any rules, a path that no rule covers has the level Read. Rules are immutable.
type Rules struct {
	layers []layer // the lowest level of all layers applies
	text   string  // see String
	hide   bool    // some rule has the level None

	private Private
}

// layer is one table of levels as the user wrote it.
type layer struct {
	exact  map[string]Level // by path; "" is the root folder of the vault
	folded map[string]Level // by folded path, the lowest level of all paths that fold to it
}

// New returns the rules of a table of levels by path: of a note, or of a folder and everything
// in it. "/" is the root of the vault; a trailing slash of a folder is ignored. An empty table
// restricts nothing. New returns an error for a path that no note can have.
func New(levels map[string]Level) (Rules, error) {
	if len(levels) == 0 {
		return Rules{}, nil
	}
	table := layer{exact: make(map[string]Level, len(levels)), folded: make(map[string]Level, len(levels))}
	for _, written := range slices.Sorted(maps.Keys(levels)) {
		path, err := parsePath(written)
		if err != nil {
			return Rules{}, err
		}
		table.put(path, levels[written]) // the same path may occur with and without a trailing slash
	}
	return rulesOf([]layer{table}, Private{}), nil
}

// rulesOf returns rules with the text and the hide flag, which every call needs. Equal rules have
// equal texts.
func rulesOf(layers []layer, private Private) Rules {
	r := Rules{layers: layers, private: private}
	var tables []string
	add := func(table map[string]string) {
		text, err := json.Marshal(table) // with sorted keys
		if err != nil {
			text = []byte(`{"/":"none"}`) // unreachable: strings always marshal
		}
		tables = append(tables, string(text))
	}
	if !private.IsZero() {
		add(map[string]string{
			keyProperties: strings.Join(private.Properties, "\n"),
			keyTags:       strings.Join(private.Tags, "\n"),
		})
	}
	for _, l := range layers {
		table := map[string]string{}
		for path, level := range l.exact {
			table[written(path)] = level.String()
			r.hide = r.hide || level == None
		}
		add(table)
	}
	slices.Sort(tables)
	if tables != nil {
		r.text = "[" + strings.Join(tables, ",") + "]"
	}
	return r
}

// String returns the rules, including those of [Rules.Private], as text for [Parse]: a JSON array of
// tables, or "" for rules that restrict nothing. Equal rules have equal texts.
func (r Rules) String() string { return r.text }

// Parse is the inverse of String. After an error the caller must not continue without rules.
func Parse(text string) (Rules, error) {
	if text == "" {
		return Rules{}, nil
	}
	var layers []map[string]string
	if err := json.Unmarshal([]byte(text), &layers); err != nil {
		return Rules{}, fmt.Errorf("access rules are no array of tables: %w", err)
	}
	if len(layers) == 0 {
		return Rules{}, fmt.Errorf("access rules %q hold no table", text)
	}
	var rules Rules
	isEnd := func(r rune) bool { return r == '\n' }
	for _, table := range layers {
		if properties, isPrivate := table[keyProperties]; isPrivate && len(table) == 2 {
			private, err := NewPrivate(strings.FieldsFunc(properties, isEnd), strings.FieldsFunc(table[keyTags], isEnd))
			if err != nil {
				return Rules{}, fmt.Errorf("access rules: %w", err)
			}
			rules = rules.WithPrivate(private)
			continue
		}
		levels := map[string]Level{}
		for _, path := range slices.Sorted(maps.Keys(table)) {
			level, err := ParseLevel(table[path])
			if err != nil {
				return Rules{}, fmt.Errorf("access of %q: %w", path, err)
			}
			levels[path] = level
		}
		parsed, err := New(levels)
		if err != nil {
			return Rules{}, err
		}
		if !parsed.Restrict() {
			return Rules{}, fmt.Errorf("access rules %q hold an empty table", text)
		}
		rules = rules.Meet(parsed)
	}
	return rules, nil
}

// Restrict reports whether there are any rules by path.
func (r Rules) Restrict() bool { return len(r.layers) > 0 }

// Hide reports whether any rule has the level None.
func (r Rules) Hide() bool { return r.hide }

// Paths returns the paths that the rules name, and "" for the root. Only at these paths does the level change.
func (r Rules) Paths() []string {
	named := map[string]bool{"": true}
	for _, l := range r.layers {
		for path := range l.exact {
			named[path] = true
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// Meet returns rules that allow what both r and other allow.
func (r Rules) Meet(other Rules) Rules {
	met := slices.Clone(r.layers)
	for _, l := range other.layers {
		if !slices.ContainsFunc(met, func(m layer) bool { return maps.Equal(m.exact, l.exact) }) {
			met = append(met, l)
		}
	}
	return rulesOf(met, r.private.Union(other.private))
}

// Below returns the rules of a folder of the vault by paths relative to that folder: the rule of
// "folder/a.md" becomes that of "a.md".
func (r Rules) Below(folder string) (below Rules) {
	for _, l := range r.layers {
		single := Rules{layers: []layer{l}}
		levels := map[string]Level{"/": single.Level(folder)}
		for path := range l.exact {
			if isBelow(Fold(path), Fold(folder)) {
				respelled := respell(path, folder)
				levels[respelled[len(folder)+1:]] = single.Level(respelled)
			}
		}
		below = below.meetTable(levels)
	}
	return below
}

// Above returns the rules by paths relative to a folder that contains the vault at path: the rule of
// "a.md" becomes that of "path/a.md", and files outside of the vault are not restricted.
func (r Rules) Above(path string) (above Rules) {
	for _, l := range r.layers {
		levels := map[string]Level{"/": Delete, path: Read}
		for own, level := range l.exact {
			levels[strings.TrimSuffix(path+"/"+own, "/")] = level
		}
		above = above.meetTable(levels)
	}
	return above
}

// meetTable is Meet with the rules of a table. A table with an invalid path allows nothing.
func (r Rules) meetTable(levels map[string]Level) Rules {
	table, err := New(levels)
	if err != nil {
		table, _ = New(map[string]Level{"/": None})
	}
	return r.Meet(table)
}

// Named returns the rules with each path also in the spelling that name returns: that on the disk,
// for file systems that treat several spellings as one file. The text of the rules stays the same.
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

// put adds a path. If the path already has a level, the lower one applies.
func (l layer) put(path string, level Level) {
	lower := func(table map[string]Level, key string) {
		if before, exists := table[key]; !exists || level < before {
			table[key] = level
		}
	}
	lower(l.exact, path)
	lower(l.folded, Fold(path))
}

// Level returns the level of a note or folder by its path in the vault, written with slashes; "" is the root
// folder. The rule with the longest path that covers it applies. For another spelling of its path (other case,
// other Unicode normal form), a rule applies only if that lowers the level: on some systems both are one file.
func (r Rules) Level(path string) Level {
	level := Delete
	for _, l := range r.layers {
		_, exact, _ := longest(l.exact, path)
		_, folded, _ := longest(l.folded, Fold(path))
		level = min(level, exact, folded)
	}
	return level
}

// longest returns the longest path in levels that covers path, and its level. The level is Read if there is none.
func longest(levels map[string]Level, path string) (key string, level Level, covered bool) {
	for {
		if level, ok := levels[path]; ok {
			return path, level, true
		}
		if path == "" {
			return "", Read, false
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
}

// Rule returns the path of the rule that gives a note or folder its level, as the user writes it, "/"
// for the root; "" if no rule covers it. Of several rules with the same level it returns the first.
func (r Rules) Rule(path string) string {
	lowest := Delete
	rule := ""
	for _, l := range r.layers {
		key, exact, covered := longest(l.exact, path)
		folded, level, foldedCovers := longest(l.folded, Fold(path))
		level = min(level, exact)
		isHigher := level > lowest
		isRepeated := level == lowest && rule != ""
		if isHigher || isRepeated {
			continue
		}
		lowest = level
		rule = ""
		switch {
		case covered && exact == level:
			rule = written(key)
		case foldedCovers && l.folded[folded] == level:
			rule = written(folded)
			for key, own := range l.exact {
				if own == level && Fold(key) == folded {
					rule = written(key)
				}
			}
		}
	}
	return rule
}

// written returns the path of a rule as the user writes it.
func written(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// Opens reports whether anything in the folder, at any depth, may have a higher
// level than None. Rules for any spelling of the folder are considered.
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

// respell returns path with its first segments spelled as in folder. path must be another
// spelling of folder, or below one.
func respell(path, folder string) string {
	if folder == "" {
		return path
	}
	segments := strings.Split(path, "/")
	return folder + "/" + strings.Join(segments[strings.Count(folder, "/")+1:], "/")
}

// Lowest returns the lowest level in the folder at any depth, including that of the folder.
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

// isBelow reports whether a path is inside a folder.
func isBelow(path, folder string) bool {
	if folder == "" {
		return path != ""
	}
	rest, ok := strings.CutPrefix(path, folder)
	return ok && strings.HasPrefix(rest, "/")
}
