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
// A gateway calls Redeem before a call, and Ask if the call was not asked about. An answer is
// bound to the vault, the call and the session that asked, which the user was shown: another
// session may be another agent, or one that a note has talked into the same call. After a restart
// of the server the user is therefore asked again.
type Store struct {
	dir    string
	now    func() time.Time
	by     string // where the user answers
	system ownerfiles.System
	folder *ownerfiles.RecordFolder // the same as dir
}

const (
	// maxPending is more than a user answers one by one; an agent that asks more tries to get
	// approvals without thought.
	maxPending = 64
	// maxOpen are those of one agent, over all its sessions, or of one session without an agent.
	maxOpen = 8
	// maxKept counts those that were answered too.
	maxKept = 4 * maxPending
)

// shareOfQuestions is a half of what others leave, and no more than a user reads with thought.
var shareOfQuestions = shares.Part{Of: 1, Parts: 2, Most: maxOpen}

// OpenStore returns the store in the folder dir, an absolute path outside of any vault. It reads
// nothing; the first question creates a missing folder. A nil clock is the system's.
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
// nor undoes a denial. An agent has at most eight open questions, over all its sessions, and a half
// of what others leave, because a user who has to answer many stops reading them. A question about
// the same call on changed notes replaces the
// earlier one.
//
// Its errors are *[Invalid], *[StillOpen] and *[Unusable], and one where there is no room for it.
func (d *Store) Ask(q StoredQuestion) (StoredQuestion, error) {
	if err := q.check(); err != nil {
		return StoredQuestion{}, err
	}
	if err := ownerfiles.MakeFolder(d.system, d.dir); err != nil {
		return StoredQuestion{}, unusable(d.dir, err)
	}
	err := d.withLock(func(s content) error {
		if before := s.find(q.Vault, q.Digest, q.Session); before.State != Unasked {
			q = before
			return nil
		}
		pending := 0
		own := 0
		same := -1 // of all, of the session, and the one about the same call, which has no answer
		for i, other := range s.live {
			if other.State != Pending {
				continue
			}
			if pending++; shares.Agent(other.Session) == shares.Agent(q.Session) {
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
			pending = pending - 1
			own = own - 1
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
		q.Expires = now.Add(defaultLife)
		for q.Code == "" { // one that no file is named by, a damaged one neither
			code := codeFrom(rand.Reader)
			var unknown *Unknown
			if _, err := s.byCode(code); errors.As(err, &unknown) {
				q.Code = displayCode(code)
			}
		}
		q.Rows, q.Cost = len(q.Lines), linesCost(q.Lines)
		return d.save(q)
	})
	if err != nil {
		return StoredQuestion{}, err
	}
	return q, nil
}

// Shown returns the lines of a question that [Store.List] has returned: all that the user is to see before they
// approve. Its error is *[Damaged], or *[Unusable] for what cannot be read, such as a question that was answered.
func (d *Store) Shown(q StoredQuestion) ([]Line, error) {
	if q.shown == "" {
		return q.Lines, nil
	}
	path := d.linesPath(q.Code)
	data, err := ownerfiles.Read(path, maxDecoded)
	if err != nil {
		return nil, unusable(path, err)
	}
	lines, err := decodeLines(data)
	if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != q.shown {
		return nil, &Damaged{filepath.Base(path), "is not what was written"}
	}
	return lines, nil
}

// List returns the questions that have not expired, the oldest first, and the files that cannot be
// read. Expired questions are removed. Its error is *[Unusable].
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
// Its errors are *[Unknown], also for a question that has expired, *[Answered], *[Elsewhere],
// *[Damaged] and *[Unusable]. With the last one the question may be gone; the
// others have changed nothing.
func (d *Store) Approve(code string) (StoredQuestion, error) { return d.answer(code, Approved, "") }

// Deny denies the question in the same way. The denial lasts ten minutes.
func (d *Store) Deny(code string) (StoredQuestion, error) { return d.answer(code, Denied, "") }

// TakeBack withdraws an approval that is not used, in the same way. The call is refused for ten minutes.
func (d *Store) TakeBack(code string) (StoredQuestion, error) { return d.answer(code, Withdrawn, "") }

// answer answers the question with a code that the user has typed, or chosen. words are what they have typed besides.
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
		from := Pending
		if state == Withdrawn {
			from = Approved
		}
		switch {
		case q.State != from:
			return &Answered{q.Code, q.State}
		case state == Approved && q.Only != "" && q.Only != d.by:
			return &Elsewhere{q.Code, "it can only be approved at a " + q.Only}
		case state == Approved && q.Typed != "" && strings.TrimSpace(words) != q.Typed:
			return &Elsewhere{q.Code, fmt.Sprintf("it is approved by typing %q", q.Typed)}
		}
		q.State = state
		q.By = d.by
		if state != Approved { // which lasts as long as a question that was just asked
			if until := s.now.UTC().Round(0).Add(defaultLife); until.After(q.Expires) {
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

// Redeem takes the approval of a call, if the session that asked has one: the question in the state
// [Approved]. It is removed before Redeem returns: of several callers, in several processes, one gets
// it. A call that the user denied to the session, whatever the notes were then, is denied also where an
// earlier approval was not used. The zero call is none.
//
// Its errors are *[Ungranted], which distinguishes Pending, Denied and Unasked, *[Invalid] and
// *[Unusable].
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
		if i := slices.IndexFunc(s.live, func(q StoredQuestion) bool { return q.State == Denied && q.isSameCall(about) }); i >= 0 {
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

// Withdraw takes back a question that waits for its answer, given with its code. Its errors
// are *[Unknown], *[Answered], *[Damaged] and *[Unusable].
func (d *Store) Withdraw(q StoredQuestion) error {
	code, _ := parseCode(q.Code)
	return d.withContent(func(s content) error {
		now, err := s.byCode(code)
		switch {
		case err != nil:
			return err
		case now.State != Pending || now.Session != q.Session:
			return &Answered{now.Code, now.State}
		}
		return d.remove(now)
	})
}

// remove removes the files of q for good.
func (d *Store) remove(q StoredQuestion) error {
	path := d.path(q.Code)
	err := d.system.Remove(path)
	if q.shown != "" {
		_ = d.system.Remove(d.linesPath(q.Code)) // without the question it counts for nothing
	}
	if errors.Is(err, fs.ErrNotExist) { // another process did, in spite of the lock
		return &Ungranted{}
	}
	if err == nil {
		err = d.system.SyncFolder(d.dir)
	}
	return unusable(path, err)
}

const lockFile = "desk.lock"

// withContent runs do with the content of the folder, under its lock. If nothing was ever asked, the content is empty and
// nothing is created.
func (d *Store) withContent(do func(content) error) error {
	return inFolder(d.folder.Use, d.readContent, do)
}

// withLock does the same in a folder that is there.
func (d *Store) withLock(do func(content) error) error {
	return inFolder(d.folder.UseExisting, d.readContent, do)
}

const (
	recordSuffix    = ".json"
	linesSuffix     = ".lines"
	temporarySuffix = ".half" // a file that is being written

	// maxFiles is how many names are read. More were not made by this package.
	maxFiles = 4 * maxKept
)

// content is what is in the folder while its lock is held.
type content struct {
	now     time.Time
	live    []StoredQuestion // the oldest first
	damaged []*Damaged
}

// readContent reads the folder, and removes expired questions and temporary files of killed
// processes. The caller has the lock.
func (d *Store) readContent(names []string) (content, error) {
	s := content{now: d.now()}
	for _, name := range names {
		path := filepath.Join(d.dir, name)
		switch filepath.Ext(name) {
		case temporarySuffix:
			_ = d.system.Remove(path) // it counts for nothing
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
			case err != nil: // it may be readable in a moment, and be a denial
				return content{}, unusable(path, err)
			case !ok:
				s.damaged = append(s.damaged, &Damaged{name, "is not what was written"})
			case q.isLive(s.now):
				s.live = append(s.live, q)
			default:
				_ = d.system.Remove(path) // it has expired, wherever it is
				if q.shown != "" {
					_ = d.system.Remove(d.linesPath(q.Code))
				}
			}
		}
	}
	slices.SortStableFunc(s.live, func(a, b StoredQuestion) int { return a.Made.Compare(b.Made) })
	return s, nil
}

// find returns the question about a call, the zero Question if there is none. If
// there are two, a denial counts more than an approval.
func (s content) find(vault string, digest Digest, session string) (found StoredQuestion) {
	for _, q := range s.live {
		isAbout := q.Vault == vault && q.Digest == digest && q.Session == session
		if isAbout && q.State > found.State {
			found = q
		}
	}
	return found
}

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

func (d *Store) path(shownCode string) string {
	code, _ := parseCode(shownCode)
	return filepath.Join(d.dir, code+recordSuffix)
}

func (d *Store) linesPath(shownCode string) string {
	return strings.TrimSuffix(d.path(shownCode), recordSuffix) + linesSuffix
}

// save writes the file of q atomically. After an error the file, and with it q, may be gone: no
// answer is better than one that was reported as failed.
func (d *Store) save(q StoredQuestion) error {
	path := d.path(q.Code)
	half := strings.TrimSuffix(path, recordSuffix) + temporarySuffix
	if linesCost(q.Lines) > maxInline {
		lines, err := encodeLines(q.Lines)
		if err != nil {
			return err
		}
		if _, err := ownerfiles.Replace(d.system, half, d.linesPath(q.Code), lines, time.Time{}); err != nil {
			return unusable(d.linesPath(q.Code), err)
		}
		sum := sha256.Sum256(lines)
		q.Lines = nil
		q.shown = hex.EncodeToString(sum[:])
	}
	data, err := q.encode()
	if err != nil {
		return err
	}
	replaced, err := ownerfiles.Replace(d.system, half, path, data, time.Time{})
	if replaced && err != nil {
		_ = d.system.Remove(path)
	}
	return unusable(path, err)
}
