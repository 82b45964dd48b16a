package consent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// An agent calls as fast as it can, alone, in batches and page after page, over standard input and
// over HTTP, while the user pauses it, revokes it, takes rights from it in the settings file, or it
// expires: after that there is no effect and no answer with text. The log has the times.
func TestTheLastEffectOfAnAgent(t *testing.T) {
	t.Parallel()
	for i, how := range []string{"pause", "revoke", "edit", "expiry"} {
		for j, over := range []string{"stdio", "http"} {
			t.Run(how+" over "+over, func(t *testing.T) {
				if i%2 != j {
					testenv.OnlyLong(t) // each end and each transport once by default
				}
				t.Parallel()
				r := newProgram(t)
				r.Write("Ann/Log.md", "")
				for i := range 40 {
					r.Write(fmt.Sprintf("Ann/N%02d.md", i), "text\n")
				}
				var mu sync.Mutex
				var ended time.Time
				r.Save()
				appends := harness.BatchOf(harness.Calling("append", "path=Ann/Log.md", "content=b"),
					harness.Calling("append", "path=Ann/Log.md", "content=b"), harness.Calling("files"))
				var call func(c harness.Call) gateway.Result
				var batch func() bool
				if over == "stdio" {
					ann := serverOf(r, "ann")
					call = ann.Do
					batch = func() bool {
						var got gateway.BatchResult
						ann.Tool("obsidianBatch", appends, &got)
						return got.OK
					}
				} else {
					giveTokens(r, []string{"ann"})
					ann := connected(r.OverHTTP(), "ann")
					call = func(c harness.Call) gateway.Result { got, _ := ann.do(c); return got }
					batch = func() bool {
						status, text := ann.send(tool(t, "obsidianBatch", appends))
						return status == 200 && strings.Contains(text, `"ok":true`)
					}
				}
				begun, finished := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(finished)
					<-begun
					at := time.Now()
					switch how {
					case "pause":
						r.Run("pause", "--agent=ann")
					case "revoke":
						r.Run("agent", "revoke", "ann")
					case "edit":
						addToTableOfAnn(t, r, "vaults = []")
					case "expiry":
						at = at.Add(300 * time.Millisecond) // a few rounds more
						addToTableOfAnn(t, r, "expires = "+at.UTC().Format("2006-01-02T15:04:05.000Z"))
					}
					mu.Lock()
					defer mu.Unlock()
					ended = at
				}()
				// How long it takes is in the log, and no limit but that of a session: after the first round
				// without an effect there is none any more.
				var last time.Time // when the last call began that had an effect or an answer
				calls, refused, cursor := 0, 0, ""
				size := 0 // of the note, after the first round without an effect
				for start := time.Now(); refused < testenv.Count(10, 30); {
					require.That(t, time.Since(start) <= harness.Deadline, "%d rounds with an effect, the last one began %v ago", calls, time.Since(last))
					at := time.Now()
					next := harness.Calling("files").With("limit", 1)
					if cursor != "" {
						next = harness.Call{"command": "files", "cursor": cursor}
					}
					listed := call(next)
					if cursor = ""; listed.Truncated != nil {
						cursor = listed.Truncated.Cursor
					}
					done, wrote, both := listed.OK, call(harness.Calling("append", "path=Ann/Log.md", "content=x")).OK, batch()
					switch now := len(r.Read("Ann/Log.md")); {
					case !done && !wrote && !both && refused == 0:
						refused, size = 1, now
					case !done && !wrote && !both:
						refused++
					case refused > 0:
						t.Fatalf("an effect after %d rounds without one: files %v, append %v, batch %v", refused, done, wrote, both)
					default:
						if last, calls = at, calls+1; calls == 3 {
							close(begun)
						}
					}
				}
				if calls < 3 {
					close(begun)
				}
				<-finished
				mu.Lock()
				defer mu.Unlock()
				t.Logf("%d rounds; the last one with an effect began %v after the end", calls, last.Sub(ended).Round(time.Millisecond))
				if got := len(r.Read("Ann/Log.md")); calls < 1 || size == 0 || got != size {
					t.Errorf("%d rounds; the note has %d bytes, and had %d after the first refusal", calls, got, size)
				}
			})
		}
	}
}

// addToTableOfAnn puts a line into the table of the agent ann in the settings file. It may run in
// any goroutine of the test.
func addToTableOfAnn(t *testing.T, r *harness.Program, line string) {
	t.Helper()
	file := filepath.Join(r.Home, ".config", "vaultwicket", "config.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return
	}
	changed := strings.Replace(string(text), "[agents.ann]\n", "[agents.ann]\n"+line+"\n", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Error(err)
	}
}

func TestARunningProgramEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	for _, how := range [][]string{{"pause", "--agent=reader"}, {"agent", "revoke", "reader"}} {
		r := newProgram(t)
		pidFile := filepath.Join(r.Home, "pid")
		r.App(fmt.Sprintf("case \"$*\" in *version*) echo '1.12.7 (installer 1.12.7)'; exit;; esac\necho $$ >'%s.new' && /bin/mv '%s.new' '%s'\nexec /bin/sleep 600\n",
			pidFile, pidFile, pidFile))
		r.Set("backend", `"obsidian"`).Set("timeout", `"55s"`)
		r.Tables = "[agents.reader]\nallow-mutations = false\n"
		r.Save()
		reader := serverOf(r, "reader")
		ended := make(chan time.Time, 1)
		stopped := make(chan time.Duration, 1)
		go func() {
			pid := harness.WaitForChild(t, pidFile)
			at := time.Now()
			ended <- at
			r.Run(how...)
			harness.WaitFor(t, "the program ends", func() bool { return harness.Gone(pid) })
			stopped <- time.Since(at)
		}()
		got := reader.Do(harness.Calling("daily:path"))
		answered := time.Since(<-ended)
		if took := <-stopped; got.OK || got.Error.Code != "paused" && got.Error.Code != "agent_denied" && got.Error.Code != "cancelled" {
			t.Errorf("%q: the program ended after %v, the call with %+v", how, took, got)
		} else {
			t.Logf("%q: the program ended after %v, the call was answered after %v with %s", how,
				took.Round(time.Millisecond), answered.Round(time.Millisecond), got.Error.Code)
		}
	}
}
