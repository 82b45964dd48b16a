package mcpserver

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Some models write a number or a list as text. What a text means is beyond
// doubt in these places, so it is taken; the values in params stay what they are.

// maxItems bounds a list of names: no row of an answer has half as many fields.
const maxItems = 64

// decodeCount reads a whole number of 1 or more, in digits or as the text of
// them. A missing value and null are 0.
func decodeCount(field string, raw json.RawMessage) (int, *argumentError) {
	if isNull(raw) {
		return 0, nil
	}
	digits := string(raw)
	if isString(raw) {
		var err *argumentError
		if digits, err = decodeText(field, raw); err != nil {
			return 0, err
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !plainInteger(digits) || strconv.FormatInt(n, 10) != digits || n < 1 || int64(int(n)) != n {
		return 0, &argumentError{codeBadValue, field, fmt.Sprintf("%s is no number of 1 or more", clip(string(raw))), "send a whole number in digits, such as 20"}
	}
	return int(n), nil
}

// decodeTexts reads a list of strings, or the text of one, or a string that
// stands for a list with nothing else in it. A missing value and null are none.
func decodeTexts(field string, raw json.RawMessage) ([]string, *argumentError) {
	if isNull(raw) {
		return nil, nil
	}
	if isString(raw) {
		text, err := decodeText(field, raw)
		if err != nil {
			return nil, err
		}
		inside := strings.Trim(text, jsonSpace)
		if !strings.HasPrefix(inside, "[") || !json.Valid([]byte(inside)) {
			return []string{text}, nil
		}
		raw = json.RawMessage(inside)
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, &argumentError{codeBadValue, field, "is " + typeName(raw) + ", not a list", `send a list of strings, such as ["path"]`}
	}
	if len(items) > maxItems {
		return nil, &argumentError{codeBadValue, field, fmt.Sprintf("has %d items", len(items)), fmt.Sprintf("send at most %d", maxItems)}
	}
	texts := make([]string, len(items))
	for i, item := range items {
		inside := fmt.Sprintf("%s[%d]", field, i)
		if !isString(item) {
			return nil, &argumentError{codeBadValue, inside, "is " + typeName(item) + ", not a string", "send a string"}
		}
		var err *argumentError
		if texts[i], err = decodeText(inside, item); err != nil {
			return nil, err
		}
	}
	return texts, nil
}
