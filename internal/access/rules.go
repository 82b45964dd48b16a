// Package access has the access rules of a vault: a level for each folder or note that the user named,
// matched by whole segments of the path, and the patterns of an ignore file, which hide notes besides.
//
// Two programs enforce the same rules. The gateway judges the paths that a call names, and the embedded
// vault CLI everything that it finds: a note of level [None], or one that a pattern hides, does not
// exist for it. [Rules.String] is how the gateway passes the rules on.
package access

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Level is what may be done with a note. Each level includes those before it.
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

// Rules are the levels of a vault. The zero Rules restrict nothing: every path has the level Delete.
// With any rule, a path that no rule covers has the level Read. Rules are immutable.
type Rules struct {
	layers []layer // the lowest level of all of them applies
	text   string  // see String
	hide   bool

	private Private
}

// layer is one table of levels as the user wrote it.
type layer struct {
	exact  map[string]Level // by path; "" is the root folder of the vault
	folded map[string]Level // by folded path, the lowest of those that fold to it
}

// New returns the rules of one table of levels by path: that of a note, or of a folder for
// everything in it. "/" is the root of the vault; a slash at the end of a folder is
// ignored. An empty table restricts nothing. The error names a path that no note could have.
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
	return rulesOf([]layer{made}, Private{}), nil
}

// rulesOf computes once what every call needs: the text of the rules, and whether they hide
// anything. Equal rules have equal texts.
func rulesOf(layers []layer, private Private) Rules {
	r := Rules{layers: layers, private: private}
	var tables []string
	add := func(table map[string]string) {
		text, err := json.Marshal(table) // with sorted keys
		if err != nil {
			text = []byte(`{"/":"none"}`) // strings always marshal
		}
		tables = append(tables, string(text))
	}
	if !private.IsZero() {
		add(
			map[string]string{
				keyProperties: strings.Join(private.Properties, "\n"),
				keyTags:       strings.Join(private.Tags, "\n"),
			},
		)
	}
	for _, l := range layers {
		table := map[string]string{}
		for path, level := range l.exact {
			table[written(path)] = level.String()
			r.hide = r.hide || level == None
		}
		add(table)
	}
	if slices.Sort(tables); tables != nil {
		r.text = "[" + strings.Join(tables, ",") + "]"
	}
	return r
}

// String returns the rules, with what notes narrow access to themselves by, as text that [Parse]
// reads, "" for rules that restrict nothing: JSON, an array of tables. Equal rules have equal texts.
func (r Rules) String() string { return r.text }

// Parse reads what String wrote. After an error the caller must not continue without rules.
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
		if properties, marked := table[keyProperties]; marked && len(table) == 2 {
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
		one, err := New(levels)
		if err != nil {
			return Rules{}, err
		}
		if !one.Restrict() {
			return Rules{}, fmt.Errorf("access rules %q hold an empty table", text)
		}
		rules = rules.Meet(one)
	}
	return rules, nil
}

// Restrict reports whether there are any rules by path.
func (r Rules) Restrict() bool { return len(r.layers) > 0 }

// Hide reports whether there may be notes of level None.
func (r Rules) Hide() bool { return r.hide }

// Paths returns the paths that the rules name, "" for the root. Between them the level does not change.
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

// Below returns the rules by the paths of a folder of the vault in place of those of the vault: what
// they say of "folder/a.md" is said of "a.md".
func (r Rules) Below(folder string) (below Rules) {
	for _, l := range r.layers {
		one := Rules{layers: []layer{l}}
		levels := map[string]Level{"/": one.Level(folder)}
		for path := range l.exact {
			if isBelow(Fold(path), Fold(folder)) {
				own := respell(path, folder)
				levels[own[len(folder)+1:]] = one.Level(own)
			}
		}
		below = below.meetTable(levels)
	}
	return below
}

// Above returns the rules by the paths of a folder that the vault is in, at path: what they say of
// "a.md" is said of "path/a.md", and what is outside of the vault is not restricted.
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

// meetTable is Meet with a table. One with a path that no rule can have allows nothing.
func (r Rules) meetTable(levels map[string]Level) Rules {
	table, err := New(levels)
	if err != nil {
		table, _ = New(map[string]Level{"/": None})
	}
	return r.Meet(table)
}

// Named returns the rules with each path also as name returns it: as the disk has it, where
// a file system takes several spellings for one file. Their text stays the same.
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

// put adds a path. Of several levels for one path the lowest applies.
func (l layer) put(path string, level Level) {
	lower := func(table map[string]Level, key string) {
		if before, twice := table[key]; !twice || level < before {
			table[key] = level
		}
	}
	lower(l.exact, path)
	lower(l.folded, Fold(path))
}

// Level returns the level of a note or folder by its path in the vault, written with slashes; "" is the root
// folder. The longest rule that covers the path applies. A rule covers another spelling of its path (other
// case, other Unicode normal form) only where that takes something away: on some systems both are one file.
func (r Rules) Level(path string) Level {
	level := Delete
	for _, l := range r.layers {
		_, exact, _ := longest(l.exact, path)
		_, folded, _ := longest(l.folded, Fold(path))
		level = min(level, exact, folded)
	}
	return level
}

// longest returns the longest path in levels that covers path, and its level: Read if there is none.
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

// Rule returns the path of the rule that gives a note or folder its level, as it is written, "/" for
// the root; "" if no rule covers it. Of several with the same level it is the first.
func (r Rules) Rule(path string) string {
	lowest := Delete
	rule := ""
	for _, l := range r.layers {
		key, exact, covered := longest(l.exact, path)
		folded, level, foldedCovers := longest(l.folded, Fold(path))
		if level = min(level, exact); level > lowest || level == lowest && rule != "" {
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
