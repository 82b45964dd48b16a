package consent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// session is a client of the built server whose person can be asked.
type session struct {
	*harness.StdioServer
	modern bool
	can    string
}

// openSession starts the server on the vault of a gateway, with its own state.
func openSession(o *harness.InProcess, modern bool, can string) *session {
	o.T.Helper()
	return startSession(o, modern, can,
		[]string{"--backend=embedded", "--tier=v1", "--allow-mutations", "--confirm=writes", "--ask=client",
			"--min-answer-time=0s"})
}

// startSession does the same with other settings.
func startSession(o *harness.InProcess, modern bool, can string, flags []string) *session {
	o.T.Helper()
	server := osexec.Command(harness.Binary, append([]string{"serve", "--config=none", "--vault=" + o.Vault}, flags...)...)
	server.Env = append(os.Environ(), "HOME="+o.T.TempDir(), "XDG_STATE_HOME="+o.State)
	s := &session{harness.StartStdio(o.T, server), modern, can}
	if !modern {
		s.Send(strings.Replace(harness.Handshake(can), `"name":"t"`, `"name":"codex-mcp-client"`, 1)) // which shows many lines
		s.next()
		s.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return s
}

// again starts one more server of the same kind.
func (s *session) again(o *harness.InProcess) *session { return openSession(o, s.modern, s.can) }

// said is a message of the server, as far as these tests look at it.
type said struct {
	ID     json.RawMessage
	Method string
	Params struct{ Message string }
	Result struct {
		ResultType, RequestState string
		StructuredContent        gateway.Result
	}
}

func (s *session) next() (m said) {
	s.T.Helper()
	s.Next(&m)
	return m
}

// call sends a call; more are further members of its params.
func (s *session) call(arguments, more string) {
	s.T.Helper()
	s.IDs++
	if s.modern {
		more += `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"codex-mcp-client","version":"1"},"io.modelcontextprotocol/clientCapabilities":` +
			s.can + `}`
	}
	s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"obsidianCli","arguments":%s%s}}`, s.IDs, arguments, more))
}

// ask sends a call and returns the message that asks about it.
func (s *session) ask(arguments string) said {
	s.T.Helper()
	s.call(arguments, "")
	m := s.next()
	require.That(s.T, !s.modern || m.Result.ResultType == "input_required", "not asked: %+v", m)
	require.That(s.T, s.modern || m.Method == "elicitation/create", "not asked: %+v", m)
	return m
}

// reply sends an answer of the person, and does not wait.
func (s *session) reply(asked said, arguments, answer string) {
	s.T.Helper()
	if s.modern {
		s.call(arguments, fmt.Sprintf(`,"inputResponses":{"confirm":%s},"requestState":%q`, answer, asked.Result.RequestState))
		return
	}
	s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, answer))
}

func (s *session) answer(asked said, arguments, answer string) gateway.Result {
	s.T.Helper()
	s.reply(asked, arguments, answer)
	return s.next().Result.StructuredContent
}

const (
	formsOnly = `{"elicitation":{}}`
	appendIt  = `{"command":"append","params":{"path":"root.md","content":"x"}}`
	deleteIt  = `{"command":"delete","params":{"path":"Inbox/a.md"}}`
)

func eachEra(t *testing.T, test func(t *testing.T, o *harness.InProcess, s *session)) {
	for _, modern := range []bool{false, true} {
		t.Run(map[bool]string{false: "legacy", true: "modern"}[modern], func(t *testing.T) {
			t.Parallel()
			o := harness.NewInProcess(t, nil)
			test(t, o, openSession(o, modern, formsOnly))
		})
	}
}

func TestThePersonIsAskedOverStdio(t *testing.T) {
	t.Parallel()
	eachEra(t, func(t *testing.T, o *harness.InProcess, s *session) {
		for _, answer := range []string{harness.Decline, `{"action":"cancel"}`, `{"action":"accept","content":{"confirm":false}}`} {
			s := s.again(o)
			o.Refusing(answer, "unconfirmed", func() string { return harness.CodeOf(s.answer(s.ask(appendIt), appendIt, answer)) })
			o.Refusing(answer, "unconfirmed", func() string { return harness.CodeOf(s.answer(s.ask(deleteIt), deleteIt, answer)) })
			for range 3 {
				if answer != harness.Decline {
					break // no decision: it is asked again
				}
				o.Refusing("again", "unconfirmed", func() string {
					s.call(deleteIt, "")
					return harness.CodeOf(s.next().Result.StructuredContent) // and no one is asked
				})
			}
		}
		got := s.answer(s.ask(appendIt), appendIt, harness.Accept)
		assert.That(t, got.OK, "got %+v, the note is %q", got, o.Read("root.md"))
		assert.Equal(t, o.Read("root.md"), "root\nx", "got %+v, the note is %q", got, o.Read("root.md"))
		assert.Equal(t, got.Hash, harness.HashOfText("root\nx"), "got %+v, the note is %q", got, o.Read("root.md"))
		assert.Equal(t, o.Begun(), 1, "got %+v, the note is %q", got, o.Read("root.md"))
		if got := s.answer(s.ask(deleteIt), deleteIt, harness.Accept); !got.OK || o.Read("Inbox/a.md") != "" {
			t.Errorf("got %+v", got)
		}
		s.call(`{"command":"read","params":{"path":"root.md"}}`, "")
		assert.Contains(t, s.next().Result.StructuredContent.Stdout, "root\nx")
		err := s.End()
		assert.That(t, err == nil, "the server ended with %v; its log:\n%s", err, s.Log.String())
	})
}

// A state, or an open question, is about the note that the person was shown.
func TestANoteThatChangesUnderTheQuestion(t *testing.T) {
	t.Parallel()
	eachEra(t, func(t *testing.T, o *harness.InProcess, s *session) {
		for _, arguments := range []string{appendIt, strings.Replace(deleteIt, "Inbox/a.md", "root.md", 1)} {
			asked := s.ask(arguments)
			o.Write("root.md", "of the person\n"+arguments)
			code := "conflict"
			if s.modern {
				code = "unconfirmed" // the state is one for other notes
			}
			o.Refusing(arguments, code, func() string { return harness.CodeOf(s.answer(asked, arguments, harness.Accept)) })
		}
	})
}

// An open question ends with the server, and nothing of it is left.
func TestAServerThatEndsWhileItAsks(t *testing.T) {
	t.Parallel()
	eachEra(t, func(t *testing.T, o *harness.InProcess, s *session) {
		before := harness.TreeOf(t, o.Vault)
		s.ask(deleteIt)
		begun := time.Now()
		err := s.End()
		assert.That(t, err == nil, "at the end of the input it ended with %v; its log:\n%s", err, s.Log.String())
		took := time.Since(begun)
		assert.That(t, took <= 10*time.Second, "it took %v", took)
		left(t, o, before)
	})
	if runtime.GOOS == "windows" {
		return // there is no signal to ask a program to end
	}
	eachEra(t, func(t *testing.T, o *harness.InProcess, s *session) {
		before := harness.TreeOf(t, o.Vault)
		s.ask(deleteIt)
		require.NoError(t, s.Process.Process.Signal(syscall.SIGTERM))
		_, _ = io.Copy(io.Discard, s.Out)
		err := s.Process.Wait()
		assert.That(t, err == nil, "at the signal it ended with %v; its log:\n%s", err, s.Log.String())
		left(t, o, before)
	})
}

// left checks that a server has left nothing behind.
func left(t *testing.T, o *harness.InProcess, before [32]byte) {
	t.Helper()
	assert.Equal(t, harness.TreeOf(t, o.Vault), before, "it was run")
	assert.That(t, o.Begun() <= 0, "it was run")
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range processes {
		line, err := os.ReadFile(name)
		assert.That(t, err != nil || !bytes.Contains(line, []byte(o.Vault)), "%s is left: %q", filepath.Dir(name), line)
	}
}
