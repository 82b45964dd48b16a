package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

func TestBatchArgumentsAreReadStrictly(t *testing.T) {
	const op = `{"clientId":"c1","command":"daily:read"}`
	long := strings.Repeat("x", maxText-1)
	for name, test := range map[string]struct{ arguments, code, message, hint string }{
		"the smallest":                 {arguments: `{"operations":[` + op + `]}`},
		"everything":                   {arguments: `{"operations":[` + op + `,{"clientId":"c2","command":"append","params":{"path":{"from":"c1","field":"path"},"content":"x","inline":true,"n":5,"z":null},"expectHash":{"from":"c1","field":"hash"}}],"atomic":true,"idempotencyKey":"k"}`},
		"params as text":               {arguments: `{"operations":[{"clientId":"c","command":"read","params":"{\"path\":\"A.md\"}"}]}`},
		"nothing":                      {arguments: `{}`, code: "bad_request", message: `argument "operations": is missing`},
		"null":                         {arguments: `null`, code: "bad_request", message: `argument "operations": is missing`},
		"no list":                      {arguments: `{"operations":{}}`, code: "bad_request", message: "is an object, not a list"},
		"a list":                       {arguments: `[]`, code: "bad_request", message: "is a list, not an object"},
		"no JSON":                      {arguments: `{"operations":[}`, code: "bad_request", message: "not valid JSON"},
		"an unknown key":               {arguments: `{"operations":[],"atomc":true}`, code: "bad_request", message: `"atomc"`, hint: `write "atomic"`},
		"a key in another case":        {arguments: `{"Operations":[]}`, code: "bad_request", hint: `write "operations"`},
		"an unknown key inside":        {arguments: `{"operations":[{"clientID":"c1","command":"daily:read"}]}`, code: "bad_request", message: `"operations[0].clientID"`, hint: `write "clientId"`},
		"a key of a single call":       {arguments: `{"operations":[{"clientId":"c","command":"daily:read","dryRun":true}]}`, code: "bad_request", message: "dryRun", hint: "there are clientId"},
		"an unknown key in a value":    {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{"from":"a","fields":"path"}}}]}`, code: "bad_request", message: `"operations[0].params.path.fields"`, hint: `write "field"`},
		"half a reference":             {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{"from":"a"}}}]}`, code: "bad_request", message: "no whole reference"},
		"an empty reference":           {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{}}}]}`, code: "bad_request", message: "no whole reference"},
		"an empty reference to a hash": {arguments: `{"operations":[{"clientId":"c","command":"read","expectHash":{}}]}`, code: "bad_request", message: "no whole reference"},
		"a list as a value":            {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":["a"]}}]}`, code: "bad_value", message: "is a list"},
		"a fraction":                   {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"n":1.5}}]}`, code: "bad_value", message: "plain integer"},
		"half a character":             {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":"\ud83d"}}]}`, code: "bad_value", message: "surrogate"},
		"a key given twice, far below": {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{"from":"a","from":"b","field":"path"}}}]}`, code: "bad_request", message: "stands twice"},
		"no command":                   {arguments: `{"operations":[{"clientId":"c"}]}`, code: "bad_request", message: `"operations[0].command": is missing`},
		"a number for a name":          {arguments: `{"operations":[{"clientId":1,"command":"read"}]}`, code: "bad_value", message: "not a string"},
		"atomic as text":               {arguments: `{"operations":[` + op + `],"atomic":"yes"}`, code: "bad_value", message: "atomic"},
		"too many":                     {arguments: `{"operations":[` + strings.Repeat(op+",", gateway.MaxOperations) + op + `]}`, code: "bad_request", message: "101 operations"},
		"too much text": {arguments: `{"operations":[` + strings.Repeat(`{"clientId":"c","command":"append","params":{"content":"`+long+`"}},`, 2) +
			`{"clientId":"c","command":"append","params":{"content":"xyz"}}]}`, code: "bad_value", message: "more than"},
	} {
		_, err := DecodeBatch([]byte(test.arguments))
		var refused *argumentError
		if err != nil {
			refused = err.(*argumentError)
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

// A client that lets calls through by their hints must know that this tool
// writes, whatever its operations are.
func TestTheHintsOfABatch(t *testing.T) {
	for name, test := range map[string]struct {
		policy                 policy.Policy
		destructive, openWorld bool
	}{
		"daily notes": {writable, false, false},
		"everything":  {everything, true, true},
		"no publish":  {policy.Policy{Ceiling: tiers.V1, UI: true, Mutations: true, Confirm: policy.ConfirmNever}, true, false},
	} {
		a := batchTool(offerOf(gatewayWith(t, test.policy))).Annotations
		if *a.ReadOnlyHint || *a.IdempotentHint || *a.DestructiveHint != test.destructive || *a.OpenWorldHint != test.openWorld {
			t.Errorf("%s: %v %v %v %v", name, *a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint, *a.OpenWorldHint)
		}
	}
}

func TestABatchIsListedWhereSomethingCanBeChanged(t *testing.T) {
	for name, test := range map[string]struct {
		policy policy.Policy
		want   bool
	}{
		"read-only": {readOnly, false}, "writable": {writable, true}, "everything": {everything, true},
		"mutations on, and nothing to change": {policy.Policy{Ceiling: tiers.V0, Mutations: true, EnableOnly: []string{"daily:read"}}, false},
	} {
		s, err := newServer(Config{Gateway: gatewayWith(t, test.policy)}, newCalls())
		if err != nil {
			t.Fatal(err)
		}
		if _, got := s.ListTools()[batchName]; got != test.want {
			t.Errorf("%s: listed %v, want %v", name, got, test.want)
		}
	}
}

// TestTheBatchToolFitsItsBudget counts four bytes as a token, for what models
// are shown: name, description and input.
func TestTheBatchToolFitsItsBudget(t *testing.T) {
	if got := (len(batchName) + len(batchDescription) + len(batchSchema)) / 4; got > 170 {
		t.Errorf("about %d tokens", got)
	}
}

func TestAnswersOfABatchFitThePublishedSchema(t *testing.T) {
	published := schema(t, []byte(batchOutputSchema))
	h := handler{Config{Gateway: gatewayWith(t, everything), MaxOutput: 1 << 10}, &sealers{}, nil}
	for name, arguments := range map[string]string{
		"no arguments": `{}`,
		"no client":    `{"operations":[{"clientId":"a","command":"daily:read"}]}`,
		"refused":      `{"operations":[{"clientId":"a","command":"eval"}]}`,
	} {
		result, err := h.batch(context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: batchName, RawArguments: json.RawMessage(arguments)}})
		if err != nil {
			t.Fatal(err)
		}
		var content map[string]any
		structured := result.StructuredContent.(json.RawMessage)
		if err := json.Unmarshal(structured, &content); err != nil {
			t.Fatal(err)
		}
		if err := published.Validate(content); err != nil || !result.IsError || content["ok"] != false || content["error"] == nil {
			t.Errorf("%s: %v: %s", name, err, structured)
		}
		if text := result.Content[0].(mcp.TextContent).Text; text != string(structured) {
			t.Errorf("%s: the text is %s", name, text)
		}
	}
}

func TestTheSchemaOfABatchTakesWhatTheDecoderTakes(t *testing.T) {
	published := schema(t, []byte(batchSchema))
	const op = `{"clientId":"c1","command":"daily:read"}`
	for arguments, want := range map[string]bool{
		`{"operations":[` + op + `]}`:               true,
		`{"operations":[` + op + `],"atomic":true}`: true,
		`{"operations":[{"clientId":"a","command":"read","params":{"path":{"from":"b","field":"path"}},"expectHash":"0"}]}`: true,
		`{}`:                                false,
		`{"operations":[{"clientId":"a"}]}`: false,
		`{"operations":[` + op + `],"x":1}`: false,
		`{"operations":[{"clientId":"a","command":"read","expectHash":1}]}`: false,
	} {
		var content any
		if err := json.Unmarshal([]byte(arguments), &content); err != nil {
			t.Fatal(err)
		}
		_, err := DecodeBatch([]byte(arguments))
		if got := published.Validate(content) == nil; got != want || (err == nil) != want {
			t.Errorf("%s: the schema %v, the decoder %v, want %v", arguments, got, err, want)
		}
	}
}

// A batch with a change keeps its place among the changes of a client.
func TestABatchKeepsTheOrderOfChanges(t *testing.T) {
	h := handler{Config{Gateway: gatewayWith(t, everything)}, &sealers{}, nil}
	for arguments, want := range map[string]bool{
		`{"command":"daily:append","params":{"content":"x"}}`:      true,
		`{"command":"daily:read"}`:                                 false,
		`{"operations":[{"clientId":"a","command":"daily:read"}]}`: false,
		`{"operations":[{"clientId":"a","command":"daily:read"},{"clientId":"b","command":"append","params":` + ref + `}]}`: true,
		`{"operations":[{"clientId":"a","command":"eval"}]}`:                                                                true,
		`{"operations":[],"x":1}`: false,
		`{}`:                      false,
	} {
		if got := h.changes(json.RawMessage(arguments)); got != want {
			t.Errorf("%s: %v, want %v", arguments, got, want)
		}
	}
}

const ref = `{"content":"x","path":{"from":"a","field":"path"}}`

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
		if _, refused := decodeArguments(json.RawMessage(text)); refused == nil {
			t.Errorf("%s is good for both tools", fmt.Sprintf("%q", text))
		}
	})
}
