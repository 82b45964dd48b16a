package consent

// A [Notifier] tells the owner of the notes that a question waits for them: by a topic of ntfy, a signed webhook, or
// a program of theirs. A message says who asks for what in which vault, without a name or text of a note and without
// the code of the question, and carries no right to answer it.
//
// Nothing waits for a message. What cannot be sent yet is one message with a count.

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// NotifyConfig says how the owner is told. The zero value tells no one.
type NotifyConfig struct {
	// Ntfy is the URL of a topic, NtfyTokenFile the private file of an access token for it, "" for
	// none.
	Ntfy, NtfyTokenFile string
	// Webhook is the URL that messages are posted to, and WebhookSecretFile the private file of
	// the key that signs them.
	Webhook, WebhookSecretFile string
	// Command is the absolute path of a program and its arguments. The message is one more
	// argument: the text, and in a second line the link, if there is one.
	Command []string
}

// Check returns what is wrong with the configuration, without looking at a file.
func (c NotifyConfig) Check() error {
	for _, u := range []struct{ key, value string }{{"ntfy", c.Ntfy}, {"webhook", c.Webhook}} {
		if u.value == "" {
			continue
		}
		if err := httpguard.CheckURL(u.value); err != nil {
			return fmt.Errorf("%s: %q %w", u.key, u.value, err)
		}
	}
	for _, f := range []struct{ key, value, of, url string }{
		{"ntfy-token-file", c.NtfyTokenFile, "ntfy", c.Ntfy}, {"webhook-secret-file", c.WebhookSecretFile, "webhook", c.Webhook},
	} {
		switch {
		case f.value == "" && f.of == "webhook" && f.url != "":
			return errors.New(
				"webhook: webhook-secret-file is missing; the receiver knows by its key that a message is genuine",
			)
		case f.value != "" && f.url == "":
			return fmt.Errorf("%s: %s is missing", f.key, f.of)
		case f.value != "" && !filepath.IsAbs(f.value):
			return fmt.Errorf("%s: %q is not an absolute path", f.key, f.value)
		}
	}
	if len(c.Command) > 0 && !filepath.IsAbs(c.Command[0]) {
		return fmt.Errorf("command: %q is not the absolute path of a program", c.Command[0])
	}
	return nil
}

const (
	sendTimeout = 10 * time.Second // of one try
	retryAfter  = 2 * time.Second
	// firstGap is the time from one message to the next one. It doubles up to maxGap with each
	// message, and is firstGap again when there was none for as long.
	firstGap = 5 * time.Second
	maxGap   = 5 * time.Minute
	// closeGrace is how long the end of the program waits for a message that has not left.
	closeGrace = time.Second

	maxAnswer = 4 << 10 // bytes that are read of an answer, and kept of the output of a program
	maxSecret = 4 << 10
	minSecret = 16
)

// Notifier sends messages. A nil Notifier sends none. It is safe for concurrent use.
type Notifier struct {
	log      *slog.Logger
	client   *http.Client
	channels []*channel
	now      func() time.Time
	retry    time.Duration
	gap      time.Duration

	ctx     context.Context // ends what is being sent
	cancel  context.CancelFunc
	closing chan struct{}
	workers sync.WaitGroup
}

// channel is one way to tell the owner. Its goroutine is started with its first message.
type channel struct {
	name    string
	deliver func(context.Context, OwnerMessage) error
	start   sync.Once
	wake    chan struct{}

	mu      sync.Mutex
	pending OwnerMessage // the zero Message for none
	more    int          // questions after that one
}

// OwnerMessage is what the owner is told. Link leads to the question on the local page, "" if no page is
// open.
type OwnerMessage struct{ Text, Link string }

// OpenNotifier returns what tells the owner, nil if the configuration has no way to. env is the
// environment of the program. The error says that a file cannot be used.
func OpenNotifier(c NotifyConfig, env []string, log *slog.Logger) (*Notifier, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	n := &Notifier{
		log: log, now: time.Now, retry: retryAfter, gap: firstGap, closing: make(chan struct{}),
		client: httpguard.Client(&http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}),
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	add := func(name string, deliver func(context.Context, OwnerMessage) error) {
		n.channels = append(n.channels, &channel{name: name, deliver: deliver, wake: make(chan struct{}, 1)})
	}
	if c.Ntfy != "" {
		token := ""
		if c.NtfyTokenFile != "" {
			var err error
			if token, err = ownerfiles.ReadToken(c.NtfyTokenFile, maxSecret); err != nil {
				return nil, fmt.Errorf(
					"ntfy-token-file %q: want a file of yours alone with one line (%w)",
					c.NtfyTokenFile,
					err,
				)
			}
		}
		add("ntfy", func(ctx context.Context, m OwnerMessage) error {
			headers := http.Header{"Title": {"vaultwicket"}, "Content-Type": {"text/plain; charset=utf-8"}}
			if m.Link != "" {
				headers.Set("Click", m.Link)
			}
			if token != "" {
				headers.Set("Authorization", "Bearer "+token)
			}
			return n.post(ctx, c.Ntfy, headers, []byte(m.Text))
		})
	}
	if c.Webhook != "" {
		key, err := readKey(c.WebhookSecretFile)
		if err != nil {
			return nil, err
		}
		add("webhook", func(ctx context.Context, m OwnerMessage) error {
			type data struct {
				Text string `json:"text"`
				Link string `json:"link,omitempty"`
			}
			at := n.now().UTC().Truncate(time.Second)
			body, err := json.Marshal(struct {
				Type      string    `json:"type"`
				Timestamp time.Time `json:"timestamp"`
				Data      data      `json:"data"`
			}{"approval.waiting", at, data(m)})
			if err != nil {
				return err
			}
			id := "msg_" + rand.Text()
			seconds := strconv.FormatInt(at.Unix(), 10)
			mac := hmac.New(sha256.New, key)
			fmt.Fprintf(mac, "%s.%s.%s", id, seconds, body)
			return n.post(ctx, c.Webhook, http.Header{
				"Content-Type": {"application/json"}, "Webhook-Id": {id}, "Webhook-Timestamp": {seconds},
				"Webhook-Signature": {"v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))},
			}, body)
		})
	}
	if len(c.Command) > 0 {
		add("command", func(ctx context.Context, m OwnerMessage) error { return run(ctx, c.Command, env, m) })
	}
	if n.channels == nil {
		return nil, nil
	}
	return n, nil
}

// readKey reads the key of signatures: text, or "whsec_" and base64 as Standard Webhooks has it.
func readKey(file string) ([]byte, error) {
	text, err := ownerfiles.Read(file, maxSecret)
	if err != nil {
		about, reason := ownerfiles.Describe(file, err)
		return nil, fmt.Errorf("webhook-secret-file %q: %s", about, reason)
	}
	key := bytes.TrimSpace(text)
	if encoded, ok := bytes.CutPrefix(key, []byte("whsec_")); ok {
		if key, err = base64.StdEncoding.DecodeString(string(encoded)); err != nil {
			return nil, fmt.Errorf("webhook-secret-file %q: what follows whsec_ is not base64", file)
		}
	}
	if len(key) < minSecret || len(text) >= maxSecret {
		return nil, fmt.Errorf("webhook-secret-file %q: want %d to %d bytes", file, minSecret, maxSecret-1)
	}
	return key, nil
}

// post sends a body once. Nothing of the answer is in an error: it is of another program.
func (n *Notifier) post(ctx context.Context, to string, headers http.Header, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = headers
	answer, err := n.client.Do(r)
	if err != nil {
		if at := (*url.Error)(nil); errors.As(err, &at) {
			err = at.Err // without the URL: the name of a topic is a secret
		}
		return err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // the status is the answer
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("the server answers %d", answer.StatusCode)
	}
	return nil
}

// run starts the program of the owner, without a shell, and waits for its end.
func run(ctx context.Context, command, env []string, m OwnerMessage) error {
	text := m.Text
	if m.Link != "" {
		text += "\n" + m.Link
	}
	child := process.Child{
		Path: command[0],
		Name: command[0],
		Args: append(command[1:len(command):len(command)], text),
		Keep: maxAnswer,
	}
	child.Env = append([]string{}, env...) // nil would be the environment of this process
	switch end := child.Run(ctx); {
	case end.Cause != nil:
		return end.Cause
	case end.Kind != process.Exited:
		return fmt.Errorf("the program ended: %s", end.How)
	case end.Exit != 0:
		return fmt.Errorf("the program ended with status %d", end.Exit)
	}
	return nil
}

// Send hands a message over and returns at once.
func (n *Notifier) Send(text, link string) {
	if n == nil {
		return
	}
	for _, c := range n.channels {
		c.mu.Lock()
		if c.pending == (OwnerMessage{}) {
			c.pending = OwnerMessage{text, link}
		} else {
			c.more++
		}
		c.mu.Unlock()
		select {
		case c.wake <- struct{}{}:
		default: // it is awake
		}
		c.start.Do(func() { n.workers.Go(func() { n.work(c) }) })
	}
}

// work sends the messages of a channel, one at a time and seldom.
func (n *Notifier) work(c *channel) {
	gap := n.gap
	failed := false
	last := time.Time{}
	for closing := false; !closing; {
		select {
		case <-c.wake:
		case <-n.closing:
			closing = true
		}
		c.mu.Lock()
		m := c.pending
		if c.more > 0 {
			m.Text += fmt.Sprintf(", and %d more wait for approval", c.more)
		}
		c.pending = OwnerMessage{}
		c.more = 0
		c.mu.Unlock()
		if m == (OwnerMessage{}) {
			continue
		}
		var err error
		for try := range 2 {
			if try > 0 {
				n.pause(n.retry)
			}
			ctx, cancel := context.WithTimeout(n.ctx, sendTimeout)
			err = c.deliver(ctx, m)
			cancel()
			if err == nil || closing {
				break
			}
		}
		if err != nil && !failed {
			n.log.Warn(
				"the owner is not told of questions by "+c.name+": "+err.Error(),
				"hint",
				"check [notify] in the settings file; further failures are not logged",
			)
		}
		if failed = err != nil; n.now().Sub(last) > maxGap {
			gap = n.gap
		}
		last = n.now()
		n.pause(gap)
		gap = min(2*gap, maxGap)
	}
}

// pause waits, and not while the program ends.
func (n *Notifier) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.closing:
	}
}

// Close sends what has not been sent, within a second, and ends. Send must not be called after it.
func (n *Notifier) Close() {
	if n == nil {
		return
	}
	close(n.closing)
	defer time.AfterFunc(closeGrace, n.cancel).Stop()
	n.workers.Wait()
	n.cancel()
}
