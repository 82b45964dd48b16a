package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// notebook is an observer that keeps what it is told.
type notebook struct {
	mu        sync.Mutex
	starts    []telemetry.CallStart
	decisions []telemetry.Decision
	ends      []telemetry.CallEnd
}

type notebookKey struct{}

func (n *notebook) Begin(ctx context.Context, call telemetry.CallStart) (context.Context, telemetry.CallObserver) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.starts = append(n.starts, call)
	return context.WithValue(ctx, notebookKey{}, call.Command), n
}

func (n *notebook) Decided(d telemetry.Decision) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.decisions = append(n.decisions, d)
}

func (n *notebook) End(end telemetry.CallEnd) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ends = append(n.ends, end)
}

// told is what a notebook contains, one line a fact.
func (n *notebook) told() string {
	var b strings.Builder
	for _, s := range n.starts {
		fmt.Fprintf(&b, "begin %s %s %s\n", s.Kind, s.Command, s.Surface)
	}
	for _, d := range n.decisions {
		fmt.Fprintf(&b, "%s %s %s\n", d.Decision, d.Rule, d.Code)
	}
	for _, e := range n.ends {
		fmt.Fprintf(&b, "end %s, %s %s, %q %q, %d bytes\n", e.Code, e.Decision, e.Rule, e.Backend, e.Effect, e.Bytes)
	}
	return b.String()
}

func TestWhatObserversAreTold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Config)
		do     func(*Gateway)
		want   string
	}{
		{
			"a call that is carried out", nil,
			func(g *Gateway) { g.Do(context.Background(), Request{Command: "daily:path", Surface: "mcp"}) },
			"begin single daily:path mcp\nallow  \nend ok, allow , \"embedded\" \"read\", 5 bytes\n",
		},
		{
			"a call that is refused", func(c *Config) { c.Policy.Mutations = false },
			func(g *Gateway) {
				g.Do(context.Background(), Request{Command: "daily:append", Params: params("content", "x"), Surface: "mcp"})
			},
			"begin single daily:append mcp\ndeny mutations mutations_off\nend mutations_off, deny mutations, \"\" \"write\", 0 bytes\n",
		},
		{
			"a command that is none", nil,
			func(g *Gateway) { g.Do(context.Background(), Request{Command: "s3cret", Surface: "mcp"}) },
			"begin single unknown mcp\ndeny  unknown_command\nend unknown_command, deny , \"\" \"\", 0 bytes\n",
		},
		{
			"a vault that is none", nil,
			func(g *Gateway) { g.Do(context.Background(), Request{Command: "daily:path", Vault: "s3cret"}) },
			"begin single daily:path \ndeny  vault_not_found\nend vault_not_found, deny , \"\" \"\", 0 bytes\n",
		},
		{
			"a dry run", nil,
			func(g *Gateway) { g.DryRun(context.Background(), Request{Command: "daily:path"}) },
			"begin dry run daily:path \nend ok, allow , \"embedded\" \"read\", 0 bytes\n",
		},
		{
			"a batch and its operation", nil,
			func(g *Gateway) {
				g.DoBatch(context.Background(),
					Batch{Request: Request{Surface: "mcp"},
						Operations: []Operation{{ClientID: "s3cret", Request: Request{Command: "daily:path"}}}})
			},
			"begin batch batch mcp\nbegin in batch daily:path mcp\nallow  \nend ok, allow , \"embedded\" \"read\", 5 bytes\nend ok,  , \"\" \"\", 0 bytes\n",
		},
		{
			"a batch that is refused", func(c *Config) { c.Policy.Mutations = false },
			func(g *Gateway) {
				g.DoBatch(context.Background(),
					Batch{Operations: []Operation{{ClientID: "c",
						Request: Request{Command: "daily:append", Params: params("content", "x")}}}})
			},
			"begin batch batch \ndeny mutations mutations_off\nend mutations_off, deny mutations, \"\" \"write\", 0 bytes\n",
		},
		{
			"a fault of ours", func(c *Config) { c.Runner = nil },
			func(g *Gateway) { g.Do(context.Background(), Request{Command: "daily:path"}) },
			"begin single daily:path \nend internal,  , \"\" \"\", 0 bytes\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var told notebook
			f := newFixture(t, func(c *Config) {
				c.Backend, c.Observe = Embedded, &told
				if tt.change != nil {
					tt.change(c)
				}
			}).embedded(`--facts vault=Work daily:path => a.md\n`)
			tt.do(f.gateway)
			got := told.told()
			assert.That(t, got == tt.want, "told\n%swant\n%s", got, tt.want)
		})
	}
}

// TestObserversAreToldWhatTheAuditLogIs counts the decisions and the ends of many
// calls of every kind in both.
func TestObserversAreToldWhatTheAuditLogIs(t *testing.T) {
	t.Parallel()
	calls := testenv.Count(200, 500)
	var told notebook
	f := newFixture(t, func(c *Config) {
		c.Backend, c.Observe, c.Policy.Confirm = Embedded, &told, 0
		c.Limits.Calls = calls * 9 / 10
	}).embedded(`--facts vault=Work daily:path => a.md\n`)
	commands := slices.Collect(allowlist.Commands())
	for i := range calls {
		c := commands[i%len(commands)]
		req := Request{Command: c.Name, Params: sampleParams(c), Surface: "mcp"}
		switch i % 7 {
		case 0:
			req = Request{Command: "daily:path"}
		case 1:
			req.Command = fmt.Sprintf("s3cret-%d", i)
		case 2:
			req.Params = params("nothing", "x")
		}
		f.gateway.Do(context.Background(), req)
	}
	observed, audited := map[string]int{}, map[string]int{}
	for _, d := range told.decisions {
		observed[d.Decision+" "+d.Rule+" "+d.Code]++
	}
	for _, e := range told.ends {
		observed["end "+e.Code]++
	}
	f.gateway.Flush()
	for _, line := range auditOf(t, f) {
		if line.Kind == audit.KindLimited {
			audited["deny  "+line.Code] += int(line.Count)
			audited["end "+line.Code] += int(line.Count)
		}
		if line.Kind == "decision" {
			audited[line.Decision+" "+line.Rule+" "+line.Code]++
		}
		if line.Kind == "end" || line.Decision == "deny" {
			code := line.Code
			if code == "" {
				code = "ok"
			}
			audited["end "+code]++
		}
	}
	assert.That(t, maps.Equal(observed, audited), "%d ends; observed %v, audited %v", len(told.ends), observed, audited)
	assert.Equal(t, len(told.ends), calls, "%d ends; observed %v, audited %v", len(told.ends), observed, audited)
	assert.That(t, len(observed) >= 10, "only %v", slices.Sorted(maps.Keys(observed)))
}

func TestTheContextOfAnObserverReachesTheOthers(t *testing.T) {
	t.Parallel()
	var first, second notebook
	ctx, call := telemetry.All(nil, &first, &second).Begin(context.Background(), telemetry.CallStart{Command: "read"})
	call.Decided(telemetry.Decision{Decision: "allow"})
	call.End(telemetry.CallEnd{Code: "ok"})
	if ctx.Value(notebookKey{}) != "read" || first.told() != second.told() || len(first.ends) != 1 {
		t.Errorf("told %q and %q", first.told(), second.told())
	}
	assert.That(t, telemetry.All(nil, nil) == nil, "there is an observer of nothing")
}
