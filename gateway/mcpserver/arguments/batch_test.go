package arguments

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"vaultwicket/gateway"
)

func TestBatchArgumentsAreReadStrictly(t *testing.T) {
	const op = `{"clientId":"c1","command":"daily:read"}`
	long := strings.Repeat("x", maxText-1)
	for name, test := range map[string]struct{ arguments, code, message, hint string }{
		"the smallest":                 {arguments: `{"operations":[` + op + `]}`},
		"everything":                   {arguments: `{"operations":[` + op + `,{"clientId":"c2","command":"append","params":{"path":{"from":"c1","field":"path"},"content":"x","inline":true,"n":5,"z":null},"expectHash":{"from":"c1","field":"hash"}}],"atomic":true,"idempotencyKey":"k"}`},
		"params as text":               {arguments: `{"operations":[{"clientId":"c","command":"read","params":"{\"path\":\"A.md\"}"}]}`},
		"nothing":                      {arguments: `{}`, code: "bad_request", message: `argument "operations" is missing`},
		"null":                         {arguments: `null`, code: "bad_request", message: `argument "operations" is missing`},
		"no list":                      {arguments: `{"operations":{}}`, code: "bad_request", message: "is an object, not a list"},
		"a list":                       {arguments: `[]`, code: "bad_request", message: "must be an object, not a list"},
		"no JSON":                      {arguments: `{"operations":[}`, code: "bad_request", message: "valid JSON"},
		"an unknown key":               {arguments: `{"operations":[],"atomc":true}`, code: "bad_request", message: `"atomc"`, hint: `did you mean "atomic"?`},
		"a key in another case":        {arguments: `{"Operations":[]}`, code: "bad_request", hint: `did you mean "operations"`},
		"an unknown key inside":        {arguments: `{"operations":[{"clientID":"c1","command":"daily:read"}]}`, code: "bad_request", message: `"operations[0].clientID"`, hint: `did you mean "clientId"`},
		"a key of a single call":       {arguments: `{"operations":[{"clientId":"c","command":"daily:read","dryRun":true}]}`, code: "bad_request", message: "dryRun", hint: "valid arguments: clientId"},
		"an unknown key in a value":    {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{"from":"a","fields":"path"}}}]}`, code: "bad_request", message: `"operations[0].params.path.fields"`, hint: `did you mean "field"`},
		"half a reference":             {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{"from":"a"}}}]}`, code: "bad_request", message: "incomplete reference"},
		"an empty reference":           {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{}}}]}`, code: "bad_request", message: "incomplete reference"},
		"an empty reference to a hash": {arguments: `{"operations":[{"clientId":"c","command":"read","expectHash":{}}]}`, code: "bad_request", message: "incomplete reference"},
		"a list as a value":            {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":["a"]}}]}`, code: "bad_value", message: "is a list"},
		"a fraction":                   {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"n":1.5}}]}`, code: "bad_value", message: "plain integer"},
		"half a character":             {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":"\ud83d"}}]}`, code: "bad_value", message: "surrogate"},
		"a key given twice, far below": {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{"from":"a","from":"b","field":"path"}}}]}`, code: "bad_request", message: "duplicate key"},
		"no command":                   {arguments: `{"operations":[{"clientId":"c"}]}`, code: "bad_request", message: `"operations[0].command" is missing`},
		"a number for a name":          {arguments: `{"operations":[{"clientId":1,"command":"read"}]}`, code: "bad_value", message: "not a string"},
		"atomic as text":               {arguments: `{"operations":[` + op + `],"atomic":"yes"}`, code: "bad_value", message: "atomic"},
		"too many":                     {arguments: `{"operations":[` + strings.Repeat(op+",", gateway.MaxOperations) + op + `]}`, code: "bad_request", message: "101 operations"},
		"too much text": {arguments: `{"operations":[` + strings.Repeat(`{"clientId":"c","command":"append","params":{"content":"`+long+`"}},`, 2) +
			`{"clientId":"c","command":"append","params":{"content":"xyz"}}]}`, code: "bad_value", message: "exceeds"},
	} {
		_, err := DecodeBatch([]byte(test.arguments))
		var refused *Error
		if err != nil {
			refused = err.(*Error)
		}
		switch {
		case (err == nil) != (test.code == ""):
			t.Errorf("%s: %v", name, err)
		case err != nil && (refused.Code() != test.code || !strings.Contains(err.Error(), test.message) || !strings.Contains(refused.Hint(), test.hint)):
			t.Errorf("%s: %s: %v; %s", name, refused.Code(), err, refused.Hint())
		}
	}
}

func TestABatchIsReadAsItIsWritten(t *testing.T) {
	batch, err := DecodeBatch([]byte(`{"operations":[{"clientId":"a","command":"read","params":{"path":"A.md"}},` +
		`{"clientId":"b","command":"append","params":{"path":{"from":"a","field":"path"},"content":"x"},"expectHash":{"from":"a","field":"hash"}}],"atomic":true,"idempotencyKey":"k"}`))
	if err != nil {
		t.Fatal(err)
	}
	second := batch.Operations[1]
	if !batch.Atomic || batch.IdempotencyKey != "k" || len(batch.Operations) != 2 || second.From["path"] != (gateway.Reference{ClientID: "a", Field: "path"}) ||
		second.HashFrom != (gateway.Reference{ClientID: "a", Field: "hash"}) || len(second.Params) != 1 || second.Command != "append" {
		t.Errorf("read %+v", batch)
	}
}

func FuzzDecodeBatch(f *testing.F) {
	f.Add(`{"operations":[{"clientId":"a","command":"append","params":` + ref + `}]}`)
	f.Add(`{"operations":[{"clientId":"a","command":"read","expectHash":{"from":"a","field":"hash"}}],"atomic":true}`)
	f.Fuzz(func(t *testing.T, text string) {
		batch, err := DecodeBatch([]byte(text))
		if err != nil {
			return
		}
		for i, o := range batch.Operations {
			if o.Command == "" || o.IdempotencyKey != "" || o.Words != nil {
				t.Errorf("operation %d of %q: %+v", i, text, o)
			}
			for name, from := range o.From {
				if _, both := o.Params[name]; both || from.ClientID == "" || from.Field == "" {
					t.Errorf("parameter %q of %q: %+v", name, text, from)
				}
			}
		}
		if _, refused := Decode(json.RawMessage(text)); refused == nil {
			t.Errorf("%s is good for both tools", fmt.Sprintf("%q", text))
		}
	})
}

const ref = `{"content":"x","path":{"from":"a","field":"path"}}`
