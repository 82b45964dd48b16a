package telemetry

// The observers for other programs: [Metrics] counts calls for Prometheus, [Tracing] sends them to an OpenTelemetry
// collector.
//
// Both see the kind of a call and its outcome, never its content. Labels and attributes are names of commands, codes,
// rules, backends and effects, each with few possible values; callers and notes cannot choose any of them, except for
// the names of agents, which the owner chooses. Metrics opens no port: the MCP server publishes the figures. Tracing is
// off unless the environment names a collector.
//
//	vaultwicket_calls_total{command,surface,outcome}           calls that ended, operations of batches too; outcome is ok or a code
//	vaultwicket_agent_calls_total{agent,outcome}               the same calls by agent, where agents are defined; "other" beyond the first 100
//	vaultwicket_batches_total{surface,outcome}                 batches as a whole
//	vaultwicket_dry_runs_total{surface,outcome}
//	vaultwicket_decisions_total{decision,rule}                 as in the audit log
//	vaultwicket_found_total{rule,kind,shadow}                  answers and changes in which a rule about texts found something; whether only shadow kept it from an effect
//	vaultwicket_call_duration_seconds{backend,effect}          histogram, from the request to the result
//	vaultwicket_calls_running, vaultwicket_calls_waiting{for}  for a place in the gateway, or in the queue of the app
//	vaultwicket_children{kind}                                 processes of one call, and resident workers
//	vaultwicket_worker_memory_bytes                            resident memory of the workers, on Linux
//	vaultwicket_sessions                                       clients, where they are counted
//	vaultwicket_export_dropped_total                           lines of the audit log that targets of export have lost
//	vaultwicket_audit_missed_total                             lines of the audit log that could not be written, as on a full disk
//	vaultwicket_build_info{version,go}                         and go_* and process_* of the library
//
// A call counts once, when it has ended: refused, failed or done. Requests that were not understood as a call reach
// no gateway and are not counted.

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	vm "github.com/VictoriaMetrics/metrics"
)

// MetricsContentType is the content type of the output of [Metrics.WritePrometheus].
const MetricsContentType = "text/plain; version=0.0.4; charset=utf-8"

// Metrics has the figures of one process. It is an [Observer] and safe for concurrent use.
type Metrics struct {
	set     *vm.Set
	version string
	sources atomic.Pointer[MetricSources]

	mu     sync.Mutex
	agents map[string]bool // agents with a label of their own: the first ones that made calls
}

// MetricSources provides figures when they are written. Sessions, Dropped and Missed may be nil; their
// figures are then omitted.
type MetricSources struct {
	Load     func() Load
	Children func() Children
	Sessions func() int    // open client sessions
	Dropped  func() uint64 // lines of the audit log that export targets have lost
	Missed   func() uint64 // lines of the audit log that could not be written
}

// Children counts running processes, like exec.Children.
type Children struct {
	Processes    int   // started for one call each
	Workers      int   // resident programs, including those that are starting or stopping
	WorkerMemory int64 // resident memory of all workers in bytes; 0 if unknown
	Waiting      int   // calls in the queue of the app
}

// NewMetrics returns Metrics with all figures zero. version is that of the program.
func NewMetrics(version string) *Metrics {
	vm.ExposeMetadata(true)
	return &Metrics{set: vm.NewSet(), version: version, agents: map[string]bool{}}
}

// count increments a counter. labels are alternating names and values.
func (m *Metrics) count(metric string, labels ...string) {
	m.set.GetOrCreateCounter(seriesName(metric, labels...)).Inc()
}

// maxAgents bounds the agents that have a label of their own.
const maxAgents = 100

// seriesName returns the name of a series. labels are alternating names and values; the values need no
// escapes.
func seriesName(metric string, labels ...string) string {
	var b strings.Builder
	b.WriteString(metric)
	for i := 0; i < len(labels); i += 2 {
		separator := ","
		if i == 0 {
			separator = "{"
		}
		b.WriteString(separator + labels[i] + `="` + labels[i+1] + `"`)
	}
	b.WriteByte('}')
	return b.String()
}

// Follow sets the sources of the current load. It is separate from NewMetrics because the gateway is
// created after the metrics that observe it.
func (m *Metrics) Follow(s MetricSources) { m.sources.Store(&s) }

// Begin implements [Observer].
func (m *Metrics) Begin(ctx context.Context, call CallStart) (context.Context, CallObserver) {
	return ctx, &countedCall{m, call}
}

type countedCall struct {
	*Metrics
	call CallStart
}

// Decided counts a decision. The code of a refusal is counted with the call.
func (c *countedCall) Decided(d Decision) {
	c.count("vaultwicket_decisions_total", "decision", d.Decision, "rule", cmp.Or(d.Rule, "none"))
}

// End counts the call and the findings of content rules.
func (c *countedCall) End(end CallEnd) {
	for _, finding := range end.Found {
		if rule, kind, _ := strings.Cut(finding, " "); kind != "not-searched" {
			isShadow := strconv.FormatBool(slices.Contains(end.Shadow, rule))
			c.count("vaultwicket_found_total", "rule", rule, "kind", kind, "shadow", isShadow)
		}
	}
	surface := "other" // bounds the values of the label, whatever the caller sends
	if slices.Contains([]string{"mcp", "http", "terminal"}, c.call.Surface) {
		surface = c.call.Surface
	}
	switch c.call.Kind {
	case WholeBatch:
		c.count("vaultwicket_batches_total", "surface", surface, "outcome", end.Code)
	case OnlyPlanned:
		c.count("vaultwicket_dry_runs_total", "surface", surface, "outcome", end.Code)
	default:
		c.count("vaultwicket_calls_total", "command", c.call.Command, "surface", surface, "outcome", end.Code)
		if c.call.Agent != "" {
			c.count("vaultwicket_agent_calls_total", "agent", c.agentLabel(c.call.Agent), "outcome", end.Code)
		}
		backend := cmp.Or(end.Backend, "none")
		effect := cmp.Or(end.Effect, "none")
		duration := seriesName("vaultwicket_call_duration_seconds", "backend", backend, "effect", effect)
		c.set.GetOrCreatePrometheusHistogramExt(duration, durationBuckets).Update(end.Duration.Seconds())
	}
}

// agentLabel returns the label of an agent: its name or, beyond the first maxAgents agents, "other".
func (m *Metrics) agentLabel(agent string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.agents[agent] && len(m.agents) >= maxAgents {
		return "other"
	}
	m.agents[agent] = true
	return agent
}

// WriteFor writes the figures that an agent may see: the number of its own calls. For "", the owner, it
// writes all figures.
func (m *Metrics) WriteFor(w io.Writer, agent string) {
	if agent == "" {
		m.WritePrometheus(w)
		return
	}
	prefix := seriesName("vaultwicket_agent_calls_total", "agent", agent)
	prefix = strings.TrimSuffix(prefix, "}") + ","
	var all bytes.Buffer
	m.set.WritePrometheus(&all)
	for line := range strings.Lines(all.String()) {
		if strings.HasPrefix(line, prefix) {
			_, _ = io.WriteString(w, line)
		}
	}
}

// WritePrometheus writes all figures, including those of the Go runtime and the process, in the text
// format of Prometheus.
func (m *Metrics) WritePrometheus(w io.Writer) {
	vm.WriteGaugeUint64(w, seriesName("vaultwicket_build_info", "version", m.version, "go", runtime.Version()), 1)
	m.set.WritePrometheus(w)
	defer vm.WriteProcessMetrics(w)
	s := m.sources.Load()
	if s == nil {
		return
	}
	type series struct {
		name  string
		value int
	}
	// The library writes each series of a metric as a metric of its own.
	gauges := func(metric string, all ...series) {
		vm.WriteMetadataIfNeeded(w, metric, "gauge")
		for _, s := range all {
			fmt.Fprintf(w, "%s %d\n", s.name, max(s.value, 0))
		}
	}
	if s.Sessions != nil {
		gauges("vaultwicket_sessions", series{"vaultwicket_sessions", s.Sessions()})
	}
	if s.Dropped != nil {
		vm.WriteCounterUint64(w, "vaultwicket_export_dropped_total", s.Dropped())
	}
	if s.Missed != nil {
		vm.WriteCounterUint64(w, "vaultwicket_audit_missed_total", s.Missed())
	}
	load := s.Load()
	c := s.Children()
	gauges("vaultwicket_calls_running", series{"vaultwicket_calls_running", load.Running})
	gauges(
		"vaultwicket_calls_waiting",
		series{seriesName("vaultwicket_calls_waiting", "for", "place"), load.Waiting},
		series{seriesName("vaultwicket_calls_waiting", "for", "app"), c.Waiting},
	)
	gauges(
		"vaultwicket_children",
		series{seriesName("vaultwicket_children", "kind", "process"), c.Processes},
		series{seriesName("vaultwicket_children", "kind", "worker"), c.Workers},
	)
	if c.WorkerMemory > 0 {
		vm.WriteGaugeUint64(w, "vaultwicket_worker_memory_bytes", uint64(c.WorkerMemory))
	}
}

// durationBuckets are the upper bounds of the buckets in seconds. A resident worker answers within the first
// ones, and the app within tens of milliseconds. A call is limited to 55 seconds, not counting the time
// for an approval.
var durationBuckets = []float64{0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60}
