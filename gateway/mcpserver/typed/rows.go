package typed

import (
	"encoding/json"

	"vaultwicket/gateway"
)

// rowsResult is a result with rows in place of the text of the output.
type rowsResult struct {
	gateway.Result
	Stdout    *string         `json:"stdout,omitempty"` // hides the one of Result
	Rows      json.RawMessage `json:"rows"`
	Total     *int            `json:"total,omitempty"`
	Groups    json.RawMessage `json:"groups,omitempty"`
	Summaries json.RawMessage `json:"summaries,omitempty"`
	Explain   json.RawMessage `json:"explain,omitempty"`
}

// Content returns what a client sees of the result of a call. A tool with rows returns
// them as JSON instead of as text; if the output is not JSON, such as a part of a row that
// is larger than a page, it stays in stdout.
func (t *Tool) Content(r gateway.Result) any {
	if !t.rows || !r.Rows() || !json.Valid([]byte(r.Stdout)) {
		return r
	}
	out := rowsResult{Result: r, Rows: json.RawMessage(r.Stdout)}
	if r.Stdout[0] == '[' {
		return out
	}
	out.Rows = nil
	if json.Unmarshal([]byte(r.Stdout), &struct {
		Rows, Groups, Summaries, Explain *json.RawMessage
		Total                            **int
	}{&out.Rows, &out.Groups, &out.Summaries, &out.Explain, &out.Total}) != nil || out.Rows == nil {
		return r
	}
	return out
}

// outputRows is the JSON Schema of the results of tools with rows, see [arguments.Output].
const outputRows = `{"type":"object","properties":{` +
	`"ok":{"type":"boolean"},"command":{"type":"string"},` +
	`"rows":{"type":"array","items":{"type":"object","additionalProperties":true}},"total":{"type":"integer"},` +
	`"stdout":{"type":"string"},` +
	`"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"hint":{"type":"string"}},` +
	`"required":["code","message"],"additionalProperties":true}},` +
	`"required":["ok","command"],"additionalProperties":true}`
