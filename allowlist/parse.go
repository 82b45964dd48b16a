// Package allowlist knows which commands of the Obsidian CLI exist, what they
// may carry and how dangerous they are, and it is the only maker of a [Call].
//
// The table is data: one row a command, in files by tier. [Parse] holds a
// request against its row. What is not in a row is refused, because the CLI
// itself ignores what it does not know, so that a typing error would become
// another command (recorded on 1.12.7). Nothing here touches the world, and
// nothing here decides whether a call is allowed: that is package policy.
package allowlist

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vaultwicket/tiers"
)

// Parse holds a request against the table and returns the call it stands for.
//
// name is the exact name of a command. The params are those of the table; an
// absent value and a flag that is false are left out. The error is always a
// [*ParseError] and names what would be right.
//
// The parameters of a restricted command are not looked at: nothing can run it,
// so the answer should be that and not a missing parameter.
func Parse(name string, params Params) (Call, error) {
	r := find(name)
	if r == nil {
		return Call{}, unknownCommand(name)
	}
	call := Call{row: r, effect: r.effect, shows: r.alwaysShows || r.effect == tiers.Shows}
	if r.tier == tiers.Restricted {
		return call, nil
	}
	for _, key := range slices.Sorted(maps.Keys(params)) {
		if err := call.take(key, params[key]); err != nil {
			return Call{}, err
		}
	}
	slices.SortFunc(call.args, compareArgs)
	if err := call.checkGroups(); err != nil {
		return Call{}, err
	}
	return call, nil
}

// ParseWords is Parse for a command line: every word is key=value, the bare
// name of a flag, or the one bare value of a command that takes one. A
// parameter given twice is refused, where the app would keep the last.
func ParseWords(name string, words []string) (Call, error) {
	r := find(name)
	if r == nil {
		return Call{}, unknownCommand(name)
	}
	if r.tier == tiers.Restricted {
		return Parse(name, nil)
	}
	params := make(Params, len(words))
	for _, word := range words {
		key, value := r.readWord(word)
		if _, twice := params[key]; twice {
			return Call{}, &ParseError{code: CodeConflict, Command: name, Param: key, Reason: "given more than once"}
		}
		params[key] = value
	}
	return Parse(name, params)
}

// readWord splits one word of a command line. "command" is both the name of the
// bare value of help and a command that help explains: as a word it is the
// latter.
func (r *row) readWord(word string) (key string, value Value) {
	if key, text, found := strings.Cut(word, "="); found {
		return key, Text(text)
	}
	if bare := r.bareParam(); bare != nil {
		return bare.name, Text(word)
	}
	return word, Flag(true)
}

// bareParam returns the parameter that is written without key=, or nil. A row
// that has one has no flags.
func (r *row) bareParam() *param {
	for i := range r.params {
		if r.params[i].kind == kindWord {
			return &r.params[i]
		}
	}
	return nil
}

// take checks one parameter and adds it to the call.
func (c *Call) take(key string, v Value) error {
	p := c.row.param(key)
	if p == nil {
		return c.unknownParam(key, v.form == flagOn)
	}
	if v.form == absent {
		return nil
	}
	if p.kind == kindFlag {
		on, reason := flagged(v)
		if reason != "" {
			return c.badValue(p, v, reason)
		}
		if !on {
			return nil
		}
		v = Text("")
	} else {
		text, reason := p.check(v)
		if reason != "" {
			return c.badValue(p, v, reason)
		}
		v = Text(text)
	}
	if p.refused != "" {
		err := c.refuse(CodeTargetRequired, key, p.refused)
		err.hint = "name one note with path="
		return err
	}
	c.args = append(c.args, arg{key: p.name, value: v.text, kind: p.kind})
	c.escalate(p.name)
	return nil
}

// escalate raises the effect of the call to that of one of its parameters.
func (c *Call) escalate(key string) {
	for _, e := range c.row.when {
		if e.param == key && e.effect.WorseThan(c.effect) {
			c.effect = e.effect
		}
	}
	c.shows = c.shows || slices.Contains(c.row.shows, key)
}

// checkGroups holds the parameters against what the row says of them together.
func (c *Call) checkGroups() error {
	for i := range c.row.params {
		if p := &c.row.params[i]; p.required && !c.has(p.name) {
			err := c.refuse(CodeMissingParam, p.name, "is required")
			err.hint = "give " + p.name + "= with " + p.wants()
			return err
		}
	}
	for _, group := range c.row.oneOf {
		if !slices.ContainsFunc(group, c.has) {
			return c.refuse(CodeMissingParam, "", "requires "+orList(group))
		}
	}
	for _, group := range c.row.exclusive {
		if given := c.given(group); len(given) > 1 {
			err := c.refuse(CodeConflict, given[1], fmt.Sprintf("cannot be combined with %q", given[0]))
			err.hint = mendConflict(given)
			return err
		}
	}
	for _, n := range c.row.needs {
		if c.has(n.param) && !slices.ContainsFunc(n.with, c.has) {
			return c.refuse(CodeMissingParam, n.param, "requires "+orList(n.with))
		}
	}
	return nil
}

func (c *Call) given(group []string) []string {
	var given []string
	for _, key := range group {
		if c.has(key) {
			given = append(given, key)
		}
	}
	return given
}

func (c *Call) refuse(code, key, reason string) *ParseError {
	return &ParseError{code: code, Command: c.row.name, Param: key, Reason: reason}
}

func (c *Call) badValue(p *param, v Value, reason string) *ParseError {
	err := c.refuse(CodeBadValue, p.name, reason)
	err.hint = c.row.mend(p, v)
	return err
}

func orList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(quoted, " or ")
}
