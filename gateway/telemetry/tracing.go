package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// flushTimeout is how long a stopping server waits for the collector.
const flushTimeout = 2 * time.Second

// TracingConfig is the configuration of a [Tracing].
type TracingConfig struct {
	// Getenv returns the environment variables that configure the collector; nil for no collector. The
	// SDK itself reads its variables from the environment of the process.
	Getenv func(string) string
	// Version is the version of the program.
	Version string
	// Log receives warnings about the collector; nil discards them.
	Log *slog.Logger
}

// Tracing sends spans to a collector: one for each call, with a child for each program that ran for the
// call. It is an [Observer] and an exec.Watcher, and safe for concurrent use.
//
// The SDK samples and buffers spans according to the variables OTEL_TRACES_SAMPLER and OTEL_BSP_*. This
// package sends them itself, as OTLP over HTTP in JSON, because the exporter of the SDK depends on
// protobuf and gRPC, which add 2 ms to each start of the program. Calls never wait for the collector;
// spans that cannot be sent are dropped, with at most one warning per minute.
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	exporter *exporter
}

// OpenTracing returns a Tracing that connects to the collector when there are spans. The caller must
// call Close. It returns nil if the environment names no collector; do not store that nil in an
// interface. The error is a [*failure.RequestError].
func OpenTracing(c TracingConfig) (*Tracing, error) {
	if c.Getenv == nil {
		return nil, nil
	}
	collector, err := collectorIn(c.Getenv)
	if collector == nil || err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if collector.ignored != "" {
		c.Log.Warn(
			"traces are sent as "+jsonProtocol+", not as the environment asks",
			"variable", collector.ignored,
			"value", binaryProtocol,
			"hint", "set it to "+jsonProtocol+"; a collector that takes no JSON gets no traces",
		)
	}
	warn := &warner{log: c.Log, now: time.Now}
	// By default the SDK prints its errors to standard error. Only errors in its log are used: other messages
	// contain the configuration, including the headers for the collector.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { warn.lost(0, err) }))
	otel.SetLogger(logr.FromSlogHandler(sdkErrors{warn}))
	e := newExporter(*collector, c.Version, warn)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(e), sdk.WithResource(resourceOf(c.Version)))
	return &Tracing{
		provider: provider,
		tracer:   provider.Tracer("vaultwicket", trace.WithInstrumentationVersion(c.Version)),
		exporter: e,
	}, nil
}

// Close sends the buffered spans, for at most flushTimeout. Calls that have not ended are not sent. Close
// may be called more than once, and on nil.
func (t *Tracing) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // spans that it cannot send are dropped
	t.exporter.giveUp()
	t.exporter.client.CloseIdleConnections()
}

// Attributes of spans.
const (
	commandKey  = attribute.Key("vaultwicket.command")
	kindKey     = attribute.Key("vaultwicket.kind")
	agentKey    = attribute.Key("vaultwicket.agent")
	surfaceKey  = attribute.Key("vaultwicket.surface")
	decisionKey = attribute.Key("vaultwicket.decision")
	ruleKey     = attribute.Key("vaultwicket.rule")
	outcomeKey  = attribute.Key("vaultwicket.outcome")
	backendKey  = attribute.Key("vaultwicket.backend")
	effectKey   = attribute.Key("vaultwicket.effect")
	bytesKey    = attribute.Key("vaultwicket.output.bytes")
	exitCodeKey = attribute.Key("process.exit.code")
)

// Begin starts the span of a call. Its parent is the span of its batch, or else the span that the
// client named in its request.
func (t *Tracing) Begin(ctx context.Context, call CallStart) (context.Context, CallObserver) {
	if parent := TraceOf(ctx); parent != (Trace{}) && !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = propagation.TraceContext{}.Extract(
			ctx,
			propagation.MapCarrier{"traceparent": parent.Parent, "tracestate": parent.State},
		)
	}
	attributes := nonEmpty(
		commandKey.String(call.Command),
		kindKey.String(call.Kind.String()),
		surfaceKey.String(call.Surface),
		agentKey.String(call.Agent),
	)
	ctx, span := t.tracer.Start(
		ctx,
		"call "+call.Command,
		trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attributes...),
	)
	if !span.IsRecording() {
		return ctx, nil
	}
	return ctx, callSpan{span}
}

// callSpan is the span of a call.
type callSpan struct{ span trace.Span }

// Decided adds the decision as an event, which shows how long an approval took.
func (t callSpan) Decided(d Decision) {
	attributes := nonEmpty(decisionKey.String(d.Decision), ruleKey.String(d.Rule), outcomeKey.String(d.Code))
	t.span.AddEvent("decision", trace.WithAttributes(attributes...))
}

// End ends the span.
func (t callSpan) End(end CallEnd) {
	attributes := nonEmpty(
		outcomeKey.String(end.Code),
		decisionKey.String(end.Decision),
		ruleKey.String(end.Rule),
		backendKey.String(end.Backend),
		effectKey.String(end.Effect),
	)
	t.span.SetAttributes(attributes...)
	t.span.SetAttributes(bytesKey.Int(end.Bytes))
	setStatus(t.span, end.Code)
	t.span.End()
}

// nonEmpty returns the attributes without those whose text is empty.
func nonEmpty(texts ...attribute.KeyValue) []attribute.KeyValue {
	return slices.DeleteFunc(texts, func(a attribute.KeyValue) bool { return a.Value.AsString() == "" })
}

// okCode is the outcome of a call that succeeded.
const okCode = "ok"

// setStatus sets the status of a span to error if the code is a failure of the installation, such as a bug
// or a timeout. Denied calls and missing notes are not errors in this sense.
func setStatus(span trace.Span, code string) {
	if code == "" || code == okCode {
		return
	}
	switch failure.ClassOf(code) {
	case failure.Bug, failure.Surroundings, failure.Halted:
		span.SetStatus(codes.Error, code)
	}
}

// BeginRun starts the span of a program that runs for a call. It returns the function that ends the
// span, nil if the call is not traced.
func (t *Tracing) BeginRun(ctx context.Context, backend string) (end func(exitCode int, code string)) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return nil
	}
	_, span := t.tracer.Start(
		ctx,
		"run",
		trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(backendKey.String(backend)),
	)
	return func(exitCode int, code string) {
		if code == "" {
			code = okCode
		}
		span.SetAttributes(exitCodeKey.Int(exitCode), outcomeKey.String(code))
		setStatus(span, code)
		span.End()
	}
}

// Variables of OpenTelemetry. Those with TRACES in their names take precedence.
const (
	endpointVariable       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpointVariable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	headersVariable        = "OTEL_EXPORTER_OTLP_HEADERS"
	tracesHeadersVariable  = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	timeoutVariable        = "OTEL_EXPORTER_OTLP_TIMEOUT"
	tracesTimeoutVariable  = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"
	protocolVariable       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	tracesProtocolVariable = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	exporterVariable       = "OTEL_TRACES_EXPORTER"
	disabledVariable       = "OTEL_SDK_DISABLED"
)

const (
	tracesPath     = "v1/traces"      // relative to the endpoint of all signals
	defaultTimeout = 10 * time.Second // the default in the specification
	maxTimeout     = time.Minute      // with a longer one the queue would fill up before a batch is dropped
)

// collector is the configuration of the collector.
type collector struct {
	url     string
	headers http.Header
	timeout time.Duration // for one batch of spans, including retries
	ignored string        // the variable that requests protobuf, which is not supported; "" if none does
}

// wrongVariable returns the error for an environment variable with an invalid value. reason must not contain values
// that may be secret.
func wrongVariable(name, reason, hint string) error {
	return failure.New(failure.CodeBadRequest, hint, "environment %q: %s", name, reason)
}

// environment returns the values of environment variables. An empty one counts as not set.
type environment func(string) string

// first returns the first of the variables that is set, and its name.
func (get environment) first(names ...string) (value, name string) {
	for _, name := range names {
		if value := strings.TrimSpace(get(name)); value != "" {
			return value, name
		}
	}
	return "", ""
}

// collectorIn returns the collector that the environment configures, nil if there is none or tracing is
// disabled.
func collectorIn(getenv func(string) string) (*collector, error) {
	get := environment(getenv)
	endpoint, name := get.first(tracesEndpointVariable, endpointVariable)
	if endpoint == "" || strings.EqualFold(get(disabledVariable), "true") || get(exporterVariable) == "none" {
		return nil, nil
	}
	c := &collector{timeout: defaultTimeout}
	// The specification requires ignoring an unsupported HTTP encoding with a warning; most collectors accept
	// both. gRPC is an error, because it uses a different address.
	switch protocol, name := get.first(tracesProtocolVariable, protocolVariable); protocol {
	case "", jsonProtocol:
	case binaryProtocol:
		c.ignored = name
	default:
		hint := "set http/json, and the endpoint to that of OTLP over HTTP, which is mostly port 4318"
		if near := excerpt.Nearest(protocol, []string{jsonProtocol}); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, wrongVariable(name, fmt.Sprintf("%q is not supported", excerpt.Short(protocol)), hint)
	}
	u, err := url.Parse(endpoint)
	if err != nil || !isWeb(u) {
		return nil, wrongVariable(name, "is not an http or https URL", "such as http://localhost:4318")
	}
	if name == endpointVariable { // the address for all signals is the parent of the one for traces
		u = u.JoinPath(tracesPath)
	}
	c.url = u.String()
	if c.headers, err = get.headers(tracesHeadersVariable, headersVariable); err != nil {
		return nil, err
	}
	if text, name := get.first(tracesTimeoutVariable, timeoutVariable); text != "" {
		ms, err := strconv.ParseInt(text, 10, 32)
		if err != nil || ms <= 0 {
			return nil, wrongVariable(
				name,
				fmt.Sprintf("%q is not a number of milliseconds", excerpt.Short(text)),
				"such as 10000, up to 60000",
			)
		}
		c.timeout = min(time.Duration(ms)*time.Millisecond, maxTimeout)
	}
	return c, nil
}

const (
	jsonProtocol   = "http/json" // the only supported one
	binaryProtocol = "http/protobuf"
)

// tokenChars contains the characters that are valid in the name of a header.
const tokenChars = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// headers parses the first of the variables that is set, a list such as "key=value,key2=value%202".
func (get environment) headers(variables ...string) (http.Header, error) {
	list, name := get.first(variables...)
	headers := http.Header{}
	for item := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		key, value, isPair := strings.Cut(item, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		key = strings.TrimSpace(key)
		isKey := isPair && key != "" && strings.Trim(key, tokenChars) == ""
		isControl := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
		if err != nil || !isKey || strings.ContainsFunc(value, isControl) {
			return nil, wrongVariable(
				name,
				"is not a list of headers",
				"such as key=value,other=value, with a comma in a value written as %2C",
			)
		}
		headers.Add(key, value)
	}
	return headers, nil
}

// resourceOf describes the service, including the attributes in environment variables. The process
// detectors of the SDK are not used, because the arguments of the process contain the vault's folder.
func resourceOf(version string) *resource.Resource {
	service := resource.WithAttributes(
		attribute.String("service.name", "vaultwicket"),
		attribute.String("service.version", version),
	)
	described, err := resource.New(context.Background(), resource.WithTelemetrySDK(), service, resource.WithFromEnv())
	if err != nil { // the variable has an invalid list of attributes; the SDK logs that
		described, _ = resource.New(context.Background(), resource.WithTelemetrySDK(), service)
	}
	return described
}
