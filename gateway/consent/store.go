package consent

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

// Store keeps questions until the user has answered them, each in a file of its own in a folder
// that only the user can access. It is safe for concurrent use by goroutines and processes.
//
// A gateway calls Redeem before a call, and Ask if the user was not asked about the call yet. An
// answer is bound to the vault, the call and the session that asked, as shown to the user: another
// session may be another agent, or one that a note has talked into the same call. After a restart
// of the server the user is therefore asked again.
type Store struct {
	dir    string
	now    func() time.Time
	by     string // where the user answers
	system ownerfiles.System
	folder *ownerfiles.RecordFolder // dir as a folder of records
}

const (
	// maxPending is the maximum number of pending questions. It is more than a user answers one by
	// one; an agent that asks more tries to get thoughtless approvals.
	maxPending = 64
	// maxOpen is the maximum for one agent in all its sessions, or for one session without an agent.
	maxOpen = 8
	// maxKept is the maximum number of questions including answered ones.
	maxKept = 4 * maxPending
)

// shareOfQuestions is the share of one agent: half of what the others leave, up to maxOpen.
var shareOfQuestions = shares.Part{Of: 1, Parts: 2, Most: maxOpen}

// OpenStore returns the store in the folder dir, an absolute path outside of any vault. It reads
// nothing; the first question creates a missing folder. With a nil now, the system clock is used.
func OpenStore(dir string, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{
		dir:    dir,
		now:    now,
		system: ownerfiles.Disk{},
		folder: &ownerfiles.RecordFolder{Path: dir, Store: store, LockFile: lockFile, MaxFiles: maxFiles},
	}
}

// Ask stores a question and returns it with its code. If this session has an unexpired question
// about this call, it returns that one unchanged, answered or not: asking again neither extends it
// nor undoes a denial. A question about the same call on changed notes replaces the earlier one. An
// agent may have at most eight pending questions in all its sessions, and half of what other agents
// leave, because a user who has to answer many stops reading them.
//
// Its errors are *[Invalid], *[StillOpen], *[Unusable], and a plain one if the folder is full.
func (d *Store) Ask(q StoredQuestion) (StoredQuestion, error) {
	if err := q.check(); err != nil {
		return StoredQuestion{}, err
	}
	if err := ownerfiles.MakeFolder(d.system, d.dir); err != nil {
		return StoredQuestion{}, unusable(d.dir, err)
	}
	err := d.withExistingContent(func(s content) error {
		if before := s.find(q.Vault, q.Digest, q.Session); before.State != Unasked {
			q = before
			return nil
		}
		pending := 0
		own := 0
		same := -1 // index of the pending question about the same call
		for i, other := range s.live {
			if other.State != Pending {
				continue
			}
			pending++
			if shares.Agent(other.Session) == shares.Agent(q.Session) {
				own++
			}
			if same < 0 && q.isSameCall(other) {
				same = i
			}
		}
		if same >= 0 {
			if err := d.remove(s.live[same]); err != nil {
				return err
			}
			s.live = slices.Delete(s.live, same, same+1)
			pending--
			own--
		}
		hasShare := shareOfQuestions.Allows(maxPending, int64(pending), int64(own), 1)
		switch {
		case !hasShare && int64(own) >= shareOfQuestions.Most:
			return &StillOpen{own}
		case !hasShare || len(s.live) >= maxKept:
			return errTooMany
		}
		now := s.now.UTC().Round(0)
		q.Code = ""
		q.Ref = rand.Text()
		q.State = Pending
		q.By = ""
		q.Made = now
		q.Expires = now.Add(Life)
		for q.Code == "" { // until no file has the code, not even a damaged one
			code := codeFrom(rand.Reader)
			var unknown *Unknown
			if _, err := s.byCode(code); errors.As(err, &unknown) {
				q.Code = displayCode(code)
			}
		}
		q.Rows = len(q.Lines)
		q.Cost = linesCost(q.Lines)
		return d.save(q)
	})
	if err != nil {
		return StoredQuestion{}, err
	}
	return q, nil
}

// Shown returns the lines of a question that [Store.List] returned: everything that the user must see before they
// approve. Its error is *[Damaged], or *[Unusable] if they cannot be read, such as those of an answered question.
func (d *Store) Shown(q StoredQuestion) ([]Line, error) {
	if q.linesDigest == "" {
		return q.Lines, nil
	}
	path := d.linesPath(q.Code)
	data, err := ownerfiles.Read(path, maxDecoded)
	if err != nil {
		return nil, unusable(path, err)
	}
	sum := sha256.Sum256(data)
	lines, err := decodeLines(data)
	if err != nil || hex.EncodeToString(sum[:]) != q.linesDigest {
		return nil, &Damaged{filepath.Base(path), "is not what was written"}
	}
	return lines, nil
}

// List returns the questions that have not expired, oldest first, and the files that cannot be read.
// It removes expired questions. Its error is *[Unusable].
func (d *Store) List() (questions []StoredQuestion, damaged []*Damaged, err error) {
	err = d.withContent(func(s content) error {
		questions = s.live
		damaged = s.damaged
		return nil
	})
	return questions, damaged, err
}

// Approve approves the question with a code and returns it. The code may be in lower case, with a
// dash or without. The approval lasts as long as the question.
//
// Its errors are *[Unknown], also for an expired question, *[Answered], *[Elsewhere], *[Damaged] and
// *[Unusable]. After *[Unusable] the question may be gone; after the others nothing has changed.
func (d *Store) Approve(code string) (StoredQuestion, error) { return d.answer(code, Approved, "") }

// Deny denies the question with a code, like [Store.Approve]. The denial lasts for [Life].
func (d *Store) Deny(code string) (StoredQuestion, error) { return d.answer(code, Denied, "") }

// TakeBack withdraws an unused approval, like [Store.Approve]. The call is refused for [Life].
func (d *Store) TakeBack(code string) (StoredQuestion, error) { return d.answer(code, Withdrawn, "") }

// answer sets the state of the question with a code that the user typed or chose. words is what they typed to confirm
// it, see [StoredQuestion.Typed].
func (d *Store) answer(typed string, state State, words string) (answered StoredQuestion, err error) {
	code, ok := parseCode(typed)
	if !ok {
		return StoredQuestion{}, &Unknown{typed}
	}
	err = d.withContent(func(s content) error {
		q, err := s.byCode(code)
		if err != nil {
			return err
		}
		required := Pending
		if state == Withdrawn {
			required = Approved
		}
		switch {
		case q.State != required:
			return &Answered{q.Code, q.State}
		case state == Approved && q.Only != "" && q.Only != d.by:
			return &Elsewhere{q.Code, "it can only be approved at a " + q.Only}
		case state == Approved && q.Typed != "" && strings.TrimSpace(words) != q.Typed:
			return &Elsewhere{q.Code, fmt.Sprintf("it is approved by typing %q", q.Typed)}
		}
		q.State = state
		q.By = d.by
		if state != Approved { // a refusal lasts as long as a question that was just asked
			until := s.now.UTC().Round(0).Add(Life)
			if until.After(q.Expires) {
				q.Expires = until
			}
		}
		if err := d.save(q); err != nil {
			return err
		}
		answered = q
		return nil
	})
	return answered, err
}

// Redeem uses up the approval of a call that a session asked for, and returns the question. The
// approval is removed before Redeem returns, so that only one of several callers and processes gets
// it. If the user denied the same call to the session, on whatever notes, the call is denied even if
// there is an unused approval. With a zero call, no other question is the same call.
//
// Its errors are *[Ungranted], which distinguishes Pending, Denied, Withdrawn and Unasked, *[Invalid]
// and *[Unusable].
func (d *Store) Redeem(
	vault string,
	digest Digest,
	call CallDigest,
	session string,
) (granted StoredQuestion, err error) {
	if err := (Bound{vault, digest, session}).check(); err != nil {
		return StoredQuestion{}, err
	}
	err = d.withContent(func(s content) error {
		q := s.find(vault, digest, session)
		about := StoredQuestion{Vault: vault, Session: session, Call: call}
		isDenied := func(q StoredQuestion) bool { return q.State == Denied && q.isSameCall(about) }
		if i := slices.IndexFunc(s.live, isDenied); i >= 0 {
			q = s.live[i]
		}
		if q.State != Approved {
			return &Ungranted{q.State, q.Code}
		}
		if err := d.remove(q); err != nil {
			return err
		}
		granted = q
		return nil
	})
	return granted, err
}

// Withdraw removes a pending question, which is identified by its code and session. Its errors are
// *[Unknown], *[Answered], *[Damaged] and *[Unusable].
func (d *Store) Withdraw(q StoredQuestion) error {
	code, _ := parseCode(q.Code)
	return d.withContent(func(s content) error {
		current, err := s.byCode(code)
		switch {
		case err != nil:
			return err
		case current.State != Pending || current.Session != q.Session:
			return &Answered{current.Code, current.State}
		}
		return d.remove(current)
	})
}

// remove removes the files of q durably. It returns an *[Ungranted] if they are already gone.
func (d *Store) remove(q StoredQuestion) error {
	path := d.path(q.Code)
	err := d.system.Remove(path)
	if q.linesDigest != "" {
		_ = d.system.Remove(d.linesPath(q.Code)) // best effort: without the question it is removed later
	}
	if errors.Is(err, fs.ErrNotExist) { // another process removed it, in spite of the lock
		return &Ungranted{}
	}
	if err == nil {
		err = d.system.SyncFolder(d.dir)
	}
	return unusable(path, err)
}

const lockFile = "desk.lock"

// withContent calls do with the content of the folder, under its lock. If there is no folder, the content is empty, and
// nothing is created.
func (d *Store) withContent(do func(content) error) error {
	return inFolder(d.folder.Use, d.readContent, do)
}

// withExistingContent is withContent for a folder that must exist.
func (d *Store) withExistingContent(do func(content) error) error {
	return inFolder(d.folder.UseExisting, d.readContent, do)
}

const (
	recordSuffix    = ".json"
	linesSuffix     = ".lines"
	temporarySuffix = ".half" // a file that is being written

	// maxFiles is how many names are read. This package never creates more.
	maxFiles = 4 * maxKept
)

// content is the content of the folder while its lock is held.
type content struct {
	now     time.Time
	live    []StoredQuestion // not expired, oldest first
	damaged []*Damaged
}

// readContent reads the folder. It removes expired questions and temporary files of killed
// processes. The caller has the lock.
func (d *Store) readContent(names []string) (content, error) {
	s := content{now: d.now()}
	for _, name := range names {
		path := filepath.Join(d.dir, name)
		switch filepath.Ext(name) {
		case temporarySuffix:
			_ = d.system.Remove(path) // best effort: tried again at the next read
		case linesSuffix:
			if !slices.Contains(names, strings.TrimSuffix(name, linesSuffix)+recordSuffix) {
				_ = d.system.Remove(path)
			}
		case recordSuffix:
			data, err := ownerfiles.Read(path, maxRecord)
			q, ok := parseQuestion(strings.TrimSuffix(name, recordSuffix), data)
			var unsafe *ownerfiles.Unsafe
			switch {
			case errors.As(err, &unsafe):
				s.damaged = append(s.damaged, &Damaged{name, unsafe.Reason()})
			case errors.Is(err, fs.ErrPermission):
				s.damaged = append(s.damaged, &Damaged{name, "cannot be read"})
			case err != nil: // it may be readable in a moment, and turn out to be a denial
				return content{}, unusable(path, err)
			case !ok:
				s.damaged = append(s.damaged, &Damaged{name, "is not what was written"})
			case q.isLive(s.now):
				s.live = append(s.live, q)
			default:
				_ = d.system.Remove(path) // it has expired
				if q.linesDigest != "" {
					_ = d.system.Remove(d.linesPath(q.Code))
				}
			}
		}
	}
	slices.SortStableFunc(s.live, func(a, b StoredQuestion) int { return a.Made.Compare(b.Made) })
	return s, nil
}

// find returns the question about a call, or the zero StoredQuestion if there is none. Of several,
// it returns the one whose state comes last, so that a denial overrides an approval.
func (s content) find(vault string, digest Digest, session string) (found StoredQuestion) {
	for _, q := range s.live {
		isAbout := q.Vault == vault && q.Digest == digest && q.Session == session
		if isAbout && q.State > found.State {
			found = q
		}
	}
	return found
}

// byCode returns the question with a code, without its dash. Its errors are *[Damaged] and *[Unknown].
func (s content) byCode(code string) (StoredQuestion, error) {
	for _, q := range s.live {
		if q.Code == displayCode(code) {
			return q, nil
		}
	}
	for _, damaged := range s.damaged {
		if damaged.Name == code+recordSuffix {
			return StoredQuestion{}, damaged
		}
	}
	return StoredQuestion{}, &Unknown{displayCode(code)}
}

func (d *Store) path(displayed string) string {
	code, _ := parseCode(displayed)
	return filepath.Join(d.dir, code+recordSuffix)
}

func (d *Store) linesPath(displayed string) string {
	return strings.TrimSuffix(d.path(displayed), recordSuffix) + linesSuffix
}

// save writes the file of q atomically. After an error, the file of q may be gone: it is better to
// lose an answer than to keep one that was reported as failed.
func (d *Store) save(q StoredQuestion) error {
	path := d.path(q.Code)
	temporary := strings.TrimSuffix(path, recordSuffix) + temporarySuffix
	if linesCost(q.Lines) > maxInline {
		lines, err := encodeLines(q.Lines)
		if err != nil {
			return err
		}
		if _, err := ownerfiles.Replace(d.system, temporary, d.linesPath(q.Code), lines, time.Time{}); err != nil {
			return unusable(d.linesPath(q.Code), err)
		}
		sum := sha256.Sum256(lines)
		q.Lines = nil
		q.linesDigest = hex.EncodeToString(sum[:])
	}
	data, err := q.encode()
	if err != nil {
		return err
	}
	replaced, err := ownerfiles.Replace(d.system, temporary, path, data, time.Time{})
	if replaced && err != nil {
		_ = d.system.Remove(path)
	}
	return unusable(path, err)
}
