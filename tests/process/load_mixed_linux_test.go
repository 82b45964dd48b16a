package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// Variables that say how long the traffic lasts, such as 10m, and how long an agent and the other program wait before
// each call and change on average, such as 800ms, so that a machine with other work can have the traffic of a long day.
const (
	soakVariable  = "SOAK_TIME"
	pauseVariable = "SOAK_PAUSE"
)

const (
	soakAgents  = 20
	killEvery   = 25 * time.Second
	foreignPace = 30 * time.Millisecond
	sharedNote  = "Shared/log.md" // that links lead to
	// Lines for all go to one note after the other, so that a call late in the traffic has as much to do as an early one.
	sharedNotes = 400
	sharedLines = 300 // in one of them
	// So do the lines of an agent alone.
	ownNotes       = 40
	callsOnOwnNote = 1000
	soakTenths     = 10
)

// soak is the mixed traffic of many agents on one server, and what has to be true of it afterwards.
type soak struct {
	t      *testing.T
	vault  string
	home   string // of the server
	server *harness.HTTPServer
	began  time.Time
	length time.Duration
	pause  time.Duration             // of an agent before a call, on average
	spent  [soakTenths + 1]resources // at the start, and at the end of each tenth

	mu      sync.Mutex
	kept    map[string]string // the notes of lines that were acknowledged, by line
	refused map[string]string // those of lines that were refused, or taken back
	kills   []time.Time
	workers map[int]time.Time // when each was first seen
	tenths  [soakTenths]int
	took    map[string][]time.Duration // of calls that succeeded
	codes   map[string]int             // of answers
	crashed int                        // answers with cli_crashed without a kill
	shared  int                        // lines that were meant for the notes of all
	undone  int
}

// TestMixedTrafficForAWhile has agents read, change, undo, cancel and fail for a while, over one server, while another
// program changes notes and the worker is killed now and then. Each acknowledged line is there exactly once and each
// refused one nowhere, no worker is replaced but for a kill, the worker knows what is there, and nothing else is left.
func TestMixedTrafficForAWhile(t *testing.T) {
	testenv.OnlyLong(t)
	s := &soak{
		t: t, vault: filepath.Join(testenv.MemoryFolder(t), "Vault"), home: t.TempDir(), length: 20 * time.Second,
		kept: map[string]string{}, refused: map[string]string{}, workers: map[int]time.Time{}, took: map[string][]time.Duration{}, codes: map[string]int{},
	}
	if wanted := os.Getenv(soakVariable); wanted != "" {
		s.length = require.Value(time.ParseDuration(wanted))(t)
	}
	if wanted := os.Getenv(pauseVariable); wanted != "" {
		s.pause = require.Value(time.ParseDuration(wanted))(t)
	}
	require.NoError(t, fake.WriteVault(s.vault, 300, 7))
	for i := range soakAgents {
		for n := range ownNotes {
			harness.WriteFile(t, filepath.Join(s.vault, ownNote(i, n*callsOnOwnNote)), []byte("# Own\n"))
		}
		harness.WriteFile(t, filepath.Join(s.vault, fmt.Sprintf("Foreign/f%d.md", i)), nil)
	}
	harness.WriteFile(t, filepath.Join(s.vault, sharedNote), []byte("# Shared\n"))
	for i := range sharedNotes {
		harness.WriteFile(t, filepath.Join(s.vault, nameOfShared(i)), []byte("# Shared\n"))
	}
	before := s.files()
	s.server = harness.ServeHTTPIn(t, s.home, "--backend=embedded", "--vault="+s.vault, "--allow-mutations", "--tier=v2", "--confirm=never", "--secrets=allow")
	sessions := make([]*harness.HTTPSession, soakAgents)
	for i := range sessions {
		sessions[i] = require.Value(s.server.Connect(t.Context()))(t)
	}
	s.began = time.Now()
	ctx, stop := context.WithTimeout(t.Context(), s.length)
	defer stop()
	var others, agents sync.WaitGroup
	others.Go(func() { s.editFromOutside(ctx) })
	others.Go(func() { s.watchWorkers(ctx) })
	others.Go(func() { s.kill(ctx) })
	others.Go(func() { s.measure(ctx) })
	for i, session := range sessions {
		agents.Go(func() { s.act(ctx, i, session) })
	}
	agents.Wait()
	stop()
	others.Wait()
	s.judge(before)
	s.tell()
	s.judgeResources()
}

func nameOfShared(number int) string { return fmt.Sprintf("Shared/n%d.md", number) }

// nextShared returns the note for the next line for all.
func (s *soak) nextShared() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shared++
	return nameOfShared(s.shared / sharedLines % sharedNotes)
}

// ownNote returns the note of an agent alone at its n-th call.
func ownNote(agent, n int) string {
	return fmt.Sprintf("Agents/a%d-%d.md", agent, n/callsOnOwnNote%ownNotes)
}

// reads are calls that change nothing.
var soakReads = []map[string]any{
	{"command": "search", "params": map[string]any{"query": "the"}, "limit": 20},
	{"command": "tags", "params": map[string]any{"counts": true}},
	{"command": "backlinks", "params": map[string]any{"path": sharedNote}},
	{"command": "tasks", "limit": 20},
	{"command": "random:read"},
	{"command": "files", "params": map[string]any{"total": true}},
	{"command": "find", "params": map[string]any{"query": "plan notes week"}},
	{"command": "recent"},
	{"command": "read", "params": map[string]any{"path": sharedNote}},
}

// act is what one agent does until ctx ends.
func (s *soak) act(ctx context.Context, agent int, session *harness.HTTPSession) {
	random := rand.New(rand.NewPCG(uint64(agent), 46))
	for n := 0; ; n++ {
		wait(ctx, time.Duration(random.Int64N(int64(2*s.pause)+1)))
		if ctx.Err() != nil {
			return
		}
		line := fmt.Sprintf("- line %d-%d.", agent, n)
		switch draw := random.IntN(100); {
		case draw < 45:
			s.call(session, "read", soakReads[random.IntN(len(soakReads))], 0)
		case draw < 60:
			s.append(session, s.nextShared(), line)
		case draw < 72:
			if s.append(session, ownNote(agent, n), line) && random.IntN(2) == 0 {
				s.undo(session, line)
			}
		case draw < 80:
			s.call(session, "changes", map[string]any{"command": "changes", "params": map[string]any{"limit": 5}}, 0)
		case draw < 84:
			s.call(session, "undo:list", map[string]any{"command": "undo:list"}, 0)
		case draw < 92: // a client that gives up
			s.call(session, "cancelled", soakReads[random.IntN(len(soakReads))], time.Duration(1+random.IntN(8))*time.Millisecond)
		case draw < 96:
			s.failBatch(session, ownNote(agent, n), line)
		default:
			s.call(session, "property", map[string]any{"command": "property:set",
				"params": map[string]any{"path": ownNote(agent, n), "name": "n", "value": fmt.Sprint(n)}}, 0)
		}
	}
}

// wait waits unless ctx ends before.
func wait(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// call makes one call, cancelled after a while if that is not 0. ok is false without an answer.
func (s *soak) call(session *harness.HTTPSession, kind string, arguments map[string]any, giveUp time.Duration) (result gateway.Result, ok bool) {
	ctx := s.t.Context()
	if giveUp > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, giveUp)
		defer cancel()
	}
	begun := time.Now()
	result, err := session.Call(ctx, arguments)
	if err != nil {
		isOwn := giveUp > 0 && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, harness.ErrUnanswered))
		assert.That(s.t, isOwn, "%s: %v", kind, err)
		return result, false
	}
	s.count(kind, begun, result.OK, harness.CodeOf(result))
	return result, true
}

// count notes an answer.
func (s *soak) count(kind string, begun time.Time, ok bool, code string) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	tenth := int(now.Sub(s.began) * soakTenths / s.length)
	s.tenths[min(tenth, soakTenths-1)]++
	if ok {
		s.took[kind] = append(s.took[kind], now.Sub(begun))
		return
	}
	s.codes[kind+" "+code]++
	isKilled := slices.ContainsFunc(s.kills, func(at time.Time) bool { return at.After(begun.Add(-time.Second)) && at.Before(now) })
	if code == exec.CodeCrashed && !isKilled {
		s.crashed++
	}
}

// append adds a line to a note, and notes what the answer says of it.
func (s *soak) append(session *harness.HTTPSession, note, line string) (ok bool) {
	result, _ := s.call(session, "append", map[string]any{"command": "append", "params": map[string]any{"path": note, "content": line}}, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case result.OK:
		s.kept[line] = note
	case result.Error == nil: // there was no answer, which has failed the test
	case result.Error.Code == exec.CodeOutcomeUnknown: // it may be there
	default:
		s.refused[line] = note
	}
	return result.OK
}

// undo takes back the line that was just added.
func (s *soak) undo(session *harness.HTTPSession, line string) {
	result, _ := s.call(session, "undo", map[string]any{"command": "undo"}, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case result.OK:
		s.undone++
		s.refused[line] = s.kept[line]
		delete(s.kept, line)
	case result.Error == nil:
	case result.Error.Code == exec.CodeOutcomeUnknown:
		delete(s.kept, line)
	}
}

// failBatch sends an atomic batch whose third operation fails: nothing of it stays.
func (s *soak) failBatch(session *harness.HTTPSession, note, line string) {
	lines := []string{strings.TrimSuffix(line, ".") + "-1.", strings.TrimSuffix(line, ".") + "-2."}
	var operations []map[string]any
	for i, one := range lines {
		operations = append(operations,
			map[string]any{"clientId": fmt.Sprint("c", i), "command": "append",
				"params": map[string]any{"path": note, "content": one}})
	}
	operations = append(operations, map[string]any{"clientId": "c2", "command": "read", "params": map[string]any{"path": "gone.md"}})
	begun := time.Now()
	answer, err := session.Ask(s.t.Context(), "tools/call",
		map[string]any{"name": "obsidianBatch", "arguments": map[string]any{"operations": operations, "atomic": true}})
	assert.NoError(s.t, err)
	s.count("batch", begun, true, "")
	text := string(answer.Result.StructuredContent)
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(text, `"notUndone"`) {
		s.codes["batch notUndone"]++
		s.t.Logf("not undone: %.1500s", text)
		return
	}
	for _, one := range lines {
		s.refused[one] = note
	}
}

// editFromOutside changes notes as an editor does, one of which agents append to.
func (s *soak) editFromOutside(ctx context.Context) {
	random := rand.New(rand.NewPCG(1, 2))
	pace := time.NewTicker(max(foreignPace, s.pause/4))
	defer pace.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
		if n%10 == 0 {
			line := fmt.Sprintf("- foreign %d.", n)
			shared := s.nextShared()
			assert.NoError(s.t, appendLine(filepath.Join(s.vault, shared), line))
			s.mu.Lock()
			s.kept[line] = shared
			s.mu.Unlock()
			continue
		}
		note := filepath.Join(s.vault, fmt.Sprintf("Foreign/f%d.md", random.IntN(soakAgents)))
		text := fmt.Sprintf("#foreign%d the [[log]]\n- [ ] %d\n", random.IntN(5), n)
		assert.NoError(s.t, os.WriteFile(note, []byte(text), 0o644))
	}
}

func appendLine(name, line string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(line + "\n")
	return err
}

// watchWorkers notes which workers there are.
func (s *soak) watchWorkers(ctx context.Context) {
	pace := time.NewTicker(200 * time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
		pids := harness.WorkersOf(s.t, s.server.Process.Process.Pid)
		s.mu.Lock()
		s.see(pids)
		s.mu.Unlock()
	}
}

// see notes workers. The caller holds s.mu.
func (s *soak) see(pids []int) {
	for _, pid := range pids {
		if _, isKnown := s.workers[pid]; !isKnown {
			s.workers[pid] = time.Now()
		}
	}
}

// The tenths in which workers are killed, so that the others can be compared, and show a worker that lives on.
const (
	firstTenthWithKills = 2
	lastTenthWithKills  = 5
)

// kill kills the worker now and then.
func (s *soak) kill(ctx context.Context) {
	tenth := s.length / soakTenths
	wait(ctx, firstTenthWithKills*tenth)
	for pace := min(killEvery, tenth); time.Since(s.began) < (lastTenthWithKills+1)*tenth; {
		wait(ctx, pace)
		if ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		pids := harness.WorkersOf(s.t, s.server.Process.Process.Pid)
		s.see(pids)
		for _, pid := range pids {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				s.kills = append(s.kills, time.Now())
			}
		}
		s.mu.Unlock()
	}
}

// files are the names of all files in the vault, hidden ones included.
func (s *soak) files() (names []string) {
	err := filepath.WalkDir(s.vault, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	require.NoError(s.t, err)
	return names
}

// soakLines are the lines of agents and of the other program. Some are not ended by a line break.
var soakLines = regexp.MustCompile(`- (line|foreign) [0-9-]+\.`)

// judge compares the notes with what agents were told.
func (s *soak) judge(before []string) {
	t := s.t
	session := require.Value(s.server.Connect(t.Context()))(t)
	runner, program := harness.RunnerOf(t, s.vault, false)
	for _, c := range []struct {
		name   string
		params map[string]string
	}{{"tags", map[string]string{"counts": "true"}}, {"files", map[string]string{"total": "true"}},
		{"unresolved", map[string]string{"total": "true"}}, {"orphans", map[string]string{"total": "true"}},
		{"backlinks", map[string]string{"path": sharedNote}}} {
		alone := require.Value(runner.Run(t.Context(), harness.PermitFor(t, c.name, c.params), program))(t)
		params := map[string]any{}
		for name, value := range c.params {
			params[name] = value
		}
		got := require.Value(session.Call(t.Context(), map[string]any{"command": c.name, "params": params}))(t)
		assert.That(t, got.OK,
			"%s: the worker says\n%.300s\na process of its own\n%.300s", c.name, got.Stdout, alone.Stdout)
		assert.Equal(t, got.Stdout, alone.Stdout,
			"%s: the worker says\n%.300s\na process of its own\n%.300s", c.name, got.Stdout, alone.Stdout)
	}
	assert.That(t, slices.Equal(s.files(), before), "files are left: %d there, %d before", len(s.files()), len(before))
	counts := map[string]map[string]int{} // lines by notes
	countIn := func(note, line string) int {
		if counts[note] == nil {
			counts[note] = map[string]int{}
			text := string(require.Value(os.ReadFile(filepath.Join(s.vault, note)))(t))
			for _, one := range soakLines.FindAllString(text, -1) {
				counts[note][one]++
			}
		}
		return counts[note][line]
	}
	wrong := 0
	for line, note := range s.kept {
		if count := countIn(note, line); count != 1 {
			wrong++
			t.Errorf("the acknowledged line %q is in %s %d times", line, note, count)
		}
	}
	for line, note := range s.refused {
		if count := countIn(note, line); count != 0 {
			wrong++
			t.Errorf("the refused line %q is in %s %d times", line, note, count)
		}
	}
	assert.Equal(t, s.crashed, 0, "answers with cli_crashed without a kill")
	assert.That(t, len(s.workers) <= len(s.kills)+1, "%d workers, first seen at %v, with %d kills at %v",
		len(s.workers), s.sinceBegin(slices.Collect(maps.Values(s.workers))), len(s.kills), s.sinceBegin(s.kills))
	t.Logf("%d acknowledged lines, %d refused or taken back (%d undone), %d wrong; %d kills, %d workers", len(s.kept),
		len(s.refused), s.undone, wrong, len(s.kills), len(s.workers))
}

// sinceBegin returns how long after the begin some moments are, in order.
func (s *soak) sinceBegin(moments []time.Time) (since []time.Duration) {
	for _, at := range moments {
		since = append(since, at.Sub(s.began).Round(time.Millisecond))
	}
	slices.Sort(since)
	return since
}

// tell reports the rates, which depend on the machine.
func (s *soak) tell() {
	s.t.Logf("answers in each tenth: %v; without success: %v", s.tenths, s.codes)
	for kind, all := range s.took {
		slices.Sort(all)
		s.t.Logf("%-10s %6d: p50 %v, p99 %v, slowest %v", kind, len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	}
}
