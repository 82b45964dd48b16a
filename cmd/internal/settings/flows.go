package settings

import (
	"fmt"
	"slices"
	"strconv"

	"vaultwicket/allowlist/quote"
	"vaultwicket/policy"
)

// flowTexts is a table [[flow]] as it is written.
type flowTexts struct {
	name, action string
	from, to     []string
}

func flowKeys() []tableKey[flowTexts] {
	return []tableKey[flowTexts]{
		{"name", "what questions, denials and logs call the rule", object{"type": "string"}, flowText(func(f *flowTexts) *string { return &f.name })},
		{"from", "places that are read: folders and notes by their paths, tags such as \"#client\", or \"private\" for notes that narrow the access to themselves", listForm(), nameList(func(f *flowTexts) *[]string { return &f.from }, "places")},
		{"to", "where text may not go then: publish, web, vaults (changes in other vaults), and folders by their paths (default: publish, web, vaults)", listForm(), nameList(func(f *flowTexts) *[]string { return &f.to }, "places")},
		{"action", "ask (the default: requires approval) or refuse", object{"type": "string", "enum": []string{"ask", "refuse"}}, flowText(func(f *flowTexts) *string { return &f.action })},
	}
}

func flowText(to func(*flowTexts) *string) func(*reading, *flowTexts, any, []string) error {
	return func(_ *reading, f *flowTexts, value any, _ []string) error {
		text, ok := value.(string)
		if *to(f) = text; !ok {
			return fmt.Errorf("is %s, want a text", typeName(value))
		}
		return nil
	}
}

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
		var f flowTexts
		readKeys(r, flowKeys(), &f, values, at, "flow rule: %q", "", "unknown key")
		rule, err := policy.ParseFlow(f.name, f.from, f.to, f.action)
		if err != nil {
			r.report(at, "flow rule %q: %v", quote.Short(f.name), err)
			continue
		}
		rules = append(rules, rule)
	}
	return rules
}

const flowAbout = "rules about where text may go after a session has read from some places"

func flowForm() object {
	table := tableSchema(flowKeys())
	table["required"] = []string{"name", "from"}
	return object{"type": "array", "items": table}
}
