package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestDecodeArguments(t *testing.T) {
	for _, test := range []struct {
		name, raw string
		want      toolCall
	}{
		{"a command alone", `{"command":"daily"}`, toolCall{Request: gateway.Request{Command: "daily"}}},
		{"everything",
			`{"command":"read","params":{"path":"A.md","limit":5,"total":true,"x":false,"gone":null},"vault":"W","dryRun":true,"fields":["a","b"],"limit":7,"cursor":"c","expectHash":"00","idempotencyKey":"k"}`,
			toolCall{gateway.Request{Command: "read",
				Params: allowlist.Params{"path": allowlist.Text("A.md"), "limit": allowlist.Number("5"),
					"total": allowlist.Flag(true), "x": allowlist.Flag(false)},
				Vault: "W", Fields: []string{"a", "b"}, Limit: 7, Cursor: "c", ExpectHash: "00", IdempotencyKey: "k"}, true}},
		{"a list and a number as text", `{"command":"tags","fields":"[\"a\"]","limit":"7"}`,
			toolCall{Request: gateway.Request{Command: "tags", Fields: []string{"a"}, Limit: 7}}},
		{"one name as text", `{"command":"tags","fields":"a"}`, toolCall{Request: gateway.Request{Command: "tags", Fields: []string{"a"}}}},
		{"a boolean as text", `{"command":"daily","dryRun":"true"}`, toolCall{gateway.Request{Command: "daily"}, true}},
		{"a boolean as text that is false", `{"command":"daily","dryRun":"false"}`, toolCall{Request: gateway.Request{Command: "daily"}}},
		{"params as text", `{"command":"read","params":" {\"path\":\"A.md\"} "}`,
			toolCall{Request: gateway.Request{Command: "read",
				Params: allowlist.Params{"path": allowlist.Text("A.md")}}}},
		{"params as empty text", `{"command":"read","params":""}`, toolCall{Request: gateway.Request{Command: "read"}}},
		{"null for what is not said", `{"command":"read","params":null,"dryRun":null}`, toolCall{Request: gateway.Request{Command: "read"}}},
		{"the largest numbers", `{"command":"x","params":{"a":9007199254740992,"b":-9007199254740992,"c":0}}`,
			toolCall{Request: gateway.Request{Command: "x",
				Params: allowlist.Params{"a": allowlist.Number("9007199254740992"),
					"b": allowlist.Number("-9007199254740992"), "c": allowlist.Number("0")}}}},
		{"a whole surrogate pair", `{"command":"x","params":{"a":"\ud83d\ude00"}}`,
			toolCall{Request: gateway.Request{Command: "x", Params: allowlist.Params{"a": allowlist.Text("😀")}}}},
		{"an escaped backslash before u", `{"command":"x","params":{"a":"\\ud83d"}}`,
			toolCall{Request: gateway.Request{Command: "x", Params: allowlist.Params{"a": allowlist.Text(`\ud83d`)}}}},
		{"a replacement character that was sent", `{"command":"x","params":{"a":"\ufffd"}}`,
			toolCall{Request: gateway.Request{Command: "x", Params: allowlist.Params{"a": allowlist.Text("\ufffd")}}}},
	} {
		got, err := decodeCall(json.RawMessage(test.raw))
		same := maps.Equal(got.Params, test.want.Params)
		got.Params, test.want.Params = nil, nil
		require.Equal(t, err, nil, "%s", test.name)
		require.That(t, same, "%s: %+v, %v, want %+v", test.name, got, err, test.want)
		assert.That(t, reflect.DeepEqual(got, test.want), "%s: %+v, %v, want %+v", test.name, got, err, test.want)
	}
}

func TestDecodeArgumentsRefuses(t *testing.T) {
	many := func(n int) string {
		var pairs []string
		for i := range n {
			pairs = append(pairs, fmt.Sprintf(`"p%d":1`, i))
		}
		return `{"command":"x","params":{` + strings.Join(pairs, ",") + `}}`
	}
	_, err := decodeCall(json.RawMessage(many(maxParams)))
	assert.That(t, err == nil, "at the limit of params: %v", err)
	large := strings.Repeat("x", maxText)
	_, err = decodeCall(json.RawMessage(`{"command":"x","params":{"a":"` + large + `","b":"` + large + `"}}`))
	assert.That(t, err == nil, "at the limit of text: %v", err)
	for _, test := range []struct {
		name, raw, code string
		text, hint      string // parts
	}{
		{"nothing", ``, "bad_request", `"command" is missing`, "daily:read"},
		{"null", `null`, "bad_request", `"command" is missing`, ""},
		{"an empty object", `{}`, "bad_request", `"command" is missing`, ""},
		{"an empty command", `{"command":""}`, "bad_request", `"command" is missing`, ""},
		{"a list", `["read"]`, "bad_request", "the arguments must be an object, not a list", "object"},
		{"text", `"{\"command\":\"read\"}"`, "bad_request", "the arguments must be an object, not a string", "object"},
		{"no JSON", `{"command":`, "bad_request", "valid JSON", ""},
		{"bad UTF-8", "{\"command\":\"\xff\"}", "bad_request", "valid JSON", ""},
		{"a command that is a number", `{"command":5}`, "bad_value", `"command" is a number`, "string"},
		{"another case", `{"Command":"read"}`, "bad_request", `unknown argument "Command"`, `"command"`},
		{"a typing error", `{"command":"read","parms":{}}`, "bad_request", `"parms"`, `did you mean "params"?`},
		{"a parameter in the wrong place", `{"command":"read","path":"A.md"}`, "bad_request", `"path"`, "put the parameters into params: {"},
		{"a key twice", `{"command":"read","command":"delete"}`, "bad_request", `duplicate key "command"`, "once"},
		{"a param twice", `{"command":"read","params":{"a":1,"\u0061":2}}`, "bad_request", `duplicate key "a"`, "once"},
		{"a param twice in text", `{"command":"read","params":"{\"a\":1,\"a\":2}"}`, "bad_request", `duplicate key "a"`, "once"},
		{"params that are a list", `{"command":"read","params":[]}`, "bad_request", `"params" must be an object, not a list`, "object"},
		{"params that are a number", `{"command":"read","params":5}`, "bad_request", `"params" must be an object, not a number`, "object"},
		{"params that are other text", `{"command":"read","params":"path=A.md"}`, "bad_request", `"params" must be valid JSON`, "object"},
		{"text in text in text", `{"command":"read","params":"\"{}\""}`, "bad_value", `"params" must be an object, not a string`, "object"},
		{"a nested object", `{"command":"read","params":{"a":{"b":1}}}`, "bad_value", `"params.a" is an object`, "string"},
		{"a list of values", `{"command":"read","params":{"a":["b"]}}`, "bad_value", `"params.a" is a list`, "string"},
		{"a fraction", `{"command":"read","params":{"n":1.5}}`, "bad_value", `is 1.5, not a plain integer`, "digits"},
		{"a whole fraction", `{"command":"read","params":{"n":5.0}}`, "bad_value", `is 5.0, not a plain integer`, "digits"},
		{"an exponent", `{"command":"read","params":{"n":1e3}}`, "bad_value", `is 1e3, not a plain integer`, "digits"},
		{"minus zero", `{"command":"read","params":{"n":-0}}`, "bad_value", `is -0, not a plain integer`, "digits"},
		{"a number too large", `{"command":"read","params":{"n":9007199254740993}}`, "bad_value", "within 2^53", "string"},
		{"half a surrogate pair", `{"command":"read","params":{"n":"a\ud83d"}}`, "bad_value", "surrogate", "whole"},
		{"the second half first", `{"command":"read","params":{"n":"\ude00\ud83d"}}`, "bad_value", "surrogate", "whole"},
		{"half a pair before another escape", `{"command":"read","params":{"n":"\ud83d\n"}}`, "bad_value", "surrogate", "whole"},
		{"dryRun as other text", `{"command":"read","dryRun":"yes"}`, "bad_value", `"dryRun" is a string`, "without quotes"},
		{"a vault that is no text", `{"command":"read","vault":7}`, "bad_value", `argument "vault"`, "send a string"},
		{"too many params", many(maxParams + 1), "bad_request", "has 65 keys", "64"},
		{"a value too long", `{"command":"x","params":{"a":"x` + large + `"}}`, "bad_value", `"params.a" is 1048577 bytes`, "1048576"},
		{"too much text in all", `{"command":"x","params":{"a":"` + large + `","b":"` + large + `","c":"x"}}`, "bad_value", "more than 2097152", "less"},
		{"too deep", `{"command":"x","params":` + strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 41), "bad_request", "deeper", ""},
	} {
		_, err := decodeCall(json.RawMessage(test.raw))
		if err == nil {
			t.Errorf("%s: taken", test.name)
			continue
		}
		if err.Code() != test.code || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Hint(), test.hint) || err.Hint() == "" {
			t.Errorf("%s: %s, %q, hint %q; want %s, %q, %q", test.name, err.Code(), err.Error(), err.Hint(), test.code, test.text, test.hint)
		}
		assert.That(t, len(err.Error()) <= 400, "%s: an error of %d bytes", test.name, len(err.Error()))
	}
}

// TestEveryWrongArgumentIsNamed: at once, each with what is right, and the first as data.
func TestEveryWrongArgumentIsNamed(t *testing.T) {
	for _, test := range []struct{ name, raw, command, field, text, hint string }{
		{
			"two arguments", `{"command":"read","parms":{},"lmit":5}`, "read", "lmit",
			`unknown argument "lmit"; unknown argument "parms"`, `"lmit": did you mean "limit"?; "parms": did you mean "params"?`,
		},
		{
			"a parameter next to params, and a name that is unknown", `{"command":"read","path":"A.md","lmit":5}`, "read", "lmit",
			`unknown argument "lmit"; unknown argument "path"`,
			`"lmit": did you mean "limit"?; "path": put the parameters into params: {"command":"read","params":{"path":"A.md"}}`,
		},
		{
			"two values, and a parameter that the command does not have",
			`{"command":"search","params":{"query":["x"],"limit":1.5,"pth":"A"}}`, "search", "limit",
			`argument "params.limit" is 1.5, not a plain integer within 2^53; argument "params.query" is a list; command "search": unknown parameter "pth"`,
			`"params.limit": write integers in digits, such as 1000, and anything else as a string; "params.query": send a string; did you mean "x"?; "pth": did you mean "path"?`,
		},
		{"one value", `{"command":"read","params":{"path":{}}}`, "read", "path", `argument "params.path" is an object`,
			"send a string, an integer, true, false or null"},
		{"another argument", `{"command":"read","limit":"many"}`, "read", "limit",
			`argument "limit" is "many", not an integer of at least 1`, "send an integer in digits, such as 20"},
		{"parameters that are no object", `{"command":"read","params":7}`, "read", "params",
			`argument "params" must be an object, not a number`, `send an object, such as {"name": "value"}`},
	} {
		call, err := decodeCall(json.RawMessage(test.raw))
		if err == nil {
			t.Errorf("%s: taken", test.name)
			continue
		}
		assert.Equal(t, call.Command, test.command, test.name)
		assert.Equal(t, err.Field(), test.field, test.name)
		assert.Equal(t, err.Error(), test.text, test.name)
		assert.Equal(t, err.Hint(), test.hint, test.name)
	}
	_, err := typedToolNamed("search_notes").decode(json.RawMessage(`{"query":{},"path":[]}`))
	require.That(t, err != nil, "a typed tool names %v", err)
	assert.That(t, len(err.each()) > 1, "a typed tool names %v", err)
}

// FuzzDecodeArguments: what is accepted means the same to encoding/json, and to
// a reader of tokens that lets the first of two equal keys win.
func FuzzDecodeArguments(f *testing.F) {
	for _, seed := range []string{
		`{"command":"read","params":{"path":"A.md","n":5,"t":true,"f":false,"z":null},"dryRun":true}`,
		`{"command":"read","command":"delete"}`,
		`{"command":"read","params":"{\"a\":1,\"a\":2}"}`,
		`{"command":"x","params":{"a":"\ud83d"}}`,
		`{"command":"x","params":{"n":1e3,"m":9007199254740993}}`,
		`{"Command":"x"}`, `[]`, `null`, `{"command":"x","params":{"a":[1]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, refusal := decodeCall(raw)
		if refusal != nil {
			if refusal.Code() != badRequest && refusal.Code() != badValue || refusal.Hint() == "" {
				t.Errorf("refusal %q with code %q and hint %q", refusal, refusal.Code(), refusal.Hint())
			}
			return
		}
		var plain struct {
			Command string
			Params  any
			DryRun  bool
		}
		err := json.Unmarshal(raw, &plain)
		require.That(t, err == nil, "accepted %q: %v", raw, err)
		assert.Equal(t, got.Command, plain.Command, "%q", raw)
		assert.Equal(t, got.DryRun, plain.DryRun, "%q", raw)
		assert.That(t, got.Command != "", "%q: %+v, want %+v", raw, got, plain)
		params, ok := plain.Params.(map[string]any)
		if text, isText := plain.Params.(string); isText && strings.TrimSpace(text) != "" {
			err := json.Unmarshal([]byte(text), &params)
			require.That(t, err == nil, "accepted params %q: %v", text, err)
			assert.NoError(t, fake.DuplicateKey([]byte(text)), "accepted")
		} else if !ok && plain.Params != nil && !isText {
			t.Fatalf("accepted params %v", plain.Params)
		}
		want := values(params)
		assert.That(t, maps.Equal(got.Params, want), "%q: params %v, want %v", raw, got.Params, want)
		assert.NoError(t, fake.DuplicateKey(raw), "accepted")
	})
}

// values is what encoding/json makes of params.
func values(params map[string]any) allowlist.Params {
	out := allowlist.Params{}
	for name, value := range params {
		switch v := value.(type) {
		case string:
			out[name] = allowlist.Text(v)
		case bool:
			out[name] = allowlist.Flag(v)
		case float64:
			out[name] = allowlist.Number(fmt.Sprintf("%.0f", v))
		case nil:
		default:
			out[name] = allowlist.Text(fmt.Sprintf("not a value: %v", v))
		}
	}
	return out
}

func TestBatchArgumentsAreReadStrictly(t *testing.T) {
	const op = `{"clientId":"c1","command":"daily:read"}`
	long := strings.Repeat("x", maxText-1)
	for name, test := range map[string]struct{ arguments, code, message, hint string }{
		"the smallest": {arguments: `{"operations":[` + op + `]}`},
		"everything": {arguments: `{"operations":[` + op +
			`,{"clientId":"c2","command":"append","params":{"path":{"from":"c1","field":"path"},"content":"x","inline":true,"n":5,"z":null},"expectHash":{"from":"c1","field":"hash"}}],"atomic":true,"idempotencyKey":"k"}`},
		"params as text":        {arguments: `{"operations":[{"clientId":"c","command":"read","params":"{\"path\":\"A.md\"}"}]}`},
		"nothing":               {arguments: `{}`, code: "bad_request", message: `argument "operations" is missing`},
		"null":                  {arguments: `null`, code: "bad_request", message: `argument "operations" is missing`},
		"no list":               {arguments: `{"operations":{}}`, code: "bad_request", message: "is an object, not a list"},
		"a list":                {arguments: `[]`, code: "bad_request", message: "must be an object, not a list"},
		"no JSON":               {arguments: `{"operations":[}`, code: "bad_request", message: "valid JSON"},
		"an unknown key":        {arguments: `{"operations":[],"atomc":true}`, code: "bad_request", message: `"atomc"`, hint: `did you mean "atomic"?`},
		"a key in another case": {arguments: `{"Operations":[]}`, code: "bad_request", hint: `did you mean "operations"`},
		"an unknown key inside": {arguments: `{"operations":[{"clientID":"c1","command":"daily:read"}]}`,
			code: "bad_request", message: `"operations[0].clientID"`, hint: `did you mean "clientId"`},
		"a key of a single call": {arguments: `{"operations":[{"clientId":"c","command":"daily:read","dryRun":true}]}`,
			code: "bad_request", message: "dryRun", hint: "valid arguments: clientId"},
		"an unknown key in a value": {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{"from":"a","fields":"path"}}}]}`,
			code: "bad_request", message: `"operations[0].params.path.fields"`, hint: `did you mean "field"`},
		"half a reference": {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{"from":"a"}}}]}`,
			code: "bad_request", message: "incomplete reference"},
		"an empty reference": {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{}}}]}`,
			code: "bad_request", message: "incomplete reference"},
		"an empty reference to a hash": {arguments: `{"operations":[{"clientId":"c","command":"read","expectHash":{}}]}`,
			code: "bad_request", message: "incomplete reference"},
		"a list as a value": {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":["a"]}}]}`,
			code: "bad_value", message: "is a list"},
		"a fraction": {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"n":1.5}}]}`,
			code: "bad_value", message: "plain integer"},
		"half a character": {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":"\ud83d"}}]}`,
			code: "bad_value", message: "surrogate"},
		"a key given twice, far below": {arguments: `{"operations":[{"clientId":"c","command":"read","params":{"path":{"from":"a","from":"b","field":"path"}}}]}`,
			code: "bad_request", message: "duplicate key"},
		"no command":          {arguments: `{"operations":[{"clientId":"c"}]}`, code: "bad_request", message: `"operations[0].command" is missing`},
		"a number for a name": {arguments: `{"operations":[{"clientId":1,"command":"read"}]}`, code: "bad_value", message: "not a string"},
		"atomic as text":      {arguments: `{"operations":[` + op + `],"atomic":"yes"}`, code: "bad_value", message: "atomic"},
		"too many": {arguments: `{"operations":[` + strings.Repeat(op+",",
			gateway.MaxOperations) + op + `]}`, code: "bad_request", message: "101 operations"},
		"too much text": {arguments: `{"operations":[` + strings.Repeat(`{"clientId":"c","command":"append","params":{"content":"`+long+`"}},`, 2) +
			`{"clientId":"c","command":"append","params":{"content":"xyz"}}]}`, code: "bad_value", message: "exceeds"},
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
	require.NoError(t, err)
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
			assert.That(t, o.Command != "", "operation %d of %q: %+v", i, text, o)
			assert.Equal(t, o.IdempotencyKey, "", "operation %d of %q", i, text)
			assert.That(t, o.Words == nil, "operation %d of %q: %+v", i, text, o)
			for name, from := range o.From {
				_, both := o.Params[name]
				assert.That(t, !both, "parameter %q of %q: %+v", name, text, from)
				assert.That(t, from.ClientID != "", "parameter %q of %q: %+v", name, text, from)
				assert.That(t, from.Field != "", "parameter %q of %q: %+v", name, text, from)
			}
		}
		_, refused := decodeCall(json.RawMessage(text))
		assert.That(t, refused != nil, "%s is good for both tools", fmt.Sprintf("%q", text))
	})
}

const ref = `{"content":"x","path":{"from":"a","field":"path"}}`
