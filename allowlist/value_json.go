package allowlist

import (
	"bytes"
	"encoding/json"
)

// valueForm is the error for JSON that is not the value of a parameter.
type valueForm struct{}

func (valueForm) Error() string {
	return "a value is a text, a number, true, false, or a list of texts"
}

// MarshalJSON encodes a value as a caller sends it. An absent value cannot be encoded.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.form {
	case textForm:
		return json.Marshal(v.text)
	case numberForm, listForm:
		if !json.Valid([]byte(v.text)) {
			return nil, valueForm{}
		}
		return []byte(v.text), nil
	case flagOn:
		return []byte("true"), nil
	case flagOff:
		return []byte("false"), nil
	}
	return nil, valueForm{}
}

// UnmarshalJSON decodes the output of MarshalJSON to the same value.
func (v *Value) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return valueForm{}
	}
	switch data[0] {
	case '"':
		var text string
		err := json.Unmarshal(data, &text)
		*v = Text(text)
		return err
	case '[':
		var items []string
		err := json.Unmarshal(data, &items)
		*v = List(items)
		return err
	case 't':
		*v = Flag(true)
		return nil
	case 'f':
		*v = Flag(false)
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil || number == "" {
		return valueForm{}
	}
	*v = Number(string(data))
	return nil
}
