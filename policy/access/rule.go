package access

import "strings"

// Rule returns the path of the rule that gives a note or folder its level, as it is
// written, "/" for the root; "" if no rule covers it. Of several with the same level it is
// the first.
func (r Rules) Rule(path string) string {
	level, rule := Delete, ""
	for _, l := range r.layers {
		switch own := l.level(path); {
		case own < level:
			level, rule = own, l.rule(path, own)
		case own == level && rule == "":
			rule = l.rule(path, own)
		}
	}
	return rule
}

func (l layer) rule(path string, level Level) string {
	key, covered := longestKey(l.exact, path)
	if covered && l.exact[key] == level {
		return written(key)
	}
	folded, covered := longestKey(l.folded, Fold(path))
	if !covered || l.folded[folded] != level {
		return ""
	}
	for key, own := range l.exact {
		if own == level && Fold(key) == folded {
			return written(key)
		}
	}
	return written(folded)
}

// longestKey returns the longest path in levels that covers path.
func longestKey(levels map[string]Level, path string) (key string, covered bool) {
	for {
		if _, ok := levels[path]; ok {
			return path, true
		}
		if path == "" {
			return "", false
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
}

func written(key string) string {
	if key == "" {
		return "/"
	}
	return key
}
