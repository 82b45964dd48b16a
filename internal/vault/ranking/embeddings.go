package ranking

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/vault/index/cache"
)

const (
	textsAtOnce = 16
	maxText     = 4 << 10 // bytes of a section that are sent: models read some 500 words
	MaxSections = 64      // of a note
	// maxVectors bounds the vectors in memory and in the file, in bytes: some 300,000 sections.
	maxVectors = 256 << 20
	// retryAfter is how long a server that failed is left alone.
	retryAfter = 30 * time.Second
	// saveAfter is how long vectors that were made are in memory alone.
	saveAfter = 30 * time.Second
	// leastSimilar is the cosine from which on a section is about the question. Below it
	// most models rank noise.
	leastSimilar = 0.45
)

// EmbeddedNote is a note whose sections may be sent. Stamp tells its content from others, 0 if nothing does.
type EmbeddedNote struct {
	Path  string
	Stamp uint64
}

// NearNote is a note and the number of the section of it that is most like a question.
type NearNote struct {
	Path    string
	Section int
}

// Embeddings has the vectors of the sections of a vault. It is safe for use by several goroutines.
type Embeddings struct {
	endpoint Endpoint
	broken   error // there is no endpoint
	client   *http.Client
	wait     time.Duration   // for the answer to a question
	ctx      context.Context // of the work in the background
	end      context.CancelFunc
	working  sync.WaitGroup

	mu      sync.Mutex
	file    *cache.Extra // nil before the first use
	notes   map[string]known
	size    int // of the vectors
	unsaved bool
	failure error
	failed  time.Time
	allowed bool // the user approved that another machine is sent texts
	left    int  // how many sections more it may be sent
	of      any  // the state of the vault that was learned
	next    *work
	busy    bool
}

type work struct {
	of    any
	notes []EmbeddedNote
	read  func(path string) ([]string, error)
}

// known is what is kept of a note.
type known struct {
	Stamp    uint64
	Sections []section
}

type section struct {
	Text   string // digest of what was sent, "" for an empty section
	Vector vector
}

// NewEmbeddings returns a store for a server, as "ADDRESS MODEL", and the private file of a key for it, "" for none. What is wrong
// with these is told by [Embeddings.Nearest].
func NewEmbeddings(of, keyFile string) *Embeddings {
	address, model, _ := strings.Cut(of, " ")
	s := &Embeddings{notes: map[string]known{}}
	if s.endpoint, s.broken = ParseEndpoint(address, model); s.broken == nil && keyFile != "" {
		if s.endpoint.key, s.broken = ownerfiles.ReadToken(keyFile, MaxEndpointKey); s.broken != nil {
			s.broken = errors.New("the file of embeddings-key-file cannot be used") // its place is not for agents
		}
	}
	s.wait = questionTimeout
	if s.endpoint.secure {
		s.wait = farTimeout
		_, _ = x509.SystemCertPool() // is read now: the process may not be able to later
	}
	dialer := &net.Dialer{Resolver: &net.Resolver{PreferGo: true}}
	s.client = httpguard.Client(&http.Transport{
		DisableKeepAlives: !s.endpoint.secure, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, s.endpoint.address) // whatever an URL says
		},
	})
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// Reach is what of the network the process needs: one port, 0 for none, and the addresses of names.
func (s *Embeddings) Reach() (port uint16, names bool) { return s.endpoint.port, s.endpoint.named }

// Elsewhere is the host of another machine that is the server, "" for this one, and the name of its model.
func (s *Embeddings) Elsewhere() (host, model string) { return s.endpoint.host, s.endpoint.model }

// Allow has another machine sent questions, and so many sections more at most, for a model. The user approved it.
func (s *Embeddings) Allow(host, model string, sections int) error {
	switch {
	case s.endpoint.host == "" || s.endpoint.host != host:
		return fmt.Errorf("host %q is not the other machine of embeddings-url", host)
	case s.endpoint.model != model:
		return fmt.Errorf("model %q is not embeddings-model", model)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allowed = true
	s.left = sections
	s.of = nil // what was left out is sent now
	return nil
}

// Asks reports whether another machine is the server and may not be sent more sections unless the user approves it.
func (s *Embeddings) Asks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endpoint.host != "" && (!s.allowed || s.left == 0)
}

// errUnapproved says that texts would go to another machine.
var errUnapproved = errors.New("the user has not approved that texts are sent to another machine")

// Load reads the vectors that an earlier process has left in a file, at the first call.
func (s *Embeddings) Load(file cache.Extra) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		return
	}
	s.file = &file
	data := file.Read()
	end := len(data) - crc32.Size
	decoder, err := cbor.DecOptions{
		UTF8:        cbor.UTF8DecodeInvalid,
		MaxMapPairs: math.MaxInt32,
	}.DecMode() // names of files are any bytes
	var saved saved
	if err != nil || end < 0 ||
		crc32.Checksum(data[:end], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(data[end:]) ||
		decoder.Unmarshal(data[:end], &saved) != nil ||
		saved.Of != s.endpoint.url+" "+s.endpoint.model {
		return
	}
	for path, n := range saved.Notes {
		s.put(path, n)
	}
	s.unsaved = false
}

// saved is the form of the file: this, and its CRC-32C.
type saved struct {
	Of    string
	Notes map[string]known
}

// put replaces what is known of a note. It is called under the lock.
func (s *Embeddings) put(path string, n known) {
	for _, of := range s.notes[path].Sections {
		s.size -= len(of.Vector.Values)
	}
	for _, of := range n.Sections {
		s.size += len(of.Vector.Values)
	}
	s.notes[path] = n
	s.unsaved = true
}

func (s *Embeddings) save() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unsaved || s.file == nil {
		return
	}
	if data, err := cbor.Marshal(saved{s.endpoint.url + " " + s.endpoint.model, s.notes}); err == nil {
		s.unsaved = s.file.Write(
			binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))),
		) != nil
	}
}

// Learn has the sections of notes sent in the background that are not known as they are, and forgets other notes. of
// names the state of the vault: list is called only for another one than the last. One state waits at most: the
// latest. read returns the sections of a note as it may be seen at that moment.
func (s *Embeddings) Learn(of any, list func() []EmbeddedNote, read func(path string) ([]string, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maySend := s.endpoint.host == "" || s.allowed
	isUsable := s.broken == nil && s.file != nil && s.ctx.Err() == nil
	isKnown := s.of == of || s.next != nil && s.next.of == of
	if !maySend || !isUsable || isKnown {
		return
	}
	if s.away() != nil {
		return
	}
	s.next = &work{of, list(), read}
	if !s.busy {
		s.busy = true
		s.working.Go(s.work)
	}
}

// Close ends the work in the background and saves what it has made.
func (s *Embeddings) Close() {
	s.end()
	s.working.Wait()
	s.client.CloseIdleConnections()
	s.save()
}

func (s *Embeddings) work() {
	for {
		s.mu.Lock()
		w := s.next
		s.next = nil
		if w == nil || s.ctx.Err() != nil {
			s.busy = false
			s.mu.Unlock()
			s.save()
			return
		}
		s.mu.Unlock()
		err := s.learn(w)
		s.mu.Lock()
		switch {
		case (err == nil || errors.Is(err, errUnapproved)) && s.next == nil:
			s.of = w.of
		case err != nil && !errors.Is(err, errUnapproved):
			s.fail(err)
			s.next = nil
		}
		s.mu.Unlock()
	}
}

// learn returns early where another state waits.
func (s *Embeddings) learn(w *work) error {
	wanted := make(map[string]bool, len(w.notes))
	last := time.Now()
	for _, n := range w.notes {
		wanted[n.Path] = true
		s.mu.Lock()
		before, has := s.notes[n.Path]
		other := s.next != nil
		full := s.size > maxVectors
		s.mu.Unlock()
		if other || s.ctx.Err() != nil {
			return nil
		}
		isCurrent := has && before.Stamp == n.Stamp && n.Stamp != 0
		if isCurrent || full {
			continue
		}
		texts, err := w.read(n.Path)
		if err != nil {
			continue // it is gone, or hidden meanwhile
		}
		sections, err := s.embed(n.Path, texts, before.Sections)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.put(n.Path, known{n.Stamp, sections})
		s.failure = nil
		s.mu.Unlock()
		if time.Since(last) > saveAfter {
			s.save()
			last = time.Now()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.notes {
		if !wanted[path] {
			s.put(path, known{})
			delete(s.notes, path)
		}
	}
	return nil
}

// embed returns the vectors of sections. Only those that changed are sent, each with the path of its note.
func (s *Embeddings) embed(path string, texts []string, before []section) ([]section, error) {
	list := make([]section, min(len(texts), MaxSections))
	var send []string
	var places []int
	for i := range list {
		if strings.TrimSpace(texts[i]) == "" {
			continue
		}
		text := strings.ToValidUTF8(path+"\n"+texts[i][:min(len(texts[i]), maxText)], "")
		sum := sha256.Sum256([]byte(text))
		list[i].Text = string(sum[:16])
		if at := slices.IndexFunc(before, func(b section) bool { return b.Text == list[i].Text }); at >= 0 {
			list[i].Vector = before[at].Vector
			continue
		}
		send = append(send, text)
		places = append(places, i)
	}
	for len(send) > 0 {
		n := min(len(send), textsAtOnce)
		if s.endpoint.host != "" {
			s.mu.Lock()
			approved := s.left >= n
			s.left = max(s.left-n, 0)
			s.mu.Unlock()
			if !approved {
				return nil, errUnapproved
			}
		}
		got, err := s.endpoint.vectors(s.ctx, s.client, textsTimeout, send[:n])
		if err != nil {
			return nil, err
		}
		for i, v := range got {
			list[places[i]].Vector = v
		}
		send = send[n:]
		places = places[n:]
	}
	return list, nil
}

// away returns why the server is not asked: it failed a moment ago. It is called under the lock.
func (s *Embeddings) away() error {
	if s.failure != nil && time.Since(s.failed) < retryAfter {
		return s.failure
	}
	return nil
}

func (s *Embeddings) fail(err error) {
	if !errors.Is(err, context.Canceled) {
		s.failure = err
		s.failed = time.Now()
	}
}

// Nearest returns at most some notes with the sections that are most like a question, best first, out of those
// that are visible. The error says why there are none.
func (s *Embeddings) Nearest(
	ctx context.Context,
	question string,
	visible func(path string) bool,
	most int,
) ([]NearNote, error) {
	s.mu.Lock()
	err := cmp.Or(s.broken, s.away())
	if err == nil && s.endpoint.host != "" && !s.allowed {
		err = errUnapproved
	}
	empty := len(s.notes) == 0
	s.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case empty:
		return nil, errors.New("no note was compared so far")
	}
	asked, err := s.endpoint.vectors(ctx, s.client, s.wait, []string{question})
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fail(err)
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nearest(asked[0], visible, most), nil
}

// Like returns at most some notes with sections that are most like a whole note, best first, out of those that are
// visible. It sends nothing. The error says why there are none.
func (s *Embeddings) Like(path string, visible func(path string) bool, most int) ([]NearNote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum []float64
	for _, of := range s.notes[path].Sections {
		if len(sum) == 0 {
			sum = make([]float64, len(of.Vector.Values))
		}
		for i, x := range of.Vector.Values[:min(len(sum), len(of.Vector.Values))] {
			sum[i] += float64(of.Vector.Scale) * float64(int8(x))
		}
	}
	var whole vector
	if !whole.quantise(sum) {
		return nil, cmp.Or(s.broken, s.away(), errors.New("the note was not compared so far"))
	}
	return s.nearest(whole, func(other string) bool { return other != path && visible(other) }, most), nil
}

// nearest is called under the lock.
func (s *Embeddings) nearest(to vector, visible func(path string) bool, most int) (found []NearNote) {
	type near struct {
		NearNote
		cosine float64
	}
	var list []near
	for path, n := range s.notes {
		best := near{NearNote{Path: path}, 0}
		for i, of := range n.Sections {
			if c := of.Vector.cosine(to); c > best.cosine {
				best.Section = i
				best.cosine = c
			}
		}
		if best.cosine >= leastSimilar && visible(path) {
			list = append(list, best)
		}
	}
	slices.SortFunc(
		list,
		func(a, b near) int { return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.Path, b.Path)) },
	)
	for _, n := range list[:min(len(list), most)] {
		found = append(found, n.NearNote)
	}
	return found
}

// fusionDepth is the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).
const fusionDepth = 60

// CreditOfRank is what the place of a note in a ranking, from 0, counts for where two rankings are merged: the first of both has 1.
func CreditOfRank(place int) float64 { return (fusionDepth + 1) / 2.0 / float64(fusionDepth+1+place) }
