package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"vaultwicket/allowlist/quote"
	"vaultwicket/policy"
)

// flowKeys are the keys of a table [[flow]], each with what it means.
var flowKeys = [][2]string{
	{"name", "what questions, denials and logs call the rule"},
	{"from", "places that are read: folders and notes by their paths, tags such as \"#client\", or \"private\" for notes that narrow the access to themselves"},
	{"to", "where text may not go then: publish, web, vaults (changes in other vaults), and folders by their paths (default: publish, web, vaults)"},
	{"action", "ask (the default: requires approval) or refuse"},
}

// flows reads the tables [[flow]] at a place of the file.
func (r *reading) flows(value any, path []string) (rules []policy.Flow) {
	list, ok := value.([]any)
	if !ok && value != nil {
		r.report(path, "%q is %s, want tables [[%s]], one per rule", path[len(path)-1], typeName(value), path[len(path)-1])
	}
	for i, item := range list {
		at := append(slices.Clone(path), strconv.Itoa(i))
		values, ok := item.(map[string]any)
		if !ok {
			r.report(at, "%q contains %s, want tables [[flow]], one per rule", "flow", typeName(item))
			continue
		}
		texts, lists := map[string]string{}, map[string][]string{}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			var err error
			text, isText := values[key].(string)
			switch key {
			case "from", "to":
				lists[key], err = nameList(values[key], "places")
			case "name", "action":
				if texts[key] = text; !isText {
					err = fmt.Errorf("is %s, want a text", typeName(values[key]))
				}
			default:
				err = fmt.Errorf("unknown key%s", quote.DidYouMean(key, []string{"name", "from", "to", "action"}))
			}
			if err != nil {
				r.report(append(at, key), "flow rule: %q: %v", quote.Short(key), err)
			}
		}
		rule, err := policy.ParseFlow(texts["name"], lists["from"], lists["to"], texts["action"])
		if err != nil {
			r.report(at, "flow rule %q: %v", quote.Short(texts["name"]), err)
			continue
		}
		rules = append(rules, rule)
	}
	return rules
}

// flowSchema describes the tables [[flow]].
func flowSchema() object {
	properties := object{}
	for _, key := range flowKeys {
		properties[key[0]] = object{"type": "string", "description": key[1]}
		if key[0] == "from" || key[0] == "to" {
			properties[key[0]] = object{"type": "array", "description": key[1], "items": object{"type": "string", "minLength": 1}}
		}
	}
	properties["action"].(object)["enum"] = []string{"ask", "refuse"}
	return object{"type": "array", "description": "rules about where text may go after a session has read from some places", "items": object{
		"type": "object", "properties": properties, "required": []string{"name", "from"}, "additionalProperties": false,
	}}
}
