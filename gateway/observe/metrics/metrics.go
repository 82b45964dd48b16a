// Package metrics counts what a gateway does, for Prometheus. [Metrics] observes
// the calls; [Metrics.WritePrometheus] writes all figures in the text format.
//
// It keeps no more than it can name: labels are commands of the table, codes,
// rules, backends and effects, each of which has few values. What a caller or a
// note can choose is in no label, so nobody can fill the memory with series or
// have a name of a note shown. It opens nothing and listens nowhere: who wants
// the figures on the network serves them.
//
//	vaultwicket_calls_total{command,surface,outcome}           calls that have ended, operations of batches too; outcome is ok or a code
//	vaultwicket_batches_total{surface,outcome}                 batches as a whole
//	vaultwicket_dry_runs_total{surface,outcome}
//	vaultwicket_decisions_total{decision,rule}                 as the audit log has them
//	vaultwicket_call_duration_seconds{backend,effect}          histogram, from the request to the result
//	vaultwicket_calls_running, vaultwicket_calls_waiting{for}  for a place in the gateway, or in the queue of the app
//	vaultwicket_children{kind}                                 processes of one call, and resident workers
//	vaultwicket_worker_memory_bytes                            resident memory of the workers, on Linux
//	vaultwicket_sessions                                       clients, where somebody counts them
//	vaultwicket_build_info{version,go}                         and go_* and process_* of the library
//
// The numbers are those of the audit log. A call counts once when it has ended:
// refused, failed or done. Requests that were not even understood as a call
// reach no gateway and are not counted.
package metrics

import (
	"context"
	"io"
	"runtime"
	"strings"
	"sync/atomic"

	vm "github.com/VictoriaMetrics/metrics"

	"vaultwicket/exec"
	"vaultwicket/gateway/observe"
)

// ContentType is that of what WritePrometheus writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Metrics are the figures of one process. It is safe for use by several
// goroutines.
type Metrics struct {
	set       *vm.Set
	version   string
	sources   atomic.Pointer[Sources]
	calls     counters[callLabels]
	batches   counters[outcomeLabels]
	dryRuns   counters[outcomeLabels]
	decisions counters[decisionLabels]
	durations durations
}

// Sources are asked for what is going on when the figures are written. Each may
// be nil; its figures are then left out.
type Sources struct {
	Load     func() observe.Load
	Children func() exec.Children
	Sessions func() int // of clients
}

// New returns figures that are all zero, of a program of this version.
func New(version string) *Metrics {
	vm.ExposeMetadata(true)
	m := &Metrics{set: vm.NewSet(), version: version}
	m.calls = newCounters(m.set, callLabels.name)
	m.batches = newCounters(m.set, func(l outcomeLabels) string { return l.name("vaultwicket_batches_total") })
	m.dryRuns = newCounters(m.set, func(l outcomeLabels) string { return l.name("vaultwicket_dry_runs_total") })
	m.decisions = newCounters(m.set, decisionLabels.name)
	return m
}

// Follow sets whom to ask. The gateway is made after the figures that observe it.
func (m *Metrics) Follow(s Sources) { m.sources.Store(&s) }

type callLabels struct{ command, surface, outcome string }

func (l callLabels) name() string {
	return named("vaultwicket_calls_total", "command", l.command, "surface", l.surface, "outcome", l.outcome)
}

type outcomeLabels struct{ surface, outcome string }

func (l outcomeLabels) name(metric string) string {
	return named(metric, "surface", l.surface, "outcome", l.outcome)
}

type decisionLabels struct{ decision, rule string }

func (l decisionLabels) name() string {
	return named("vaultwicket_decisions_total", "decision", l.decision, "rule", l.rule)
}

// named returns the name of a series. Values are words of ours, which need no
// escape.
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

// Begin makes Metrics a [observe.Observer].
func (m *Metrics) Begin(ctx context.Context, call observe.CallStart) (context.Context, observe.CallObserver) {
	return ctx, &counted{m, call}
}

// counted is a call that goes on.
type counted struct {
	*Metrics
	call observe.CallStart
}

// Decided counts a decision. The code of a refusal is counted with the call.
func (c *counted) Decided(d observe.Decision) {
	c.decisions.of(decisionLabels{d.Decision, orNone(d.Rule)}).Inc()
}

// End counts the call.
func (c *counted) End(end observe.CallEnd) {
	surface := surfaceOf(c.call.Surface)
	switch c.call.Kind {
	case observe.WholeBatch:
		c.batches.of(outcomeLabels{surface, end.Code}).Inc()
	case observe.OnlyPlanned:
		c.dryRuns.of(outcomeLabels{surface, end.Code}).Inc()
	default:
		c.calls.of(callLabels{c.call.Command, surface, end.Code}).Inc()
		c.durations.of(durationLabels{orNone(end.Backend), orNone(end.Effect)}).observe(end.Duration)
	}
}

// surfaceOf keeps the label to the ways that there are.
func surfaceOf(surface string) string {
	switch surface {
	case "mcp", "http", "terminal":
		return surface
	}
	return "other"
}

// orNone is the value of a label where there is nothing to say.
func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// WritePrometheus writes all figures as they are now, those of the Go runtime
// and of the process included.
func (m *Metrics) WritePrometheus(w io.Writer) {
	vm.WriteGaugeUint64(w, named("vaultwicket_build_info", "version", m.version, "go", runtime.Version()), 1)
	m.set.WritePrometheus(w)
	m.durations.write(w)
	if s := m.sources.Load(); s != nil {
		s.write(w)
	}
	vm.WriteProcessMetrics(w)
}

func (s *Sources) write(w io.Writer) {
	gauge := func(name string, n int) { vm.WriteGaugeUint64(w, name, uint64(max(n, 0))) }
	if s.Sessions != nil {
		gauge("vaultwicket_sessions", s.Sessions())
	}
	waiting := []series{}
	if s.Load != nil {
		load := s.Load()
		gauge("vaultwicket_calls_running", load.Running)
		waiting = append(waiting, series{named("vaultwicket_calls_waiting", "for", "place"), load.Waiting})
	}
	var children []series
	if s.Children != nil {
		c := s.Children()
		waiting = append(waiting, series{named("vaultwicket_calls_waiting", "for", "app"), c.Waiting})
		children = []series{{named("vaultwicket_children", "kind", "process"), c.Processes}, {named("vaultwicket_children", "kind", "worker"), c.Workers}}
		if c.WorkerMemory > 0 {
			vm.WriteGaugeUint64(w, "vaultwicket_worker_memory_bytes", uint64(c.WorkerMemory))
		}
	}
	writeGauges(w, "vaultwicket_calls_waiting", waiting)
	writeGauges(w, "vaultwicket_children", children)
}
