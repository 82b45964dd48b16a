package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/mcpserver/wire"
)

// completion is an answer to completion/complete.
type completion struct {
	Values  []string
	Total   int
	HasMore bool
}

func (d localServer) complete(ref, argument, value, more string) completion {
	d.t.Helper()
	a := d.ask("completion/complete", `"ref":{`+ref+`},"argument":{"name":"`+argument+`","value":`+string(wire.Encode(value))+`}`+more)
	var result struct{ Completion *completion }
	if err := json.Unmarshal(a.Result, &result); err != nil || result.Completion == nil || result.Completion.Values == nil {
		d.t.Fatalf("%s %s %.40q: %v %s %+v", ref, argument, value, err, a.Result, a.Error)
	}
	return *result.Completion
}

const (
	helpRef    = `"type":"ref/resource","uri":"vaultwicket://help/{command}"`
	morningRef = `"type":"ref/prompt","name":"morning-review"`
)

func TestCompletion(t *testing.T) {
	d := newLocalServer(t, gatewayWith(t, readOnly), nil)
	for _, tt := range []struct {
		name, ref, argument, value string
		want                       string // the values
	}{
		{"names by their beginning, then by what is in them", helpRef, "command", "base", "[bases base:views base:create base:query base:check base:eval base:set]"},
		{"a capital letter means nothing", helpRef, "command", "DAILY:R", "[daily:read daily:range]"},
		{"what is in the middle", helpRef, "command", ":append", "[daily:append periodic:append]"},
		{"no such name", helpRef, "command", "xyz", "[]"},
		{"a long text", helpRef, "command", strings.Repeat("read", 2500), "[]"},
		{"another variable", helpRef, "id", "r", "[]"},
		{"another template", `"type":"ref/resource","uri":"vaultwicket://output/{id}"`, "id", "", "[]"},
		{"an address", `"type":"ref/resource","uri":"vaultwicket://help/read"`, "command", "", "[]"},
		{"words for days", morningRef, "date", "y", "[yesterday today]"},
		{"days by their beginning", morningRef, "date", "2026-10-2", "[2026-10-29 2026-10-28 2026-10-27 2026-10-26 2026-10-25 2026-10-24 2026-10-23 2026-10-22 2026-10-21]"},
		{"numbers", morningRef, "days", "", "[1 2 3 7 14]"},
		{"headings are the text of a note", `"type":"ref/prompt","name":"evening-journal"`, "heading", "", "[]"},
		{"one vault is no choice", morningRef, "vault", "", "[]"},
		{"no such prompt", `"type":"ref/prompt","name":"none"`, "date", "", "[]"},
	} {
		for _, era := range []string{"", "," + modernMeta} {
			got := d.complete(tt.ref, tt.argument, tt.value, era)
			if fmt.Sprint(got.Values) != tt.want || got.Total != len(got.Values) || got.HasMore {
				t.Errorf("%s: %+v, want %s", tt.name, got, tt.want)
			}
		}
	}
}

// TestCompletionOfEverythingSaysThatThereIsMore: the protocol takes a hundred
// values, and there are more commands.
func TestCompletionOfEverythingSaysThatThereIsMore(t *testing.T) {
	got := newLocalServer(t, gatewayWith(t, readOnly), nil).complete(helpRef, "command", "", "")
	names := allowlist.Names()
	if len(got.Values) != 100 || got.Total != len(names) || !got.HasMore || !slices.Equal(got.Values, names[:100]) {
		t.Errorf("%d values, total %d, more %v", len(got.Values), got.Total, got.HasMore)
	}
}
