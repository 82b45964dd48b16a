package process

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

const (
	hostileSessions = 20
	hostileFor      = 4 * time.Second // of each attack
	hostileAgents   = 10              // of the attack by many
)

// siege is a server with a quiet agent and some that want all of it.
type siege struct {
	*harness.Program
	server *harness.HTTPServer
	tokens map[string]string // by agent
	quiet  *harness.HTTPSession
}

func besiege(t *testing.T) *siege {
	t.Helper()
	s := &siege{Program: harness.New(t, map[string]string{
		"Small.md": strings.Repeat("a line of a note that is read often\n", 140), "Middle.md": strings.Repeat("a line of a longer note\n", 300_000/24),
		"Large.md": strings.Repeat("a line of a note that nobody has written by hand\n", 12_000_000/49), "Quiet.md": "# Quiet\n",
	}), tokens: map[string]string{}}
	s.Set("confirm", `"never"`).Set("ask", `"client"`).Set("min-answer-time", `"0s"`)
	names := []string{"quiet", "late", "hostile", "asking"}
	for i := range hostileAgents {
		names = append(names, fmt.Sprintf("many%d", i))
	}
	for _, name := range names {
		s.Tables += fmt.Sprintf("[agents.%s]\ntier = \"v3\"\nallow-mutations = true\n", name)
		if name == "asking" {
			s.Tables += "confirm = \"writes\"\n"
		}
		s.Write("Of/"+name+".md", "# Own\n")
	}
	for _, name := range names {
		s.tokens[name] = strings.TrimSpace(s.Must("agent", "add", name))
	}
	s.server = s.OverHTTP()
	s.quiet = s.session("quiet")
	s.ask(t.Context(), s.quiet, harness.Calling("read", "path=Small.md"))
	awaitStart(t, s.server.Process.Process.Pid)
	return s
}

// session opens a session of an agent, of a client that shows forms.
func (s *siege) session(agent string) *harness.HTTPSession {
	s.T.Helper()
	session, status := s.handshake(agent)
	require.Equal(s.T, status, http.StatusOK, "initialize")
	return session
}

// sessionOnceFree is session for an agent whose last attack may still have all its memory for messages.
func (s *siege) sessionOnceFree(agent string) *harness.HTTPSession {
	s.T.Helper()
	for {
		session, status := s.handshake(agent)
		if status != http.StatusServiceUnavailable {
			require.Equal(s.T, status, http.StatusOK, "initialize")
			return session
		}
		time.Sleep(20 * time.Millisecond) // a client that tries again
	}
}

func (s *siege) handshake(agent string) (session *harness.HTTPSession, status int) {
	s.T.Helper()
	hello := strings.Replace(harness.Handshake(`{"elicitation":{}}`), `"name":"t"`, `"name":"codex-mcp-client"`, 1)
	endpoint := s.server.As(s.tokens[agent])
	answer := require.Value(endpoint.Send(s.T.Context(), http.MethodPost, hello))(s.T)
	return &harness.HTTPSession{Endpoint: endpoint, Session: answer.Header.Get("Mcp-Session-Id")}, answer.Status
}

// ask makes a call, and returns why it was not carried out, "" if it was.
func (s *siege) ask(ctx context.Context, session *harness.HTTPSession, call harness.Call) (refused string) {
	result, err := session.Call(ctx, call)
	switch {
	case err != nil:
		return fmt.Sprintf("%.200v", err)
	case !result.OK:
		return fmt.Sprintf("%s: %.200s", harness.CodeOf(result), result.Error.Message)
	}
	return ""
}

// attack is what one session of a hostile agent does again and again.
type attack struct {
	name  string
	agent string
	do    func(ctx context.Context, s *siege, session *harness.HTTPSession, agent string, n int) (refused string)
}

var attacks = []attack{
	{name: "nothing"},
	{"small reads", "hostile", func(ctx context.Context, s *siege, session *harness.HTTPSession, _ string, _ int) string {
		return s.ask(ctx, session, harness.Calling("read", "path=Small.md"))
	}},
	{"reads of 12 MB", "hostile", func(ctx context.Context, s *siege, session *harness.HTTPSession, _ string, _ int) string {
		return s.ask(ctx, session, harness.Calling("read", "path=Large.md"))
	}},
	{"searches", "hostile", func(ctx context.Context, s *siege, session *harness.HTTPSession, _ string, n int) string {
		return s.ask(ctx, session, harness.Calling("search:context", fmt.Sprintf("query=line %d", n%2), "format=json"))
	}},
	{"writes", "hostile", func(ctx context.Context, s *siege, session *harness.HTTPSession, agent string, n int) string {
		return s.ask(ctx, session, harness.Calling("append", "path=Of/"+agent+".md", fmt.Sprint("content=line ", n)))
	}},
	{"notes of 800 KB", "hostile", func(ctx context.Context, s *siege, session *harness.HTTPSession, agent string, n int) string {
		text := fmt.Sprint("content=", n, strings.Repeat(" word", 160_000))
		return s.ask(ctx, session, harness.Calling("create", fmt.Sprintf("path=Of/%s %s.md", agent, session.Session[:6]), text, "overwrite"))
	}},
	{"keys", "hostile", func(ctx context.Context, s *siege, session *harness.HTTPSession, agent string, n int) string {
		call := harness.Calling("append", "path=Of/"+agent+".md", fmt.Sprint("content=line ", n))
		return s.ask(ctx, session, call.With("idempotencyKey", fmt.Sprint(session.Session, n)))
	}},
	{"unanswered questions", "asking", func(ctx context.Context, s *siege, session *harness.HTTPSession, agent string, n int) string {
		call := harness.Calling("append", "path=Of/"+agent+".md", fmt.Sprint("content=line ", n, session.Session))
		params := map[string]any{"name": "obsidianCli", "arguments": call, "_meta": map[string]any{"padding": strings.Repeat("word ", 200_000)}}
		_, err := session.Post(ctx, "-1",
			harness.JSON(s.T, map[string]any{"jsonrpc": "2.0", "id": n + 1, "method": "tools/call", "params": params}),
			"Mcp-Session-Id", session.Session)
		return fmt.Sprintf("%.200v", err)
	}},
	{"messages of 12 MB", "hostile", func(ctx context.Context, s *siege, session *harness.HTTPSession, _ string, n int) string {
		answer, err := session.Send(ctx, http.MethodPost, largeMessage(), "Mcp-Session-Id", session.Session)
		return fmt.Sprintf("%d %.100s %v", answer.Status, answer.Body, err)
	}},
	{"batches", "hostile", func(ctx context.Context, s *siege, session *harness.HTTPSession, agent string, n int) string {
		var calls []harness.Call
		for i := range 100 {
			calls = append(calls, harness.Calling("append", "path=Of/"+agent+".md", fmt.Sprintf("content=line %d %d", n, i)))
		}
		answer, err := session.Ask(ctx, "tools/call", map[string]any{"name": "obsidianBatch", "arguments": harness.BatchOf(calls...)})
		var result gateway.BatchResult
		if err == nil {
			err = json.Unmarshal(answer.Result.StructuredContent, &result)
		}
		if err == nil && result.Summary.OK == 100 {
			return ""
		}
		return fmt.Sprintf("%+v %.200v", result.Summary, err)
	}},
	{"undo", "hostile", func(ctx context.Context, s *siege, session *harness.HTTPSession, agent string, n int) string {
		if n%2 == 0 {
			return s.ask(ctx, session, harness.Calling("append", "path=Of/"+agent+".md", fmt.Sprint("content=line ", n)))
		}
		return s.ask(ctx, session, harness.Calling("undo"))
	}},
	{"sessions", "hostile", func(ctx context.Context, s *siege, session *harness.HTTPSession, _ string, n int) string {
		hello := strings.Replace(harness.Handshake("{}"), `"name":"t"`, fmt.Sprintf(`"name":"%s %d"`, session.Session, n), 1)
		answer, err := session.Send(ctx, http.MethodPost, hello)
		return fmt.Sprintf("%d %v", answer.Status, err)
	}},
}

// largeMessage is made once: this process is also that of the quiet agent.
var largeMessage = sync.OnceValue(func() string {
	return harness.ToolCall(1, `{"command":"append","params":{"content":"`+strings.Repeat("word ", 2_300_000)+`"}}`)
})

// times are how long calls of a kind took.
type times struct {
	name string
	took []time.Duration
}

func (k *times) String() string {
	if len(k.took) == 0 {
		return fmt.Sprintf("%s: none", k.name)
	}
	slices.Sort(k.took)
	rounded := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	last := len(k.took) - 1
	return fmt.Sprintf("%s %d: %v %v %v", k.name, len(k.took), rounded(k.took[last/2]), rounded(k.took[last*99/100]), rounded(k.took[last]))
}

// live is what the quiet agent does until ctx ends. Nothing of it may be refused.
func (s *siege) live(ctx context.Context, session *harness.HTTPSession, agent, beside string) (kinds []*times) {
	small, middle, write := &times{name: "read"}, &times{name: "read of 300 KB"}, &times{name: "write"}
	for n := 0; n == 0 || ctx.Err() == nil; n++ {
		for kind, call := range map[*times]harness.Call{
			small: harness.Calling("read", "path=Small.md"), middle: harness.Calling("read", "path=Middle.md"),
			write: harness.Calling("append", "path=Of/"+agent+".md", fmt.Sprint("content=line ", n)),
		} {
			begun := time.Now()
			refused := s.ask(s.T.Context(), session, call)
			kind.took = append(kind.took, time.Since(begun))
			assert.Equal(s.T, refused, "", "beside %s, %s", beside, kind.name)
		}
		time.Sleep(10 * time.Millisecond) // the pace of an agent
	}
	return []*times{small, middle, write}
}

// besideAttack prints how long the calls of the quiet agent take beside an attack, and what the processes take.
func (s *siege) besideAttack(a attack, agents ...string) {
	s.T.Helper()
	ctx, stop := context.WithCancel(s.T.Context())
	defer stop()
	var running sync.WaitGroup
	var done atomic.Int64
	refusals := sync.Map{}
	var sessions []*harness.HTTPSession // before the attack begins, which leaves its own agents no memory for one
	for i := range hostileSessions {
		if a.do != nil {
			sessions = append(sessions, s.sessionOnceFree(agents[i%len(agents)]))
		}
	}
	for i, session := range sessions {
		agent := agents[i%len(agents)]
		running.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				refused := a.do(ctx, s, session, agent, n)
				done.Add(1)
				if refused != "" && ctx.Err() == nil {
					refusals.Store(refused, true)
				}
			}
		})
	}
	whole, over := context.WithTimeout(ctx, hostileFor)
	defer over()
	kinds := s.live(whole, s.quiet, "quiet", a.name)
	late := s.live(whole, s.session("late"), "late", a.name+", a newcomer") // once each
	stop()
	running.Wait()
	line := fmt.Sprintf("%-22s", a.name)
	for _, kind := range append(kinds, late...) {
		line += fmt.Sprint(" | ", kind)
	}
	own := harness.StatusKiB(s.T, s.server.Process.Process.Pid, "RssAnon")
	line += fmt.Sprintf(" | gateway %d KiB now", own)
	for _, worker := range harness.WorkersOf(s.T, s.server.Process.Process.Pid) {
		peak, _ := peakKiB(s.T, worker)
		line += fmt.Sprintf(", worker up to %d KiB", peak)
	}
	s.T.Logf("%s | %d of the attack", line, done.Load())
	count := 0
	refusals.Range(func(refused, _ any) bool {
		if count++; count <= 2 {
			s.T.Logf("    refused: %v", refused)
		}
		return true
	})
}

// mostBesideHostile bounds the memory of the gateway in KiB, without the pages of its program.
const mostBesideHostile = 64 << 10

// staysSmall checks the peaks of the processes.
func (s *siege) staysSmall() {
	s.T.Helper()
	pid := s.server.Process.Process.Pid
	all, program := peakKiB(s.T, pid)
	assert.That(s.T, all-program <= mostBesideHostile, "the gateway had %d KiB of its own", all-program)
	for _, worker := range harness.WorkersOf(s.T, pid) {
		peak, _ := peakKiB(s.T, worker)
		assert.That(s.T, peak <= mostOfWorker, "the worker had %d KiB", peak)
	}
}

// watchPeak returns what tells the most anonymous memory that a process had until then.
func watchPeak(t *testing.T, pid int) (peak func() int) {
	ctx, stop := context.WithCancel(t.Context())
	most := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		pace := time.NewTicker(5 * time.Millisecond)
		defer pace.Stop()
		for ctx.Err() == nil {
			most = max(most, harness.StatusKiB(t, pid, "RssAnon"))
			<-pace.C
		}
	}()
	return func() int { stop(); <-done; return most }
}

// TestAQuietAgentBesideAHostileOne: whatever one agent does with twenty sessions, nothing of another one is refused, nor of
// one that comes last, and both processes stay small. How long the calls take is printed.
func TestAQuietAgentBesideAHostileOne(t *testing.T) {
	testenv.OnlyLong(t)
	s := besiege(t)
	pid := s.server.Process.Process.Pid
	for _, a := range attacks {
		peak := watchPeak(t, pid)
		s.besideAttack(a, a.agent)
		t.Logf("    %s: the gateway had up to %d KiB of its own", a.name, peak())
	}
	s.staysSmall()
}

// TestAQuietAgentBesideManyHostileOnes is the same beside ten agents with two sessions each.
func TestAQuietAgentBesideManyHostileOnes(t *testing.T) {
	testenv.OnlyLong(t)
	s := besiege(t)
	pid := s.server.Process.Process.Pid
	var many []string
	for i := range hostileAgents {
		many = append(many, fmt.Sprintf("many%d", i))
	}
	for _, a := range attacks {
		if a.agent != "hostile" {
			continue
		}
		peak := watchPeak(t, pid)
		s.besideAttack(a, many...)
		t.Logf("    %s: the gateway had up to %d KiB of its own", a.name, peak())
	}
	s.staysSmall()
}
