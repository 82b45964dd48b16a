package approvals

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// record is a question in its file. Its sum is that of the record without it.
type record struct {
	Sum     string    `json:"sum"`
	Code    string    `json:"code"`
	State   string    `json:"state"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
	Session string    `json:"session"`
	Client  string    `json:"client"`
	Vault   string    `json:"vault"`
	Command string    `json:"command"`
	Effect  string    `json:"effect"`
	Text    string    `json:"text"`
	Digest  string    `json:"digest"`
	Call    string    `json:"call,omitempty"`
	Params  []string  `json:"params,omitempty"`
	By      string    `json:"by,omitempty"`
	Lines   []Line    `json:"lines,omitempty"`
}

// maxRecord is more than the largest question takes: each byte of it six times,
// as JSON writes some characters.
const maxRecord = 1 << 20

// kept are the states that a file can have.
var kept = []State{Pending, Approved, Denied}

// encode writes q as the content of its file.
func (q Question) encode() ([]byte, error) {
	code, _ := parseCode(q.Code)
	r := record{
		Code: code, State: q.State.String(), Made: q.Made, Expires: q.Expires,
		Session: q.Session, Client: q.Client, Vault: q.Vault, Command: q.Command, Effect: q.Effect,
		Text: q.Text, Digest: hex.EncodeToString(q.Digest[:]), Params: q.Params, By: q.By, Lines: q.Lines,
	}
	if q.Call != (Digest{}) {
		r.Call = hex.EncodeToString(q.Call[:])
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	r.Sum = hex.EncodeToString(sum[:])
	data, err = json.Marshal(r)
	return append(data, '\n'), err
}

// parseQuestion reads the file of the question with a code. It takes nothing but
// what encode writes, to the byte: a field that is unknown, twice or in other
// letters would mean something else to another reader.
func parseQuestion(code string, data []byte) (Question, bool) {
	var r record
	if len(data) > maxRecord || json.Unmarshal(data, &r) != nil || r.Code != code || !isCode(code) {
		return Question{}, false
	}
	q, ok := r.question()
	if !ok || q.check() != nil || !q.Made.Before(q.Expires) || q.Expires.Sub(q.Made) > maxLife {
		return Question{}, false
	}
	again, err := q.encode()
	return q, err == nil && bytes.Equal(again, data)
}

func (r record) question() (Question, bool) {
	state := slices.IndexFunc(kept, func(s State) bool { return s.String() == r.State })
	digest, err := hex.DecodeString(r.Digest)
	if state < 0 || err != nil || len(digest) != len(Digest{}) {
		return Question{}, false
	}
	var call Digest
	if of, err := hex.DecodeString(r.Call); err != nil || len(of) != copy(call[:], of) || len(of) != 0 && len(of) != len(call) {
		return Question{}, false
	}
	return Question{
		Code: displayCode(r.Code), State: kept[state], Made: r.Made.UTC(), Expires: r.Expires.UTC(),
		Session: r.Session, Client: r.Client, Vault: r.Vault, Command: r.Command, Effect: r.Effect,
		Text: r.Text, Digest: Digest(digest), Call: call, Params: r.Params, By: r.By, Lines: r.Lines,
	}, true
}
