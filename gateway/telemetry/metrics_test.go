package telemetry

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// scrape reads the figures as Prometheus does.
func scrape(t testing.TB, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	var out bytes.Buffer
	m.WritePrometheus(&out)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	return require.Value(parser.TextToMetricFamilies(&out))(t)
}

// values returns the series of a counter or a gauge by their labels.
func values(f *dto.MetricFamily) map[string]float64 {
	all := map[string]float64{}
	for _, m := range f.GetMetric() {
		var labels []string
		for _, l := range m.GetLabel() {
			labels = append(labels, l.GetValue())
		}
		all[strings.Join(labels, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	return all
}

// ended is a call of a kind that ended in a way.
func ended(m *Metrics, kind CallKind, command, surface string, d Decision, end CallEnd) {
	_, call := m.Begin(context.Background(), CallStart{Command: command, Surface: surface, Kind: kind})
	if d != (Decision{}) {
		call.Decided(d)
	}
	call.End(end)
}

func TestTheFiguresAreThoseOfTheCalls(t *testing.T) {
	m := NewMetrics("1.2.3")
	allow, deny := Decision{Decision: "allow"}, Decision{Decision: "deny", Rule: "tier", Code: "tier_closed"}
	for range 3 {
		ended(m, Single, "read", "mcp", allow, CallEnd{Code: "ok", Backend: "embedded", Effect: "read", Duration: 2 * time.Millisecond})
	}
	ended(m, InBatch, "read", "mcp", allow, CallEnd{Code: "ok", Backend: "embedded", Effect: "read", Duration: 2 * time.Minute})
	ended(m, Single, "tags", "a surface that nobody knows", deny, CallEnd{Code: "tier_closed"})
	ended(m, WholeBatch, "batch", "mcp", Decision{}, CallEnd{Code: "ok"})
	ended(m, OnlyPlanned, "read", "mcp", Decision{}, CallEnd{Code: "ok"})
	m.Follow(MetricSources{
		Load: func() Load { return Load{Running: 2, Waiting: 3} }, Sessions: func() int { return 4 },
		Children: func() Children {
			return Children{Processes: 5, Workers: 6, WorkerMemory: 7 << 20, Waiting: 8}
		},
	})
	families := scrape(t, m)
	for _, tt := range []struct {
		name   string
		kind   dto.MetricType
		series map[string]float64
	}{
		{"vaultwicket_calls_total", dto.MetricType_COUNTER, map[string]float64{"read mcp ok": 4, "tags other tier_closed": 1}},
		{"vaultwicket_batches_total", dto.MetricType_COUNTER, map[string]float64{"mcp ok": 1}},
		{"vaultwicket_dry_runs_total", dto.MetricType_COUNTER, map[string]float64{"mcp ok": 1}},
		{"vaultwicket_decisions_total", dto.MetricType_COUNTER, map[string]float64{"allow none": 4, "deny tier": 1}},
		{"vaultwicket_calls_running", dto.MetricType_GAUGE, map[string]float64{"": 2}},
		{"vaultwicket_calls_waiting", dto.MetricType_GAUGE, map[string]float64{"place": 3, "app": 8}},
		{"vaultwicket_sessions", dto.MetricType_GAUGE, map[string]float64{"": 4}},
		{"vaultwicket_children", dto.MetricType_GAUGE, map[string]float64{"process": 5, "worker": 6}},
		{"vaultwicket_worker_memory_bytes", dto.MetricType_GAUGE, map[string]float64{"": 7 << 20}},
	} {
		f := families[tt.name]
		assert.Equal(t, f.GetType(), tt.kind, "%s", tt.name)
		assert.Equal(t, len(values(f)), len(tt.series), "%s", tt.name)
		for labels, want := range tt.series {
			assert.Equal(t, values(f)[labels], want, "%s{%s}", tt.name, labels)
		}
	}
	if len(values(families["vaultwicket_build_info"])) != 1 || families["process_resident_memory_bytes"] == nil && families["go_memstats_sys_bytes"] == nil {
		t.Error("no figures of the program itself")
	}
}

func TestDurationsAreInTheBucketsOfPrometheus(t *testing.T) {
	m := NewMetrics("1")
	for _, d := range []time.Duration{0, 250 * time.Microsecond, 251 * time.Microsecond, time.Second, 59 * time.Second, time.Hour} {
		ended(m, Single, "read", "mcp", Decision{}, CallEnd{Code: "ok", Backend: "embedded", Effect: "read", Duration: d})
	}
	f := scrape(t, m)["vaultwicket_call_duration_seconds"]
	require.Equal(t, f.GetType(), dto.MetricType_HISTOGRAM)
	require.Equal(t, len(f.GetMetric()), 1)
	h := f.GetMetric()[0].GetHistogram()
	want := map[float64]uint64{0.00025: 2, 0.0005: 3, 0.5: 3, 1: 4, 15: 4, 60: 5}
	for _, b := range h.GetBucket() {
		if n, asked := want[b.GetUpperBound()]; asked && b.GetCumulativeCount() != n {
			t.Errorf("up to %v: %d, want %d", b.GetUpperBound(), b.GetCumulativeCount(), n)
		}
	}
	assert.Equal(t, h.GetSampleCount(), 6)
	assert.That(t, h.GetSampleSum() >= 3660, "%v", h)
	assert.That(t, h.GetSampleSum() <= 3661, "%v", h)
	assert.Equal(t, len(h.GetBucket()), len(durationBuckets)+1)
	assert.That(t, slices.IsSorted(durationBuckets[:]), "the bounds are not sorted")
}

func TestWhatIsNotKnownIsLeftOut(t *testing.T) {
	m := NewMetrics("1")
	for range 2 {
		families := scrape(t, m)
		for _, name := range []string{"vaultwicket_sessions", "vaultwicket_worker_memory_bytes",
			"vaultwicket_export_dropped_total", "vaultwicket_call_duration_seconds"} {
			assert.That(t, families[name] == nil, "%s is %v", name, families[name])
		}
		m.Follow(MetricSources{Load: func() Load { return Load{} }, Children: func() Children { return Children{} }})
	}
}

func TestFiguresAreWrittenWhileCallsGoOn(t *testing.T) {
	m := NewMetrics("1")
	commands := []string{"read", "tags", "files", "daily:read"}
	var calls sync.WaitGroup
	for caller := range 4 {
		calls.Go(func() {
			for i := range 1000 {
				ended(m, Single, commands[(i+caller)%4], "mcp", Decision{Decision: "allow"},
					CallEnd{Code: "ok", Backend: "embedded", Effect: "read",
						Duration: time.Duration(i) * time.Microsecond})
			}
		})
	}
	for range 10 {
		scrape(t, m)
	}
	calls.Wait()
	families := scrape(t, m)
	total := 0.0
	for _, n := range values(families["vaultwicket_calls_total"]) {
		total += n
	}
	got := families["vaultwicket_call_duration_seconds"].GetMetric()[0].GetHistogram().GetSampleCount()
	assert.Equal(t, total, 4000, "%v calls and %d durations", total, got)
	assert.Equal(t, got, 4000, "%v calls and %d durations", total, got)
}

// TestWhatRulesAboutTextsFoundIsCounted counts by rule, kind and shadow, and not what was not searched.
func TestWhatRulesAboutTextsFoundIsCounted(t *testing.T) {
	m := NewMetrics("1.2.3")
	for _, found := range [][]string{{"secrets github-pat", "suspicious order"}, {"secrets github-pat"},
		{"secrets not-searched", "suspicious not-searched"}, nil} {
		ended(m, Single, "read", "mcp", Decision{Decision: "allow"}, CallEnd{Code: "ok", Found: found, Shadow: []string{"suspicious"}})
	}
	got := values(scrape(t, m)["vaultwicket_found_total"])
	require.Equal(t, len(got), 2)
	require.Equal(t, got["secrets github-pat false"], 2)
	assert.Equal(t, got["suspicious order true"], 1)
}

func TestAnAgentSeesItsOwnFiguresAlone(t *testing.T) {
	m := NewMetrics("1.2.3")
	for agent, calls := range map[string]int{"one": 2, "one-more": 1, "": 3} {
		for range calls {
			_, call := m.Begin(t.Context(), CallStart{Command: "read", Surface: "http", Agent: agent})
			call.End(CallEnd{Code: "ok"})
		}
	}
	var own, unknown, all bytes.Buffer
	m.WriteFor(&own, "one")
	assert.Equal(t, own.String(), `vaultwicket_agent_calls_total{agent="one",outcome="ok"} 2`+"\n")
	m.WriteFor(&unknown, "unnamed agent")
	assert.Equal(t, unknown.String(), "")
	m.WriteFor(&all, "")
	assert.Contains(t, all.String(), `vaultwicket_calls_total{command="read"`)
}
