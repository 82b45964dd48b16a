package consent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// sent is a request as a server of the test got it.
type sent struct {
	header http.Header
	body   string
	at     time.Time
}

// receive returns a server that answers with do, and the requests that it gets.
func receive(t *testing.T, do http.HandlerFunc) (url string, got chan sent) {
	got = make(chan sent, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- sent{r.Header, string(body), time.Now()}
		do(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func ok(http.ResponseWriter, *http.Request) {}

func open(t *testing.T, c NotifyConfig) (*Notifier, *fake.Log) {
	t.Helper()
	l := &fake.Log{}
	n := require.Value(OpenNotifier(c, nil, slog.New(slog.NewTextHandler(l, nil))))(t)
	n.gap, n.retry = time.Millisecond, time.Millisecond
	return n, l
}

func secret(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

const text, link = "Cursor asks to delete 1 note in Work", "http://127.0.0.1:8766/question/ABC"

// Each way tells the text and the link, and how long that takes is measured.
func TestEachWayTellsTheOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no /bin/sh")
	}
	topic, atNtfy := receive(t, ok)
	hook, atHook := receive(t, ok)
	file := filepath.Join(t.TempDir(), "told")
	n, l := open(t, NotifyConfig{
		Ntfy: topic + "/topic", NtfyTokenFile: secret(t, "tk_1\n"), Webhook: hook,
		WebhookSecretFile: secret(t,
			"whsec_"+base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123"))+"\n"),
		Command: []string{"/bin/sh", "-c", `printf '%s|%s' "$1" "$HOME" > "$0"`, file},
	})
	asked := time.Now()
	n.Send(text, link)
	told := <-atNtfy
	assert.Equal(t, told.body, text, "ntfy got %+v", told)
	assert.Equal(t, told.header.Get("Click"), link, "ntfy got %+v", told)
	assert.Equal(t, told.header.Get("Authorization"), "Bearer tk_1", "ntfy got %+v", told)
	t.Logf("from the question to ntfy: %v", told.at.Sub(asked))
	told = <-atHook
	t.Logf("from the question to the webhook: %v", told.at.Sub(asked))
	h := told.header
	seconds, err := strconv.ParseInt(h.Get("Webhook-Timestamp"), 10, 64)
	if age := asked.Sub(time.Unix(seconds, 0)); err != nil || age.Abs() > time.Minute {
		t.Errorf("the time of the message is %q", h.Get("Webhook-Timestamp"))
	}
	signature := func(id, at, body string) string {
		mac := hmac.New(sha256.New, []byte("0123456789abcdef0123"))
		mac.Write([]byte(id + "." + at + "." + body))
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	id, at, has := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp"), h.Get("Webhook-Signature")
	for _, other := range []string{signature(id+"x", at, told.body), signature(id, at+"0", told.body), signature(id, at, told.body+" ")} {
		assert.That(t, other != has, "the signature does not bind the id, the time and the body")
	}
	var body struct {
		Type string
		Data OwnerMessage
	}
	if err := json.Unmarshal([]byte(told.body), &body); err != nil || has != signature(id, at, told.body) ||
		body.Type != "approval.waiting" || body.Data != (OwnerMessage{text, link}) {
		t.Errorf("the webhook got %+v, %v", told, err)
	}
	n.Close()
	got, err := os.ReadFile(file)
	require.Equal(t, err, nil, "the program got %q", got)
	assert.Equal(t, string(got), text+"\n"+link+"|", "the program got %q", got)
	assert.That(t, l.String() == "", "logged %s", l)
}

// A server that is slow, down, full, or sends elsewhere blocks nothing, and is told of once.
func TestAServerThatFailsBlocksNothingAndIsLoggedOnce(t *testing.T) {
	elsewhere, atElsewhere := receive(t, ok)
	hang := make(chan struct{})
	var once sync.Once
	free := func() { once.Do(func() { close(hang) }) }
	defer free()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	servers := map[string]http.HandlerFunc{
		"slow": func(http.ResponseWriter, *http.Request) { <-hang },
		"full": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInsufficientStorage) },
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		},
		"disconnect": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	for name, do := range servers {
		url, got := receive(t, do)
		t.Run(name, func(t *testing.T) {
			n, l := open(t, NotifyConfig{Ntfy: url})
			begun := time.Now()
			for range 1000 {
				n.Send(text, "")
			}
			took := time.Since(begun)
			assert.That(t, took <= time.Second, "1000 questions waited %v", took)
			<-got
			if name != "slow" {
				<-got // it is tried again
				for range 5 {
					n.Send(text, "")
					<-got
				}
			}
			begun = time.Now()
			n.Close()
			took = time.Since(begun)
			assert.That(t, took <= closeGrace+5*time.Second, "the end waited %v", took)
			assert.Equal(t, strings.Count(l.String(), "not told"), 1, "logged %q", l)
			assert.That(t, !strings.Contains(l.String(), url), "logged %q", l)
		})
	}
	n, l := open(t, NotifyConfig{Ntfy: gone.URL})
	n.Send(text, "")
	n.Close()
	assert.Contains(t, l.String(), "not told", "a server that is down: %q; %d messages went elsewhere", l, len(atElsewhere))
	assert.Equal(t, len(atElsewhere), 0, "a server that is down: %q; %d messages went elsewhere", l, len(atElsewhere))
}

func TestAHugeAnswerIsNotRead(t *testing.T) {
	written := make(chan int, 1)
	url, _ := receive(t, func(w http.ResponseWriter, r *http.Request) {
		n := 0
		for block := make([]byte, 1<<20); n < 1<<30; n += len(block) {
			if _, err := w.Write(block); err != nil {
				break
			}
		}
		written <- n
	})
	n, l := open(t, NotifyConfig{Ntfy: url})
	n.Send(text, "")
	if n := <-written; n > 64<<20 {
		t.Errorf("%d bytes of the answer were taken", n)
	}
	n.Close()
	assert.That(t, l.String() == "", "logged %q", l)
}

func TestManyQuestionsAreFewMessages(t *testing.T) {
	url, got := receive(t, ok)
	n, _ := open(t, NotifyConfig{Ntfy: url})
	n.gap = time.Hour
	n.Send(text, link)
	assert.Equal(t, (<-got).body, text, "first")
	for i := range 500 {
		n.Send(fmt.Sprintf("question %d", i), link)
	}
	n.Close()
	last := <-got
	assert.Equal(t, last.body, "question 0, and 499 more wait for approval", "then %q, and %d more messages", last.body, len(got))
	assert.Equal(t, len(got), 0, "then %q, and %d more messages", last.body, len(got))
}

func TestWhatCannotBeUsedIsRefused(t *testing.T) {
	const url = "https://ntfy.example/topic"
	good := secret(t, "0123456789abcdef")
	open := filepath.Join(t.TempDir(), "open")
	err := os.WriteFile(open, []byte("0123456789abcdef"), 0o644)
	require.NoError(t, err)
	require.That(t, os.Chmod(open, 0o644) == nil, "%v", err)
	for want, c := range map[string]NotifyConfig{
		"must have https":             {Ntfy: "http://ntfy.example/topic"},
		"is not a URL":                {Ntfy: url + "?auth=1"},
		"webhook-secret-file is miss": {Webhook: url},
		"webhook is missing":          {WebhookSecretFile: good},
		"ntfy is missing":             {NtfyTokenFile: good},
		"not an absolute path":        {Ntfy: url, NtfyTokenFile: "token"},
		"path of a program":           {Command: []string{"notify-send"}},
		"want 16 to":                  {Webhook: url, WebhookSecretFile: secret(t, "short")},
		"not base64":                  {Webhook: url, WebhookSecretFile: secret(t, "whsec_!")},
		"one line":                    {Ntfy: url, NtfyTokenFile: secret(t, "a\nb")},
		"open\":":                     {Webhook: url, WebhookSecretFile: open},
	} {
		if c.WebhookSecretFile == open && runtime.GOOS == "windows" {
			continue // the mode of a file gives nobody access to it there
		}
		n, err := OpenNotifier(c, nil, nil)
		require.That(t, err != nil, "%+v: %v, want %q", c, err, want)
		require.That(t, n == nil, "%+v: %v, want %q", c, err, want)
		assert.Contains(t, err.Error(), want, "%+v", c)
	}
	n, err := OpenNotifier(NotifyConfig{}, nil, nil)
	assert.That(t, n == nil, "nothing: %v, %v", n, err)
	assert.NoError(t, err, "nothing")
	(*Notifier)(nil).Send(text, link)
	(*Notifier)(nil).Close()
}
