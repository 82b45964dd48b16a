// Package allowlist has the table of the commands of the Obsidian CLI, with their parameters
// and effects, and it is the only maker of a [Call].
//
// The table is data: one row a command, in files by tier. [Parse] checks a request against its
// row. Unknown parameters are refused, because the CLI itself ignores them, so that a typing
// error would become another command (recorded on 1.12.7). The package has no side effects,
// and does not decide whether a call is allowed: that is package policy.
package allowlist

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Parse checks a request against the table and returns its call.
//
// name is the exact name of a command. The params are those of the table; an absent value and a flag
// that is false are left out. The error is always a [*ParseError] with a hint.
//
// The parameters of a restricted command are not checked: nothing can run it,
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
	for _, key := range params.Names() {
		if err := call.take(key, params[key]); err != nil {
			return Call{}, err
		}
	}
	call.takeListType(params)
	slices.SortFunc(call.args, compareArgs)
	for i := range r.params {
		if p := &r.params[i]; p.required && !call.has(p.name) {
			err := call.refuse(CodeMissingParam, p.name, "is required")
			err.hint = "give " + p.name + "= with " + p.wants()
			return Call{}, err
		}
	}
	for _, group := range r.oneOf {
		if !slices.ContainsFunc(group, call.has) {
			return Call{}, call.refuse(CodeMissingParam, "", "requires "+orList(group))
		}
	}
	for _, group := range r.exclusive {
		given := slices.DeleteFunc(slices.Clone(group), func(key string) bool { return !call.has(key) })
		if len(given) < 2 {
			continue
		}
		err := call.refuse(CodeConflict, given[1], fmt.Sprintf("cannot be combined with %q", given[0]))
		if err.hint = fmt.Sprintf("leave %q or %q out", given[1], given[0]); slices.Contains(given, "file") && slices.Contains(given, "path") {
			err.hint = "path alone names the note"
		}
		return Call{}, err
	}
	for _, n := range r.needs {
		if call.has(n.param) && !slices.ContainsFunc(n.with, call.has) {
			return Call{}, call.refuse(CodeMissingParam, n.param, "requires "+orList(n.with))
		}
	}
	return call, nil
}

// ParseWords is Parse for a command line: every word is key=value, the name of a flag, or the
// one bare value of a command that takes one, even if it is the name of a parameter. A
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
		key, text, found := strings.Cut(word, "=")
		value := Text(text)
		if !found {
			value = Flag(true)
			// A row with a parameter that is written without key= has no flags.
			if i := slices.IndexFunc(r.params, func(p param) bool { return p.kind == kindWord }); i >= 0 {
				key, value = r.params[i].name, Text(word)
			}
		}
		if _, twice := params[key]; twice {
			return Call{}, &ParseError{code: CodeConflict, Command: name, Param: key, Reason: "given more than once"}
		}
		params[key] = value
	}
	return Parse(name, params)
}

// take checks one parameter and adds it to the call.
func (c *Call) take(key string, v Value) error {
	p := c.row.param(key)
	// Releases of the CLI before 1.12.2 opened a note unless told not to. What is not opened anyway needs no word.
	isSilent := key == "silent" && c.row.param("open") != nil && (v.form == flagOn || v.form == flagOff || v.text == "true")
	if p == nil && isSilent {
		return nil
	}
	if p == nil {
		return c.unknownParam(key, v)
	}
	if v.form == absent {
		return nil
	}
	text, reason := "", ""
	switch { // for a flag text is accepted, because command lines and some models have nothing else
	case p.kind != kindFlag:
		text, reason = p.check(v)
	case v.form == flagOff || v.form == textForm && v.text == "false":
		return nil
	case v.form != flagOn && (v.form != textForm || v.text != "true"):
		reason = "is a flag: true or false, got " + v.describe()
	}
	if reason != "" {
		err := c.refuse(CodeBadValue, p.name, reason)
		err.hint = c.row.mend(p, v)
		return err
	}
	if p.refused != "" {
		err := c.refuse(CodeTargetRequired, key, p.refused)
		err.hint = "name one note with path="
		return err
	}
	c.args = append(c.args, arg{key: p.name, value: text, kind: p.kind})
	for _, e := range c.row.when { // the effect of the call is the worst one
		if e.param == key && e.effect.WorseThan(c.effect) {
			c.effect = e.effect
		}
	}
	c.shows = c.shows || slices.Contains(c.row.shows, key)
	return nil
}

// takeListType gives a list its type, where a value without one would be read as a text.
func (c *Call) takeListType(params Params) {
	typed := c.row.param("type")
	if params["value"].form == listForm && typed != nil && !c.has("type") {
		c.args = append(c.args, arg{key: "type", value: "list", kind: typed.kind})
	}
}

func (c *Call) refuse(code, key, reason string) *ParseError {
	return &ParseError{code: code, Command: c.row.name, Param: key, Reason: reason}
}

func orList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(quoted, " or ")
}

// Params are the parameters of a request by name, before anything is known
// about them. A name that is missing and the zero [Value] mean the same.
type Params map[string]Value

// Names returns the names of the parameters in order.
func (p Params) Names() []string {
	names := make([]string, 0, len(p)) // slices.Sorted allocates several times
	for name := range p {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Value is one parameter value as a caller gave it: text, a number, a flag or a list of texts.
// The zero Value is absent, like null in JSON.
type Value struct {
	text string
	form form
}

type form uint8

const (
	absent form = iota
	textForm
	numberForm
	flagOn
	flagOff
	listForm
)

// Text is a value given as text.
func Text(s string) Value { return Value{text: s, form: textForm} }

// Number is a value given as a number, in the digits the caller wrote. Nothing
// is converted here, so no digit is lost to floating point.
func Number(literal string) Value { return Value{text: literal, form: numberForm} }

// Flag is true or false. False is the same as leaving the flag out.
func Flag(on bool) Value {
	if on {
		return Value{form: flagOn}
	}
	return Value{form: flagOff}
}

// List is a list of texts, which the values of properties and the paths of several files can be.
func List(items []string) Value {
	text, _ := excerpt.JSON(items) // texts always marshal
	return Value{text: text, form: listForm}
}

// Text returns the text or the digits of a value, the JSON of a list, "" for a flag.
func (v Value) Text() string { return v.text }

// describe names the form of v in an error message.
func (v Value) describe() string {
	switch v.form {
	case textForm:
		return "text"
	case numberForm:
		return "a number"
	case flagOn, flagOff:
		return "true or false"
	case listForm:
		return "a list"
	}
	return "nothing"
}

// The codes of a [ParseError].
const (
	CodeUnknownCommand = "unknown_command"
	CodeUnknownParam   = "unknown_param"
	CodeMissingParam   = "missing_param"
	CodeBadValue       = "bad_value"
	CodeConflict       = "conflicting_params"
	CodeTargetRequired = "target_required"
	CodeContentUnsafe  = "content_unsafe"
	CodeContentTooLong = "content_too_long"
)

// ParseError says why a request is no call. It is the caller's move: the same request will fail again.
type ParseError struct {
	code    string
	Command string // as given
	Param   string // the parameter at fault, "" when it is the command
	Reason  string // lower case, no full stop
	hint    string
}

// Code returns one of the Code constants of this package.
func (e *ParseError) Code() string { return e.code }

// Hint returns what would be right, or "" when the reason says it all.
func (e *ParseError) Hint() string { return e.hint }

// Advise returns the error with another hint, where more is known of what was meant.
func (e *ParseError) Advise(hint string) *ParseError {
	advised := *e
	advised.hint = hint
	return &advised
}

func (e *ParseError) Error() string {
	switch {
	case e.code == CodeUnknownCommand && e.Reason == unknown:
		return fmt.Sprintf("unknown command %q", excerpt.Short(e.Command))
	case e.code == CodeUnknownParam && e.Reason == unknown:
		return fmt.Sprintf("command %q: unknown parameter %q", excerpt.Short(e.Command), excerpt.Short(e.Param))
	case e.Param == "":
		return fmt.Sprintf("command %q: %s", excerpt.Short(e.Command), e.Reason)
	}
	return fmt.Sprintf("command %q: parameter %q: %s", excerpt.Short(e.Command), excerpt.Short(e.Param), e.Reason)
}

// unknown is the reason for a name that is not in the table.
const unknown = "unknown"
