package access

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// String returns the rules as text that [Parse] reads, "" for rules that restrict
// nothing: JSON, an array of tables. Equal rules have equal texts.
func (r Rules) String() string { return r.text }

func textOf(tables []layer) string {
	if len(tables) == 0 {
		return ""
	}
	layers := make([]string, len(tables))
	for i, l := range tables {
		table := map[string]string{}
		for path, level := range l.exact {
			if path == "" {
				path = "/"
			}
			table[path] = level.String()
		}
		text, err := json.Marshal(table) // with sorted keys
		if err != nil {
			return `[{"/":"none"}]` // strings always marshal
		}
		layers[i] = string(text)
	}
	slices.Sort(layers)
	return "[" + strings.Join(layers, ",") + "]"
}

// Parse reads what String wrote. The error says what is wrong with the text;
// whoever gets one must not go on without rules.
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
	for _, table := range layers {
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
