package mcp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestTheTerminalIsAClient(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of a long note, with ünïcödé\n", 4000)
	r := harness.New(t, map[string]string{"a.md": "one\ntwo\n", "Long.md": long, "F/b.md": "see [[a]]\n"})
	server := r.OverHTTP()
	url := "--url=http://" + server.Addr + "/mcp"
	token := filepath.Join(r.Home, "token")
	harness.WriteFile(t, token, []byte(harness.Token+"\n"))
	require.NoError(t, os.Chmod(token, 0o600))
	batch := filepath.Join(r.Home, "batch.json")
	harness.WriteFile(t, batch, []byte(`{"operations":[{"clientId":"x","command":"read","params":{"path":"a.md"}},{"clientId":"y","command":"files"}]}`))
	for _, args := range [][]string{
		{"run", "read", "path=a.md"}, {"run", "read", "path=Long.md"}, {"run", "files"}, {"run", "files", "folder=F"},
		{"run", "backlinks", "file=a", "counts"}, {"run", "read", "path=none.md"},
		{"run", "read", "pth=a.md"}, {"run", "eval", "code=1"}, {"run", "no:such"},
		{"run", "append", "path=a.md", "content=three"},
		{"run", "--expect-hash=0000000000000000", "append", "path=a.md", "content=x"},
		{"dry-run", "delete", "path=a.md"}, {"dry-run", "eval", "code=1"}, {"explain", "read"}, {"explain", "no:such"},
	} {
		before := r.Read("a.md")
		out, said, status := r.Run(args...)
		r.Write("a.md", before)
		remoteOut, remoteSaid, remoteStatus := r.Run(append([]string{args[0], url, "--token-file=" + token}, args[1:]...)...)
		if args[0] == "dry-run" { // the server shows no program and no file names of its own
			out, remoteOut = verdicts(out), verdicts(remoteOut)
		}
		if remoteOut != out || remoteStatus != status || (remoteSaid == "") != (said == "") {
			t.Errorf("%q: %d %s%s, on the machine %d %s%s", args, remoteStatus, remoteOut, remoteSaid, status, out, said)
		}
		r.Write("a.md", before)
	}
	var result struct {
		OK      bool
		Results []struct {
			ClientID string
			Result   struct{ Stdout string }
		}
	}
	out := r.Must("batch", url, batch)
	err := json.Unmarshal([]byte(out), &result)
	require.Equal(t, err, nil, "a batch: %s", out)
	require.That(t, result.OK, "a batch: %s", out)
	require.Equal(t, len(result.Results), 2, "a batch: %s", out)
	assert.Equal(t, result.Results[0].Result.Stdout, "one\ntwo\n", "a batch: %s", out)
	local, there := r.Must("commands", "--all"), r.Must("commands", "--all", url)
	assert.Equal(t, strings.Count(there, "\n"), strings.Count(local, "\n"),
		"commands: %s, on the machine %s", there, local)
	assert.Contains(t, there, "daily:read", "commands: on the machine %s", local)
	for _, test := range []struct {
		args, says string
		status     int
	}{
		{"run --url=http://notes.example/mcp read path=a.md", "must have https", 2},
		{"run --url=notes.example read path=a.md", "is not a URL", 2},
		{"run " + url + " --tier=v3 read path=a.md", `flag "--tier" has no effect with --url`, 2},
		{"run " + url + " --token-file=/dev/null read path=a.md", "token-file", 2},
		{"run " + url + "x read path=a.md", "404", 4},
		{"run --url=http://127.0.0.1:1/mcp read path=a.md", "127.0.0.1:1", 4},
		{"explain --json " + url + " read", "cannot be combined", 2},
	} {
		out, said, status := r.Run(strings.Fields(test.args)...)
		assert.Equal(t, status, test.status, "%s: %d %s%s", test.args, status, out, said)
		assert.Contains(t, said, test.says, "%s: %d %s%s", test.args, status, out, said)
		assert.Equal(t, out, "", "%s: %d %s%s", test.args, status, out, said)
	}
	harness.WriteFile(t, token, []byte("wrong\n"))
	_, said, status := r.Run("run", url, "--token-file="+token, "files")
	assert.Equal(t, status, 3, "a wrong token: %d %s", status, said)
	assert.Contains(t, said, "does not accept the token", "a wrong token: %d %s", status, said)
}

// verdicts are the lines about the decision. A server tells only its owner of rules about texts that
// do not object.
func verdicts(plan string) (kept string) {
	for line := range strings.Lines(plan) {
		words := append(strings.Fields(line), "", "", "")
		if words[2] == "pass" && slices.Contains(policy.TextRules(), words[1]) {
			continue
		}
		if strings.HasPrefix(line, "decision") || strings.HasPrefix(line, "rule ") || strings.HasPrefix(line, "effect") {
			kept += strings.Join(strings.Fields(line), " ") + "\n"
		}
	}
	return kept
}

func TestAServerThatIsNone(t *testing.T) {
	t.Parallel()
	r := harness.New(t, nil)
	stolen := make(chan string, 10)
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { stolen <- req.Header.Get("Authorization") }))
	defer thief.Close()
	for what, answer := range map[string]http.HandlerFunc{
		"a page":  func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>\x1b[2J")) },
		"nothing": func(http.ResponseWriter, *http.Request) {},
		"a redirect": func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, thief.URL, http.StatusTemporaryRedirect)
		},
		"another id": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"jsonrpc":"2.0","id":2,"result":{}}`)) },
		"no result":  func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"jsonrpc":"2.0","id":1}`)) },
		"an error": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no\u001b[2J"}}`))
		},
		"an endless question": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"params":{"message":"?"}}},"requestState":"s"}}`))
		},
	} {
		server := httptest.NewServer(answer)
		out, said, status := r.Run("run", "--url="+server.URL+"/mcp", "files")
		assert.That(t, status != 0, "%s: %d %q %q", what, status, out, said)
		assert.Equal(t, out, "", "%s: %d %q %q", what, status, out, said)
		assert.NotContains(t, said, "\x1b", "%s: %d %q %q", what, status, out, said)
		assert.NotContains(t, said, harness.Token, "%s: %d %q %q", what, status, out, said)
		server.Close()
	}
	assert.Equal(t, len(stolen), 0, "tokens that another server got")
}

func TestDoctorChecksAServer(t *testing.T) {
	t.Parallel()
	key := harness.NewKey("k1", jose.ES256)
	issuer := harness.NewIssuer(t, key)
	r := harness.New(t, map[string]string{"a.md": "a\n"})
	proxy := httptest.NewUnstartedServer(nil)
	public := "http://" + proxy.Listener.Addr().String() + "/mcp"
	r.Flags = []string{"--public-url=" + public, "--oauth-issuer=" + issuer.URL}
	server := r.OverHTTP()
	forward := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: server.Addr})
		p.Out.Host = p.In.Host
	}}
	wrong := http.HandlerFunc(forward.ServeHTTP)
	proxy.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { wrong(w, req) })
	proxy.Start()
	defer proxy.Close()
	for _, test := range []struct {
		what  string
		proxy http.HandlerFunc
		bad   []string
	}{
		{"as it should be", forward.ServeHTTP, nil},
		{"another clock", func(w http.ResponseWriter, req *http.Request) {
			w.Header()["Date"] = []string{time.Now().Add(-time.Minute).UTC().Format(http.TimeFormat)}
			forward.ServeHTTP(dateless{w}, req)
		}, []string{"server-clock"}},
		{"no description", func(w http.ResponseWriter, req *http.Request) {
			if strings.HasPrefix(req.URL.Path, "/.well-known") {
				http.NotFound(w, req)
				return
			}
			forward.ServeHTTP(w, req)
		}, []string{"server-metadata"}},
		{"no origin", func(w http.ResponseWriter, req *http.Request) {
			req.Header.Del("Origin")
			forward.ServeHTTP(w, req)
		}, []string{"server-origin"}},
		{"a token of its own", func(w http.ResponseWriter, req *http.Request) {
			req.Header.Set("Authorization", "Bearer "+harness.Token)
			forward.ServeHTTP(w, req)
		}, []string{"server-token"}},
		{"something else", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello")) }, []string{"server-token", "server-origin", "server-call"}},
	} {
		wrong = test.proxy
		out, said, status := r.Run("doctor", "--json", "--url="+public)
		var report struct {
			Findings []struct{ Check, Level string }
		}
		err := json.Unmarshal([]byte(out), &report)
		require.Equal(t, err, nil, "%s: %v %s%s", test.what, err, out, said)
		require.That(t, len(report.Findings) >= 5, "%s: %v %s%s", test.what, err, out, said)
		var bad []string
		for _, f := range report.Findings {
			if f.Level == "problem" {
				bad = append(bad, f.Check)
			}
		}
		assert.EqualSlices(t, bad, test.bad, "%s: %d, %s", test.what, status, out)
		assert.Equal(t, status == 0, bad == nil, "%s: %d, %q, want %q: %s", test.what, status, bad, test.bad, out)
	}
	issuer.Describe("issuer", "https://other.example")
	wrong = forward.ServeHTTP
	if out, _, status := r.Run("doctor", "--url="+public); status != 4 || !strings.Contains(out, "does not describe itself as that issuer") {
		t.Errorf("an issuer of another name: %d %s", status, out)
	}
	out, _, status := r.Run("doctor", "--url=http://127.0.0.1:1/mcp")
	assert.Equal(t, status, 4, "no server: %d %s", status, out)
	assert.Contains(t, out, "cannot be reached", "no server: %d %s", status, out)
}

// dateless keeps the header Date that was set.
type dateless struct{ http.ResponseWriter }

func (d dateless) WriteHeader(status int) {
	d.Header()["Date"] = d.Header()["Date"][:1]
	d.ResponseWriter.WriteHeader(status)
}

func TestDoctorSaysWhenACertificateExpires(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the certificates of the system cannot be replaced for one program")
	}
	r := harness.New(t, nil)
	for _, test := range []struct {
		age, left time.Duration
		warns     bool
	}{{80 * 24 * time.Hour, 10 * 24 * time.Hour, true}, {60 * 24 * time.Hour, 30 * 24 * time.Hour, false},
		{time.Hour, 11 * time.Hour, false}, {11 * time.Hour, time.Hour, true}} {
		key := require.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-test.age),
			NotAfter: time.Now().Add(test.left), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
			BasicConstraintsValid: true}
		der := require.Value(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
		server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
		server.StartTLS()
		root := filepath.Join(t.TempDir(), "root.pem")
		harness.WriteFile(t, root, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
		c := osexec.Command(harness.Binary, "doctor", "--url="+server.URL+"/mcp")
		c.Env = []string{"HOME=" + r.Home, "SSL_CERT_FILE=" + root}
		out, _ := c.Output() // the server is none
		if strings.Contains(string(out), "the certificate expires at") != test.warns || !strings.Contains(string(out), "certificate") {
			t.Errorf("%v old, for %v more: %s", test.age, test.left, out)
		}
		server.Close()
	}
}

// Some clients listen first of all and wait for the acknowledgement, also where there is
// nothing to listen to.
func TestASubscriptionIsAcknowledgedOverHTTP(t *testing.T) {
	t.Parallel()
	s := harness.ServeHTTP(t, "--backend=embedded", "--vault="+t.TempDir())
	body := `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{},` + harness.ModernMeta + `}}`
	for range testenv.Count(30, 100) {
		answer, err := s.Client.Do(s.Request(t.Context(), http.MethodPost, "/mcp", body, "MCP-Protocol-Version",
			"2026-07-28", "Mcp-Method", "subscriptions/listen"))
		require.NoError(t, err)
		var all []string
		if err := harness.Events(answer, func(message string) bool { all = append(all, message); return true }); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		answer.Body.Close()
		require.Equal(t, len(all), 2, "got %q", all)
		require.Contains(t, all[0], "notifications/subscriptions/acknowledged", "got %q", all)
		require.Contains(t, all[1], `"resultType":"complete"`, "got %q", all)
	}
}

// A batch is previewed, and left for the owner of the server, from a terminal elsewhere: nothing is changed by either.
func TestABatchIsPreviewedAndProposedOverHTTP(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"a.md": "one\n"})
	url := "--url=http://" + r.OverHTTP().Addr + "/mcp"
	token := filepath.Join(r.Home, "token")
	harness.WriteFile(t, token, []byte(harness.Token+"\n"))
	require.NoError(t, os.Chmod(token, 0o600))
	batch := filepath.Join(r.Home, "batch.json")
	harness.WriteFile(t, batch, []byte(`{"operations":[{"clientId":"x","command":"append","params":{"path":"a.md","content":"two"}}]}`))

	var plan struct {
		OK      bool
		Results []struct{ ClientID string }
	}
	out := r.Must("batch", url, "--token-file="+token, "--dry-run", batch)
	require.NoError(t, json.Unmarshal([]byte(out), &plan))
	assert.That(t, plan.OK, "the preview is %s", out)
	assert.Equal(t, r.Read("a.md"), "one\n", "after the preview")

	propose := func(how, file string) (id string) {
		var left struct {
			OK       bool
			Proposal struct{ ID string }
		}
		out := r.Must("batch", url, "--token-file="+token, how, file)
		require.NoError(t, json.Unmarshal([]byte(out), &left))
		assert.That(t, left.OK, "%s is answered by %s", how, out)
		return left.Proposal.ID
	}
	first := propose("--propose", batch)
	assert.That(t, strings.HasPrefix(first, "p-"), "the id is %q", first)
	none := filepath.Join(r.Home, "none.json")
	harness.WriteFile(t, none, []byte(`{"operations":[]}`))
	assert.Equal(t, propose("--propose="+first, none), first, "planned again")
	assert.Contains(t, r.Must("approvals"), "A proposal of 1 operation.")
	assert.Equal(t, r.Read("a.md"), "one\n", "after the proposal")
}

// What is only to be previewed is not left for the owner, wherever it says so.
func TestAProposalIsNoDryRun(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"a.md": "one\n"})
	write := func(name, field string) string {
		file := filepath.Join(r.Home, name)
		harness.WriteFile(t, file, []byte(`{`+field+`"operations":[{"clientId":"x","command":"append","params":{"path":"a.md","content":"two"}}]}`))
		return file
	}
	for _, args := range [][]string{
		{"--propose", "--dry-run", write("plain.json", "")},
		{"--propose", write("dry.json", `"dryRun":true,`)},
		{"--dry-run", write("left.json", `"propose":true,`)},
		{"--dry-run", write("again.json", `"propose":"p-aaaaaaaaaa",`)},
	} {
		out, said, status := r.Run(append([]string{"batch"}, args...)...)
		assert.Equal(t, status, 2, "%q: %s%s", args, out, said)
		assert.Contains(t, said, "a proposal and a dry run cannot be combined")
		assert.Equal(t, strings.TrimSpace(r.Must("approvals", "--json")), "[]", "%q leaves", args)
	}
}
