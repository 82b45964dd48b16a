package tracing

import (
	"encoding/json"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// These are the messages of OTLP in their JSON form, as far as our spans fill
// them: identifiers are hexadecimal and numbers of 64 bits are text.
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resourceMessage `json:"resource"`
		ScopeSpans []scopeSpans    `json:"scopeSpans"`
		SchemaURL  string          `json:"schemaUrl,omitempty"`
	}
	resourceMessage struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scopeMessage  `json:"scope"`
		Spans []spanMessage `json:"spans"`
	}
	scopeMessage struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	spanMessage struct {
		TraceID           string         `json:"traceId"`
		SpanID            string         `json:"spanId"`
		TraceState        string         `json:"traceState,omitempty"`
		ParentSpanID      string         `json:"parentSpanId,omitempty"`
		Flags             uint32         `json:"flags"`
		Name              string         `json:"name"`
		Kind              int            `json:"kind"`
		StartTimeUnixNano string         `json:"startTimeUnixNano"`
		EndTimeUnixNano   string         `json:"endTimeUnixNano"`
		Attributes        []keyValue     `json:"attributes"`
		Events            []eventMessage `json:"events,omitempty"`
		Status            *statusMessage `json:"status,omitempty"`
	}
	eventMessage struct {
		TimeUnixNano string     `json:"timeUnixNano"`
		Name         string     `json:"name"`
		Attributes   []keyValue `json:"attributes"`
	}
	statusMessage struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code"`
	}
	keyValue struct {
		Key   string   `json:"key"`
		Value anyValue `json:"value"`
	}
	anyValue struct {
		StringValue *string `json:"stringValue,omitempty"`
		IntValue    *string `json:"intValue,omitempty"`
		BoolValue   *bool   `json:"boolValue,omitempty"`
	}
)

const (
	statusCodeError   = 2     // STATUS_CODE_ERROR
	flagKnowsRemote   = 0x100 // SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK
	flagRemoteContext = 0x200 // SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK
)

// encode returns the request that exports spans. They are of one provider and one
// scope, as all of ours are.
func encode(spans []sdk.ReadOnlySpan) ([]byte, error) {
	from := spans[0]
	scope := scopeSpans{Scope: scopeMessage{from.InstrumentationScope().Name, from.InstrumentationScope().Version}}
	for _, span := range spans {
		scope.Spans = append(scope.Spans, messageOf(span))
	}
	return json.Marshal(exportRequest{[]resourceSpans{{
		Resource:   resourceMessage{attributesOf(from.Resource().Attributes())},
		ScopeSpans: []scopeSpans{scope},
		SchemaURL:  from.Resource().SchemaURL(),
	}}})
}

func messageOf(span sdk.ReadOnlySpan) spanMessage {
	at, parent := span.SpanContext(), span.Parent()
	m := spanMessage{
		TraceID: at.TraceID().String(), SpanID: at.SpanID().String(), TraceState: at.TraceState().String(),
		Flags: uint32(at.TraceFlags()) | flagKnowsRemote, Name: span.Name(), Kind: int(span.SpanKind()),
		StartTimeUnixNano: nanoseconds(span.StartTime()), EndTimeUnixNano: nanoseconds(span.EndTime()),
		Attributes: attributesOf(span.Attributes()),
	}
	if parent.SpanID().IsValid() {
		m.ParentSpanID = parent.SpanID().String()
	}
	if parent.IsRemote() {
		m.Flags |= flagRemoteContext
	}
	for _, event := range span.Events() {
		m.Events = append(m.Events, eventMessage{nanoseconds(event.Time), event.Name, attributesOf(event.Attributes)})
	}
	if span.Status().Code == codes.Error {
		m.Status = &statusMessage{span.Status().Description, statusCodeError}
	}
	return m
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func attributesOf(attributes []attribute.KeyValue) []keyValue {
	all := []keyValue{}
	for _, a := range attributes {
		all = append(all, keyValue{string(a.Key), valueOf(a.Value)})
	}
	return all
}

// valueOf takes the kinds of values that our spans and resources have. Others are
// written as text.
func valueOf(v attribute.Value) anyValue {
	switch v.Type() {
	case attribute.INT64:
		text := strconv.FormatInt(v.AsInt64(), 10)
		return anyValue{IntValue: &text}
	case attribute.BOOL:
		is := v.AsBool()
		return anyValue{BoolValue: &is}
	}
	text := v.String()
	return anyValue{StringValue: &text}
}
