package allowlist

import (
	"slices"
	"testing"

	"vaultwicket/tests/require"
	"vaultwicket/tiers"
)

// sample is a value that a parameter of this kind takes.
func (p *param) sample() Value {
	switch p.kind {
	case kindFlag:
		return Flag(true)
	case kindNumber:
		return Number("3")
	case kindChoice:
		return Text(p.choices[len(p.choices)-1])
	}
	return Text(map[kind]string{
		kindText: "two\nlines = \"text\"", kindContent: "- [ ] buy milk\n\tand é €", kindName: "due date", kindData: "YWJj",
		kindLink: "Groceries", kindBase: "Books.base", kindTitle: "Trip to Paris", kindPath: "Lists/Groceries.md", kindNewPath: "Lists/C#/New.md",
		kindDestination: "Archive/2026/", kindFolder: "Projects/Home", kindRef: "Lists/Groceries.md:12",
		kindChar: "/", kindDate: "2026-11-21", kindAge: "30", kindURL: "https://example.org/a?b=c", kindWord: "daily:read",
	}[p.kind])
}

// fewest returns the parameters of the smallest request that carries must.
func (r *row) fewest(must ...string) Params {
	params := Params{}
	add := func(name string) { params[name] = r.param(name).sample() }
	for _, name := range must {
		add(name)
	}
	for i := range r.params {
		if r.params[i].required {
			add(r.params[i].name)
		}
	}
	has := func(name string) bool { _, given := params[name]; return given }
	for _, group := range r.oneOf {
		if !slices.ContainsFunc(group, has) {
			add(group[slices.IndexFunc(group, func(name string) bool { return !r.excluded(name, has) })])
		}
	}
	for _, n := range r.needs {
		if has(n.param) && !slices.ContainsFunc(n.with, has) {
			add(n.with[0])
		}
	}
	return params
}

func (r *row) excluded(name string, has func(string) bool) bool {
	return slices.ContainsFunc(r.exclusive, func(group []string) bool {
		return slices.Contains(group, name) && slices.ContainsFunc(group, has)
	})
}

// most returns the parameters of a request that carries all that go together.
func (r *row) most(t *testing.T) Params {
	t.Helper()
	params := r.fewest()
	for range 2 { // what is needed may come later in the row
		for i := range r.params {
			p := &r.params[i]
			if _, given := params[p.name]; given {
				continue
			}
			params[p.name] = p.sample()
			if _, err := Parse(r.name, params); err != nil {
				delete(params, p.name)
			}
		}
	}
	return params
}

// eachRow calls f for every row of the table, in order.
func eachRow(f func(r *row)) {
	for _, part := range table {
		for i := range part.rows {
			f(&part.rows[i])
		}
	}
}

func mustParse(t *testing.T, name string, params Params) Call {
	t.Helper()
	call, err := Parse(name, params)
	require.That(t, err == nil, "%s %v: %v", name, params, err)
	return call
}

func isRestricted(r *row) bool { return r.tier == tiers.Restricted }
