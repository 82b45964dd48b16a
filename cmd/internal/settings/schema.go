package settings

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// object is a JSON object of a JSON Schema.
type object = map[string]any

// configSchema returns the JSON Schema of the settings file, for editors. It describes the form of values; whether
// they make sense, such as whether a profile exists, is checked by "config check".
func configSchema() object {
	definitions := object{"command": object{"enum": allowlist.Names()}}
	general := object{}
	profile := object{}
	for _, row := range table {
		definitions[row.name] = row.schema()
		reference := object{"$ref": "#/$defs/" + row.name}
		general[row.name] = reference
		if row.name != "profile" {
			profile[row.name] = reference
		}
	}
	vault := tableSchema(vaultKeys())
	vault["anyOf"] = []object{
		{"required": []string{"name"}},
		{"required": []string{"id"}},
		{"required": []string{"folder"}},
	}
	general["vaults"] = object{
		"type":        "array",
		"description": "the vaults, the first one being the default",
		"items":       vault,
	}
	flow := flowSchema()
	flow["description"] = flowDescription
	general["flow"] = flow
	general["profiles"] = object{
		"type":          "object",
		"description":   "profile to apply to the rest of the file, by the name of the profile",
		"propertyNames": object{"minLength": 1},
		"additionalProperties": object{
			"type":                 "object",
			"properties":           profile,
			"additionalProperties": false,
		},
	}
	general["agents"] = object{
		"type":                 "object",
		"description":          "agents by their names, each with rights that narrow those of the file and of its vaults",
		"propertyNames":        object{"pattern": agentPattern},
		"additionalProperties": tableSchema(agentKeys()),
	}
	notify := tableSchema(notifyKeys())
	notify["description"] = "how you are told that a question waits"
	notify["dependentRequired"] = object{
		"webhook":             []string{"webhook-secret-file"},
		"webhook-secret-file": []string{"webhook"},
		"ntfy-token-file":     []string{"ntfy"},
	}
	general["notify"] = notify
	return object{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "vaultwicket settings",
		"type":                 "object",
		"properties":           general,
		"additionalProperties": false,
		"$defs":                definitions,
	}
}

// schema returns the JSON Schema of a setting.
func (s setting) schema() object {
	schema := object{"description": s.usage, "default": s.valueOf(s.fallback)}
	switch s.kind {
	case boolean:
		schema["type"] = "boolean"
	case numeric:
		schema["type"] = "integer"
		schema["minimum"] = s.form.least
		schema["maximum"] = s.form.most
	case list:
		schema["type"] = "array"
		switch {
		case s.form.choices != nil:
			schema["items"] = object{"enum": s.form.choices}
		case s.form.pattern != "":
			schema["items"] = object{"type": "string", "pattern": s.form.pattern}
		default:
			schema["items"] = object{"$ref": "#/$defs/command"}
		}
	default:
		schema["type"] = "string"
		if s.form.choices != nil {
			schema["enum"] = s.form.choices
		}
		if s.form.pattern != "" {
			schema["pattern"] = s.form.pattern
		}
	}
	return schema
}

const accessDescription = "what may be done with a folder or note, by its path; \"/\" is the vault, the most specific path wins"

func accessSchema() object {
	return object{"type": "object", "minProperties": 1, "additionalProperties": object{"enum": levelNames()}}
}

func levelNames() []string {
	var names []string
	for level := access.None; level <= access.Delete; level++ {
		names = append(names, level.String())
	}
	return names
}

// tableKey is a key of one of the tables of a settings file: its description, the JSON Schema of its value without a
// description, and the function that reads the value into a T.
type tableKey[T any] struct {
	name, about string
	form        object
	read        func(r *reading, to *T, value any, at []string) error
}

// settingKeys returns table keys for the settings with these names. set stores the text of a setting in a T.
func settingKeys[T any](names []string, set func(to *T, row setting, text string) error) (keys []tableKey[T]) {
	for _, name := range names {
		row, _ := settingOf(name)
		keys = append(keys, tableKey[T]{name, row.usage, object{"$ref": "#/$defs/" + name}, readSetting(name, set)})
	}
	return keys
}

// readSetting returns a reader for the setting with this name, which stores its text with set.
func readSetting[T any](
	name string,
	set func(to *T, row setting, text string) error,
) func(*reading, *T, any, []string) error {
	row, _ := settingOf(name)
	return func(_ *reading, to *T, value any, _ []string) error {
		text, err := row.read(value)
		if err != nil {
			return err
		}
		return set(to, row, text)
	}
}

// readKeys reads a table into to. Problems are reported with format, which is given prefix and the key; unknown is
// the message for an unknown key. ok is false if there was a problem.
func readKeys[T any](
	r *reading,
	keys []tableKey[T],
	to *T,
	values map[string]any,
	path []string,
	format, prefix, unknown string,
) (ok bool) {
	before := len(r.problems)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		keyPath := append(slices.Clone(path), name)
		i := slices.IndexFunc(keys, func(k tableKey[T]) bool { return k.name == name })
		var err error
		if i < 0 {
			err = fmt.Errorf("%s%s", unknown, excerpt.DidYouMean(name, keyNames(keys)))
		} else {
			err = keys[i].read(r, to, values[name], keyPath)
		}
		if err != nil {
			r.report(keyPath, format+": %v", prefix+excerpt.Short(name), err)
		}
	}
	return len(r.problems) == before
}

// keyNames returns the names of the keys.
func keyNames[T any](keys []tableKey[T]) (names []string) {
	for _, key := range keys {
		names = append(names, key.name)
	}
	return names
}

// keyDescriptions returns the name and the description of each key.
func keyDescriptions[T any](keys []tableKey[T]) (list [][2]string) {
	for _, key := range keys {
		list = append(list, [2]string{key.name, key.about})
	}
	return list
}

// tableSchema returns the JSON Schema of a table with these keys.
func tableSchema[T any](keys []tableKey[T]) object {
	properties := object{}
	for _, key := range keys {
		form := maps.Clone(key.form)
		if form["$ref"] == nil {
			form["description"] = key.about
		}
		properties[key.name] = form
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

// asText returns a value that must be a string.
func asText(value any) (string, error) {
	text, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("is %s, want %s", typeName(value), wanted[textual])
	}
	return text, nil
}

// nameList returns a reader for a list of names. what describes a name in errors. An empty list stays empty, not nil.
func nameList[T any](field func(*T) *[]string, what string) func(r *reading, t *T, value any, at []string) error {
	return func(_ *reading, t *T, value any, _ []string) error {
		list, ok := value.([]any)
		if !ok {
			return fmt.Errorf(`is %s, want a list of %s such as ["one", "two"]`, typeName(value), what)
		}
		names := []string{}
		for _, item := range list {
			name, ok := item.(string)
			if !ok || name == "" {
				return fmt.Errorf(`contains %s, want %s`, typeName(item), what)
			}
			names = append(names, name)
		}
		*field(t) = names
		return nil
	}
}

func listSchema() object {
	return object{"type": "array", "items": object{"type": "string", "minLength": 1}}
}
