// Package allowlist has the table of the commands of the Obsidian CLI, with their parameters
// and effects, and it is the only maker of a [Call].
//
// The table is data: one row a command, in files by tier. [Parse] checks a request against its
// row. Unknown parameters are refused, because the CLI itself ignores them, so that a typing
// error would become another command (recorded on 1.12.7). The package has no side effects,
// and does not decide whether a call is allowed: that is package policy.
package allowlist

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Parse checks a request against the table and returns its call.
//
// name is the exact name of a command. The params are those of the table; an absent value and a flag
// that is false are left out. The error is always a [*ParseError]. It names every parameter that is wrong.
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
	wrong := call.takeAll(params)
	call.takeListType(params)
	slices.SortFunc(call.args, compareArgs)
	wrong = append(wrong, call.missing(wrong)...)
	if len(wrong) == 0 { // otherwise the parameters that are meant can be others
		wrong = call.misfits()
	}
	if len(wrong) > 0 {
		return Call{}, together(wrong)
	}
	return call, nil
}

// takeAll adds the parameters to the call, in the order of their names, and returns what is wrong with the others.
func (c *Call) takeAll(params Params) (wrong []*ParseError) {
	for _, key := range params.Names() {
		if err := c.take(key, params); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// Unknown returns the error about those of params that a command does not have, nil if it has all of them, and
// for a command of which the parameters are not checked.
func Unknown(command string, params Params) *ParseError {
	r := find(command)
	if r == nil || r.tier == tiers.Restricted {
		return nil
	}
	call := Call{row: r}
	wrong := slices.DeleteFunc(call.takeAll(params), func(e *ParseError) bool { return e.code != CodeUnknownParam })
	if len(wrong) == 0 {
		return nil
	}
	return together(wrong)
}

// missing returns the required parameters that were not given, also not with a wrong value or under another name.
func (c *Call) missing(wrong []*ParseError) (missing []*ParseError) {
	isMeant := func(name string) bool {
		return slices.ContainsFunc(wrong, func(e *ParseError) bool { return e.Param == name || e.meant == name })
	}
	for i := range c.row.params {
		p := &c.row.params[i]
		if !p.required || c.has(p.name) || isMeant(p.name) {
			continue
		}
		err := c.refuse(CodeMissingParam, p.name, "is required")
		err.hint = "give " + p.name + "= with " + p.wants()
		if name, value, found := c.joinedPair(); found && p.name == "value" {
			err.hint = fmt.Sprintf("did you mean name=%q value=%q?", name, value)
		}
		missing = append(missing, err)
	}
	for _, group := range c.row.oneOf {
		if !slices.ContainsFunc(group, c.has) && !slices.ContainsFunc(group, isMeant) {
			err := c.refuse(CodeMissingParam, group[0], "requires "+orList(group))
			err.isOneOf = true
			missing = append(missing, err)
		}
	}
	return missing
}

// joinedPair splits the name of a property that has its value with it, as in name="rating: 5".
func (c *Call) joinedPair() (name, value string, found bool) {
	given, _ := c.Param("name")
	at := strings.IndexAny(given, ":=")
	if at <= 0 || strings.TrimSpace(given[at+1:]) == "" {
		return "", "", false
	}
	return excerpt.Short(strings.TrimSpace(given[:at])), excerpt.Short(strings.TrimSpace(given[at+1:])), true
}

// misfits returns the parameters that cannot be given together, and those that mean nothing without another one.
func (c *Call) misfits() (wrong []*ParseError) {
	for _, group := range c.row.exclusive {
		given := slices.DeleteFunc(slices.Clone(group), func(key string) bool { return !c.has(key) })
		if len(given) < 2 {
			continue
		}
		err := c.refuse(CodeConflict, given[1], fmt.Sprintf("cannot be combined with %q", given[0]))
		err.hint = fmt.Sprintf("leave %q or %q out", given[1], given[0])
		if slices.Contains(given, "file") && slices.Contains(given, "path") {
			err.hint = "path alone names the note"
		}
		wrong = append(wrong, err)
	}
	for _, n := range c.row.needs {
		if c.has(n.param) && !slices.ContainsFunc(n.with, c.has) {
			wrong = append(wrong, c.refuse(CodeMissingParam, n.param, "requires "+orList(n.with)))
		}
	}
	return wrong
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
	var repeated []*ParseError
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
			again := &ParseError{code: CodeConflict, Command: name, Param: key, Reason: "given more than once"}
			if !slices.ContainsFunc(repeated, func(e *ParseError) bool { return e.Param == key }) {
				repeated = append(repeated, again)
			}
			continue
		}
		params[key] = value
	}
	call, err := Parse(name, params)
	if len(repeated) == 0 {
		return call, err
	}
	if wrong, ok := errors.AsType[*ParseError](err); ok {
		repeated = append(repeated, wrong.Each()...)
	}
	return Call{}, together(repeated)
}

// take checks one parameter and adds it to the call.
func (c *Call) take(key string, given Params) *ParseError {
	v := given[key]
	p := c.row.param(key)
	// Releases of the CLI before 1.12.2 opened a note unless told not to. What is not opened anyway needs no word.
	isSilent := key == "silent" && c.row.param("open") != nil &&
		(v.form == flagOn || v.form == flagOff || v.text == "true")
	if p == nil && isSilent {
		return nil
	}
	if p == nil {
		return c.unknownParam(key, v, given)
	}
	if v.form == absent {
		return nil
	}
	text := ""
	reason := ""
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
		err.hint = c.row.mend(p, v, given)
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
// It is about one parameter, and can have more errors with it, about others.
type ParseError struct {
	code    string
	Command string // as given
	Param   string // the parameter at fault, "" when it is the command
	Reason  string // lower case, no full stop
	hint    string
	meant   string        // the parameter that an unknown one was most likely meant to be, "" if that is not known
	isOneOf bool          // Param is the first of several of which one is required
	others  []*ParseError // about other parameters of the same call
}

// together returns the first of some errors about one call, with the others.
func together(wrong []*ParseError) *ParseError {
	first := *wrong[0]
	first.others = wrong[1:]
	return &first
}

// Each returns the error for each parameter that is wrong, in the order of the message.
func (e *ParseError) Each() []*ParseError {
	own := *e
	own.others = nil
	return append([]*ParseError{&own}, e.others...)
}

// Code returns one of the Code constants of this package, for the first wrong parameter.
func (e *ParseError) Code() string { return e.code }

// Field returns the name of the first wrong parameter, "" when it is the command.
func (e *ParseError) Field() string { return e.Param }

// Hint returns what would be right, or "" when the reason says it all.
func (e *ParseError) Hint() string {
	if len(e.others) == 0 {
		return e.hint
	}
	return e.HintOfEach()
}

// HintOfEach is [ParseError.Hint] with the name of the parameter before its hint, also where only one is wrong.
func (e *ParseError) HintOfEach() string {
	var hints []string
	for _, wrong := range e.Each() {
		// The names of all parameters are the same for each.
		isNamed := wrong.Param != "" && !strings.HasPrefix(wrong.hint, validParams)
		hint := wrong.hint
		if isNamed {
			hint = fmt.Sprintf("%q: %s", excerpt.Short(wrong.Param), wrong.hint)
		}
		if wrong.hint != "" && !slices.Contains(hints, hint) {
			hints = append(hints, hint)
		}
	}
	return strings.Join(hints, "; ")
}

// Advised returns the error with other hints, where more is known of what was meant: advice returns the one for the
// error about a parameter, "" to keep what it has.
func (e *ParseError) Advised(advice func(*ParseError) string) *ParseError {
	wrong := e.Each()
	for i := range wrong {
		advised := *wrong[i]
		advised.hint = cmp.Or(advice(&advised), advised.hint)
		wrong[i] = &advised
	}
	return together(wrong)
}

func (e *ParseError) Error() string {
	if e.code == CodeUnknownCommand && e.Reason == unknown {
		return fmt.Sprintf("unknown command %q", excerpt.Short(e.Command))
	}
	reasons := make([]string, 0, len(e.others)+1)
	for _, wrong := range e.Each() {
		reasons = append(reasons, wrong.reason())
	}
	return fmt.Sprintf("command %q: ", excerpt.Short(e.Command)) + strings.Join(reasons, "; ")
}

// reason says what is wrong with the one parameter.
func (e *ParseError) reason() string {
	switch {
	case e.code == CodeUnknownParam && e.Reason == unknown:
		return fmt.Sprintf("unknown parameter %q", excerpt.Short(e.Param))
	case e.Param == "" || e.isOneOf:
		return e.Reason
	}
	return fmt.Sprintf("parameter %q: %s", excerpt.Short(e.Param), e.Reason)
}

// unknown is the reason for a name that is not in the table.
const unknown = "unknown"

// validParams begins the hint that lists the parameters of a command.
const validParams = "valid parameters: "
