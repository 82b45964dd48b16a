package process

import (
	"bufio"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

var notes = map[string]string{"Secret Plans/Marker zqx.md": "text zqxmarker ghp_0123456789abcdefghijABCDEFGHIJ012345\n", "Log.md": "\n"}

func newProgram(t *testing.T) *harness.Program { return harness.New(t, notes) }

// serve starts a server that exports to some addresses.
func serve(r *harness.Program, env []string, flags ...string) *harness.StdioServer {
	r.T.Helper()
	r.Save()
	c := osexec.Command(harness.Binary, append([]string{"serve"}, flags...)...)
	c.Env = append([]string{"HOME=" + r.Home, "PATH=" + filepath.Join(r.Home, "bin")}, env...)
	s := harness.StartStdio(r.T, c)
	s.Send(harness.Handshake("{}"))
	s.Read()
	return s
}

// calls reads, searches and changes notes, and returns how long the longest call took.
func calls(t *testing.T, s *harness.StdioServer, n int) (longest time.Duration) {
	t.Helper()
	for i := range n {
		for _, call := range []harness.Call{
			harness.Calling("read", "path=Secret Plans/Marker zqx.md"), harness.Calling("search", "query=zqxmarker"),
			harness.Calling("append", "path=Log.md", "content=zqxmarker "+strconv.Itoa(i)),
			harness.Calling("read", "path=No such zqxmarker.md"), harness.Calling("plugin:install", "id=zqxmarker"),
		} {
			begun := time.Now()
			s.Result(call)
			longest = max(longest, time.Since(begun))
		}
	}
	return longest
}

// linesOf returns the lines of the log that are in a text, by the part of the log, and those that
// are no lines.
func linesOf(t *testing.T, texts []string) (parts map[string][]int) {
	t.Helper()
	parts = map[string][]int{}
	for _, text := range texts {
		var line struct {
			Part string
			Seq  int
		}
		err := json.Unmarshal([]byte(text), &line)
		require.Equal(t, err, nil, "%q", text)
		require.That(t, line.Seq != 0, "%q", text)
		parts[line.Part] = append(parts[line.Part], line.Seq)
	}
	return parts
}

// wantChain fails unless numbers begin with 1 and go on.
func wantChain(t *testing.T, parts map[string][]int) {
	t.Helper()
	for part, numbers := range parts {
		for i, number := range numbers {
			require.That(t, number == i+1, "%s: %v", part, numbers)
		}
	}
	assert.That(t, len(parts["audit"]) != 0, "%v", parts)
	assert.That(t, len(parts["calls"]) != 0, "%v", parts)
}

// silent accepts connections, and never reads or answers.
func silent(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	return l.Addr().String()
}

func TestSilentCollectorsBlockNothing(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	file := filepath.Join(t.TempDir(), "lines.jsonl")
	quiet := serve(r, nil)
	alone := calls(t, quiet, 10)
	require.NoError(t, quiet.End())
	s := serve(r, nil, "--export=http://"+silent(t)+"/v1/logs,syslog+tcp://"+silent(t)+",http://127.0.0.1:9/v1/logs")
	beside := calls(t, s, 10)
	begun := time.Now()
	require.NoError(t, s.End())
	t.Logf("the longest call took %v without targets, %v with silent ones; the server ended in %v", alone, beside, time.Since(begun))
	if beside > 5*time.Second || time.Since(begun) > 10*time.Second { // one try lasts ten
		t.Errorf("a call took %v, the end %v", beside, time.Since(begun))
	}
	require.NoError(t, serve(r, nil, "--export=file://"+file).End())
	text := require.Value(os.ReadFile(file))(t)
	wantChain(t, linesOf(t, strings.Split(strings.TrimSpace(string(text)), "\n")))
}

func TestSyslogOverTLSHasNoTextOfNotes(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	defer certified.Close()
	trusted := filepath.Join(t.TempDir(), "roots.pem")
	harness.WriteFile(t, trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw}))
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certified.TLS.Certificates})
	require.NoError(t, err)
	defer l.Close()
	var mu sync.Mutex
	var got []string
	go func() {
		for {
			connection, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				in := bufio.NewReader(connection)
				for {
					length, err := in.ReadString(' ')
					n, _ := strconv.Atoi(strings.TrimSpace(length))
					message := make([]byte, n)
					if _, read := io.ReadFull(in, message); err != nil || read != nil {
						return
					}
					mu.Lock()
					got = append(got, string(message))
					mu.Unlock()
				}
			}()
		}
	}()
	received := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
	foreign := serve(r, nil, "--export=syslog+tls://"+l.Addr().String())
	calls(t, foreign, 1)
	if err := foreign.End(); err != nil || len(received()) > 0 {
		t.Fatalf("a server whose certificate is not trusted got %q, %v", received(), err)
	}
	s := serve(r, []string{"SSL_CERT_FILE=" + trusted}, "--export=syslog+tls://"+l.Addr().String())
	calls(t, s, 3)
	require.NoError(t, s.End())
	harness.WaitFor(t, "the last checkpoint arrives", func() bool {
		all := received()
		return len(all) > 0 && strings.Contains(all[len(all)-1], `"kind":"checkpoint"`)
	})
	var lines []string
	for _, message := range received() {
		if _, line, ok := strings.Cut(message, " - {"); ok {
			lines = append(lines, "{"+line)
		}
		for _, secret := range []string{"zqx", "Secret Plans", "Log.md", "ghp_", r.Vault, r.Home} {
			assert.That(t, !strings.Contains(message, secret), "%q is in %s", secret, message)
		}
	}
	wantChain(t, linesOf(t, lines))
}

func TestVerifyFindsAnotherLog(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"state", "command"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			r := newProgram(t)
			file := filepath.Join(t.TempDir(), "lines.jsonl")
			flags := []string{"--export=file://" + file}
			if by == "command" {
				script := filepath.Join(r.Home, "sign")
				self := require.Value(os.Executable())(t)
				testenv.WriteProgram(t, script, fmt.Appendf(nil, "#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asSigner, self))
				flags = append(flags, "--checkpoints="+script)
			}
			for range 2 {
				s := serve(r, nil, flags...)
				calls(t, s, 2)
				require.NoError(t, s.End())
			}
			said := r.Must("audit", "verify", "--checkpoints="+file)
			require.That(t, strings.Contains(said, "OK: 2 checkpoints"), "%v", said)
			_, key, _ := strings.Cut(strings.TrimSpace(said), "with the key ")
			assert.That(t, by != "command" ||
				key == base64.StdEncoding.EncodeToString(ed25519.NewKeyFromSeed(make([]byte,
					32)).Public().(ed25519.PublicKey)), "the key is %q", key)
			r.Must("audit", "verify", "--checkpoints="+file, "--key="+key)
			if _, said, status := r.Run("audit", "verify", "--checkpoints="+file,
				"--key="+base64.StdEncoding.EncodeToString(make([]byte, 32))); status != 1 ||
				!strings.Contains(said, "another key") {
				t.Errorf("%d: %s", status, said)
			}
			state := filepath.Join(r.Home, ".local", "state", "vaultwicket")
			for _, part := range []string{"audit", "audit-calls"} {
				require.NoError(t, os.RemoveAll(filepath.Join(state, part)))
			}
			s := serve(r, nil)
			calls(t, s, 8)
			require.NoError(t, s.End())
			r.Must("audit", "verify")
			if _, said, status := r.Run("audit", "verify", "--checkpoints="+file); status != 1 || !strings.Contains(said, "does not match the checkpoints") {
				t.Errorf("%d: %s", status, said)
			}
			out, _, status := r.Run("audit", "verify", "--json", "--checkpoints="+file)
			assert.Equal(t, status, 1, "%s", out)
			assert.Contains(t, out, `"broken": "`)
		})
	}
}
