// Package tracing sends OpenTelemetry traces of a gateway to a collector: a span
// for each call and one below it for each program that was asked.
//
// It is off unless the environment names a collector, with one of the variables
// of OpenTelemetry. Then nothing is opened and no goroutine is started, so that a
// server has no network use of its own. A span says which command it was, what
// was decided and how it ended. It has no parameter, no name or text of a note
// and no path in it, and the collector learns nothing of the vault.
//
// The SDK decides what is sampled and keeps what waits to be sent, with the
// variables OTEL_TRACES_SAMPLER and OTEL_BSP_*. It is sent as OTLP over HTTP in
// its JSON form by this package: the exporter that comes with the SDK brings
// protobuf and gRPC along, which cost each start of the program 2 ms. A call never
// waits for the collector; what cannot be sent is dropped, and a warning a minute
// says so.
package tracing

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/observe"
)

// flushFor is how long the end of a server waits for the collector.
const flushFor = 2 * time.Second

// Config is what a [Tracing] is made of.
type Config struct {
	// Getenv finds the collector; nil finds none. The SDK reads its own variables
	// from the environment of the process.
	Getenv func(string) string
	// Version is that of the program.
	Version string
	// Log takes warnings about the collector; nil discards them.
	Log *slog.Logger
}

// Tracing observes calls and programs for a collector. It is a
// [observe.Observer] and an exec.Watcher, and safe for use by several goroutines.
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	exporter *exporter
}

// scopeName names who has made the spans.
const scopeName = "vaultwicket"

// Open returns what sends traces, nil where the environment names no collector:
// do not put that nil into an interface. Nothing is connected before there are
// spans. The error is a [*ConfigError]. The caller calls Close in the end.
func Open(c Config) (*Tracing, error) {
	if c.Getenv == nil {
		return nil, nil
	}
	to, err := collectorIn(c.Getenv)
	if to == nil || err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if to.ignored != "" {
		c.Log.Warn("traces are sent as "+jsonProtocol+", not as the environment asks", "variable", to.ignored, "value", binaryProtocol,
			"hint", "set it to "+jsonProtocol+"; a collector that takes no JSON gets no traces")
	}
	warn := newWarner(c.Log, time.Now)
	warn.hearSDK()
	e := newExporter(*to, c.Version, warn)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(e), sdk.WithResource(resourceOf(c.Version)))
	return &Tracing{provider: provider, tracer: provider.Tracer(scopeName, trace.WithInstrumentationVersion(c.Version)), exporter: e}, nil
}

// Close sends what waits, for two seconds at most, and ends. Calls that are still
// open are not sent. It may be called more than once, and of nil.
func (t *Tracing) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushFor)
	defer cancel()
	if t.provider.Shutdown(ctx) != nil {
		t.exporter.giveUp()
	}
	t.exporter.close()
}

// The keys of what spans say.
const (
	commandKey  = attribute.Key("vaultwicket.command")
	kindKey     = attribute.Key("vaultwicket.kind")
	surfaceKey  = attribute.Key("vaultwicket.surface")
	decisionKey = attribute.Key("vaultwicket.decision")
	ruleKey     = attribute.Key("vaultwicket.rule")
	outcomeKey  = attribute.Key("vaultwicket.outcome")
	backendKey  = attribute.Key("vaultwicket.backend")
	effectKey   = attribute.Key("vaultwicket.effect")
	bytesKey    = attribute.Key("vaultwicket.output.bytes")
	exitCodeKey = attribute.Key("process.exit.code")
)

// Begin starts the span of a call. Its parent is the batch that it is part of,
// or what the caller has named.
func (t *Tracing) Begin(ctx context.Context, call observe.CallStart) (context.Context, observe.CallObserver) {
	ctx, span := t.tracer.Start(underCaller(ctx), "call "+call.Command, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		commandKey.String(call.Command), kindKey.String(call.Kind.String()), surfaceKey.String(call.Surface)))
	if !span.IsRecording() {
		return ctx, nil
	}
	return ctx, traced{span}
}

// underCaller puts the span that the caller has named into a context that has
// none yet.
func underCaller(ctx context.Context) context.Context {
	named := observe.TraceOf(ctx)
	if named == (observe.Trace{}) || trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": named.Parent, "tracestate": named.State})
}

// traced is the span of a call.
type traced struct{ span trace.Span }

// Decided adds the decision as an event, so that the time is seen for which a
// person was waited for.
func (t traced) Decided(d observe.Decision) {
	t.span.AddEvent("decision", trace.WithAttributes(said(decisionKey.String(d.Decision), ruleKey.String(d.Rule), outcomeKey.String(d.Code))...))
}

// End ends the span.
func (t traced) End(end observe.CallEnd) {
	t.span.SetAttributes(said(outcomeKey.String(end.Code), decisionKey.String(end.Decision), ruleKey.String(end.Rule),
		backendKey.String(end.Backend), effectKey.String(end.Effect))...)
	t.span.SetAttributes(bytesKey.Int(end.Bytes))
	mark(t.span, end.Code)
	t.span.End()
}

// said returns those of some texts that say something.
func said(texts ...attribute.KeyValue) []attribute.KeyValue {
	return slices.DeleteFunc(texts, func(a attribute.KeyValue) bool { return a.Value.AsString() == "" })
}

// okCode is the outcome of a call that succeeded.
const okCode = "ok"

// mark notes what somebody has to look after: that a call is refused, or that a
// note is not there, is nothing of that kind.
func mark(span trace.Span, code string) {
	if code == "" || code == okCode {
		return
	}
	switch failure.ClassOf(code) {
	case failure.Bug, failure.Surroundings, failure.Halted:
		span.SetStatus(codes.Error, code)
	}
}

// BeginRun starts the span of a program that is asked for a call.
func (t *Tracing) BeginRun(ctx context.Context, backend string) (end func(exitCode int, code string)) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return nil
	}
	_, span := t.tracer.Start(ctx, "run", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(backendKey.String(backend)))
	return func(exitCode int, code string) {
		if code == "" {
			code = okCode
		}
		span.SetAttributes(exitCodeKey.Int(exitCode), outcomeKey.String(code))
		mark(span, code)
		span.End()
	}
}
