package query

import "strings"

// property reads [name], [name:value] or several names separated by OR.
func (p *parser) property(set setting) (node, error) {
	start := p.at
	if set.field == inValues {
		return nil, p.fail(start, "property_in_property", "a bracket inside of a property", "put the value in quotes")
	}
	p.at++
	names, err := p.names(start, set.depth)
	if err != nil {
		return nil, err
	}
	found := &property{names: names}
	if p.take(':') {
		set.field = inValues
		if found.value, err = p.alternatives(set); err != nil {
			return nil, p.preferred(err, p.propertyOpen(start))
		}
	}
	switch {
	case p.take(']'):
		return found, nil
	case !p.done() && p.text[p.at] == ')':
		return nil, p.closesNothing()
	}
	return nil, p.propertyOpen(start)
}

func (p *parser) propertyOpen(start int) error {
	return p.fail(start, "property_open", "a bracket is not closed", "write [name] or [name:value], or put the text in quotes")
}

// names reads the names of a property, in parentheses or not.
func (p *parser) names(start, depth int) ([]propertyName, error) {
	if depth++; depth > maxDepth {
		return nil, p.fail(p.at, "query_too_deep", "too many parts inside of each other", "use fewer parentheses")
	}
	var all []propertyName
	for {
		p.blanks()
		if p.take('(') {
			open := p.fail(p.at-1, "group_open", "a parenthesis is not closed", "add \")\", or put the name in quotes")
			names, err := p.names(start, depth)
			if err == nil && !p.take(')') {
				err = open
			}
			if err != nil {
				return nil, err
			}
			all = append(all, names...)
		} else {
			name, err := p.name(start)
			if err != nil {
				return nil, err
			}
			if p.terms++; p.terms > maxTerms {
				return nil, p.fail(p.at, "query_too_long", "too many terms", "write a shorter query")
			}
			all = append(all, name)
		}
		if p.blanks(); !p.atOR() {
			return all, nil
		}
		p.at += len("OR")
	}
}

func (p *parser) name(start int) (propertyName, error) {
	if !p.done() && p.text[p.at] == '"' {
		raw, err := p.quoted()
		return propertyName{pattern: phrase{words{raw: raw}}, name: foldString(raw)}, err
	}
	if !p.done() && p.text[p.at] == '/' {
		re, err := p.regex(false)
		return propertyName{pattern: re}, err
	}
	var parts []string
	for p.blanks(); !p.done() && !p.atOR(); p.blanks() {
		start := p.at
		for !p.done() && !p.atBlank() && strings.IndexByte(`()"[]:`, p.text[p.at]) < 0 {
			p.at++
		}
		if p.at == start {
			break
		}
		parts = append(parts, p.text[start:p.at])
	}
	raw := strings.Join(parts, " ")
	if raw == "" && p.done() {
		return propertyName{}, p.propertyOpen(start)
	}
	if raw == "" || !p.done() && p.text[p.at] == '[' {
		return propertyName{}, p.fail(start, "property_unnamed", "a bracket that begins no property", "write [name] or [name:value], or put the text in quotes")
	}
	return propertyName{pattern: words{raw: raw}, name: foldString(raw)}, nil
}
