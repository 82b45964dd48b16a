package query

import "vaultwicket/cmd/internal/vault/query/trigram"

// operator is a name with a term. Those that only say where or how to look have
// told it to the terms below when the query was parsed.
type operator struct {
	name string
	term node
}

func (o *operator) match(s *search, in scope) bool { return o.term.match(s, in) }
func (o *operator) possible(text []byte) bool      { return o.term.possible(text) }
func (o *operator) cost() cost                     { return o.term.cost() }
func (o *operator) needsText() bool                { return o.term.needsText() }

func (o *operator) foresee(s *search, text trigram.Filter) Outlook {
	return o.term.foresee(s, text)
}

func (o *operator) write(to []byte) []byte {
	return writeInside(append(append(to, o.name...), ':'), o.term, !isGroup(o.term))
}

// setting is what surrounds a term in the query.
type setting struct {
	exact  bool
	field  field
	depth  int
	scopes int
}

// apply returns what an operator makes of its surroundings. For those that
// divide the text it returns how; ok is false if there is no such operator.
func (set setting) apply(name string) (inside setting, divides bool, k kind, ok bool) {
	inside = set
	switch name {
	case "file":
		inside.field = inName
	case "path":
		inside.field = inPath
	case "content":
		inside.field = inText
	case "tag":
		inside.field = inTags
	case "match-case":
		inside.exact = true
	case "ignore-case":
		inside.exact = false
	default:
		if k, ok = divider(name); !ok {
			return set, false, 0, false
		}
		inside.field, inside.scopes, divides = inText, set.scopes+1, true
	}
	return inside, divides, k, true
}

func divider(name string) (kind, bool) {
	switch name {
	case "line":
		return lines, true
	case "block":
		return blocks, true
	case "section":
		return sections, true
	case "task":
		return tasks, true
	case "task-todo":
		return openTasks, true
	case "task-done":
		return doneTasks, true
	}
	return 0, false
}
