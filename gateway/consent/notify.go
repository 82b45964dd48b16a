package consent

// A [Notifier] tells the owner of the notes that a question waits for them: with an ntfy topic, a signed webhook, or
// a program of theirs. A message names the requester, the kind of change and the vault, but contains no name or text of
// a note and no code of a question, and does not permit anyone to answer.
//
// Nothing waits for a message. Messages that cannot be sent yet are combined into one with a count.

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

// NotifyConfig configures how the owner is notified. The zero value notifies no one.
type NotifyConfig struct {
	// Ntfy is the URL of a topic, and NtfyTokenFile a private file with an access token for it, or "".
	Ntfy, NtfyTokenFile string
	// Webhook is the URL to which messages are posted, and WebhookSecretFile a private file with the key
	// that signs them.
	Webhook, WebhookSecretFile string
	// Command is the absolute path of a program and its arguments. The message is appended as one more
	// argument: the text, and on a second line the link, if there is one.
	Command []string
}

// Check returns an error if the configuration is invalid. It reads no file.
func (c NotifyConfig) Check() error {
	for _, u := range []struct{ key, value string }{{"ntfy", c.Ntfy}, {"webhook", c.Webhook}} {
		if u.value == "" {
			continue
		}
		if err := httpguard.CheckURL(u.value); err != nil {
			return fmt.Errorf("%s: %q %w", u.key, u.value, err)
		}
	}
	for _, f := range []struct{ key, value, channel, url string }{
		{"ntfy-token-file", c.NtfyTokenFile, "ntfy", c.Ntfy},
		{"webhook-secret-file", c.WebhookSecretFile, "webhook", c.Webhook},
	} {
		switch {
		case f.value == "" && f.channel == "webhook" && f.url != "":
			return errors.New(
				"webhook: webhook-secret-file is missing; the receiver knows by its key that a message is genuine",
			)
		case f.value != "" && f.url == "":
			return fmt.Errorf("%s: %s is missing", f.key, f.channel)
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
	sendTimeout = 10 * time.Second // of one attempt
	retryAfter  = 2 * time.Second
	// firstGap is the time between two messages. It doubles with each message, up to maxGap, and is
	// firstGap again after maxGap without a message.
	firstGap = 5 * time.Second
	maxGap   = 5 * time.Minute
	// closeGrace is how long Close waits for messages that have not been sent.
	closeGrace = time.Second

	maxAnswer = 4 << 10 // bytes that are read of a response, and kept of the output of a program
	maxSecret = 4 << 10 // bytes of a file with a secret
	minSecret = 16      // bytes of the key of a webhook
)

// Notifier sends messages. A nil Notifier sends none. It is safe for concurrent use.
type Notifier struct {
	log      *slog.Logger
	client   *http.Client
	channels []*channel
	now      func() time.Time
	retry    time.Duration
	gap      time.Duration

	ctx     context.Context // canceled to abort messages that are being sent
	cancel  context.CancelFunc
	closing chan struct{}
	workers sync.WaitGroup
}

// channel is one way to notify the owner. Its goroutine starts with its first message.
type channel struct {
	name    string
	deliver func(context.Context, OwnerMessage) error
	start   sync.Once
	wake    chan struct{}

	mu      sync.Mutex
	pending OwnerMessage // the zero OwnerMessage for none
	more    int          // number of messages after that one
}

// OwnerMessage is a message to the owner. Link leads to the question on the local page; it is "" if no page
// is open.
type OwnerMessage struct{ Text, Link string }

// OpenNotifier returns a notifier for the configuration, or nil if that has no channel. env is the
// environment for the program of the owner. The error is that of Check, or reports an unusable file.
func OpenNotifier(c NotifyConfig, env []string, log *slog.Logger) (*Notifier, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	n := &Notifier{
		log:     log,
		client:  httpguard.Client(&http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}),
		now:     time.Now,
		retry:   retryAfter,
		gap:     firstGap,
		closing: make(chan struct{}),
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	if c.Ntfy != "" {
		token, err := readNtfyToken(c.NtfyTokenFile)
		if err != nil {
			return nil, err
		}
		n.add("ntfy", func(ctx context.Context, m OwnerMessage) error { return n.sendNtfy(ctx, c.Ntfy, token, m) })
	}
	if c.Webhook != "" {
		key, err := readKey(c.WebhookSecretFile)
		if err != nil {
			return nil, err
		}
		n.add("webhook", func(ctx context.Context, m OwnerMessage) error { return n.sendWebhook(ctx, c.Webhook, key, m) })
	}
	if len(c.Command) > 0 {
		n.add("command", func(ctx context.Context, m OwnerMessage) error { return run(ctx, c.Command, env, m) })
	}
	if n.channels == nil {
		return nil, nil
	}
	return n, nil
}

// add adds a channel with the function that sends its messages.
func (n *Notifier) add(name string, deliver func(context.Context, OwnerMessage) error) {
	n.channels = append(n.channels, &channel{name: name, deliver: deliver, wake: make(chan struct{}, 1)})
}

// readNtfyToken reads an access token for ntfy. It returns "" without a file.
func readNtfyToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	token, err := ownerfiles.ReadToken(file, maxSecret)
	if err != nil {
		return "", fmt.Errorf("ntfy-token-file %q: want a file of yours alone with one line (%w)", file, err)
	}
	return token, nil
}

// sendNtfy posts a message to a topic of ntfy, with a token unless that is "".
func (n *Notifier) sendNtfy(ctx context.Context, topic, token string, m OwnerMessage) error {
	headers := http.Header{"Title": {"vaultwicket"}, "Content-Type": {"text/plain; charset=utf-8"}}
	if m.Link != "" {
		headers.Set("Click", m.Link)
	}
	if token != "" {
		headers.Set("Authorization", "Bearer "+token)
	}
	return n.post(ctx, topic, headers, []byte(m.Text))
}

// sendWebhook posts a message that is signed with key, as in Standard Webhooks.
func (n *Notifier) sendWebhook(ctx context.Context, address string, key []byte, m OwnerMessage) error {
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
	signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return n.post(ctx, address, http.Header{
		"Content-Type":      {"application/json"},
		"Webhook-Id":        {id},
		"Webhook-Timestamp": {seconds},
		"Webhook-Signature": {signature},
	}, body)
}

// readKey reads the key for signatures: text, or "whsec_" and base64 as in Standard Webhooks.
func readKey(file string) ([]byte, error) {
	text, err := ownerfiles.Read(file, maxSecret)
	if err != nil {
		about, reason := ownerfiles.Describe(file, err)
		return nil, fmt.Errorf("webhook-secret-file %q: %s", about, reason)
	}
	key := bytes.TrimSpace(text)
	encoded, isEncoded := bytes.CutPrefix(key, []byte("whsec_"))
	if isEncoded {
		key, err = base64.StdEncoding.DecodeString(string(encoded))
		if err != nil {
			return nil, fmt.Errorf("webhook-secret-file %q: what follows whsec_ is not base64", file)
		}
	}
	if len(key) < minSecret || len(text) >= maxSecret {
		return nil, fmt.Errorf("webhook-secret-file %q: want %d to %d bytes", file, minSecret, maxSecret-1)
	}
	return key, nil
}

// post sends a body once. Its errors contain nothing of the response, which another program controls.
func (n *Notifier) post(ctx context.Context, to string, headers http.Header, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = headers
	response, err := n.client.Do(r)
	if err != nil {
		if requestErr, ok := errors.AsType[*url.Error](err); ok {
			return requestErr.Err // without the URL, because the name of a topic is a secret
		}
		return err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxAnswer) // only the status matters
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("the server answers %d", response.StatusCode)
	}
	return nil
}

// run runs the program of the owner without a shell, and waits for its end.
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
	child.Env = append([]string{}, env...) // nil would mean the environment of this process
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

// Send queues a message and returns at once.
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
		default: // a wake-up is already pending
		}
		c.start.Do(func() { n.workers.Go(func() { n.work(c) }) })
	}
}

// work sends the messages of a channel, with growing gaps between them.
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
		failed = err != nil
		if n.now().Sub(last) > maxGap {
			gap = n.gap
		}
		last = n.now()
		n.pause(gap)
		gap = min(2*gap, maxGap)
	}
}

// pause waits for a duration, or until the notifier is closed.
func (n *Notifier) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.closing:
	}
}

// Close tries to send the remaining messages within closeGrace, and ends the notifier. Send must not be called after it.
func (n *Notifier) Close() {
	if n == nil {
		return
	}
	close(n.closing)
	defer time.AfterFunc(closeGrace, n.cancel).Stop()
	n.workers.Wait()
	n.cancel()
}
