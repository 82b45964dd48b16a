package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/tests/require"
)

// asMCPGo is a response as mcp-go writes it.
func asMCPGo(t *testing.T, id any, r *mcp.CallToolResult) string {
	t.Helper()
	line, err := json.Marshal(mcp.NewJSONRPCResultResponse(mcp.NewRequestId(id), r))
	require.NoError(t, err)
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
		"nothing":              {},
		"no content":           {Content: []mcp.Content{}},
		"an error":             mcp.NewToolResultError("it <failed>"),
		"two texts":            {Content: []mcp.Content{note("a"), note("b")}},
		"an image":             {Content: []mcp.Content{note("a"), mcp.NewImageContent("QUJD", "image/png")}},
		"annotations":          {Content: []mcp.Content{marked, tagged}},
		"a sound":              {Content: []mcp.Content{mcp.NewAudioContent("QQ==", "audio/wav")}},
		"a link":               {Content: []mcp.Content{mcp.NewResourceLink("u", "n", "d", "text/plain")}},
		"_meta":                withMeta,
		"a question":           question,
		"any structure":        mcp.NewToolResultStructured(map[string]any{"b": "<&>", "a": []int{1, 2}}, "x"),
		"raw structure":        mcp.NewToolResultStructured(json.RawMessage("{ \"a\" : \"<\u2028>\" }"), "x"),
		"compact structure":    mcp.NewToolResultStructured(Compact("{\"a\":\"<\u2028&\u00e9\"}"), "x"),
		"a structure read raw": {RawStructuredContent: json.RawMessage(`{"z": 1}`), StructuredContent: 5, IsError: true},
	}
	for name, r := range results {
		for _, id := range []any{1.0, -7.0, 0.0, float64(1 << 53), float64(-1 << 53), 1e15, "a", "<\"\n\u2028", ""} {
			got, err := AppendResult([]byte("before"), id, r)
			if want := "before" + asMCPGo(t, id, r); err != nil || string(got) != want {
				t.Errorf("%s, id %v: %v\n%s, want\n%s", name, id, err, got, want)
			}
		}
	}
	for _, text := range awkward {
		r := mcp.NewToolResultStructured(Compact(Encode(map[string]any{text: text})), text)
		if got, err := AppendResult(nil, text, r); err != nil || string(got) != asMCPGo(t, text, r) {
			t.Errorf("%.40q: %v\n%.300s, want\n%.300s", text, err, got, asMCPGo(t, text, r))
		}
	}
	if _, err := AppendResult(nil, 1.0, mcp.NewToolResultStructured(func() {}, "x")); err == nil {
		t.Error("a function was encoded")
	}
}

// FuzzAppendResult: whatever the text is, mcp-go encodes it alike.
func FuzzAppendResult(f *testing.F) {
	for _, text := range awkward {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := mcp.NewToolResultStructured(Compact(Encode(text)), text)
		if got, err := AppendResult(nil, text, r); err != nil || string(got) != asMCPGo(t, text, r) {
			t.Errorf("%v\n%s, want\n%s", err, got, asMCPGo(t, text, r))
		}
	})
}
