package typed

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver/arguments"
	"vaultwicket/gateway/mcpserver/wire"
)

// Call is what a call of a typed tool asks for.
type Call struct {
	Request gateway.Request
	DryRun  bool
}

// Decode decodes the arguments of a call as strictly as those of obsidianCli, and as
// tolerantly: null, false for a flag and a missing argument are the same, numbers and
// booleans may be text. Arguments that the policy disables are decoded too, so that the
// answer can say which setting disables them.
func (t *Tool) Decode(raw json.RawMessage) (c Call, err *arguments.Error) {
	fields, err := arguments.Object("", raw, t.names())
	if err != nil {
		return c, err
	}
	given, err := t.take(fields)
	if err != nil {
		return c, err
	}
	o := t.pick(given)
	if err := t.checkFit(o, given); err != nil {
		return c, err
	}
	c.Request.Command, c.Request.Params = o.command, t.commandParams(o, given)
	if err := c.decodeCommon(fields); err != nil {
		return c, err
	}
	if c.Request.Limit > 0 && slices.ContainsFunc(o.objectWith, func(flag string) bool { return c.Request.Params[flag] != allowlist.Value{} }) {
		c.Request.Params["limit"], c.Request.Limit = allowlist.Number(strconv.Itoa(c.Request.Limit)), 0
	}
	if c.Request.Cursor != "" && len(given) == 0 {
		c.Request.Command, c.Request.Params = "", nil // the cursor knows which command it was
	}
	return c, nil
}

// names are all arguments of the tool, whatever the policy.
func (t *Tool) names() []string {
	var names []string
	for i := range t.args {
		names = append(names, t.args[i].Name)
	}
	names = append(append(names, t.paging...), "vault")
	if t.writes {
		for _, p := range arguments.Writing() {
			names = append(names, p.Name)
		}
	}
	return names
}

// take moves the arguments that are the tool's own out of fields. It leaves out null,
// and false for a flag.
func (t *Tool) take(fields wire.Fields) (map[string]allowlist.Value, *arguments.Error) {
	given, total := map[string]allowlist.Value{}, 0
	for i := range t.args {
		a := &t.args[i]
		value, size, err := decodeValue(a, fields.Take(a.Name))
		if err != nil {
			return nil, err
		}
		if total += size; total > arguments.MaxTotalText {
			return nil, arguments.Wrong(arguments.BadValue, a.Name, fmt.Sprintf("exceeds %d bytes of text in one call", arguments.MaxTotalText), "send less text per call")
		}
		if value != (allowlist.Value{}) {
			given[a.Name] = value
		}
	}
	return given, nil
}

// decodeValue decodes the value of one argument, and returns how many bytes of text it
// has. The zero Value means that it is not given. The allowlist checks the value further.
func decodeValue(a *arguments.Property, raw json.RawMessage) (allowlist.Value, int, *arguments.Error) {
	switch {
	case wire.IsNull(raw) && a.Required:
		return allowlist.Value{}, 0, arguments.Wrong(arguments.BadRequest, a.Name, "is missing", sendOneOf(a.Values))
	case wire.IsNull(raw):
		return allowlist.Value{}, 0, nil
	case a.Type == arguments.Boolean:
		on, err := arguments.Bool(a.Name, raw)
		if err != nil || !on {
			return allowlist.Value{}, 0, err
		}
		return allowlist.Flag(true), 0, nil
	case a.Values == nil:
		return arguments.Value(a.Name, raw)
	}
	choice, err := arguments.Text(a.Name, raw)
	if err == nil && !slices.Contains(a.Values, choice) {
		err = arguments.Wrong(arguments.BadValue, a.Name, fmt.Sprintf("has the invalid value %q", wire.Clip(choice)), sendOneOf(a.Values)+quote.DidYouMean(choice, a.Values))
	}
	return allowlist.Text(choice), len(choice), err
}

func sendOneOf(values []string) string { return "send one of " + strings.Join(values, ", ") }

// checkFit rejects arguments without a meaning for the operation: to ignore one would run
// another call than the one that was meant.
func (t *Tool) checkFit(o *operation, given map[string]allowlist.Value) *arguments.Error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if o.uses(name) {
			continue
		}
		for _, other := range o.when {
			if _, ok := given[other]; ok && o.is == "" {
				return arguments.Wrong(allowlist.CodeConflict, name, fmt.Sprintf("cannot be combined with %q", other), "send only one of the two")
			}
		}
		if o.is != "" {
			return arguments.Wrong(allowlist.CodeConflict, name, fmt.Sprintf("cannot be combined with %s %q", o.when[0], o.is), "with it send "+strings.Join(o.params, ", "))
		}
		return arguments.Wrong(allowlist.CodeMissingParam, name, "requires "+orList(t.selectors(name)), "send that too, or leave this out")
	}
	return nil
}

// selectors returns the arguments that select an operation which uses the named one.
func (t *Tool) selectors(name string) []string {
	var selectors []string
	for i := range t.operations {
		if t.operations[i].uses(name) {
			selectors = append(selectors, t.operations[i].when...)
		}
	}
	return selectors
}

func orList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(quoted, " or ")
}

// decodeCommon decodes the arguments that every tool has.
func (c *Call) decodeCommon(fields wire.Fields) (err *arguments.Error) {
	r := &c.Request
	if c.DryRun, err = arguments.Bool("dryRun", fields.Get("dryRun")); err != nil {
		return err
	}
	if r.Limit, err = arguments.Count("limit", fields.Get("limit")); err != nil {
		return err
	}
	if r.Fields, err = arguments.List("fields", fields.Get("fields")); err != nil {
		return err
	}
	return arguments.Texts(fields, &r.Vault, &r.Cursor, &r.ExpectHash, &r.IdempotencyKey)
}
