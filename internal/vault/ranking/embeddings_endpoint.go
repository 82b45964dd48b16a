package ranking

// [Embeddings] compare sections of notes with a question by meaning, with vectors (embeddings) that a server
// computes: any server with an API "/v1/embeddings" like that of Ollama. They are off unless the user names a server.
// Nothing is sent to a server on another machine before [Embeddings.Allow].
//
// Texts are sent to that server only: no proxy is used, no redirect is followed, and beyond this machine and its
// private network the connection is encrypted. A call never waits for long; if the reply is late, invalid or too
// large, the question is answered without vectors.

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
)

const (
	questionTimeout = 700 * time.Millisecond
	// secureTimeout is how long a question waits for a server with https, whose connection needs several round trips.
	secureTimeout = 2 * time.Second
	textsTimeout  = 30 * time.Second
	maxReply      = 8 << 20 // bytes; 16 vectors of 4096 numbers take a fifth of it
	maxDimensions = 4096
	// MaxEndpointKey is the maximum length of an API key in bytes.
	MaxEndpointKey = 4 << 10
)

// Endpoint is a server that computes vectors. The zero Endpoint is no server.
type Endpoint struct {
	url, model, key string
	host            string // of another machine; "" for this machine
	address         string // to connect to
	port            uint16
	isNamed         bool // the host is a name, not an IP address
	isSecure        bool // https
}

// isPlainAddress reports whether u is an http or https address with nothing but a host, a port and a path.
func isPlainAddress(u *url.URL) bool {
	isWeb := u.Scheme == "http" || u.Scheme == "https"
	hasMore := u.User != nil || u.RawQuery != "" || u.Fragment != ""
	return isWeb && !hasMore
}

// ParseEndpoint parses the address of a server, such as http://127.0.0.1:11434/v1 or https://api.example/v1, and the
// name of a model. With http, the host must be this machine or an address in a private network, because texts would
// otherwise be sent without encryption.
func ParseEndpoint(address, model string) (Endpoint, error) {
	u, err := url.Parse(address)
	if err != nil || !isPlainAddress(u) {
		return Endpoint{}, fmt.Errorf(
			"invalid address %q: want http or https, a host, a port and a path, such as http://127.0.0.1:11434/v1",
			address,
		)
	}
	e := Endpoint{url: u.JoinPath("embeddings").String(), model: model, port: 80, isSecure: u.Scheme == "https"}
	if e.isSecure {
		e.port = 443
	}
	host, isValid := httpguard.HostName(u.Host)
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		e.port = uint16(port)
	}
	ip, err := netip.ParseAddr(host)
	isHere := host == "localhost" || err == nil && ip.IsLoopback()
	if !isHere {
		e.host = host
	}
	e.isNamed = e.host != "" && err != nil
	if host == "localhost" {
		host = "127.0.0.1"
	}
	e.address = net.JoinHostPort(host, strconv.Itoa(int(e.port)))
	switch {
	case !isValid:
		return Endpoint{}, fmt.Errorf(
			"invalid host %q: want a name or an address, and a port of 1 to %d",
			u.Host,
			math.MaxUint16,
		)
	case !e.isSecure && e.host != "" && !ip.IsPrivate():
		return Endpoint{}, fmt.Errorf(
			"host %q would be sent texts without encryption: want https, or with http 127.0.0.1, [::1], localhost or the address of a machine in a private network, such as 192.168.1.20",
			e.host,
		)
	case model == "":
		return Endpoint{}, errors.New("the model has no name")
	}
	return e, nil
}

// Elsewhere returns the host if the server is another machine, otherwise "".
func (e Endpoint) Elsewhere() string { return e.host }

// vectors asks the server for the vectors of texts, and returns them in the order of the texts. Errors do not contain
// the texts.
func (e Endpoint) vectors(
	ctx context.Context,
	client *http.Client,
	timeout time.Duration,
	texts []string,
) (list []vector, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
	defer cancel()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
	body, err := json.Marshal(map[string]any{"model": e.model, "input": texts})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if e.key != "" {
		request.Header.Set("Authorization", "Bearer "+e.key)
	}
	response, err := client.Do(request)
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		return nil, fmt.Errorf("the certificate of %s cannot be trusted", e.address)
	case err != nil:
		return nil, errors.New("no connection to " + e.address)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers with status %d", response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	switch {
	case len(data) > maxReply:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxReply)
	case err != nil:
		return nil, errors.New("the answer has no vectors as JSON")
	}
	return parseReply(data, len(texts))
}

// parseReply returns the vectors in a reply of the server for a number of texts, in the order of the texts.
func parseReply(data []byte, texts int) ([]vector, error) {
	var reply struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &reply) != nil {
		return nil, errors.New("the answer has no vectors as JSON")
	}
	list := make([]vector, texts)
	for _, d := range reply.Data {
		isNew := 0 <= d.Index && d.Index < len(list) && list[d.Index].Values == nil
		if !isNew || !list[d.Index].quantise(d.Embedding) {
			return nil, errors.New("the answer has wrong vectors")
		}
	}
	for _, v := range list {
		if len(v.Values) == 0 || len(v.Values) != len(list[0].Values) {
			return nil, errors.New("the answer lacks vectors")
		}
	}
	return list, nil
}

// vector is a vector of length 1 with a signed byte for each dimension.
type vector struct {
	Scale  float32
	Values []byte
}

// quantise sets q to the direction of v. It returns false if v has no direction, such as the zero vector, or too many
// dimensions.
func (q *vector) quantise(v []float64) bool {
	largest := 0.0
	sum := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(x))
		sum = sum + x*x
	}
	hasDirection := sum > 0 && !math.IsInf(sum, 0)
	if len(v) == 0 || len(v) > maxDimensions || !hasDirection {
		return false
	}
	q.Scale = float32(largest / 127 / math.Sqrt(sum))
	q.Values = make([]byte, len(v))
	for i, x := range v {
		q.Values[i] = byte(int8(math.Round(127 * x / largest)))
	}
	return true
}

// cosine returns the similarity of two vectors: 1 for equal ones, 0 for vectors of different models.
func (q vector) cosine(other vector) float64 {
	if len(q.Values) != len(other.Values) {
		return 0
	}
	sum := int32(0)
	for i, x := range q.Values {
		sum += int32(int8(x)) * int32(int8(other.Values[i]))
	}
	return float64(sum) * float64(q.Scale) * float64(other.Scale)
}
