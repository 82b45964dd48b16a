package settings

import (
	"fmt"
	"maps"
	"slices"

	"vaultwicket/allowlist/quote"
)

// tableKey is a key of one of the tables of a settings file: what it means, the JSON Schema of its
// value but for that, and how the value is read into a T.
type tableKey[T any] struct {
	name, about string
	form        object
	read        func(r *reading, to *T, value any, at []string) error
}

// settingKeys returns keys that are settings. set takes the text of one.
func settingKeys[T any](names []string, set func(to *T, row setting, text string) error) (keys []tableKey[T]) {
	for _, name := range names {
		row, _ := settingOf(name)
		keys = append(keys, tableKey[T]{name, row.usage, object{"$ref": "#/$defs/" + name}, readSetting(name, set)})
	}
	return keys
}

func readSetting[T any](name string, set func(to *T, row setting, text string) error) func(*reading, *T, any, []string) error {
	row, _ := settingOf(name)
	return func(_ *reading, to *T, value any, _ []string) error {
		text, err := row.read(value)
		if err != nil {
			return err
		}
		return set(to, row, text)
	}
}

// readKeys reads a table. A problem begins with a format for the key with prefix, and an unknown key is
// told with the sentence unknown. sound is false if there was any problem.
func readKeys[T any](r *reading, keys []tableKey[T], to *T, values map[string]any, at []string, format, prefix, unknown string) (sound bool) {
	before := len(r.problems)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var err error
		if i := slices.IndexFunc(keys, func(k tableKey[T]) bool { return k.name == name }); i >= 0 {
			err = keys[i].read(r, to, values[name], append(slices.Clone(at), name))
		} else {
			err = fmt.Errorf("%s%s", unknown, quote.DidYouMean(name, keyNames(keys)))
		}
		if err != nil {
			r.report(append(at, name), format+": %v", prefix+quote.Short(name), err)
		}
	}
	return len(r.problems) == before
}

func keyNames[T any](keys []tableKey[T]) (names []string) {
	for _, key := range keys {
		names = append(names, key.name)
	}
	return names
}

// described returns the keys, each with what it means.
func described[T any](keys []tableKey[T]) (list [][2]string) {
	for _, key := range keys {
		list = append(list, [2]string{key.name, key.about})
	}
	return list
}

// tableSchema describes a table of these keys.
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

// oneText reads a text in quotes.
func oneText(value any) (string, error) {
	text, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("is %s, want %s", typeName(value), wanted[textual])
	}
	return text, nil
}

// nameList returns what reads a list of what is described. An empty list is none of them.
func nameList[T any](to func(*T) *[]string, what string) func(r *reading, t *T, value any, at []string) error {
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
		*to(t) = names
		return nil
	}
}

// listForm describes a list of texts.
func listForm() object {
	return object{"type": "array", "items": object{"type": "string", "minLength": 1}}
}
