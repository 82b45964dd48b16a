package admission

// [AgentTokens] stores the tokens of agents that call over HTTP, in one file of the state folder that only this user
// can read. It stores only the SHA-256 of a token, so the file is useless to anyone who reads it.

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// TokenDigest is the SHA-256 of a token.
type TokenDigest = [sha256.Size]byte

// AgentToken is the stored record of an agent's token.
type AgentToken struct {
	Agent  string    `json:"agent"`
	SHA256 string    `json:"sha256"`
	Made   time.Time `json:"made"`
}

const (
	fileName   = "agents.json"
	lockName   = "agents.lock"
	maxFile    = 1 << 20
	tokenBytes = 32
	// prefix identifies the text as a token, to people and to secret scanners.
	prefix = "vwa_"
)

// AgentTokens is the file of tokens in a state folder. It is safe for concurrent use, even by several processes.
type AgentTokens struct {
	state string

	mu     sync.Mutex
	seen   fs.FileInfo // the file when tokens was read
	tokens []AgentToken
}

// OpenAgentTokens returns the store in a state folder, which is created with the first token.
func OpenAgentTokens(state string) *AgentTokens { return &AgentTokens{state: state} }

func (s *AgentTokens) file() string { return filepath.Join(s.state, fileName) }

// Set gives an agent a new token, which replaces its old one, and returns it. Only the digest of the token is stored.
func (s *AgentTokens) Set(agent string, now time.Time) (token string, err error) {
	secret := make([]byte, tokenBytes)
	_, _ = rand.Read(secret)
	token = prefix + base64.RawURLEncoding.EncodeToString(secret)
	sum := sha256.Sum256([]byte(token))
	err = s.change(func(list []AgentToken) []AgentToken {
		list = slices.DeleteFunc(list, func(t AgentToken) bool { return t.Agent == agent })
		return append(
			list,
			AgentToken{Agent: agent, SHA256: hex.EncodeToString(sum[:]), Made: now.UTC().Truncate(time.Second)},
		)
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// Remove removes the token of an agent. had reports whether it had one.
func (s *AgentTokens) Remove(agent string) (had bool, err error) {
	list, err := s.List()
	if err != nil || !slices.ContainsFunc(list, func(t AgentToken) bool { return t.Agent == agent }) {
		return false, err
	}
	err = s.change(func(list []AgentToken) []AgentToken {
		kept := slices.DeleteFunc(slices.Clone(list), func(t AgentToken) bool { return t.Agent == agent })
		had = len(kept) < len(list)
		return kept
	})
	return had, err
}

// List returns the tokens, sorted by the names of their agents.
func (s *AgentTokens) List() ([]AgentToken, error) {
	text, err := ownerfiles.Read(s.file(), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []AgentToken
	if len(text) > maxFile || json.Unmarshal(text, &list) != nil {
		return nil, fmt.Errorf("%q is not a file of tokens", s.file())
	}
	for _, t := range list {
		if sum, err := hex.DecodeString(t.SHA256); err != nil || len(sum) != sha256.Size || t.Agent == "" {
			return nil, fmt.Errorf("%q is not a file of tokens", s.file())
		}
	}
	slices.SortFunc(list, func(a, b AgentToken) int { return cmp.Compare(a.Agent, b.Agent) })
	return list, nil
}

// change replaces the tokens of the file by the result of edit.
func (s *AgentTokens) change(edit func([]AgentToken) []AgentToken) error {
	return ownerfiles.UpdateJSON(s.state, fileName, lockName, func() (any, error) {
		list, err := s.List()
		if err != nil {
			return nil, err
		}
		return edit(list), nil
	})
}

// AgentOf returns the agent whose token has the given digest, "" if there is none. It compares the digest with every
// token in constant time. If the file cannot be read, no token is valid.
func (s *AgentTokens) AgentOf(digest TokenDigest) (agent string) {
	for _, t := range s.current() {
		sum, _ := hex.DecodeString(t.SHA256) // List has validated it
		if subtle.ConstantTimeCompare(sum, digest[:]) == 1 {
			agent = t.Agent
		}
	}
	return agent
}

// current returns the tokens of the file, and reads it again if it has changed.
func (s *AgentTokens) current() []AgentToken {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := os.Lstat(s.file())
	if err != nil {
		s.seen = nil
		s.tokens = nil
		return nil
	}
	if s.seen != nil && ownerfiles.IsUntouched(s.seen, now) {
		return s.tokens
	}
	s.seen = now
	s.tokens, _ = s.List()
	return s.tokens
}
