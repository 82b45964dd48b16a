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
	batchSize   = 16      // sections in one request
	maxText     = 4 << 10 // bytes of a section that are sent: models read some 500 words
	MaxSections = 64      // sections of a note that are compared
	// maxVectors is the maximum size in bytes of all vectors, in memory and in the file: some 300,000 sections.
	maxVectors = 256 << 20
	// retryAfter is how long no request is sent to a server after it has failed.
	retryAfter = 30 * time.Second
	// saveAfter is how long new vectors may be in memory only.
	saveAfter = 30 * time.Second
	// minSimilarity is the cosine from which a section counts as similar. Below it, most models
	// rank noise.
	minSimilarity = 0.45
)

// EmbeddedNote is a note whose sections may be sent. Stamp identifies its content, see [Doc]; 0 identifies nothing.
type EmbeddedNote struct {
	Path  string
	Stamp uint64
}

// NearNote is a note, with the number of its section that is most similar to a question.
type NearNote struct {
	Path    string
	Section int
}

// Embeddings has the vectors of the sections of a vault. It is safe for concurrent use.
type Embeddings struct {
	endpoint  Endpoint
	configErr error // why there is no endpoint
	client    *http.Client
	timeout   time.Duration   // of a question
	ctx       context.Context // of the work in the background
	cancel    context.CancelFunc
	working   sync.WaitGroup

	mu        sync.Mutex
	file      *cache.Extra // nil before the first use
	notes     map[string]embedded
	size      int // of all vectors, in bytes
	unsaved   bool
	failure   error // of the last request, or nil
	failedAt  time.Time
	allowed   bool  // the user has approved that texts are sent to another machine
	left      int   // number of sections that may still be sent there
	learned   any   // the state of the vault that has been learned
	next      *work // waits for the work in progress
	isWorking bool
}

// work is a state of the vault to be learned.
type work struct {
	state any
	notes []EmbeddedNote
	read  func(path string) ([]string, error)
}

// embedded is what is stored of a note.
type embedded struct {
	Stamp    uint64
	Sections []section
}

type section struct {
	Text   string // digest of the text that was sent; "" for an empty section
	Vector vector
}

// NewEmbeddings returns a store for a server, given as "ADDRESS MODEL", with the private file of an API key, or "" if
// there is none. [Embeddings.Nearest] returns the error if these are invalid.
func NewEmbeddings(server, keyFile string) *Embeddings {
	address, model, _ := strings.Cut(server, " ")
	s := &Embeddings{notes: map[string]embedded{}}
	s.endpoint, s.configErr = ParseEndpoint(address, model)
	if s.configErr == nil && keyFile != "" {
		var err error
		s.endpoint.key, err = ownerfiles.ReadToken(keyFile, MaxEndpointKey)
		if err != nil {
			s.configErr = errors.New("the file of embeddings-key-file cannot be used") // agents must not see its path
		}
	}
	s.timeout = questionTimeout
	if s.endpoint.isSecure {
		s.timeout = secureTimeout
		_, _ = x509.SystemCertPool() // loads the certificates now, because the process may not be able to read them later
	}
	dialer := &net.Dialer{Resolver: &net.Resolver{PreferGo: true}}
	s.client = httpguard.Client(&http.Transport{
		DisableKeepAlives:      !s.endpoint.isSecure,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, s.endpoint.address) // whatever the address of the request
		},
	})
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Reach returns the network access that the process needs: one port, or 0 for none, and whether it looks up host names.
func (s *Embeddings) Reach() (port uint16, names bool) { return s.endpoint.port, s.endpoint.isNamed }

// Elsewhere returns the host of the server if that is another machine, otherwise "", and the name of the model.
func (s *Embeddings) Elsewhere() (host, model string) { return s.endpoint.host, s.endpoint.model }

// Allow records that the user has approved sending questions, and up to a number of further sections, to a model on
// another machine. It returns an error if host or model differ from the settings.
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
	s.learned = nil // sections that were not sent so far are sent now
	return nil
}

// Asks reports whether the server is another machine and the user has to approve before more sections are sent.
func (s *Embeddings) Asks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endpoint.host != "" && (!s.allowed || s.left == 0)
}

// errUnapproved reports that texts would be sent to another machine without approval.
var errUnapproved = errors.New("the user has not approved that texts are sent to another machine")

// Load reads the vectors that an earlier process has saved in a file. Only the first call has an effect.
func (s *Embeddings) Load(file cache.Extra) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		return
	}
	s.file = &file
	saved, ok := decodeSaved(file.Read())
	if !ok || saved.Of != s.endpoint.url+" "+s.endpoint.model {
		return
	}
	for path, n := range saved.Notes {
		s.put(path, n)
	}
	s.unsaved = false
}

// decodeSaved decodes the file with the vectors. ok is false if it is missing or damaged.
func decodeSaved(data []byte) (content saved, ok bool) {
	end := len(data) - crc32.Size
	if end < 0 {
		return saved{}, false
	}
	if crc32.Checksum(data[:end], castagnoli()) != binary.LittleEndian.Uint32(data[end:]) {
		return saved{}, false
	}
	options := cbor.DecOptions{
		UTF8:        cbor.UTF8DecodeInvalid, // names of files are any bytes
		MaxMapPairs: math.MaxInt32,
	}
	decoder, err := options.DecMode()
	if err != nil || decoder.Unmarshal(data[:end], &content) != nil {
		return saved{}, false
	}
	return content, true
}

// saved is the content of the file, which ends with its CRC-32C.
type saved struct {
	Of    string // the server and the model
	Notes map[string]embedded
}

// put replaces the stored sections of a note. The caller holds s.mu.
func (s *Embeddings) put(path string, n embedded) {
	for _, section := range s.notes[path].Sections {
		s.size -= len(section.Vector.Values)
	}
	for _, section := range n.Sections {
		s.size += len(section.Vector.Values)
	}
	s.notes[path] = n
	s.unsaved = true
}

// save writes the vectors to the file, if they have changed.
func (s *Embeddings) save() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unsaved || s.file == nil {
		return
	}
	data, err := cbor.Marshal(saved{s.endpoint.url + " " + s.endpoint.model, s.notes})
	if err != nil {
		return
	}
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli()))
	s.unsaved = s.file.Write(data) != nil
}

// Learn sends new and changed sections of notes in the background, and drops the vectors of other notes. state
// identifies the state of the vault, and list, which returns its notes, is called only if the state has changed. At
// most one state waits: the latest. read returns the sections of a note as it may be seen at that moment.
func (s *Embeddings) Learn(state any, list func() []EmbeddedNote, read func(path string) ([]string, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maySend := s.endpoint.host == "" || s.allowed
	isUsable := s.configErr == nil && s.file != nil && s.ctx.Err() == nil
	isKnown := s.learned == state || s.next != nil && s.next.state == state
	if !maySend || !isUsable || isKnown {
		return
	}
	if s.recentFailure() != nil {
		return
	}
	s.next = &work{state, list(), read}
	if !s.isWorking {
		s.isWorking = true
		s.working.Go(s.work)
	}
}

// Close ends the work in the background and saves the vectors.
func (s *Embeddings) Close() {
	s.cancel()
	s.working.Wait()
	s.client.CloseIdleConnections()
	s.save()
}

// work learns states of the vault until none waits.
func (s *Embeddings) work() {
	for {
		s.mu.Lock()
		w := s.next
		s.next = nil
		if w == nil || s.ctx.Err() != nil {
			s.isWorking = false
			s.mu.Unlock()
			s.save()
			return
		}
		s.mu.Unlock()
		err := s.learn(w)
		s.mu.Lock()
		switch {
		case (err == nil || errors.Is(err, errUnapproved)) && s.next == nil:
			s.learned = w.state
		case err != nil && !errors.Is(err, errUnapproved):
			s.fail(err)
			s.next = nil
		}
		s.mu.Unlock()
	}
}

// learn stores the vectors of all sections of the notes in w. It returns early, without an error, if another state
// waits.
func (s *Embeddings) learn(w *work) error {
	wanted := make(map[string]bool, len(w.notes))
	lastSave := time.Now()
	for _, n := range w.notes {
		wanted[n.Path] = true
		s.mu.Lock()
		before, isKnown := s.notes[n.Path]
		isOutdated := s.next != nil
		isFull := s.size > maxVectors
		s.mu.Unlock()
		if isOutdated || s.ctx.Err() != nil {
			return nil
		}
		isCurrent := isKnown && before.Stamp == n.Stamp && n.Stamp != 0
		if isCurrent || isFull {
			continue
		}
		texts, err := w.read(n.Path)
		if err != nil {
			continue // the note is gone, or has been hidden meanwhile
		}
		sections, err := s.embed(n.Path, texts, before.Sections)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.put(n.Path, embedded{n.Stamp, sections})
		s.failure = nil
		s.mu.Unlock()
		if time.Since(lastSave) > saveAfter {
			s.save()
			lastSave = time.Now()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.notes {
		if !wanted[path] {
			s.put(path, embedded{})
			delete(s.notes, path)
		}
	}
	return nil
}

// embed returns the sections of a note with their vectors. It sends only sections that are not in before, each with
// the path of the note.
func (s *Embeddings) embed(path string, texts []string, before []section) ([]section, error) {
	sections := make([]section, min(len(texts), MaxSections))
	var unsent []string
	var places []int // of the unsent texts in sections
	for i := range sections {
		if strings.TrimSpace(texts[i]) == "" {
			continue
		}
		text := strings.ToValidUTF8(path+"\n"+texts[i][:min(len(texts[i]), maxText)], "")
		sum := sha256.Sum256([]byte(text))
		sections[i].Text = string(sum[:16])
		if at := slices.IndexFunc(before, func(b section) bool { return b.Text == sections[i].Text }); at >= 0 {
			sections[i].Vector = before[at].Vector
			continue
		}
		unsent = append(unsent, text)
		places = append(places, i)
	}
	for len(unsent) > 0 {
		n := min(len(unsent), batchSize)
		if s.endpoint.host != "" {
			s.mu.Lock()
			isApproved := s.left >= n
			s.left = max(s.left-n, 0)
			s.mu.Unlock()
			if !isApproved {
				return nil, errUnapproved
			}
		}
		vectors, err := s.endpoint.vectors(s.ctx, s.client, textsTimeout, unsent[:n])
		if err != nil {
			return nil, err
		}
		for i, v := range vectors {
			sections[places[i]].Vector = v
		}
		unsent = unsent[n:]
		places = places[n:]
	}
	return sections, nil
}

// recentFailure returns the error of a request that failed within retryAfter, or nil. The caller holds s.mu.
func (s *Embeddings) recentFailure() error {
	if s.failure != nil && time.Since(s.failedAt) < retryAfter {
		return s.failure
	}
	return nil
}

// fail records the error of a request, unless the request was cancelled. The caller holds s.mu.
func (s *Embeddings) fail(err error) {
	if !errors.Is(err, context.Canceled) {
		s.failure = err
		s.failedAt = time.Now()
	}
}

// Nearest returns up to most visible notes with the sections that are most similar to a question, best first. The
// error says why there are none.
func (s *Embeddings) Nearest(
	ctx context.Context,
	question string,
	visible func(path string) bool,
	most int,
) ([]NearNote, error) {
	s.mu.Lock()
	err := cmp.Or(s.configErr, s.recentFailure())
	if err == nil && s.endpoint.host != "" && !s.allowed {
		err = errUnapproved
	}
	isEmpty := len(s.notes) == 0
	s.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case isEmpty:
		return nil, errors.New("no note was compared so far")
	}
	vectors, err := s.endpoint.vectors(ctx, s.client, s.timeout, []string{question})
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fail(err)
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nearest(vectors[0], visible, most), nil
}

// Like returns up to most visible notes with the sections that are most similar to a whole note, best first. It sends
// nothing. The error says why there are none.
func (s *Embeddings) Like(path string, visible func(path string) bool, most int) ([]NearNote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum []float64
	for _, section := range s.notes[path].Sections {
		if len(sum) == 0 {
			sum = make([]float64, len(section.Vector.Values))
		}
		for i, x := range section.Vector.Values[:min(len(sum), len(section.Vector.Values))] {
			sum[i] += float64(section.Vector.Scale) * float64(int8(x))
		}
	}
	var whole vector
	if !whole.quantise(sum) {
		return nil, cmp.Or(s.configErr, s.recentFailure(), errors.New("the note was not compared so far"))
	}
	return s.nearest(whole, func(other string) bool { return other != path && visible(other) }, most), nil
}

// nearest returns up to most visible notes that are most similar to a vector, best first. The caller holds s.mu.
func (s *Embeddings) nearest(to vector, visible func(path string) bool, most int) (notes []NearNote) {
	type near struct {
		NearNote
		cosine float64
	}
	var candidates []near
	for path, n := range s.notes {
		best := near{NearNote{Path: path}, 0}
		for i, section := range n.Sections {
			if c := section.Vector.cosine(to); c > best.cosine {
				best.Section = i
				best.cosine = c
			}
		}
		if best.cosine >= minSimilarity && visible(path) {
			candidates = append(candidates, best)
		}
	}
	slices.SortFunc(candidates, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.Path, b.Path))
	})
	for _, n := range candidates[:min(len(candidates), most)] {
		notes = append(notes, n.NearNote)
	}
	return notes
}

// fusionDepth is the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).
const fusionDepth = 60

// CreditOfRank returns what a place in a ranking, from 0, counts when two rankings are merged. The first place in both
// rankings has 1 in sum.
func CreditOfRank(place int) float64 { return (fusionDepth + 1) / 2.0 / float64(fusionDepth+1+place) }
