package eval

import (
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/bases/value"
	"vaultwicket/cmd/internal/vault/regex"
)

// tables are the functions and methods. They are made at their first use: what is
// in them refers to them.
var tables struct {
	once    sync.Once
	globals map[string]function
	any     map[string]function
	kinds   map[value.Kind]map[string]function
}

func makeTables() {
	tables.globals, tables.any = globalFunctions(), commonMethods()
	tables.kinds = map[value.Kind]map[string]function{
		value.String: textMethods(), value.Number: numberMethods(), value.Date: dateMethods(), value.List: listMethods(),
		value.Link: linkMethods(), value.File: fileMethods(), value.Object: objectMethods(), value.RegExp: patternMethods(),
	}
}

// globals are the functions that are called by their name alone; if() is
// evaluated by choose.
func globals() map[string]function {
	tables.once.Do(makeTables)
	return tables.globals
}

// anyMethods are those of every value.
func anyMethods() map[string]function {
	tables.once.Do(makeTables)
	return tables.any
}

// methods are those of the kinds. Every kind that is a text has those of String
// besides its own.
func methods() map[value.Kind]map[string]function {
	tables.once.Do(makeTables)
	return tables.kinds
}

func commonMethods() map[string]function {
	return map[string]function{
		"isTruthy": {run: func(c *call) value.Value { return value.OfBool(c.on.Truthy()) }},
		"isEmpty":  {run: func(c *call) value.Value { return value.OfBool(c.on.Empty()) }},
		"toString": {run: func(c *call) value.Value { return value.Bounded(c.on.Text()) }},
		"isType": {params: []param{{"type", value.String}}, required: 1, run: func(c *call) value.Value {
			return value.OfBool(strings.EqualFold(c.on.Kind().String(), c.arg(0).Text()))
		}},
	}
}

func objectMethods() map[string]function {
	return map[string]function{
		"keys": {run: func(c *call) value.Value {
			var keys []value.Value
			for _, key := range c.on.Fields().Keys {
				keys = append(keys, value.OfText(key))
			}
			return value.OfList(keys)
		}},
		"values": {run: func(c *call) value.Value { return value.OfList(c.on.Fields().Values) }},
	}
}

func patternMethods() map[string]function {
	return map[string]function{
		"matches": {params: []param{{"value", value.Null}}, required: 1, run: func(c *call) value.Value {
			if c.arg(0).IsNull() {
				return value.OfBool(false)
			}
			matched := false
			failed := c.row.eachMatch(c.on, c.arg(0).Text(), false, func(*regex.Match) bool { matched = true; return false })
			if failed.IsError() {
				return failed
			}
			return value.OfBool(matched)
		}},
	}
}

// IsFunction reports whether a function that is called by its name alone exists.
func IsFunction(name string) bool {
	_, known := globals()[name]
	return known || name == "if"
}
