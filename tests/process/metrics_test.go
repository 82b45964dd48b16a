package process

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// figuresOf reads figures as Prometheus does.
func figuresOf(t *testing.T, m *telemetry.Metrics) (map[string]*dto.MetricFamily, string) {
	t.Helper()
	var out bytes.Buffer
	m.WritePrometheus(&out)
	text := out.String()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&out)
	require.That(t, err == nil, "%v in\n%s", err, text)
	return families, text
}

// sums adds up the series of a counter by some of its labels.
func sums(f *dto.MetricFamily, labels ...string) map[string]int {
	all := map[string]int{}
	for _, m := range f.GetMetric() {
		var values []string
		for _, name := range labels {
			for _, l := range m.GetLabel() {
				if l.GetName() == name {
					values = append(values, l.GetValue())
				}
			}
		}
		all[strings.Join(values, " ")] += int(m.GetCounter().GetValue())
	}
	return all
}

func text(pairs ...string) allowlist.Params {
	p := allowlist.Params{}
	for i := 0; i < len(pairs); i += 2 {
		p[pairs[i]] = allowlist.Text(pairs[i+1])
	}
	return p
}

// mixedCalls are calls that end in many ways. Texts that a caller can choose hold
// a canary.
func mixedCalls(i int) gateway.Request {
	note := fmt.Sprintf("Inbox/CANARY%d.md", i)
	requests := []gateway.Request{
		{Command: "read", Params: text("path", "Inbox/a.md")},
		{Command: "read", Params: text("path", note)},
		{Command: "search", Params: text("query", "CANARY")},
		{Command: "append", Params: text("path", "Inbox/a.md", "content", "CANARY")},
		{Command: "create", Params: text("path", note, "content", "CANARY")},
		{Command: "delete", Params: text("path", note)},
		{Command: fmt.Sprintf("CANARY%d", i)},
		{Command: "tags", Params: text("CANARY", "x")},
		{Command: "backlinks", Params: text("path", "Inbox/a.md")},
		{Command: "eval", Params: text("code", "CANARY")},
	}
	req := requests[i%len(requests)]
	req.Surface, req.Client = "mcp", "CANARY"
	return req
}

func TestTheMetricsAgreeWithTheAuditLog(t *testing.T) {
	t.Parallel()
	figures := telemetry.NewMetrics("1.2.3")
	o := harness.NewInProcess(t, func(c *gateway.Config) {
		c.Observe, c.Policy.Confirm, c.Limits.Calls = figures, policy.ConfirmDestructive, 480
		c.Runner = exec.New(exec.Config{CLI: "/nowhere/obsidian", Self: harness.Binary, Resident: true})
		t.Cleanup(c.Runner.Close)
	})
	figures.Follow(telemetry.MetricSources{Load: o.Gateway.Load,
		Children: func() telemetry.Children { return telemetry.Children(o.Config.Runner.Children()) },
		Sessions: func() int { return 1 }, Dropped: func() uint64 { return 3 }})
	const made = 460 + 8*4
	for i := range 460 {
		if i%50 == 0 && i < 400 { // later the limit would refuse them as a whole
			o.Gateway.DoBatch(t.Context(), gateway.Batch{Request: gateway.Request{Surface: "mcp"}, Operations: []gateway.Operation{
				{ClientID: "a", Request: mixedCalls(0)}, {ClientID: "b", Request: mixedCalls(0)},
				{ClientID: "c", Request: mixedCalls(1)}, {ClientID: "d", Request: mixedCalls(2)},
			}})
		}
		o.Gateway.Do(t.Context(), mixedCalls(i))
	}
	families, page := figuresOf(t, figures)
	o.Gateway.Flush()
	ends, decisions, calls := auditedCalls(t, o)
	if got := limitedAsOne(sums(families["vaultwicket_calls_total"], "command", "outcome")); !maps.Equal(got, limitedAsOne(ends)) || calls != made {
		t.Errorf("%d calls; the metrics have %v, the audit log %v", calls, got, ends)
	}
	got := sums(families["vaultwicket_decisions_total"], "decision", "rule")
	assert.That(t, maps.Equal(got, decisions), "the metrics have the decisions %v, the audit log %v", got, decisions)
	counted := 0
	for _, m := range families["vaultwicket_call_duration_seconds"].GetMetric() {
		counted += int(m.GetHistogram().GetSampleCount())
	}
	assert.That(t, counted == made, "%d durations", counted)
	batches := 0
	for _, n := range sums(families["vaultwicket_batches_total"], "outcome") {
		batches += n
	}
	assert.That(t, batches == 8, "%d batches", batches)
	if n := families["vaultwicket_export_dropped_total"].GetMetric()[0].GetCounter().GetValue(); n != 3 {
		t.Errorf("%v dropped lines", n)
	}
	n := families["vaultwicket_children"].GetMetric()[1].GetGauge().GetValue()
	assert.That(t, n == 1, "%v workers", n)
	for _, hidden := range []string{"CANARY", "Inbox", filepath.Base(o.Vault), o.Vault} {
		assert.That(t, !strings.Contains(page, hidden), "the figures hold %q", hidden)
	}
}

// auditedCalls counts the ends by command and code, the decisions, and the calls.
func auditedCalls(t *testing.T, o *harness.InProcess) (ends, decisions map[string]int, calls int) {
	t.Helper()
	ends, decisions = map[string]int{}, map[string]int{}
	for line, err := range audit.Lines(t.Context(), ownerfiles.StateFolder(o.Config.Getenv, ""), audit.Filter{}) {
		require.NoError(t, err)
		if line.Kind == "decision" {
			decisions[line.Decision+" "+orWord(line.Rule, "none")]++
		}
		if line.Kind == "limited" { // calls that are only counted
			decisions["deny none"] += int(line.Count)
			ends[" "+line.Code] += int(line.Count)
			calls += int(line.Count)
		}
		if line.Kind == "end" || line.Decision == "deny" {
			command := line.Command
			if strings.Contains(command, "CANARY") {
				command = "unknown"
			}
			ends[command+" "+orWord(line.Code, "ok")]++
			calls++
		}
	}
	return ends, decisions, calls
}

// limitedAsOne adds up the calls that were refused for their rate: the audit log has
// no names of them.
func limitedAsOne(ends map[string]int) map[string]int {
	all := map[string]int{}
	for key, n := range ends {
		if strings.HasSuffix(key, " rate_limited") {
			key = "rate_limited"
		}
		all[key] += n
	}
	return all
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

// asSigner has this program be a command that signs, with a key of its own.
const asSigner = "OBSERVE_TEST_SIGNER"

// sign plays a command that signs.
func sign() {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	answer := []byte(key.Public().(ed25519.PublicKey))
	if os.Args[1] == "sign" {
		text, _ := io.ReadAll(os.Stdin)
		answer = ed25519.Sign(key, text)
	}
	fmt.Println(base64.StdEncoding.EncodeToString(answer))
}
