package edit

import "time"

// Equal reports whether two parsed values are the same. Numbers are compared by
// value, whatever their type.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key, value := range x {
			other, ok := y[key]
			if !ok || !Equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !Equal(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	if x, ok := a.(time.Time); ok {
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	}
	if a == b {
		return true
	}
	x, isNumber := number(a)
	y, both := number(b)
	return isNumber && both && (x == y || x != x && y != y)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case uint64:
		return float64(n), true
	case interface{ Float64() (float64, error) }: // as of encoding/json
		value, err := n.Float64()
		return value, err == nil
	}
	return 0, false
}

// Verify returns an error unless two parsed texts differ in nothing but the entry at
// a place. Empty mappings and lists on the way to it count as missing.
func Verify(before, after any, at Place) error {
	if Equal(without(before, at.Path, at), without(after, at.Path, at)) {
		return nil
	}
	return &Unsupported{"the file cannot be edited without changing something else in it"}
}

// without returns a parsed value without the entry, and without what is empty then.
func without(value any, path []string, at Place) any {
	if list, ok := value.([]any); ok && at.List && len(path) == 0 {
		var rest []any
		for _, item := range list {
			if entry, ok := item.(map[string]any); !ok || entry["name"] != at.Name {
				rest = append(rest, item)
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return rest
	}
	mapping, ok := value.(map[string]any)
	if !ok {
		return value
	}
	rest := make(map[string]any, len(mapping))
	for key, item := range mapping {
		switch {
		case len(path) == 0 && key == at.Name && !at.List:
			continue
		case len(path) > 0 && key == path[0]:
			if item = without(item, path[1:], at); item == nil {
				continue
			}
		}
		rest[key] = item
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}

// Lookup returns the entry at a place of a parsed value. It reports false where there
// is none, and for one that is no mapping.
func Lookup(value any, at Place) (map[string]any, bool) {
	for _, key := range at.Path {
		mapping, _ := value.(map[string]any)
		value = mapping[key]
	}
	if at.List {
		list, _ := value.([]any)
		for _, item := range list {
			if entry, ok := item.(map[string]any); ok && entry["name"] == at.Name {
				return entry, true
			}
		}
		return nil, false
	}
	mapping, _ := value.(map[string]any)
	entry, ok := mapping[at.Name].(map[string]any)
	return entry, ok
}
