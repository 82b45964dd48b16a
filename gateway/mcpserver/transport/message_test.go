package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestDecodeMessage(t *testing.T) {
	for _, test := range []struct {
		name, line string
		want       Message
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, Message{Kind: Request, ID: 1.0, Method: "ping"}},
		{"an id of text", `{"jsonrpc":"2.0","id":"a\u0062","method":"ping"}`, Message{Kind: Request, ID: "ab", Method: "ping"}},
		{"the largest id", `{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`, Message{Kind: Request, ID: float64(1 << 53), Method: "ping"}},
		{"null params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, Message{Kind: Request, ID: 1.0, Method: "ping"}},
		{"unknown keys of the envelope", `{"jsonrpc":"2.0","id":1,"method":"ping","x":1}`, Message{Kind: Request, ID: 1.0, Method: "ping"}},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, Message{Kind: Notification, Method: "notifications/initialized"}},
		{"a cancellation", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
			Message{Kind: Notification, Method: "notifications/cancelled", Cancels: 7.0}},
		{"an answer", `{"jsonrpc":"2.0","id":3,"result":{"action":"accept"}}`, Message{Kind: Response, ID: 3.0}},
		{"an answer that is an error", `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}}`, Message{Kind: Response, ID: 3.0}},
		{"an error without an id", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, Message{Kind: Response}},
		{"equal keys in different objects",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"a":[{"a":1},{"a":2}]}}}`,
			Message{Kind: Request, ID: 1.0, Method: "m"}},
		{"any case deeper down",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"Name":1,"name":2}}}`,
			Message{Kind: Request, ID: 1.0, Method: "tools/call", Tool: "t",
				Arguments: json.RawMessage(`{"Name":1,"name":2}`), isPlain: true}},
	} {
		got, err := Decode([]byte(test.line))
		assert.That(t, string(got.Raw) == test.line, "%s: the message is %q", test.name, got.Raw)
		got.Raw, got.Params, got.params, got.Result, got.Failure = nil, nil, nil, nil, nil
		require.Equal(t, err, nil, "%s", test.name)
		assert.That(t, reflect.DeepEqual(got, test.want), "%s: %+v, %v, want %+v", test.name, got, err, test.want)
	}
}

func TestDecodeMessageRefuses(t *testing.T) {
	nested := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}`
	}
	_, err := Decode([]byte(nested(maxDepth - 2)))
	assert.NoError(t, err, "at the depth limit")
	for _, test := range []struct {
		name, line string
		Code       int
		ID         any
		Text       string // a part
	}{
		{"no JSON", `hello`, -32700, nil, "not valid JSON"},
		{"half a message", `{"jsonrpc":"2.0","id":1,`, -32700, nil, "not valid JSON"},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"m"} {}`, -32700, nil, "not valid JSON"},
		{"a trailing comma", `{"jsonrpc":"2.0","id":1,"method":"m",}`, -32700, nil, "not valid JSON"},
		{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, nil, "UTF-8"},
		{"nested without end", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), -32700, nil, "not valid JSON"},
		{"a batch", ` [{"jsonrpc":"2.0","id":1,"method":"m"}]`, -32600, nil, "batches"},
		{"null", `null`, -32600, nil, "not a JSON object"},
		{"text", `"x"`, -32600, nil, "not a JSON object"},
		{"an empty object", `{}`, -32600, nil, "jsonrpc"},
		{"an old version", `{"jsonrpc":"1.0","id":1,"method":"m"}`, -32600, 1.0, "jsonrpc"},
		{"version null", `{"jsonrpc":null,"id":1,"method":"m"}`, -32600, 1.0, "jsonrpc"},
		{"nothing to do", `{"jsonrpc":"2.0","id":1}`, -32600, 1.0, "method"},
		{"a method that is no text", `{"jsonrpc":"2.0","id":1,"method":5}`, -32600, 1.0, "method"},
		{"a null method", `{"jsonrpc":"2.0","id":1,"method":null}`, -32600, 1.0, "method"},
		{"an empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, -32600, 1.0, "method"},
		{"a method and a result", `{"jsonrpc":"2.0","id":1,"method":"m","result":null}`, -32600, 1.0, "neither"},
		{"a result and an error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, -32600, 1.0, "exactly one of"},
		{"params that are a list", `{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`, -32600, 1.0, "params"},
		{"an id of null", `{"jsonrpc":"2.0","id":null,"method":"m"}`, -32600, nil, "id must be"},
		{"an id that is a fraction", `{"jsonrpc":"2.0","id":1.0,"method":"m"}`, -32600, nil, "id must be"},
		{"an id with an exponent", `{"jsonrpc":"2.0","id":1e3,"method":"m"}`, -32600, nil, "id must be"},
		{"an id of minus zero", `{"jsonrpc":"2.0","id":-0,"method":"m"}`, -32600, nil, "id must be"},
		{"an id too large", `{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}`, -32600, nil, "id must be"},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, -32600, nil, "id must be"},
		{"a cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, -32600, nil, "requestId"},
		{"a key twice", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`, -32600, 1.0, "duplicate"},
		{"a key twice by an escape", `{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}`, -32600, 1.0, "duplicate"},
		{"a key twice deep down", `{"jsonrpc":"2.0","method":"a","params":{"x":[{"y":{"z":1,"z":1}}]},"id":4}`, -32600, 4.0, `duplicate key "z"`},
		{"another case", `{"jsonrpc":"2.0","id":1,"Method":"b","method":"a"}`, -32600, 1.0, `"Method" must be spelled "method"`},
		{"another case alone", `{"jsonrpc":"2.0","id":1,"METHOD":"b"}`, -32600, 1.0, `must be spelled "method"`},
		{"a long s", `{"jsonrpc":"2.0","id":1,"method":"a","param` + "\u017f" + `":{}}`, -32600, 1.0, `must be spelled "params"`},
		{"an i without a dot", `{"jsonrpc":"2.0","ıd":1,"method":"a"}`, -32600, nil, `must be spelled "id"`},
		{"a name in another case", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}`, -32600, 1.0, `must be spelled "name"`},
		{"arguments with a long s", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"argument` + "\u017f" +
			`":{}}}`, -32600, 1.0, `must be spelled "arguments"`},
		{"too deep", nested(maxDepth - 1), -32600, 1.0, "deeper"},
		{"too much", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[` + strings.Repeat("1,", maxValues) + `1]}}`, -32600, 1.0, "more than"},
	} {
		_, err := Decode([]byte(test.line))
		var refusal *Error
		if !errors.As(err, &refusal) {
			t.Errorf("%s: error %v", test.name, err)
			continue
		}
		if refusal.Code != test.Code || refusal.ID != test.ID || !strings.Contains(refusal.Text, test.Text) {
			t.Errorf("%s: code %d, id %v, %q; want %d, %v, %q", test.name, refusal.Code, refusal.ID, refusal.Text, test.Code, test.ID, test.Text)
		}
	}
}

// Every letter that folds to an ASCII one is found by trying all of Unicode.
func TestEverySpellingIsFound(t *testing.T) {
	found, letters := 0, []rune{}
	for r := rune(0); r < 0x30000; r++ {
		if r < 0x80 || unicode.SimpleFold(r) < 0x80 {
			letters = append(letters, r)
		}
	}
	for _, name := range exactKeys[1] {
		for at := range name {
			for _, r := range letters {
				key := name[:at] + string(r) + name[at+1:]
				if key != name && strings.EqualFold(key, name) {
					found++
					assert.That(t, resembledName(key, exactKeys[1]) == name, "%q passes for %q", key, name)
				}
			}
		}
	}
	if found < 30 { // every letter has an upper case, some have a third form
		t.Errorf("only %d spellings", found)
	}
}

func TestClip(t *testing.T) {
	got := Clip("a\x1b[31m\n")
	assert.That(t, !strings.ContainsAny(got, "\x1b\n"), "%q", got)
	got = Clip(strings.Repeat("é", 300))
	assert.That(t, len(got) <= excerpt.Limit+len("…"), "%d bytes", len(got))
}

// FuzzDecodeMessage: what is accepted means the same to encoding/json, and to a reader that lets the first of two equal keys win.
func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":[1,-2.5e3,"\"\\",true,null,{}]},"_meta":{}}}`,
		` { "id" : "x" , "method" : "m" , "jsonrpc" : "2.0" } `,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061"}}`,
		`{"jsonrpc":"2.0","id":3,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","METHOD":"n"}`,
		`{"jsonrpc":"2.0","large":1e999,"method":"m"}`,
		`[]`, `5`, `""`, "\u017f", `{"\ud800":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := Decode(line)
		if err != nil {
			var refusal *Error
			require.That(t, errors.As(err, &refusal), "error %#v", err)
			assert.That(t, refusal.Code == -32700 || refusal.Code == -32600, "error %#v", err)
			assert.That(t, refusal.Text != "", "error %#v", err)
			return
		}
		var loose struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      any             `json:"id"`
			Method  string          `json:"method"`
			Params  map[string]any  `json:"params"`
			Result  json.RawMessage `json:"result"`
			Error   json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(line, &loose); err != nil {
			var number *json.UnmarshalTypeError // a number that does not fit a float64
			if errors.As(err, &number) && strings.HasPrefix(number.Value, "number") {
				return
			}
			t.Fatalf("accepted %q: %v", line, err)
		}
		assert.Equal(t, loose.JSONRPC, "2.0", "%q: %+v, but encoding/json reads %+v", line, got, loose)
		assert.Equal(t, loose.ID, got.ID, "%q: %+v, but encoding/json reads %+v", line, got, loose)
		assert.Equal(t, loose.Method, got.Method, "%q: %+v, but encoding/json reads %+v", line, got, loose)
		assert.That(t, (got.Kind == Response) == (loose.Result != nil || loose.Error != nil), "%q: kind %d", line, got.Kind)
		assert.That(t, got.Cancels == nil || loose.Params["requestId"] == got.Cancels, "%q: cancels %v", line, got.Cancels)
		assert.NoError(t, fake.DuplicateKey(line), "accepted")
	})
}

// respond has a server answer a call with a result.
func respond(t *testing.T, id any, r *mcp.CallToolResult) (line string, code int) {
	t.Helper()
	s := toy(t.Output(), func(context.Context, *Peer, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return r, nil })
	m := Message{ID: id, Method: string(mcp.MethodToolsCall), Tool: "work", isPlain: true}
	answer, code := s.Respond(t.Context(), &Peer{Session: NewSession()}, m)
	line, ok := strings.CutSuffix(string(answer), "\n")
	require.That(t, ok, "the answer is not one line: %q", answer)
	require.That(t, !strings.Contains(line, "\n"), "the answer is not one line: %q", answer)
	return line, code
}

// asMCPGo is a response as the types of mcp-go encode it.
func asMCPGo(t *testing.T, id any, r *mcp.CallToolResult) string {
	t.Helper()
	line := require.Value(json.Marshal(mcp.NewJSONRPCResultResponse(mcp.NewRequestId(id), r)))(t)
	return string(line)
}

// awkward are texts that encoders treat in different ways.
var awkward = []string{
	"", "plain", "\x00\x01\b\f\n\r\t\x1f\x7f", `"quoted\" \u0041`, "<b>&amp;</b>", "é 日本 😀", "a\u2028b\u2029c", "\u2027\u202a\ue280\xe2\x80",
	"\xe2", "\xff\xfe", "a\xc3(b", "\xed\xa0\x80", "x\xe2\x28\xa1y", strings.Repeat("line <1>\n", 5000), "\ufffd\ufeff",
}

func TestAResultIsEncodedAsMCPGoEncodesIt(t *testing.T) {
	note := func(text string) mcp.Content { return mcp.NewTextContent(text) }
	marked := mcp.NewTextContent("a")
	marked.Annotations = &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}}
	tagged := mcp.NewImageContent("QQ==", "image/png")
	tagged.Meta = mcp.NewMetaFromMap(map[string]any{"k": "<v>"})
	question := &mcp.CallToolResult{Content: []mcp.Content{note("x")}}
	question.ResultType, question.RequestState = mcp.ResultTypeInputRequired, "s"
	withMeta := mcp.NewToolResultText("x")
	withMeta.Meta = mcp.NewMetaFromMap(map[string]any{"a": 1, "progressToken": "p"})
	results := map[string]*mcp.CallToolResult{
		"nothing":               {},
		"no content":            {Content: []mcp.Content{}},
		"an error":              mcp.NewToolResultError("it <failed>"),
		"two texts":             {Content: []mcp.Content{note("a"), note("b")}},
		"an image":              {Content: []mcp.Content{note("a"), mcp.NewImageContent("QUJD", "image/png")}},
		"annotations":           {Content: []mcp.Content{marked, tagged}},
		"a sound":               {Content: []mcp.Content{mcp.NewAudioContent("QQ==", "audio/wav")}},
		"a link":                {Content: []mcp.Content{mcp.NewResourceLink("u", "n", "d", "text/plain")}},
		"_meta":                 withMeta,
		"a question":            question,
		"any structure":         mcp.NewToolResultStructured(map[string]any{"b": "<&>", "a": []int{1, 2}}, "x"),
		"raw structure":         mcp.NewToolResultStructured(json.RawMessage("{ \"a\" : \"<\u2028>\" }"), "x"),
		"compact raw structure": structured("{\"a\":\"<\u2028&\u00e9\"}", "x"),
		"a structure read raw":  {RawStructuredContent: json.RawMessage(`{"z": 1}`), StructuredContent: 5, IsError: true},
	}
	for name, r := range results {
		for _, id := range []any{1.0, -7.0, 0.0, float64(1 << 53), float64(-1 << 53), 1e15, "a", "<\"\n\u2028", ""} {
			got, code := respond(t, id, r)
			want := asMCPGo(t, id, r)
			assert.Equal(t, code, 0, "%s, id %v: %d\n%s, want\n%s", name, id, code, got, want)
			assert.Equal(t, got, want, "%s, id %v: %d\n%s, want\n%s", name, id, code, got, want)
		}
	}
	for _, text := range awkward {
		r := structured(string(Encode(map[string]any{text: text})), text)
		got, code := respond(t, text, r)
		assert.Equal(t, code, 0, "%.40q: %d\n%.300s, want\n%.300s", text, code, got, asMCPGo(t, text, r))
		assert.Equal(t, got, asMCPGo(t, text, r), "%.40q: %d\n%.300s", text, code, got)
	}
	_, code := respond(t, 1.0, mcp.NewToolResultStructured(func() {}, "x"))
	assert.Equal(t, code, mcp.INTERNAL_ERROR, "a function")
}

// structured is a result with the JSON of its structured content.
func structured(document, text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}, RawStructuredContent: json.RawMessage(document)}
}

// FuzzEncodeResult: whatever the text is, the types of mcp-go encode it alike.
func FuzzEncodeResult(f *testing.F) {
	for _, text := range awkward {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := structured(string(Encode(text)), text)
		got, code := respond(t, text, r)
		assert.Equal(t, code, 0, "%d\n%s, want\n%s", code, got, asMCPGo(t, text, r))
		assert.Equal(t, got, asMCPGo(t, text, r), "%d\n%s", code, got)
	})
}

func TestWhichCallsArePlain(t *testing.T) {
	for _, test := range []struct {
		params string
		want   bool
	}{
		{`{"name":"t"}`, true},
		{`{"name":"t","arguments":null}`, true},
		{`{"name":"t","arguments":[1,"x"]}`, true},
		{`{"name":"t","arguments":{"n":123456789012345678901234567890}}`, true},
		{`{"name":"\u0074","arguments":"x"}`, true},
		{`{"name":"t","_meta":null}`, true},
		{`{"name":"t","_meta":{}}`, true},
		{`{"name":"t","_meta":{"progressToken":5,"traceparent":"00-1-2-03","x/y":{"z":1}}}`, true},
		{`{"name":"t","_meta":[]}`, false},
		{`{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, true},
		{`{"name":"t","_meta":{"x":1e999}}`, false},
		{`{"name":"t","arguments":{"n":1e999}}`, false},
		{`{"name":"t","arguments":{"n":1` + strings.Repeat("0", 400) + `}}`, false},
		{`{"name":"t","arguments":{},"task":{"ttl":1}}`, false},
		{`{"name":"t","arguments":{},"inputResponses":{}}`, false},
		{`{"name":"t","arguments":{},"requestState":"s"}`, false},
		{`{"name":"t","arguments":{},"unknown":0}`, false},
		{`{"name":5,"arguments":{}}`, false},
		{`{"arguments":{}}`, false},
		{`{}`, false},
		{`null`, false},
	} {
		m, err := Decode(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, test.params))
		require.Equal(t, err, nil, "%s: plain %v", test.params, m.isPlain)
		assert.Equal(t, m.isPlain, test.want, "%s: plain %v", test.params, m.isPlain)
		assert.That(t, !m.isPlain || m.Tool == "t", "%s: tool %q", test.params, m.Tool)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"t"}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"t"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","x":{"name":"t"}}`,
	} {
		m, err := Decode([]byte(line))
		require.Equal(t, err, nil, "%s", line)
		assert.That(t, !m.isPlain, "%s: %+v, %v", line, m, err)
	}
}

// FuzzPlainCall: what is plain means the same to the types of mcp-go.
func FuzzPlainCall(f *testing.F) {
	for _, seed := range []string{`{"name":"t","arguments":{"a":1},"_meta":{"progressToken":"p","k":[1]}}`,
		`{"name":"\ud800","arguments":"x"}`, `{"name":"t","_meta":{"a":1.5e3}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params)
		m, err := Decode(line)
		if err != nil || !m.isPlain {
			return
		}
		var request mcp.CallToolRequest
		err = json.Unmarshal(line, &request)
		require.That(t, err == nil, "plain, but mcp-go says %v: %q", err, line)
		call, err := m.call()
		require.NoError(t, err)
		got, want := call.Params, request.Params
		assert.That(t, want.Task == nil, "plain: %q", line)
		assert.Equal(t, want.RequestState, "", "plain: %q", line)
		assert.That(t, want.InputResponses == nil, "plain: %q", line)
		if got.Name != want.Name || string(got.RawArguments) != string(want.RawArguments) || string(Encode(got.Meta)) != string(Encode(want.Meta)) {
			t.Errorf("%+v, but mcp-go reads %+v", got, want)
		}
	})
}
