package ranking

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/index/cache"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// server makes vectors with a dimension for each of a few things that texts are about, and notes the texts.
func server(t *testing.T) (of string, sent func() []string) {
	t.Helper()
	var mu sync.Mutex
	var texts []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.Model != "concepts" ||
			r.URL.Path != "/v1/embeddings" || len(request.Input) > batchSize {
			t.Errorf("%s: %+v, %v", r.URL, request, err)
		}
		mu.Lock()
		texts = append(texts, request.Input...)
		mu.Unlock()
		var data []map[string]any
		for i, text := range request.Input {
			v := []float64{0.01, 0.01, 0.01}
			for j, words := range []string{"mortgage loan borrowed", "insomnia sleep bed", "bread oven bakery"} {
				for word := range strings.FieldsSeq(words) {
					v[j] += float64(strings.Count(strings.ToLower(text), word))
				}
			}
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1 concepts", func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(texts)
	}
}

// vault has the sections of notes.
type vault map[string][]string

func (v vault) list() (list []EmbeddedNote) {
	for path, sections := range v {
		list = append(list, EmbeddedNote{path, uint64(crc32.ChecksumIEEE([]byte(strings.Join(sections, "\n")))) | 1<<32})
	}
	slices.SortFunc(list, func(a, b EmbeddedNote) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func (v vault) read(path string) ([]string, error) {
	sections, there := v[path]
	if !there {
		return nil, os.ErrNotExist
	}
	return sections, nil
}

// learned returns a store that knows the notes of a vault, and the file that it saved.
func learned(t *testing.T, of string, file cache.Extra, v vault) *Embeddings {
	t.Helper()
	s := NewEmbeddings(of, "")
	t.Cleanup(s.Close)
	s.Load(file)
	s.Learn(new(int), v.list, v.read)
	s.working.Wait()
	return s
}

func extra(t *testing.T) (cache.Extra, string) {
	t.Helper()
	dir := t.TempDir()
	return cache.NewExtra(dir, "/vault", ".vectors"), dir
}

func everySection(string) bool { return true }

var embeddedNotes = vault{
	"Money.md": {"", "# Bank\nThe mortgage runs until 2031.", "# Garden\nNothing."},
	"Sleep.md": {"Insomnia: a cold room."},
	"Bread.md": {"The oven is hot."},
}

func TestNotesAreNearInMeaning(t *testing.T) {
	of, sent := server(t)
	file, dir := extra(t)
	s := learned(t, of, file, embeddedNotes)
	if got := len(sent()); got != 4 {
		t.Errorf("%d texts were sent, want those of 4 sections: %q", got, sent())
	}
	for question, want := range map[string]string{"money that I borrowed": "[{Money.md 1}]", "tired in bed": "[{Sleep.md 0}]", "weather": "[{Money.md 2}]"} {
		got, err := s.Nearest(t.Context(), question, everySection, 1)
		require.Equal(t, err, nil, "%s", question)
		assert.Equal(t, fmt.Sprint(got), want, "%s", question)
	}
	got, err := s.Nearest(t.Context(), "borrowed", func(path string) bool { return path != "Money.md" }, 9)
	require.Equal(t, err, nil, "what is not visible is near")
	assert.Equal(t, len(got), 0, "what is not visible is near")
	s.Close()
	before := len(sent())
	changed := vault{"Money.md": {"", "# Bank\nThe mortgage runs until 2031.", "# Garden\nTulips."}, "Sleep.md": embeddedNotes["Sleep.md"]}
	again := learned(t, of, file, changed)
	if got := sent()[before:]; len(got) != 1 || !strings.Contains(got[0], "Tulips") {
		t.Errorf("after a restart %q are sent, want the one section that changed", got)
	}
	if got, err := again.Nearest(t.Context(), "bakery", everySection, 9); err != nil ||
		slices.ContainsFunc(got, func(n NearNote) bool { return n.Path == "Bread.md" }) {
		t.Errorf("a note that is gone is near: %v, %v", got, err)
	}
	again.Close()
	assert.Equal(t, learned(t, strings.Replace(of, "/v1", "/v1/", 1), file, nil).size, 0, "a vault without notes keeps vectors")
	saved, err := filepath.Glob(filepath.Join(dir, "*.vectors"))
	require.NoError(t, err)
	require.Equal(t, len(saved), 1)
	learned(t, of, file, embeddedNotes).Close()
	data := require.Value(os.ReadFile(saved[0]))(t)
	for i := range data {
		damaged := slices.Clone(data)
		damaged[i] ^= 0x20
		for _, wrong := range [][]byte{damaged, data[:i]} {
			require.NoError(t, os.WriteFile(saved[0], wrong, 0o600))
			s := NewEmbeddings(of, "")
			s.Load(file)
			require.Equal(t, len(s.notes), 0, "byte %d is changed or missing, and vectors are loaded", i)
		}
	}
	os.WriteFile(saved[0], data, 0o600)
	s = NewEmbeddings(strings.Replace(of, "concepts", "another", 1), "")
	s.Load(file)
	assert.Equal(t, len(s.notes), 0, "vectors of another model are loaded")
}

// Whatever a server does, a question gets an error, and the server is left alone for a while.
func TestAServerThatFails(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect is followed") }))
	defer other.Close()
	over, large := make(chan struct{}), `{"data":[{"index":0,"embedding":[1`+strings.Repeat(",1", maxReply/2)
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"slow":       {func(w http.ResponseWriter, r *http.Request) { <-over }, "no answer within "},
		"refuses":    {func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }, "status 401"},
		"no JSON":    {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") }, "no vectors as JSON"},
		"no vectors": {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"data":[]}`) }, "lacks vectors"},
		"zero": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[0,0]}]}`)
		}, "wrong vectors"},
		"too many": {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"data":[{"index":7,"embedding":[1]}]}`) }, "wrong vectors"},
		"twice": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`)
		}, "wrong vectors"},
		"too large": {func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, large)
		}, "more than 8388608 bytes"},
		"wide": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1`+strings.Repeat(",1", maxDimensions)+`]}]}`)
		}, "wrong vectors"},
		"huge": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1e308,1e308]}]}`)
		}, "wrong vectors"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, "status 307"},
		"gone": {nil, "no connection"},
	} {
		for scheme, start := range map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer, "https": httptest.NewTLSServer} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				if name == "slow" && scheme == "https" {
					testenv.OnlyLong(t) // it waits for all of secureTimeout
				}
				wrong := start(test.answer)
				wrong.Config.ErrorLog = log.New(io.Discard, "", 0)
				of, trusted := wrong.URL+" m", wrong.Client().Transport
				if test.answer == nil {
					wrong.Close()
				}
				defer wrong.Close()
				s := NewEmbeddings(of, "")
				s.client.Transport.(*http.Transport).TLSClientConfig = trusted.(*http.Transport).TLSClientConfig
				s.put("A.md", embedded{Sections: []section{{Vector: vector{1, []byte{1}}}}})
				if name != "slow" {
					s.timeout = time.Minute // a busy machine is no slow server
				}
				for range 2 { // the second is not sent to the server
					got, err := s.Nearest(t.Context(), "borrowed", everySection, 9)
					assert.Equal(t, len(got), 0)
					require.That(t, err != nil, "there is no error")
					assert.Contains(t, err.Error(), test.want)
				}
				file, _ := extra(t)
				s.Load(file)
				s.Learn(1, func() []EmbeddedNote { t.Error("a server that just failed is sent texts"); return nil }, embeddedNotes.read)
				if name == "slow" {
					over <- struct{}{}
				}
			})
		}
	}
	of, _ := server(t)
	s := NewEmbeddings(of, "")
	_, err := s.Nearest(t.Context(), "x", everySection, 9)
	assert.That(t, err != nil, "there is an answer before a note was compared")
	s.put("A.md", embedded{})
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.Nearest(ended, "x", everySection, 9); !errors.Is(err, context.Canceled) || s.failure != nil {
		t.Errorf("a call that has ended: %v, and the server counts as failed: %v", err, s.failure)
	}
}

// A server that fails while notes are sent gets no more of them, and the end of the process does not wait for it.
func TestTheWorkInTheBackgroundEnds(t *testing.T) {
	asked, over := make(chan int, 100), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- 1
		io.Copy(io.Discard, r.Body)
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	defer close(over)
	s := NewEmbeddings(slow.URL+" m", "")
	file, _ := extra(t)
	s.Load(file)
	for i := range 5 { // of which one is being learned, and one waits
		s.Learn(i, embeddedNotes.list, embeddedNotes.read)
	}
	<-asked
	s.Close()
	assert.Equal(t, len(asked), 0, "%d more questions, %d notes", len(asked), len(s.notes))
	assert.Equal(t, len(s.notes), 0, "%d more questions, %d notes", len(asked), len(s.notes))
}

func TestWhichServersThereAre(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:11434/v1":        "here 127.0.0.1:11434 http://127.0.0.1:11434/v1/embeddings",
		"http://localhost:8080":            "here 127.0.0.1:8080 http://localhost:8080/embeddings",
		"http://[::1]/v1/":                 "here [::1]:80 http://[::1]/v1/embeddings",
		"https://127.0.0.1/v1":             "here 127.0.0.1:443 https://127.0.0.1/v1/embeddings",
		"http://192.168.1.20:11434/v1":     "192.168.1.20 192.168.1.20:11434 http://192.168.1.20:11434/v1/embeddings",
		"https://192.0.2.1/v1":             "192.0.2.1 192.0.2.1:443 https://192.0.2.1/v1/embeddings",
		"https://api.Example.com/v1":       "api.example.com named api.example.com:443 https://api.Example.com/v1/embeddings",
		"https://localhost.example:8443/":  "localhost.example named localhost.example:8443 https://localhost.example:8443/embeddings",
		"http://192.0.2.1:80/v1":           "without encryption",
		"http://api.example.com/v1":        "without encryption",
		"http://localhost.example.com/":    "without encryption",
		"http://0.0.0.0:1/":                "without encryption",
		"http://[fe80::1%25eth0]:80/v1":    "invalid host",
		"https://[fe80::1%25eth0]/v1":      "invalid host",
		"https:///v1":                      "invalid host",
		"https://a b/":                     "want http or https",
		"ftp://127.0.0.1/v1":               "want http or https",
		"http://user@127.0.0.1/":           "want http or https",
		"https://u:p@api.example.com/":     "want http or https",
		"http://127.0.0.1/?to=192.0.2.1":   "want http or https",
		"http://127.0.0.1:0/":              "invalid host",
		"http://127.0.0.1:65536/":          "invalid host",
		"127.0.0.1:11434":                  "want http or https",
		"":                                 "want http or https",
		"http://127.0.0.1@192.0.2.1:80/v1": "want http or https",
	} {
		e, err := ParseEndpoint(address, "m")
		got := fmt.Sprint(err)
		if err == nil {
			got = cmp.Or(e.Elsewhere(), "here")
			if e.isNamed {
				got += " named"
			}
			got += " " + e.address + " " + e.url
		}
		assert.That(t, !strings.Contains(want, "/embeddings") || got == want, "%s: %s, want %s", address, got, want)
		assert.Contains(t, got, want, "%s", address)
	}
	_, err := ParseEndpoint("http://127.0.0.1", "")
	assert.That(t, err != nil, "a model needs no name")
	_, err = NewEmbeddings("http://192.0.2.1 m", "").Nearest(t.Context(), "x", everySection, 1)
	require.That(t, err != nil, "%v", err)
	assert.Contains(t, err.Error(), "without encryption")
}

// A server of the internet is asked with the key, if its certificate is that of its name.
func TestAServerWithAKey(t *testing.T) {
	file, keys := filepath.Join(t.TempDir(), "key"), make(chan string, 9)
	far := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Host + " " + r.Header.Get("Authorization")
		fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1]}]}`)
	}))
	defer far.Close()
	far.Config.ErrorLog = log.New(io.Discard, "", 0)
	for _, test := range []struct{ key, host, roots, want string }{
		{"sk-1234\n", "example.com", "its own", "<nil>"}, // the name in the certificate of the package
		{"sk-1234\n", "example.net", "its own", "the certificate of example.net:443 cannot be trusted"},
		{"sk-1234\n", "example.com", "", "the certificate of example.com:443 cannot be trusted"},
		{"two lines\nof text", "example.com", "its own", "embeddings-key-file cannot be used"},
		{"", "example.com", "its own", "embeddings-key-file cannot be used"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(test.key), 0o600))
		s := NewEmbeddings("https://"+test.host+"/v1 m", file)
		transport := s.client.Transport.(*http.Transport)
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, far.Listener.Addr().String())
		}
		if test.roots != "" {
			transport.TLSClientConfig.RootCAs = far.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		}
		s.put("A.md", embedded{Sections: []section{{Vector: vector{1, []byte{1}}}}})
		assert.NoError(t, s.Allow(test.host, "m", 1))
		_, err := s.Nearest(t.Context(), "borrowed", everySection, 9)
		s.Close()
		if !strings.Contains(fmt.Sprint(err), test.want) || (len(keys) == 1) != (err == nil) {
			t.Errorf("%q, %s: %v, %d requests, want %s", test.key, test.host, err, len(keys), test.want)
		}
		for range len(keys) {
			assert.Equal(t, <-keys, "example.com Bearer sk-1234", "asked with")
		}
	}
	_, err := NewEmbeddings("https://example.com m", filepath.Join(file, "gone")).Nearest(t.Context(), "x", everySection, 1)
	require.That(t, err != nil, "%v", err)
	assert.That(t, !strings.Contains(err.Error(), file), "%v", err)
}

// Another machine is sent nothing without an approval, and then no more sections than it names.
func TestAnotherMachineIsSentWhatWasApproved(t *testing.T) {
	of, sent := server(t)
	local := require.Value(ParseEndpoint(strings.TrimSuffix(of, " concepts"), "concepts"))(t)
	s := NewEmbeddings("http://192.168.1.20:11434/v1 concepts", "")
	t.Cleanup(s.Close)
	s.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, local.address)
	}
	file, _ := extra(t)
	s.Load(file)
	learn := func() {
		s.Learn(new(int), embeddedNotes.list, embeddedNotes.read)
		s.working.Wait()
	}
	learn()
	_, err := s.Nearest(t.Context(), "borrowed", everySection, 9)
	assert.ErrorIs(t, err, errUnapproved, "sent without an approval: %q", sent())
	assert.Equal(t, len(sent()), 0, "%v; sent without an approval: %q", err, sent())
	assert.That(t, s.Asks(), "%v; sent without an approval: %q", err, sent())
	for _, of := range [][2]string{{"", "concepts"}, {"192.168.1.2", "concepts"}, {"127.0.0.1", "concepts"}, {"192.168.1.20", "other"}, {"192.168.1.20", ""}} {
		assert.That(t, s.Allow(of[0], of[1], 9) != nil, "an approval for %q is one for another machine or model", of)
		assert.That(t, s.Asks(), "an approval for %q is one for another machine or model", of)
	}
	for _, test := range []struct{ allowed, sent int }{{2, 1}, {100, 4}} {
		require.NoError(t, s.Allow("192.168.1.20", "concepts", test.allowed))
		learn()
		assert.Equal(t, len(sent()), test.sent, "%d sections are allowed, and these are sent: %q", test.allowed, sent())
		assert.Equal(t, s.Asks(), test.sent < 4,
			"%d sections are allowed, and these are sent: %q", test.allowed, sent())
	}
	got, err := s.Nearest(t.Context(), "borrowed", everySection, 1)
	require.NoError(t, err)
	require.Equal(t, len(got), 1)
	assert.Equal(t, got[0].Path, "Money.md")
	here := NewEmbeddings(of, "")
	assert.That(t, !here.Asks(), "this machine needs an approval")
	assert.That(t, here.Allow("127.0.0.1", "concepts", 1) != nil, "this machine needs an approval")
}
