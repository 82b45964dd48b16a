package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// decodeObject decodes the first level of an object whose keys must be among names. A missing value
// and null count as an empty object.
func decodeObject(field string, raw json.RawMessage, names []string) (transport.Fields, *argumentError) {
	fields, err := anyObject(field, raw)
	if err != nil {
		return nil, err
	}
	return fields, rejectUnknown(field, fields, names, "")
}

// anyObject is like [decodeObject], but allows any keys.
func anyObject(field string, raw json.RawMessage) (transport.Fields, *argumentError) {
	if transport.IsNull(raw) {
		return nil, nil
	}
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, wrongArgument(badRequest, field, "must be valid JSON", "send a JSON object")
	}
	fields, err := transport.Lint(raw)
	if err != nil {
		return nil, wrongArgument(
			badRequest,
			field,
			"must not contain "+err.Error(),
			"send each key once, and plain values",
		)
	}
	if fields == nil {
		return nil, wrongArgument(
			badRequest,
			field,
			"must be an object, not "+typeName(raw),
			`send an object, such as {"name": "value"}`,
		)
	}
	return fields, nil
}

// rejectUnknown returns an error that lists the fields that are not among names, nil if there are none. more
// is appended to the hint.
func rejectUnknown(field string, fields transport.Fields, names []string, suffix string) *argumentError {
	var wrong []*argumentError
	for _, f := range fields.Sorted() {
		name := string(f.Name)
		if slices.Contains(names, name) {
			continue
		}
		hint := "valid arguments: " + strings.Join(names, ", ") + suffix
		if near := excerpt.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		wrong = append(wrong, wrongArgument(badRequest, strings.TrimPrefix(field+"."+name, "."), "", hint))
	}
	return joinErrors(wrong)
}

// decodeValue decodes the value of a command parameter. It also returns the size of its text in
// bytes, 0 for a long file in base64. null decodes to the zero Value. raw must be valid JSON without
// surrounding space.
func decodeValue(command, name, field string, raw json.RawMessage) (allowlist.Value, int, *argumentError) {
	switch raw[0] {
	case 'n':
		return allowlist.Value{}, 0, nil
	case 't', 'f':
		return allowlist.Flag(raw[0] == 't'), 0, nil
	case '"':
		text, err := decodeString(field, raw)
		if len(text) > maxText {
			if allowlist.TakesData(command, name) {
				return allowlist.Text(text), 0, err
			}
			err = tooLong(field, text)
		}
		return allowlist.Text(text), len(text), err
	case '{', '[':
		if raw[0] == '[' && allowlist.TakesList(command, name) {
			return decodeListValue(field, raw)
		}
		return allowlist.Value{}, 0, wrongArgument(badValue, field, "is "+typeName(raw), plainValueHint(raw))
	}
	if !isPlainInteger(string(raw)) {
		return allowlist.Value{}, 0, wrongArgument(
			badValue,
			field,
			fmt.Sprintf("is %s, not a plain integer within 2^53", transport.Clip(string(raw))),
			"write integers in digits, such as 1000, and anything else as a string",
		)
	}
	return allowlist.Number(string(raw)), 0, nil
}

// plainValueHint returns a hint about what to send instead of a list or an object.
func plainValueHint(raw json.RawMessage) string {
	var items []string
	if json.Unmarshal(raw, &items) == nil && len(items) == 1 {
		return fmt.Sprintf("send a string; did you mean %q?", excerpt.Short(items[0]))
	}
	return "send a string, an integer, true, false or null"
}

// decodeListValue decodes a list of strings, numbers and booleans as a list of texts.
func decodeListValue(field string, raw json.RawMessage) (allowlist.Value, int, *argumentError) {
	var elements []json.RawMessage
	if err := json.Unmarshal(raw, &elements); err != nil {
		return allowlist.Value{}, 0, wrongArgument(badValue, field, "is "+typeName(raw), "send a list of strings")
	}
	items := make([]string, len(elements))
	size := 0
	for i, element := range elements {
		switch element[0] {
		case '"':
			text, err := decodeString(field, element)
			if err != nil {
				return allowlist.Value{}, 0, err
			}
			items[i] = text
		case '{', '[', 'n':
			return allowlist.Value{}, 0, wrongArgument(
				badValue,
				field,
				"has "+typeName(element)+" in a list",
				"send a list of strings",
			)
		default:
			items[i] = string(element)
		}
		size += len(items[i])
	}
	if size > maxText {
		return allowlist.Value{}, 0, tooLong(field, string(raw))
	}
	return allowlist.List(items), size, nil
}

// isPlainInteger reports whether a JSON number is an integer in plain digits that floating point
// represents exactly.
func isPlainInteger(literal string) bool {
	n, err := strconv.ParseInt(literal, 10, 64)
	isExact := -transport.MaxInteger <= n && n <= transport.MaxInteger
	return err == nil && isExact && literal != "-0"
}

// decodeBool decodes true or false, also as a string, which some models send. A missing value and
// null decode to false.
func decodeBool(field string, raw json.RawMessage) (bool, *argumentError) {
	switch string(raw) {
	case "", "null", "false", `"false"`:
		return false, nil
	case "true", `"true"`:
		return true, nil
	}
	return false, wrongArgument(
		badValue,
		field,
		"is "+typeName(raw)+", not true or false",
		"send true or false without quotes",
	)
}

// maxItems is the maximum length of a list of names. No row of an answer has half as many fields.
const maxItems = 64

// decodeCount decodes an integer of at least 1, also as a string. A missing value and null decode
// to 0.
func decodeCount(field string, raw json.RawMessage) (int, *argumentError) {
	if transport.IsNull(raw) {
		return 0, nil
	}
	digits := string(raw)
	if transport.IsString(raw) {
		var err *argumentError
		if digits, err = decodeText(field, raw); err != nil {
			return 0, err
		}
	}
	n, err := strconv.ParseInt(digits, 10, strconv.IntSize)
	isPlain := isPlainInteger(digits) && strconv.FormatInt(n, 10) == digits
	if err != nil || !isPlain || n < 1 {
		return 0, wrongArgument(
			badValue,
			field,
			fmt.Sprintf("is %s, not an integer of at least 1", transport.Clip(string(raw))),
			"send an integer in digits, such as 20",
		)
	}
	return int(n), nil
}

// decodeList decodes a list of strings. It also accepts a string that contains such a list, and
// treats any other string as a list with one item. A missing value and null decode to nil.
func decodeList(field string, raw json.RawMessage) ([]string, *argumentError) {
	if transport.IsNull(raw) {
		return nil, nil
	}
	if transport.IsString(raw) {
		text, err := decodeText(field, raw)
		if err != nil {
			return nil, err
		}
		inside := strings.Trim(text, transport.Space)
		if !strings.HasPrefix(inside, "[") || !json.Valid([]byte(inside)) {
			return []string{text}, nil
		}
		raw = json.RawMessage(inside)
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, wrongArgument(
			badValue,
			field,
			"is "+typeName(raw)+", not a list",
			`send a list of strings, such as ["path"]`,
		)
	}
	if len(items) > maxItems {
		return nil, wrongArgument(
			badValue,
			field,
			fmt.Sprintf("has %d items", len(items)),
			fmt.Sprintf("send up to %d", maxItems),
		)
	}
	texts := make([]string, len(items))
	for i, item := range items {
		inside := fmt.Sprintf("%s[%d]", field, i)
		if !transport.IsString(item) {
			return nil, wrongArgument(badValue, inside, "is "+typeName(item)+", not a string", "send a string")
		}
		var err *argumentError
		if texts[i], err = decodeText(inside, item); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// typeName returns the type of a JSON value for error messages.
func typeName(raw json.RawMessage) string {
	switch strings.TrimLeft(string(raw), transport.Space)[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// decodeText decodes a string of up to maxText bytes. A missing value and null decode to "".
func decodeText(field string, raw json.RawMessage) (string, *argumentError) {
	text, err := decodeString(field, raw)
	if len(text) > maxText {
		return "", tooLong(field, text)
	}
	return text, err
}

func tooLong(field, text string) *argumentError {
	return wrongArgument(
		badValue,
		field,
		fmt.Sprintf("is %d bytes long", len(text)),
		fmt.Sprintf("send up to %d bytes per value", maxText),
	)
}

// decodeString decodes a string of any length. A missing value and null decode to "".
func decodeString(field string, raw json.RawMessage) (string, *argumentError) {
	if transport.IsNull(raw) {
		return "", nil
	}
	text, ok := transport.String(raw)
	if !ok {
		return "", wrongArgument(badValue, field, "is "+typeName(raw)+", not a string", "send a string")
	}
	// encoding/json silently replaces an unpaired surrogate by U+FFFD, so that a note would lose a
	// character. Reject them instead.
	for rest := string(raw); ; {
		at := strings.IndexByte(rest, '\\')
		if at < 0 {
			return text, nil
		}
		unit, size := escape(rest[at:])
		rest = rest[at+size:]
		if !utf16.IsSurrogate(unit) {
			continue
		}
		low, size := escape(rest)
		if utf16.DecodeRune(unit, low) == utf8.RuneError {
			return "", wrongArgument(
				badValue,
				field,
				`contains half of a surrogate pair, such as "\ud83d" alone`,
				"send whole characters",
			)
		}
		rest = rest[size:]
	}
}

// escape returns the UTF-16 code unit and the length of the \u escape at the start of text. For other
// escapes the unit is 0.
func escape(text string) (rune, int) {
	if !strings.HasPrefix(text, `\`) {
		return 0, 0
	}
	if !strings.HasPrefix(text, `\u`) || len(text) < 6 {
		return 0, 2
	}
	unit, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return 0, 2
	}
	return rune(unit), 6
}

// The codes of an [argumentError].
const (
	badRequest = "bad_request" // the shape is wrong
	badValue   = "bad_value"   // one value is wrong
)

// argumentError is the error of a wrong argument of a tool call. It can contain further errors, about
// other arguments or parameters of the same call.
type argumentError struct {
	code, field, reason, hint string
	others                    []failure.CodedError
	// operation identifies the operation of a batch that has the error.
	operation struct{ ClientID, Command string }
}

// wrongArgument returns an error about the argument at field, such as "params.content", or about the
// arguments as a whole if field is empty. reason is a predicate for the argument, such as "is
// missing"; it is empty for an argument that the tool does not have. hint is advice about what to
// send instead.
func wrongArgument(code, field, reason, hint string) *argumentError {
	return &argumentError{code: code, field: field, reason: reason, hint: hint}
}

// joinErrors joins errors about one call: it returns the first with the others added, nil if there are
// none.
func joinErrors(wrong []*argumentError) *argumentError {
	if len(wrong) == 0 {
		return nil
	}
	first := *wrong[0]
	for _, other := range wrong[1:] {
		first.others = append(first.others, other)
	}
	return &first
}

// each returns the joined errors about arguments as separate ones.
func (e *argumentError) each() []*argumentError {
	own := *e
	own.others = nil
	wrong := []*argumentError{&own}
	for _, other := range e.others {
		if argument, ok := other.(*argumentError); ok {
			wrong = append(wrong, argument)
		}
	}
	return wrong
}

// Code returns the error code of the first wrong argument, such as "bad_request".
func (e *argumentError) Code() string { return e.code }

// Field returns the name of the first wrong argument, or of the parameter without "params.".
func (e *argumentError) Field() string { return strings.TrimPrefix(e.field, "params.") }

// Hint returns advice about what to send instead.
func (e *argumentError) Hint() string {
	if len(e.others) == 0 {
		return e.hint
	}
	hints := []string{fmt.Sprintf("%q: %s", transport.Clip(e.field), e.hint)}
	for _, other := range e.others {
		switch other := other.(type) {
		case *argumentError:
			hints = append(hints, fmt.Sprintf("%q: %s", transport.Clip(other.field), other.hint))
		case *allowlist.ParseError:
			hints = append(hints, other.HintOfEach())
		}
	}
	return strings.Join(hints, "; ")
}

func (e *argumentError) Error() string {
	reasons := []string{e.ownReason()}
	for _, other := range e.others {
		reasons = append(reasons, other.Error())
	}
	return strings.Join(reasons, "; ")
}

// ownReason returns the error text without the joined errors.
func (e *argumentError) ownReason() string {
	switch {
	case e.reason == "":
		return fmt.Sprintf("unknown argument %q", transport.Clip(e.field))
	case e.field == "":
		return "the arguments " + e.reason
	}
	return fmt.Sprintf("argument %q %s", transport.Clip(e.field), e.reason)
}
