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
	var err error
	if now.Audit, err = markOf(AuditFolder(c.state)); err != nil {
		return err
	}
	if now.Calls, err = markOf(CallsFolder(c.state)); err != nil {
		return err
	}
	isUnchanged := now.Audit == c.last.Audit && now.Calls == c.last.Calls
	isEmpty := now.Audit.Seq+now.Calls.Seq == 0
	if isUnchanged || isEmpty {
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
	checkpoint := &Checkpoint{Text: string(text), Signature: base64.StdEncoding.EncodeToString(signature)}
	if err := c.log.WriteLasting(Line{Kind: "checkpoint", Checkpoint: checkpoint}, Durable); err != nil {
		return err
	}
	after, err := markOf(AuditFolder(c.state))
	if err == nil && after.Seq == now.Audit.Seq+1 {
		now.Audit = after
	}
	c.last = now
	return nil
}

// markOf returns the mark of the log in a folder. A missing head counts as an empty log.
func markOf(dir string) (mark, error) {
	h, reason, err := folder{dir}.readHead()
	if err != nil {
		return mark{}, err
	}
	if reason == headUnreadable {
		return mark{}, &Unusable{Store: store, Path: dir, Reason: reason}
	}
	return mark{h.end.seq, hex.EncodeToString(h.end.hash[:])}, nil
}

// CheckedLog is the result of [VerifyCheckpoints].
type CheckedLog struct {
	Checkpoints int       `json:"count"`
	Key         string    `json:"key"`              // the public key of all of them, in base64
	Last        time.Time `json:"last,omitzero"`    // time of the newest checkpoint
	Removed     int       `json:"-"`                // checkpoints whose lines were removed for their age
	Broken      string    `json:"broken,omitempty"` // the first thing that is wrong, "" if nothing is
}

// maxCheckpointLine is the maximum length of a line in a file of checkpoints. It has room for a line of
// the log and for what a collector adds.
const maxCheckpointLine = 4 * maxLine

// VerifyCheckpoints compares the log in a state folder with checkpoints that were kept elsewhere. It
// reads them from the lines of in that are JSON with a member "checkpoint", such as exported lines, and
// skips other lines. key is the public key in base64, "" for that of the first checkpoint. An error means
// that the log could not be checked.
func VerifyCheckpoints(ctx context.Context, state, key string, in io.Reader, now time.Time) (r CheckedLog, err error) {
	r.Key = key
	statements, err := r.readStatements(in)
	if err != nil || r.Broken != "" {
		return r, err
	}
	r.Checkpoints = len(statements)
	r.checkOrder(statements)
	if r.Broken != "" {
		return r, nil
	}
	parts := []checkedPart{
		{
			name:   "changes, approvals and denials",
			dir:    AuditFolder(state),
			markIn: func(s statement) mark { return s.Audit },
			minAge: keptFor,
		},
		{
			name:   "other calls",
			dir:    CallsFolder(state),
			markIn: func(s statement) mark { return s.Calls },
		},
	}
	for _, part := range parts {
		err := r.checkPart(ctx, part, statements, now)
		if err != nil || r.Broken != "" {
			return r, err
		}
	}
	return r, nil
}

// readStatements returns the statements of the checkpoints in a file, after verifying their signatures.
// At the first invalid one it sets r.Broken and stops.
func (r *CheckedLog) readStatements(in io.Reader) ([]statement, error) {
	var statements []statement
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
		signature, err := base64.StdEncoding.DecodeString(line.Checkpoint.Signature)
		if err == nil {
			err = json.Unmarshal([]byte(line.Checkpoint.Text), &s)
		}
		if r.Key == "" {
			r.Key = s.Key
		}
		public, _ := base64.StdEncoding.DecodeString(r.Key) // the length is checked below
		switch {
		case err != nil || len(public) != ed25519.PublicKeySize:
			r.Broken = fmt.Sprintf("line %d of the checkpoints cannot be read", number)
		case s.Key != r.Key:
			r.Broken = fmt.Sprintf("line %d of the checkpoints is signed with another key", number)
		case !ed25519.Verify(public, signedText(line.Checkpoint.Text), signature):
			r.Broken = fmt.Sprintf("line %d of the checkpoints was changed: its signature does not match", number)
		}
		if r.Broken != "" {
			return nil, nil
		}
		statements = append(statements, s)
	}
	return statements, lines.Err()
}

// checkOrder sorts statements by time, and checks that the log never became shorter. It sets r.Last.
func (r *CheckedLog) checkOrder(statements []statement) {
	slices.SortStableFunc(statements, func(a, b statement) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Audit.Seq, b.Audit.Seq))
	})
	var previous statement
	for i, s := range statements {
		r.Last = s.Time
		isShorter := s.Audit.Seq < previous.Audit.Seq || s.Calls.Seq < previous.Calls.Seq
		if i > 0 && isShorter {
			r.Broken = fmt.Sprintf(
				"at %s the log had fewer lines than at %s: it began anew",
				s.Time.Format(time.RFC3339),
				previous.Time.Format(time.RFC3339),
			)
			return
		}
		previous = s
	}
}

// checkedPart is a part of the log to compare with checkpoints.
type checkedPart struct {
	name   string // for people
	dir    string
	markIn func(statement) mark
	minAge time.Duration // lines that are younger must not have been removed
}

// checkPart compares a part of the log with the statements. It sets r.Broken at the first difference,
// and counts the statements in r.Removed whose lines were removed.
func (r *CheckedLog) checkPart(ctx context.Context, part checkedPart, statements []statement, now time.Time) error {
	hashes := map[uint64]string{} // of the marked lines, by number
	for _, s := range statements {
		hashes[part.markIn(s).Seq] = ""
	}
	report, err := verifyEach(ctx, part.dir, func(p point) {
		if _, isMarked := hashes[p.seq]; isMarked {
			hashes[p.seq] = hex.EncodeToString(p.hash[:])
		}
	})
	if err != nil {
		return err
	}
	if report.Broken != nil {
		r.Broken = fmt.Sprintf("%s: %s", part.name, report.Broken)
		return nil
	}
	for _, s := range statements {
		m := part.markIn(s)
		reason := ""
		switch {
		case m.Seq == 0:
		case report.Lines == 0 || m.Seq > report.Last:
			reason = "line %d, which was signed at %s, is missing: the log ends before it"
		case m.Seq < report.First && now.Sub(s.Time) < part.minAge:
			reason = "line %d, which was signed at %s, was removed although it is not old enough"
		case m.Seq < report.First:
			r.Removed++
		case hashes[m.Seq] != m.Hash:
			reason = "line %d, or one before it, is not the one that was signed at %s"
		}
		if reason != "" {
			r.Broken = part.name + ": " + fmt.Sprintf(reason, m.Seq, s.Time.Format(time.RFC3339))
			return nil
		}
	}
	return nil
}
