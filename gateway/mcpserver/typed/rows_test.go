package typed

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"vaultwicket/gateway"
)

// Output that is not JSON rows stays in stdout. With rows the schema requires nothing that
// a failure does not have.
func TestContentWithoutRowsIsTheResult(t *testing.T) {
	for name, r := range map[string]gateway.Result{
		"text": {OK: true, Command: "bases", Stdout: "Books.base\n"}, "a failure": gateway.Reject("bases", invalid{}),
	} {
		for _, tool := range Tools() {
			if got, ok := tool.Content(r).(gateway.Result); !ok || got.Stdout != r.Stdout {
				t.Errorf("%s of %s: %+v", name, tool.Name, tool.Content(r))
			}
		}
	}
	var published jsonschema.Schema
	if err := json.Unmarshal([]byte(outputRows), &published); err != nil {
		t.Fatal(err)
	}
	resolved, err := published.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`{"ok":true,"command":"query","rows":[{"path":"A.md"}],"total":1}`: true, `{"ok":false,"command":"query","error":{"code":"x","message":"y"}}`: true,
		`{"ok":true,"command":"query","rows":["A.md"]}`: false, `{"ok":true}`: false,
	} {
		var content any
		if err := json.Unmarshal([]byte(text), &content); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(content); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

type invalid struct{}

func (invalid) Error() string { return "invalid" }
func (invalid) Code() string  { return "bad_request" }
func (invalid) Hint() string  { return "" }
