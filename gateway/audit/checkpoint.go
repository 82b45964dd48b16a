package audit

import (
	"bufio"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Checkpoint is a signed statement of where both parts of the log ended. With a copy that is kept
// elsewhere, [VerifyCheckpoints] detects that the whole log was rewritten.
type Checkpoint struct {
	Text      string `json:"text"`      // a statement as JSON
	Signature string `json:"signature"` // Ed25519 signature of signedText(Text), in base64
}

// statement is the signed content of a checkpoint.
type statement struct {
	Time  time.Time `json:"time"`
	Audit mark      `json:"audit"`
	Calls mark      `json:"calls"`
	Key   string    `json:"key"` // the public key, in base64
}

// mark identifies the last line of a part of the log: its number, and its SHA-256 in hexadecimal.
// An empty part has the number 0 and a hash of zeros.
type mark struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// signedText returns the bytes to sign for the text of a statement. The prefix keeps a signature
// from being valid for anything else that the key signs.
func signedText(text string) []byte { return []byte("vaultwicket audit checkpoint 1\n" + text) }

// Signer signs with an Ed25519 key.
type Signer interface {
	Public() (ed25519.PublicKey, error)
	Sign(text []byte) (signature []byte, err error)
}

// StateKey returns a [Signer] for the key in a state folder. The key is created when it is first
// needed. If it cannot be stored, only this process has it.
func StateKey(state string) Signer {
	return stateKey{sync.OnceValue(func() ed25519.PrivateKey {
		seed := sha256.Sum256(
			append([]byte("vaultwicket checkpoint key\n"), ownerfiles.Key(state, "checkpoint.key")...),
		)
		return ed25519.NewKeyFromSeed(seed[:])
	})}
}

type stateKey struct{ key func() ed25519.PrivateKey }

func (s stateKey) Public() (ed25519.PublicKey, error) {
	return s.key().Public().(ed25519.PublicKey), nil
}

func (s stateKey) Sign(text []byte) ([]byte, error) { return ed25519.Sign(s.key(), text), nil }

// Checkpoints writes checkpoints to the log in a state folder. It is used by one goroutine at a time.
type Checkpoints struct {
	state  string
	signer Signer
	log    Logs
	last   statement // the last statement; Audit is updated to include the line of that checkpoint itself
}

// NewCheckpoints returns Checkpoints for the log in a state folder, signed by signer.
func NewCheckpoints(state string, signer Signer) *Checkpoints {
	return &Checkpoints{state: state, signer: signer, log: OpenLogs(state)}
}

// Sign writes a checkpoint. It does nothing if the log is empty or unchanged since the last one.
func (c *Checkpoints) Sign() error {
	now := statement{Time: time.Now().UTC().Truncate(time.Millisecond)}
	for dir, m := range map[string]*mark{AuditFolder(c.state): &now.Audit, CallsFolder(c.state): &now.Calls} {
		h, why, err := folder{dir}.readHead()
		switch {
		case err != nil:
			return err
		case why == headUnreadable:
			return &Unusable{Store: store, Path: dir, Reason: why}
		}
		*m = mark{h.end.seq, hex.EncodeToString(h.end.hash[:])}
	}
	if now.Audit == c.last.Audit && now.Calls == c.last.Calls || now.Audit.Seq+now.Calls.Seq == 0 {
		return nil
	}
	public, err := c.signer.Public()
	if err != nil {
		return err
	}
	now.Key = base64.StdEncoding.EncodeToString(public)
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	signature, err := c.signer.Sign(signedText(string(text)))
	if err != nil {
		return err
	}
	if !ed25519.Verify(public, signedText(string(text)), signature) {
		return errors.New("the signature of the checkpoint is not one of its key")
	}
	if err := c.log.WriteLasting(Line{Kind: "checkpoint", Checkpoint: &Checkpoint{string(text), base64.StdEncoding.EncodeToString(signature)}}, Durable); err != nil {
		return err
	}
	if h, why, err := (folder{AuditFolder(c.state)}).readHead(); err == nil && why == "" &&
		h.end.seq == now.Audit.Seq+1 {
		now.Audit = mark{h.end.seq, hex.EncodeToString(h.end.hash[:])}
	}
	c.last = now
	return nil
}

// CheckedLog is what [VerifyCheckpoints] has found.
type CheckedLog struct {
	Checkpoints int       `json:"count"`
	Key         string    `json:"key"`              // the public key of all of them, in base64
	Last        time.Time `json:"last,omitzero"`    // of the newest checkpoint
	Removed     int       `json:"-"`                // checkpoints of lines that were removed for their age
	Broken      string    `json:"broken,omitempty"` // what is wrong first, "" if nothing is
}

// maxCheckpointLine bounds a line of a file of checkpoints: one of the log, in what a collector adds.
const maxCheckpointLine = 4 * maxLine

// VerifyCheckpoints compares the log in a state folder with checkpoints that were kept elsewhere: in
// the lines of a file that are JSON and have a member "checkpoint", such as those that were exported.
// Other lines are skipped. key is the public key in base64, "" for that of the first checkpoint. The
// error says that it could not be checked.
func VerifyCheckpoints(ctx context.Context, state, key string, in io.Reader, now time.Time) (r CheckedLog, err error) {
	r.Key = key
	var all []statement
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxCheckpointLine)
	for number := 1; lines.Scan(); number++ {
		var line struct {
			Checkpoint *Checkpoint `json:"checkpoint"`
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Checkpoint == nil {
			continue
		}
		var s statement
		signature, wrong := base64.StdEncoding.DecodeString(line.Checkpoint.Signature)
		if wrong == nil {
			wrong = json.Unmarshal([]byte(line.Checkpoint.Text), &s)
		}
		if r.Key == "" {
			r.Key = s.Key
		}
		public, _ := base64.StdEncoding.DecodeString(r.Key)
		switch {
		case wrong != nil || len(public) != ed25519.PublicKeySize:
			r.Broken = fmt.Sprintf("line %d of the checkpoints cannot be read", number)
		case s.Key != r.Key:
			r.Broken = fmt.Sprintf("line %d of the checkpoints is signed with another key", number)
		case !ed25519.Verify(public, signedText(line.Checkpoint.Text), signature):
			r.Broken = fmt.Sprintf("line %d of the checkpoints was changed: its signature does not match", number)
		}
		if r.Broken != "" {
			return r, nil
		}
		all = append(all, s)
	}
	if err := lines.Err(); err != nil {
		return r, err
	}
	r.Checkpoints = len(all)
	slices.SortStableFunc(
		all,
		func(a, b statement) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Audit.Seq, b.Audit.Seq)) },
	)
	for i, s := range all {
		if r.Last = s.Time; i > 0 && (s.Audit.Seq < all[i-1].Audit.Seq || s.Calls.Seq < all[i-1].Calls.Seq) {
			r.Broken = fmt.Sprintf(
				"at %s the log had fewer lines than at %s: it began anew",
				s.Time.Format(time.RFC3339),
				all[i-1].Time.Format(time.RFC3339),
			)
			return r, nil
		}
	}
	for _, part := range []struct {
		name, dir string
		of        func(statement) mark
		kept      time.Duration
	}{
		{"changes, approvals and denials", AuditFolder(state), func(s statement) mark { return s.Audit }, keptFor},
		{"other calls", CallsFolder(state), func(s statement) mark { return s.Calls }, 0},
	} {
		hashes := map[uint64]string{}
		for _, s := range all {
			hashes[part.of(s).Seq] = ""
		}
		report, err := verifyEach(ctx, part.dir, func(p point) {
			if _, wanted := hashes[p.seq]; wanted {
				hashes[p.seq] = hex.EncodeToString(p.hash[:])
			}
		})
		if err != nil {
			return r, err
		}
		if report.Broken != nil {
			r.Broken = fmt.Sprintf("%s: %s", part.name, report.Broken)
			return r, nil
		}
		for _, s := range all {
			m := part.of(s)
			at := s.Time.Format(time.RFC3339)
			switch {
			case m.Seq == 0:
			case report.Lines == 0 || m.Seq > report.Last:
				r.Broken = fmt.Sprintf(
					"%s: line %d, which was signed at %s, is missing: the log ends before it",
					part.name,
					m.Seq,
					at,
				)
			case m.Seq < report.First && now.Sub(s.Time) < part.kept:
				r.Broken = fmt.Sprintf(
					"%s: line %d, which was signed at %s, was removed although it is not old enough",
					part.name,
					m.Seq,
					at,
				)
			case m.Seq < report.First:
				r.Removed++
			case hashes[m.Seq] != m.Hash:
				r.Broken = fmt.Sprintf(
					"%s: line %d, or one before it, is not the one that was signed at %s",
					part.name,
					m.Seq,
					at,
				)
			}
			if r.Broken != "" {
				return r, nil
			}
		}
	}
	return r, nil
}
