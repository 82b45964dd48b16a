package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
)

// typedCall is what a call of a typed tool asks for.
type typedCall struct {
	request gateway.Request
	dryRun  bool
}

// decode reads the arguments of a call as strictly as those of obsidianCli are
// read, and as tolerantly: null, false for a flag and a missing argument are the
// same, numbers and booleans may be text. What the policy closes is read too, so
// that the answer can say which setting closes it.
func (t *typedTool) decode(raw json.RawMessage) (c typedCall, err *argumentError) {
	fields, err := decodeFields("", raw, t.names())
	if err != nil {
		return c, err
	}
	given, err := t.take(fields)
	if err != nil {
		return c, err
	}
	a := t.pick(given)
	if err := t.fit(a, given); err != nil {
		return c, err
	}
	c.request.Command, c.request.Params = a.command, t.params(a, given)
	if err := c.common(fields); err != nil {
		return c, err
	}
	if c.request.Cursor != "" && len(given) == 0 {
		c.request.Command, c.request.Params = "", nil // the cursor knows which of the commands it was
	}
	return c, nil
}

// names are all arguments that the tool takes, whatever the policy.
func (t *typedTool) names() []string {
	var names []string
	for i := range t.args {
		names = append(names, t.args[i].name)
	}
	names = append(append(names, t.pages...), "vault")
	if t.writes {
		for i := range writeArguments {
			names = append(names, writeArguments[i].name)
		}
	}
	return names
}

// take takes out of fields the arguments that are the tool's own. Those that say
// nothing are left out of what it returns.
func (t *typedTool) take(fields map[string]json.RawMessage) (map[string]allowlist.Value, *argumentError) {
	given, total := map[string]allowlist.Value{}, 0
	for i := range t.args {
		a := &t.args[i]
		value, size, err := a.decode(fields[a.name])
		if err != nil {
			return nil, err
		}
		if total += size; total > maxTotalText {
			return nil, &argumentError{codeBadValue, a.name, fmt.Sprintf("makes more than %d bytes of text in one call", maxTotalText), "send less at once"}
		}
		if value != (allowlist.Value{}) {
			given[a.name] = value
		}
		delete(fields, a.name)
	}
	return given, nil
}

// decode reads the value of one argument, and how many bytes of text it holds.
// The zero Value says nothing. What kind of text or number is wanted is for the
// allowlist to say.
func (a *argument) decode(raw json.RawMessage) (allowlist.Value, int, *argumentError) {
	switch {
	case isNull(raw) && a.required:
		return allowlist.Value{}, 0, &argumentError{codeBadRequest, a.name, "is missing", a.wants()}
	case isNull(raw):
		return allowlist.Value{}, 0, nil
	case a.form == asFlag:
		on, err := decodeBool(a.name, raw)
		if err != nil || !on {
			return allowlist.Value{}, 0, err
		}
		return allowlist.Flag(true), 0, nil
	case a.choices == nil:
		return decodeValue(a.name, raw)
	}
	choice, err := decodeText(a.name, raw)
	if err == nil && !slices.Contains(a.choices, choice) {
		err = &argumentError{codeBadValue, a.name, fmt.Sprintf("has no value %q", clip(choice)), a.wants() + didYouMean(choice, a.choices)}
	}
	return allowlist.Text(choice), len(choice), err
}

func (a *argument) wants() string { return "send one of " + strings.Join(a.choices, ", ") }

// fit refuses arguments that mean nothing to the act: left out in silence, they
// would make another call of it than the one that was meant.
func (t *typedTool) fit(a *act, given map[string]allowlist.Value) *argumentError {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if a.uses(name) {
			continue
		}
		for _, by := range a.when {
			if _, ok := given[by]; ok && a.is == "" {
				return &argumentError{allowlist.CodeConflict, name, fmt.Sprintf("cannot stand beside %q", by), "leave one of the two out"}
			}
		}
		if a.is != "" {
			return &argumentError{allowlist.CodeConflict, name, fmt.Sprintf("means nothing with %q as %s", a.is, a.when[0]), "beside it there are " + strings.Join(a.takes, ", ")}
		}
		return &argumentError{allowlist.CodeMissingParam, name, "means nothing without " + orList(t.asking(name)), "give that too, or leave it out"}
	}
	return nil
}

// asking returns the arguments that ask for an act which uses the named one.
func (t *typedTool) asking(name string) []string {
	var asking []string
	for i := range t.acts {
		if t.acts[i].uses(name) {
			asking = append(asking, t.acts[i].when...)
		}
	}
	return asking
}

func orList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(quoted, " or ")
}

// common reads the arguments that are the same for every tool.
func (c *typedCall) common(fields map[string]json.RawMessage) (err *argumentError) {
	r := &c.request
	if c.dryRun, err = decodeBool("dryRun", fields["dryRun"]); err != nil {
		return err
	}
	if r.Limit, err = decodeCount("limit", fields["limit"]); err != nil {
		return err
	}
	if r.Fields, err = decodeTexts("fields", fields["fields"]); err != nil {
		return err
	}
	return decodeEach(fields, map[string]*string{
		"vault": &r.Vault, "cursor": &r.Cursor, "expectHash": &r.ExpectHash, "idempotencyKey": &r.IdempotencyKey,
	})
}
