// Package meaning compares sections of notes with a question by what they are about, as vectors (embeddings) that
// a program of the user on this machine makes: any server that answers "/v1/embeddings" as Ollama does. It is
// off unless the user names one. Another machine of the user's network is sent nothing before [Store.Allow].
//
// Texts go to that one address and nowhere else: no name is looked up, no proxy is used, no redirect
// is followed. It never makes a call wait for more than [questionTimeout], and an answer that is slow, wrong
// or too large is one without vectors.
package meaning

import (
	"bytes"
	"context"
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
)

const (
	questionTimeout = 700 * time.Millisecond
	textsTimeout    = 30 * time.Second
	maxReply        = 8 << 20 // 16 vectors of 4096 numbers take a fifth of it
	maxDimensions   = 4096
)

// Endpoint is a server on this machine or in its private network. The zero Endpoint is none.
type Endpoint struct {
	url, model string
	address    netip.AddrPort
}

// ParseEndpoint reads the address of a server, such as http://127.0.0.1:11434/v1, and the name of its model.
// Another host is an error, unless it is the address of a machine in a private network: to others texts would go
// without encryption.
func ParseEndpoint(address, model string) (Endpoint, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Endpoint{}, fmt.Errorf("invalid address %q: want http, a host, a port and a path, such as http://127.0.0.1:11434/v1", address)
	}
	host, port := u.Hostname(), 80
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if u.Port() != "" {
		port, err = strconv.Atoi(u.Port())
	}
	ip, wrong := netip.ParseAddr(host)
	switch {
	case wrong != nil || !ip.IsLoopback() && !ip.IsPrivate() || ip.Zone() != "":
		return Endpoint{}, fmt.Errorf("host %q is not this machine: want 127.0.0.1, [::1] or localhost, or the address of a machine in a private network, such as 192.168.1.20", u.Hostname())
	case err != nil || port < 1 || port > math.MaxUint16:
		return Endpoint{}, fmt.Errorf("invalid port %q: want 1 to %d", u.Port(), math.MaxUint16)
	case model == "":
		return Endpoint{}, errors.New("the model has no name")
	}
	return Endpoint{u.JoinPath("embeddings").String(), model, netip.AddrPortFrom(ip, uint16(port))}, nil
}

// Elsewhere is the address of another machine, "" for this one.
func (e Endpoint) Elsewhere() string {
	if ip := e.address.Addr(); ip.IsValid() && !ip.IsLoopback() {
		return ip.String()
	}
	return ""
}

// Port is the one port that has to be reached, 0 for none.
func (e Endpoint) Port() uint16 { return e.address.Port() }

// client reaches the address of the endpoint, whatever an URL says.
func (e Endpoint) client() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, e.address.String())
		}},
	}
}

// vectors returns the vector of each text. Its errors name no text.
func (e Endpoint) vectors(ctx context.Context, client *http.Client, wait time.Duration, texts []string) ([]vector, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("no answer within %v", wait))
	defer cancel()
	list, err := e.ask(ctx, client, texts)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return list, err
}

func (e Endpoint) ask(ctx context.Context, client *http.Client, texts []string) ([]vector, error) {
	body, err := json.Marshal(map[string]any{"model": e.model, "input": texts})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, errors.New("no connection to " + e.address.String())
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers with status %d", response.StatusCode)
	}
	var reply struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	switch {
	case len(data) > maxReply:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxReply)
	case err != nil || json.Unmarshal(data, &reply) != nil:
		return nil, errors.New("the answer has no vectors as JSON")
	}
	list := make([]vector, len(texts))
	for _, d := range reply.Data {
		if d.Index < 0 || d.Index >= len(list) || list[d.Index].Values != nil || !list[d.Index].quantise(d.Embedding) {
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

// quantise sets the direction of a vector. It reports whether there is one.
func (q *vector) quantise(v []float64) bool {
	most, sum := 0.0, 0.0
	for _, x := range v {
		most, sum = max(most, math.Abs(x)), sum+x*x
	}
	if len(v) == 0 || len(v) > maxDimensions || !(sum > 0) || math.IsInf(sum, 0) {
		return false
	}
	q.Scale, q.Values = float32(most/127/math.Sqrt(sum)), make([]byte, len(v))
	for i, x := range v {
		q.Values[i] = byte(int8(math.Round(127 * x / most)))
	}
	return true
}

// cosine returns how alike two vectors are, 1 for the same, 0 for those of different models.
func (q vector) cosine(of vector) float64 {
	if len(q.Values) != len(of.Values) {
		return 0
	}
	sum := int32(0)
	for i, x := range q.Values {
		sum += int32(int8(x)) * int32(int8(of.Values[i]))
	}
	return float64(sum) * float64(q.Scale) * float64(of.Scale)
}
