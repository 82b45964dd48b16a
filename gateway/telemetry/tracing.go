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

// flushFor is how long a server that ends waits for the collector.
const flushFor = 2 * time.Second

// TracingConfig is the configuration of a [Tracing].
type TracingConfig struct {
	// Getenv returns variables that name the collector; nil for no collector. The SDK reads
	// its own variables from the environment of the process.
	Getenv func(string) string
	// Version is that of the program.
	Version string
	// Log takes warnings about the collector; nil discards them.
	Log *slog.Logger
}

// Tracing sends a span for each call, and one below it for each program that ran for the call, to
// a collector. It is an [telemetry.Observer] and an exec.Watcher, and safe for concurrent use.
//
// The SDK samples and buffers spans, as the variables OTEL_TRACES_SAMPLER and OTEL_BSP_* say.
// They are sent as OTLP over HTTP in JSON by this package: the exporter of the SDK brings
// protobuf and gRPC along, which cost each start of the program 2 ms. A call never waits for
// the collector; spans that cannot be sent are dropped, with at most one warning a minute.
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	exporter *exporter
}

// OpenTracing returns nil where the environment names no collector: do not put that nil into
// an interface. It connects when there are spans. The error is a [*failure.RequestError]. The caller
// must call Close.
func OpenTracing(c TracingConfig) (*Tracing, error) {
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
		c.Log.Warn(
			"traces are sent as "+jsonProtocol+", not as the environment asks",
			"variable",
			to.ignored,
			"value",
			binaryProtocol,
			"hint",
			"set it to "+jsonProtocol+"; a collector that takes no JSON gets no traces",
		)
	}
	warn := &warner{log: c.Log, now: time.Now}
	// The SDK would print its errors to standard error. Of its log only errors are used: other messages print
	// the configuration, with the headers for the collector.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { warn.lost(0, err) }))
	otel.SetLogger(logr.FromSlogHandler(sdkErrors{warn}))
	e := newExporter(*to, c.Version, warn)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(e), sdk.WithResource(resourceOf(c.Version)))
	return &Tracing{
		provider: provider,
		tracer:   provider.Tracer("vaultwicket", trace.WithInstrumentationVersion(c.Version)),
		exporter: e,
	}, nil
}

// Close sends what is buffered, for at most two seconds. Calls that have not ended are not
// sent. It may be called more than once, and on nil.
func (t *Tracing) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushFor)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // what it could not send is dropped
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

// Begin starts the span of a call. Its parent is the span of its batch, or the one that the
// caller named.
func (t *Tracing) Begin(ctx context.Context, call CallStart) (context.Context, CallObserver) {
	if named := TraceOf(ctx); named != (Trace{}) && !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = propagation.TraceContext{}.Extract(
			ctx,
			propagation.MapCarrier{"traceparent": named.Parent, "tracestate": named.State},
		)
	}
	ctx, span := t.tracer.Start(
		ctx,
		"call "+call.Command,
		trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(
			said(
				commandKey.String(call.Command),
				kindKey.String(call.Kind.String()),
				surfaceKey.String(call.Surface),
				agentKey.String(call.Agent),
			)...),
	)
	if !span.IsRecording() {
		return ctx, nil
	}
	return ctx, traced{span}
}

// traced is the span of a call.
type traced struct{ span trace.Span }

// Decided adds the decision as an event, which shows how long an approval took.
func (t traced) Decided(d Decision) {
	t.span.AddEvent(
		"decision",
		trace.WithAttributes(
			said(decisionKey.String(d.Decision), ruleKey.String(d.Rule), outcomeKey.String(d.Code))...),
	)
}

// End ends the span.
func (t traced) End(end CallEnd) {
	t.span.SetAttributes(said(outcomeKey.String(end.Code), decisionKey.String(end.Decision), ruleKey.String(end.Rule),
		backendKey.String(end.Backend), effectKey.String(end.Effect))...)
	t.span.SetAttributes(bytesKey.Int(end.Bytes))
	mark(t.span, end.Code)
	t.span.End()
}

// said returns the attributes that are not empty.
func said(texts ...attribute.KeyValue) []attribute.KeyValue {
	return slices.DeleteFunc(texts, func(a attribute.KeyValue) bool { return a.Value.AsString() == "" })
}

// okCode is the outcome of a call that succeeded.
const okCode = "ok"

// mark sets the status of a span to error for failures of the installation: not for a call
// that is denied, or a note that does not exist.
func mark(span trace.Span, code string) {
	if code == "" || code == okCode {
		return
	}
	switch failure.ClassOf(code) {
	case failure.Bug, failure.Surroundings, failure.Halted:
		span.SetStatus(codes.Error, code)
	}
}

// BeginRun starts the span of a program that runs for a call.
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
		mark(span, code)
		span.End()
	}
}

// Variables of OpenTelemetry. One with TRACES in its name takes precedence over the one without.
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
	tracesPath     = "v1/traces"      // below the endpoint of all signals
	defaultTimeout = 10 * time.Second // of the specification
	maxTimeout     = time.Minute      // longer, and the queue is full before a batch is given up
)

// collector is where traces are sent.
type collector struct {
	url     string
	headers http.Header
	timeout time.Duration // for one batch of spans, all tries together
	ignored string        // the variable that requests protobuf, "" if none does
}

// wrongVariable is the error of a variable of OpenTelemetry with an invalid value. It does not repeat values
// that can be secret.
func wrongVariable(name, reason, hint string) error {
	return failure.New(failure.CodeBadRequest, hint, "environment %q: %s", name, reason)
}

// environment returns variables. One that is empty counts as not set.
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

// collectorIn returns the collector that the environment names, nil if it names none or
// traces are disabled.
func collectorIn(getenv func(string) string) (*collector, error) {
	get := environment(getenv)
	endpoint, name := get.first(tracesEndpointVariable, endpointVariable)
	if endpoint == "" || strings.EqualFold(get(disabledVariable), "true") || get(exporterVariable) == "none" {
		return nil, nil
	}
	c := &collector{timeout: defaultTimeout}
	// OpenTelemetry prescribes to ignore another encoding over HTTP than the one that is sent, with a warning;
	// most collectors take both. gRPC has an address of its own.
	switch asked, name := get.first(tracesProtocolVariable, protocolVariable); asked {
	case "", jsonProtocol:
	case binaryProtocol:
		c.ignored = name
	default:
		hint := "set http/json, and the endpoint to that of OTLP over HTTP, which is mostly port 4318"
		if near := excerpt.Nearest(asked, []string{jsonProtocol}); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, wrongVariable(name, fmt.Sprintf("%q is not supported", excerpt.Short(asked)), hint)
	}
	u, err := url.Parse(endpoint)
	if err != nil || !isWeb(u) {
		return nil, wrongVariable(name, "is not an http or https URL", "such as http://localhost:4318")
	}
	if name == endpointVariable { // the address of all signals is the folder of that for traces
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
	jsonProtocol   = "http/json" // the one that is sent
	binaryProtocol = "http/protobuf"
)

// inToken has the characters of the name of a header.
const inToken = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// headers reads a list such as "key=value,key2=value%202".
func (get environment) headers(variables ...string) (http.Header, error) {
	list, name := get.first(variables...)
	headers := http.Header{}
	for item := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		key, value, pair := strings.Cut(item, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		key = strings.TrimSpace(key)
		isKey := pair && key != "" && strings.Trim(key, inToken) == ""
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

// resourceOf describes the service, also by the variables of the process for it. The
// detectors of the SDK for processes are not used: arguments contain the folder of the vault.
func resourceOf(version string) *resource.Resource {
	own := resource.WithAttributes(
		attribute.String("service.name", "vaultwicket"),
		attribute.String("service.version", version),
	)
	found, err := resource.New(context.Background(), resource.WithTelemetrySDK(), own, resource.WithFromEnv())
	if err != nil { // an invalid list of attributes, which the SDK reports
		found, _ = resource.New(context.Background(), resource.WithTelemetrySDK(), own)
	}
	return found
}
