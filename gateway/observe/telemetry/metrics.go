// Package telemetry has the observers of a gateway for other programs: [Metrics] counts calls
// for Prometheus, [Tracing] sends them to a collector of OpenTelemetry.
//
// Both see what kind of call it is and what came of it, never what is in it. Labels and
// attributes are commands of the table, codes, rules, backends and effects, each of which has
// few values; nothing that a caller or a note can choose is among them. Metrics open nothing:
// the server shows the figures. Traces are off unless the environment names a collector.
//
//	vaultwicket_calls_total{command,surface,outcome}           calls that ended, operations of batches too; outcome is ok or a code
//	vaultwicket_agent_calls_total{agent,outcome}               the same calls by agent, where agents are defined; "other" beyond the first 100
//	vaultwicket_batches_total{surface,outcome}                 batches as a whole
//	vaultwicket_dry_runs_total{surface,outcome}
//	vaultwicket_decisions_total{decision,rule}                 as in the audit log
//	vaultwicket_found_total{rule,kind}                         answers and changes in which a rule about texts found something
//	vaultwicket_call_duration_seconds{backend,effect}          histogram, from the request to the result
//	vaultwicket_calls_running, vaultwicket_calls_waiting{for}  for a place in the gateway, or in the queue of the app
//	vaultwicket_children{kind}                                 processes of one call, and resident workers
//	vaultwicket_worker_memory_bytes                            resident memory of the workers, on Linux
//	vaultwicket_sessions                                       clients, where they are counted
//	vaultwicket_export_dropped_total                           lines of the audit log that targets of export have lost
//	vaultwicket_build_info{version,go}                         and go_* and process_* of the library
//
// A call counts once, when it has ended: refused, failed or done. Requests that were not
// understood as a call reach no gateway and are not counted.
package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	vm "github.com/VictoriaMetrics/metrics"

	"vaultwicket/exec"
	"vaultwicket/gateway/observe"
)

// ContentType is that of what WritePrometheus writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Metrics are the figures of one process, an [observe.Observer]. They are safe for concurrent use.
type Metrics struct {
	set       *vm.Set
	version   string
	sources   atomic.Pointer[Sources]
	calls     *byLabels[callLabels, *vm.Counter]
	batches   *byLabels[outcomeLabels, *vm.Counter]
	dryRuns   *byLabels[outcomeLabels, *vm.Counter]
	agents    *byLabels[agentLabels, *vm.Counter]
	named     agentNames
	decisions *byLabels[decisionLabels, *vm.Counter]
	found     *byLabels[foundLabels, *vm.Counter]
	durations *byLabels[durationLabels, *histogram]
}

// Sources are asked for the current load when the figures are written. Each may be nil; its
// figures are then left out.
type Sources struct {
	Load     func() observe.Load
	Children func() exec.Children
	Sessions func() int // of clients
	Dropped  func() uint64
}

type (
	callLabels     struct{ command, surface, outcome string }
	outcomeLabels  struct{ surface, outcome string }
	agentLabels    struct{ agent, outcome string }
	decisionLabels struct{ decision, rule string }
	foundLabels    struct{ rule, kind string }
	durationLabels struct{ backend, effect string }
)

// NewMetrics returns figures that are all zero, of a program of this version.
func NewMetrics(version string) *Metrics {
	vm.ExposeMetadata(true)
	set := vm.NewSet()
	outcomes := func(metric string) *byLabels[outcomeLabels, *vm.Counter] {
		return lazily(func(l outcomeLabels) *vm.Counter {
			return set.GetOrCreateCounter(named(metric, "surface", l.surface, "outcome", l.outcome))
		})
	}
	return &Metrics{
		set: set, version: version, batches: outcomes("vaultwicket_batches_total"), dryRuns: outcomes("vaultwicket_dry_runs_total"),
		calls: lazily(func(l callLabels) *vm.Counter {
			return set.GetOrCreateCounter(named("vaultwicket_calls_total", "command", l.command, "surface", l.surface, "outcome", l.outcome))
		}),
		agents: lazily(func(l agentLabels) *vm.Counter {
			return set.GetOrCreateCounter(named("vaultwicket_agent_calls_total", "agent", l.agent, "outcome", l.outcome))
		}),
		decisions: lazily(func(l decisionLabels) *vm.Counter {
			return set.GetOrCreateCounter(named("vaultwicket_decisions_total", "decision", l.decision, "rule", l.rule))
		}),
		found: lazily(func(l foundLabels) *vm.Counter {
			return set.GetOrCreateCounter(named("vaultwicket_found_total", "rule", l.rule, "kind", l.kind))
		}),
		durations: lazily(func(durationLabels) *histogram { return &histogram{} }),
	}
}

// maxAgents bounds the agents that have a label of their own.
const maxAgents = 100

// agentNames are the agents that have a label of their own: the first ones that called.
type agentNames struct {
	mu   sync.Mutex
	seen map[string]bool
}

// label returns the label of an agent, "other" beyond the bound.
func (n *agentNames) label(agent string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	if !n.seen[agent] && len(n.seen) >= maxAgents {
		return "other"
	}
	n.seen[agent] = true
	return agent
}

// byLabels are the series of one metric, made when their labels first occur.
type byLabels[L comparable, S any] struct {
	create func(L) S
	mu     sync.RWMutex
	made   map[L]S
}

func lazily[L comparable, S any](create func(L) S) *byLabels[L, S] {
	return &byLabels[L, S]{create: create, made: map[L]S{}}
}

// of returns the series for labels.
func (b *byLabels[L, S]) of(labels L) S {
	b.mu.RLock()
	series, ok := b.made[labels]
	b.mu.RUnlock()
	if ok {
		return series
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if series, ok = b.made[labels]; !ok {
		series = b.create(labels)
		b.made[labels] = series
	}
	return series
}

// named returns the name of a series. The values are words of this program, which need no escapes.
func named(metric string, labels ...string) string {
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

// Follow sets what is asked for the current load. The gateway is made after the metrics that
// observe it.
func (m *Metrics) Follow(s Sources) { m.sources.Store(&s) }

// Begin makes Metrics an [observe.Observer].
func (m *Metrics) Begin(ctx context.Context, call observe.CallStart) (context.Context, observe.CallObserver) {
	return ctx, &countedCall{m, call}
}

type countedCall struct {
	*Metrics
	call observe.CallStart
}

// Decided counts a decision. The code of a refusal is counted with the call.
func (c *countedCall) Decided(d observe.Decision) {
	c.decisions.of(decisionLabels{d.Decision, cmp.Or(d.Rule, "none")}).Inc()
}

// End counts the call, and what was found.
func (c *countedCall) End(end observe.CallEnd) {
	for _, f := range end.Found {
		if rule, kind, _ := strings.Cut(f, " "); kind != "not-searched" {
			c.found.of(foundLabels{rule, kind}).Inc()
		}
	}
	surface := "other" // the label has few values, whatever a caller says
	if slices.Contains([]string{"mcp", "http", "terminal"}, c.call.Surface) {
		surface = c.call.Surface
	}
	switch c.call.Kind {
	case observe.WholeBatch:
		c.batches.of(outcomeLabels{surface, end.Code}).Inc()
	case observe.OnlyPlanned:
		c.dryRuns.of(outcomeLabels{surface, end.Code}).Inc()
	default:
		c.calls.of(callLabels{c.call.Command, surface, end.Code}).Inc()
		if c.call.Agent != "" {
			c.agents.of(agentLabels{c.named.label(c.call.Agent), end.Code}).Inc()
		}
		c.durations.of(durationLabels{cmp.Or(end.Backend, "none"), cmp.Or(end.Effect, "none")}).observe(end.Duration)
	}
}

// WritePrometheus writes all figures in the text format, with those of the Go runtime and of
// the process.
func (m *Metrics) WritePrometheus(w io.Writer) {
	vm.WriteGaugeUint64(w, named("vaultwicket_build_info", "version", m.version, "go", runtime.Version()), 1)
	m.set.WritePrometheus(w)
	m.writeDurations(w)
	if s := m.sources.Load(); s != nil {
		s.write(w)
	}
	vm.WriteProcessMetrics(w)
}

func (s *Sources) write(w io.Writer) {
	type series struct {
		name  string
		value int
	}
	// The library writes each series of a metric as a metric of its own.
	gauges := func(metric string, all ...series) {
		if len(all) > 0 {
			vm.WriteMetadataIfNeeded(w, metric, "gauge")
		}
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
	var waiting, children []series
	if s.Load != nil {
		load := s.Load()
		gauges("vaultwicket_calls_running", series{"vaultwicket_calls_running", load.Running})
		waiting = append(waiting, series{named("vaultwicket_calls_waiting", "for", "place"), load.Waiting})
	}
	if s.Children != nil {
		c := s.Children()
		waiting = append(waiting, series{named("vaultwicket_calls_waiting", "for", "app"), c.Waiting})
		children = []series{{named("vaultwicket_children", "kind", "process"), c.Processes}, {named("vaultwicket_children", "kind", "worker"), c.Workers}}
		if c.WorkerMemory > 0 {
			vm.WriteGaugeUint64(w, "vaultwicket_worker_memory_bytes", uint64(c.WorkerMemory))
		}
	}
	gauges("vaultwicket_calls_waiting", waiting...)
	gauges("vaultwicket_children", children...)
}

// bounds are the upper ends of the buckets: a resident worker answers within the first ones,
// the app within tens of milliseconds, and a call is limited to 55 seconds, without the time
// for an approval.
var bounds = [...]time.Duration{
	250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 15 * time.Second, time.Minute,
}

// histogram counts durations in buckets as Prometheus has them; those of the library are of
// its own kind. The zero value is empty.
type histogram struct {
	buckets [len(bounds) + 1]atomic.Uint64 // not cumulative; the last one is for the rest
	sum     atomic.Int64                   // nanoseconds
}

func (h *histogram) observe(d time.Duration) {
	i, _ := slices.BinarySearch(bounds[:], d)
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

// writeDurations writes the histograms, each bucket with the counts of the smaller ones. The
// count is that of the last bucket, so that the two agree while calls go on.
func (m *Metrics) writeDurations(w io.Writer) {
	const metric = "vaultwicket_call_duration_seconds"
	m.durations.mu.RLock()
	defer m.durations.mu.RUnlock()
	all := slices.SortedFunc(maps.Keys(m.durations.made), func(a, b durationLabels) int {
		return cmp.Or(cmp.Compare(a.backend, b.backend), cmp.Compare(a.effect, b.effect))
	})
	if len(all) == 0 {
		return
	}
	vm.WriteMetadataIfNeeded(w, metric, "histogram")
	for _, l := range all {
		h := m.durations.made[l]
		var total uint64
		for i := range h.buckets {
			total += h.buckets[i].Load()
			end := "+Inf"
			if i < len(bounds) {
				end = strconv.FormatFloat(bounds[i].Seconds(), 'g', -1, 64)
			}
			fmt.Fprintf(w, "%s %d\n", named(metric+"_bucket", "backend", l.backend, "effect", l.effect, "le", end), total)
		}
		fmt.Fprintf(w, "%s %g\n", named(metric+"_sum", "backend", l.backend, "effect", l.effect), time.Duration(h.sum.Load()).Seconds())
		fmt.Fprintf(w, "%s %d\n", named(metric+"_count", "backend", l.backend, "effect", l.effect), total)
	}
}
