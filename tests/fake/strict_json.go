package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// DuplicateKey returns an error if an object in raw, at any depth, has a key twice,
// or if raw is not JSON. It is independent of the decoders under test.
func DuplicateKey(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // a number may be larger than any float64
	type object struct {
		isObject, expectsValue bool
		keys                   map[string]bool
	}
	stack := []object{{}}
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		top := &stack[len(stack)-1]
		if key, ok := token.(string); ok && top.isObject && !top.expectsValue {
			if top.keys[key] {
				return fmt.Errorf("key %q appears twice in %q", key, raw)
			}
			top.keys[key] = true
			top.expectsValue = true
			continue
		}
		top.expectsValue = false
		switch token {
		case json.Delim('{'), json.Delim('['):
			stack = append(stack, object{isObject: token == json.Delim('{'), keys: map[string]bool{}})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		}
	}
}
