package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

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
		{`{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, false},
		{`{"name":"t","_meta":{"io.modelcontextprotocol/anything":1}}`, false},
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
		if err != nil || m.Plain != test.want {
			t.Errorf("%s: plain %v, %v, want %v", test.params, m.Plain, err, test.want)
		}
		if m.Plain && m.Tool != "t" {
			t.Errorf("%s: tool %q", test.params, m.Tool)
		}
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"t"}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"t"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","x":{"name":"t"}}`,
	} {
		if m, err := Decode([]byte(line)); err != nil || m.Plain {
			t.Errorf("%s: %+v, %v", line, m, err)
		}
	}
}

// FuzzPlainCall: what is plain means the same to mcp-go.
func FuzzPlainCall(f *testing.F) {
	for _, seed := range []string{`{"name":"t","arguments":{"a":1},"_meta":{"progressToken":"p","k":[1]}}`, `{"name":"\ud800","arguments":"x"}`, `{"name":"t","_meta":{"a":1.5e3}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params)
		m, err := Decode(line)
		if err != nil || !m.Plain {
			return
		}
		var request mcp.CallToolRequest
		if err := json.Unmarshal(line, &request); err != nil {
			t.Fatalf("plain, but mcp-go says %v: %q", err, line)
		}
		got, want := mcp.CallToolParams{Name: m.Tool, RawArguments: m.Arguments, Meta: m.Meta}, request.Params
		if want.Task != nil || want.RequestState != "" || want.InputResponses != nil {
			t.Errorf("plain: %q", line)
		}
		if got.Name != want.Name || string(got.RawArguments) != string(want.RawArguments) || string(Encode(got.Meta)) != string(Encode(want.Meta)) {
			t.Errorf("%+v, but mcp-go reads %+v", got, want)
		}
	})
}
