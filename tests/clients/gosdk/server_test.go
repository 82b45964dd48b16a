package gosdk

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// noError ends the test at an error.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patience is how long a whole session may take.
const patience = 30 * time.Second

// eras are the newest protocol, the newest with a handshake, and one that many
// clients still speak.
var eras = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

// server is a built vaultwicket with a home and a vault of one note, and how to
// reach it.
type server struct {
	home, vault string
	transport   func(*testing.T) mcp.Transport
}

// everywhere runs a test over both transports and in all eras, each with a server
// and a vault of its own. HOME in a flag is the home of the server.
func everywhere(t *testing.T, flags []string, test func(t *testing.T, s server, version string)) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T, ...string) server{"Stdio": overStdio, "HTTP": overHTTP} {
		for _, version := range eras {
			t.Run(name+"/"+version, func(t *testing.T) {
				t.Parallel()
				test(t, start(t, flags...), version)
			})
		}
	}
}

// connect begins a session. With nil the client does not claim that it can ask.
func (s server) connect(t *testing.T, version string, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	if options == nil {
		options = &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	client := mcp.NewClient(&mcp.Implementation{Name: "codex-mcp-client", Version: "1"}, options)
	session, err := client.Connect(ctx, s.transport(t), &mcp.ClientSessionOptions{ProtocolVersion: version})
	noError(t, err)
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the session ended with %v", err)
		}
	})
	if spoken := session.InitializeResult().ProtocolVersion; spoken != version {
		t.Fatalf("they speak %s, want %s", spoken, version)
	}
	return session
}

func overStdio(t *testing.T, flags ...string) server {
	home, vault := t.TempDir(), newVault(t)
	return server{home, vault, func(t *testing.T) mcp.Transport {
		cmd := serve(t, home, vault, flags...)
		cmd.Stderr = t.Output()
		return &mcp.CommandTransport{Command: cmd}
	}}
}

func overHTTP(t *testing.T, flags ...string) server {
	home, vault := t.TempDir(), newVault(t)
	if err := os.Chmod(home, 0o700); err != nil { // the token belongs into a private folder
		t.Fatal(err)
	}
	token := filepath.Join(home, "token")
	cmd := serve(t, home, vault, append(flags, "--http=127.0.0.1:0", "--token-file="+token)...)
	url := listen(t, cmd)
	secret, err := os.ReadFile(token)
	noError(t, err)
	client := &http.Client{Transport: bearer{strings.TrimSpace(string(secret))}}
	return server{home, vault, func(*testing.T) mcp.Transport {
		return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: client, MaxRetries: -1}
	}}
}

// serve is the server that VAULTWICKET names, not yet started. The embedded program
// serves the vault unless the flags name a client of the app.
func serve(t *testing.T, home, vault string, flags ...string) *exec.Cmd {
	t.Helper()
	binary := os.Getenv("VAULTWICKET")
	if binary == "" {
		t.Skip("VAULTWICKET does not name a built vaultwicket")
	}
	flags = append([]string{"serve", "--config=none", "--rate=0"}, flags...)
	if !slices.Contains(flags, "--backend=obsidian") {
		flags = append(flags, "--backend=embedded", "--vault="+vault)
	}
	for i := range flags {
		flags[i] = strings.ReplaceAll(flags[i], "HOME", home)
	}
	cmd := exec.Command(binary, flags...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home)
	return cmd
}

var endpoint = regexp.MustCompile(`http://\S+/mcp`)

// listen starts a server and returns where it listens. It must end in order when
// the test does.
func listen(t *testing.T, cmd *exec.Cmd) (url string) {
	t.Helper()
	messages, err := cmd.StderrPipe()
	noError(t, err)
	noError(t, cmd.Start())
	lines := bufio.NewReader(messages)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(t.Output(), lines)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	for url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		url = endpoint.FindString(line)
	}
	return url
}

func newVault(t *testing.T) string {
	t.Helper()
	vault := filepath.Join(t.TempDir(), "Notes")
	write(t, filepath.Join(vault, "Note.md"), "one\n")
	return vault
}

func write(t *testing.T, file, text string) {
	t.Helper()
	noError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	noError(t, os.WriteFile(file, []byte(text), 0o755))
}

// bearer sends the token with each request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}
