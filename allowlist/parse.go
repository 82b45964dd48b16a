// Package allowlist has the table of the commands of the Obsidian CLI with their parameters
// and effects, and it is the only package that makes a [Call].
//
// The table is data: one row per command, in one file per tier. [Parse] checks a request against
// its row. Unknown parameters are refused, because the CLI itself ignores them, so that a typing
// error would become another command (recorded on 1.12.7). The package has no side effects.
// Whether a call is allowed is decided by package policy.
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
// name is the exact name of a command, and params are its parameters by name; an absent value and a flag that is
// false are left out of the call. The error is always a [*ParseError] that names every wrong parameter.
//
// The parameters of a restricted command are not checked: nothing can run it, and the caller should
// be told that instead of a missing parameter.
func Parse(name string, params Params) (Call, error) {
	r := find(name)
	if r == nil {
		return Call{}, unknownCommand(name)
	}
	call := Call{row: r, effect: r.effect, shows: r.alwaysShows || r.effect == tiers.Shows}
	if r.tier == tiers.Restricted {
		return call, nil
	}
	wrong := call.addParams(params)
	call.addListType(params)
	slices.SortFunc(call.args, compareArgs)
	wrong = append(wrong, call.missing(wrong)...)
	if len(wrong) == 0 { // with a wrong parameter, the caller may have meant others
		wrong = call.conflicts()
	}
	if len(wrong) > 0 {
		return Call{}, joinErrors(wrong)
	}
	return call, nil
}

// addParams adds the valid parameters to the call, in the order of their names. It returns an error for each of the
// others.
func (c *Call) addParams(params Params) (wrong []*ParseError) {
	for _, key := range params.Names() {
		if err := c.addParam(key, params); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// Unknown returns the error about the parameters that a command does not have. It returns nil if it has them all, and
// for an unknown or a restricted command.
func Unknown(command string, params Params) *ParseError {
	r := find(command)
	if r == nil || r.tier == tiers.Restricted {
		return nil
	}
	call := Call{row: r}
	wrong := slices.DeleteFunc(call.addParams(params), func(e *ParseError) bool { return e.code != CodeUnknownParam })
	if len(wrong) == 0 {
		return nil
	}
	return joinErrors(wrong)
}

// missing returns an error for each required parameter that was not given. Those that were given with a wrong value
// or under another name are already in wrong.
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

// joinedPair splits a parameter name that contains both the name of a property and its value, as in name="rating: 5".
func (c *Call) joinedPair() (name, value string, found bool) {
	given, _ := c.Param("name")
	at := strings.IndexAny(given, ":=")
	if at <= 0 || strings.TrimSpace(given[at+1:]) == "" {
		return "", "", false
	}
	return excerpt.Short(strings.TrimSpace(given[:at])), excerpt.Short(strings.TrimSpace(given[at+1:])), true
}

// conflicts returns an error for each group of parameters that exclude each other, and for each parameter that needs
// another one which is missing.
func (c *Call) conflicts() (wrong []*ParseError) {
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

// ParseWords is [Parse] for a command line. Every word is key=value, the name of a flag, or the
// bare value of a command that accepts one, even if it is the name of a parameter. A repeated
// parameter is refused, while the app would use the last one.
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
			// A row with a bare parameter has no flags.
			if i := slices.IndexFunc(r.params, func(p param) bool { return p.kind == kindWord }); i >= 0 {
				key = r.params[i].name
				value = Text(word)
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
	return Call{}, joinErrors(repeated)
}

// addParam checks one parameter and adds it to the call.
func (c *Call) addParam(key string, given Params) *ParseError {
	v := given[key]
	p := c.row.param(key)
	// Before 1.12.2 the CLI opened a note unless silent was given. It is not needed anymore, and ignored.
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
	switch { // a flag may also be the text "true" or "false": command lines and some models have nothing else
	case p.kind != kindFlag:
		text, reason = p.check(v)
	case v.form == flagOff || v.form == textForm && v.text == "false":
		return nil
	case v.form != flagOn && (v.form != textForm || v.text != "true"):
		reason = "is a flag: true or false, got " + v.describe()
	}
	if reason != "" {
		err := c.refuse(CodeBadValue, p.name, reason)
		err.hint = c.row.valueHint(p, v, given)
		return err
	}
	if p.refused != "" {
		err := c.refuse(CodeTargetRequired, key, p.refused)
		err.hint = "name one note with path="
		return err
	}
	c.args = append(c.args, arg{key: p.name, value: text, kind: p.kind})
	for _, e := range c.row.when { // the worst effect counts
		if e.param == key && e.effect.WorseThan(c.effect) {
			c.effect = e.effect
		}
	}
	c.shows = c.shows || slices.Contains(c.row.shows, key)
	return nil
}

// addListType adds type=list for a value that is a list, because a value without a type would be read as a text.
func (c *Call) addListType(params Params) {
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

// Params are the unchecked parameters of a request by name. A missing name and the
// zero [Value] mean the same.
type Params map[string]Value

// Names returns the names of the parameters, sorted.
func (p Params) Names() []string {
	names := make([]string, 0, len(p)) // slices.Sorted allocates several times
	for name := range p {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Value is one parameter value as the caller gave it: text, a number, a flag or a list of texts.
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

// Number is a value given as a number, in the digits that the caller wrote. It is not
// converted, so that no digit is lost to floating point.
func Number(literal string) Value { return Value{text: literal, form: numberForm} }

// Flag is a value given as true or false. False is the same as leaving the flag out.
func Flag(on bool) Value {
	if on {
		return Value{form: flagOn}
	}
	return Value{form: flagOff}
}

// List is a value given as a list of texts, such as the items of a property or the paths of files.
func List(items []string) Value {
	text, _ := excerpt.JSON(items) // texts always marshal
	return Value{text: text, form: listForm}
}

// Text returns the text or the digits of a value, a list as JSON, and "" for a flag.
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

// ParseError says why a request was refused. The caller has to change it: the same request will fail again.
// It is about one parameter; errors about other parameters of the request can be attached, see [ParseError.Each].
type ParseError struct {
	code    string
	Command string // as given
	Param   string // the wrong parameter, "" if the command is wrong
	Reason  string // lower case, no full stop
	hint    string
	meant   string        // the parameter that was most likely meant by an unknown one, "" if that is not known
	isOneOf bool          // Param is the first of a group of which one is required
	others  []*ParseError // about other parameters of the same call
}

// joinErrors returns the first of the errors about one call, with the others attached.
func joinErrors(wrong []*ParseError) *ParseError {
	first := *wrong[0]
	first.others = wrong[1:]
	return &first
}

// Each returns one error per wrong parameter, in the order of the message.
func (e *ParseError) Each() []*ParseError {
	own := *e
	own.others = nil
	return append([]*ParseError{&own}, e.others...)
}

// Code returns one of the Code constants of this package, for the first wrong parameter.
func (e *ParseError) Code() string { return e.code }

// Field returns the name of the first wrong parameter, "" if the command is wrong.
func (e *ParseError) Field() string { return e.Param }

// Hint returns what to do instead, or "" if the reason says enough.
func (e *ParseError) Hint() string {
	if len(e.others) == 0 {
		return e.hint
	}
	return e.HintOfEach()
}

// HintOfEach is [ParseError.Hint] with the name of the parameter before its hint, even if only one is wrong.
func (e *ParseError) HintOfEach() string {
	var hints []string
	for _, wrong := range e.Each() {
		// The list of valid parameters is the same for each of them.
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

// Advised returns the error with the hints of advice, which is called with the error for each parameter. Where it
// returns "", the hint stays.
func (e *ParseError) Advised(advice func(*ParseError) string) *ParseError {
	wrong := e.Each()
	for i := range wrong {
		advised := *wrong[i]
		advised.hint = cmp.Or(advice(&advised), advised.hint)
		wrong[i] = &advised
	}
	return joinErrors(wrong)
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

// reason returns what is wrong with this one parameter.
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
