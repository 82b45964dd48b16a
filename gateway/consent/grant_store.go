package consent

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Grants keeps grants, each in a file of its own in a folder that only the user can access. It is safe for concurrent use
// by goroutines and processes.
type Grants struct {
	dir    string
	now    func() time.Time
	system ownerfiles.System
	began  time.Time                // start of the measurement of time, see clockWasSetBack
	folder *ownerfiles.RecordFolder // dir as a folder of records

	// Guarded by the lock of the folder, like began.
	latestSeen time.Time // the latest time that this process has seen
	cachedKey  []byte    // the key of the folder, once it was read
}

const (
	grantsLockFile  = "grants.lock"
	grantsKeyFile   = "grants.key"
	grantSuffix     = ".json"
	grantTempSuffix = ".half" // a file that is being written

	maxGrantFile   = 16 << 20 // larger than any valid grant
	maxGrantFiles  = 1024     // this package never creates more; the rest is not read
	maxKeptGrants  = 512      // including ended ones
	maxLiveGrants  = 64       // so that a user can know what is in force
	maxOpenChanges = 256      // changes in progress, or in progress when a server was killed

	// retention is how long an ended grant is listed, so that its changes can be reviewed.
	retention = 30 * 24 * time.Hour
	// clockTolerance is how far the clock may go back without ending grants: time services adjust it.
	clockTolerance = time.Minute
)

// OpenGrants returns the store in the state folder. It reads nothing; the first grant creates the folder. With a nil
// now, the system clock is used.
func OpenGrants(state string, now func() time.Time) *Grants {
	if now == nil {
		now = time.Now
	}
	dir := GrantsFolder(state)
	return &Grants{
		dir:    dir,
		now:    now,
		system: ownerfiles.Disk{},
		began:  now(),
		folder: &ownerfiles.RecordFolder{Path: dir, Store: grantStore, LockFile: grantsLockFile, MaxFiles: maxGrantFiles},
	}
}

var grantStore = ownerfiles.Store{Name: "grants", Code: "grants"}

func unusableGrants(path string, err error) error { return grantStore.Unusable(path, err) }

// DamagedGrant reports a grant file that was altered. It grants nothing, and is left in place.
type DamagedGrant struct{ Name, Reason string }

func (e *DamagedGrant) Error() string { return fmt.Sprintf("grant file %q: %s", e.Name, e.Reason) }

// UnknownGrant reports that no grant has an id.
type UnknownGrant struct{ ID string }

func (e *UnknownGrant) Error() string { return fmt.Sprintf("no grant has the id %.40q", e.ID) }

// Give stores a grant that expires after lifetime, which is at most [MaxGrantTime]. Its errors are *[InvalidTerms],
// *[ownerfiles.Unusable], and a plain one if a limit is reached.
func (s *Grants) Give(t GrantTerms, lifetime time.Duration) (Grant, error) {
	if err := t.Check(); err != nil {
		return Grant{}, err
	}
	if lifetime <= 0 || lifetime > MaxGrantTime {
		return Grant{}, &InvalidTerms{"for", fmt.Sprintf("is %v, want up to %v", lifetime, MaxGrantTime)}
	}
	if err := ownerfiles.MakeFolder(s.system, s.dir); err != nil {
		return Grant{}, unusableGrants(s.dir, err)
	}
	var g Grant
	err := s.withExistingContent(func(c grantContent) error {
		live := 0
		for _, other := range c.grants {
			if other.EndedBy(c.now) == "" {
				live++
			}
		}
		if live >= maxLiveGrants {
			return fmt.Errorf("limit reached: there are %d grants in force", live)
		}
		if len(c.grants) >= maxKeptGrants {
			return fmt.Errorf("limit reached: %d grants of the last days are kept", len(c.grants))
		}
		now := c.now.UTC().Round(0)
		g = Grant{ID: newGrantID(), GrantTerms: t, Made: now, Expires: now.Add(lifetime), Seen: now}
		return s.save(g)
	})
	return g, err
}

// newGrantID returns a new id for a grant. Agents see it: knowing it grants nothing.
func newGrantID() string { return "g-" + strings.ToLower(rand.Text()[:10]) }

// List returns the grants, including ended ones, oldest first, and the files that cannot be read. Its error is
// *[ownerfiles.Unusable].
func (s *Grants) List() (list []Grant, damaged []*DamagedGrant, err error) {
	err = s.withContent(func(c grantContent) error {
		list = c.grants
		damaged = c.damaged
		return nil
	})
	return list, damaged, err
}

// Held returns the grants of a holder that are in force, soonest to expire first.
func (s *Grants) Held(h GrantHolder) ([]Grant, error) {
	var list []Grant
	err := s.withContent(func(c grantContent) (err error) {
		list, err = s.held(c, h)
		return err
	})
	return list, err
}

// held is [Grants.Held] under the lock. Grants of an earlier generation of credentials are ended for good.
func (s *Grants) held(c grantContent, h GrantHolder) (list []Grant, err error) {
	for _, g := range c.grants {
		if g.Ended != "" || !g.isOf(h) {
			continue
		}
		if g.Generation != h.Generation {
			if err := s.end(g, c.now, endedByCredentials); err != nil {
				return nil, err
			}
			continue
		}
		if limit := g.Made.Add(h.MaxTime); limit.Before(g.Expires) {
			g.Expires = limit
		}
		if c.now.Before(g.Expires) {
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b Grant) int { return a.Expires.Compare(b.Expires) })
	return list, nil
}

// Reasons for the end of a grant before it expires.
const (
	endedByOwner       = "by the owner"
	endedByCredentials = "the agent was revoked, or its credentials were renewed"
	endedByClock       = "the clock was set back"

	// GrantNarrowed is the reason if the rules of the vault were narrowed.
	GrantNarrowed = "the rules were narrowed"
	// GrantTimeOver is the reason that is reported for an expired grant; it is never stored.
	GrantTimeOver = "its time is over"
)

// End ends a grant by the decision of the owner. Its errors are *[UnknownGrant], *[DamagedGrant] and *[ownerfiles.Unusable].
func (s *Grants) End(id string) (ended Grant, err error) {
	err = s.withContent(func(c grantContent) error {
		g, err := c.byID(id)
		if err != nil {
			return err
		}
		if g.Ended == "" {
			err = s.end(g, c.now, endedByOwner)
			g.Ended = endedByOwner
		}
		ended = g
		return err
	})
	return ended, err
}

// EndAll ends every grant that matches, for a reason that [Grant.EndedBy] reports.
func (s *Grants) EndAll(reason string, matches func(Grant) bool) error {
	return s.withContent(func(c grantContent) (err error) {
		for _, g := range c.grants {
			if g.Ended == "" && matches(g) {
				err = errors.Join(err, s.end(g, c.now, reason))
			}
		}
		return err
	})
}

// EndOfAgent ends the grants of an agent whose credentials are no longer valid.
func (s *Grants) EndOfAgent(agent string) error {
	return s.EndAll(endedByCredentials, func(g Grant) bool { return g.Agent == agent })
}

// end stores the end of a grant. The caller has the lock.
func (s *Grants) end(g Grant, now time.Time, reason string) error {
	g.Ended = reason
	g.EndedAt = now.UTC().Round(0)
	return s.save(g)
}

// pendingUse is a set of changes that is counted before the changes are made.
type pendingUse struct {
	ID      string        `json:"id"`
	Changes []GrantChange `json:"changes"`
}

// GrantUse is a set of changes that [Grants.Take] has counted. The zero GrantUse belongs to no grant; settling it does
// nothing.
type GrantUse struct {
	store *Grants
	pendingUse
	Grant string // the id of the grant
}

// Take counts changes that are made together against one grant of the holder that covers them all, and returns this
// use. If no grant covers all of them, it returns nil and, if the holder has grants, the reason why the last one tried
// does not.
//
// The error is usually a *[BeyondGrant]. With any error the changes are not covered.
func (s *Grants) Take(h GrantHolder, changes ...GrantChange) (*GrantUse, error) {
	if !s.MayHave() || h.MaxTime <= 0 || len(changes) == 0 {
		return nil, nil
	}
	var use *GrantUse
	err := s.withContent(func(c grantContent) error {
		list, err := s.held(c, h)
		if err != nil {
			return err
		}
		var uncovered error
		for _, g := range list {
			uncovered = g.coversAll(changes)
			if uncovered == nil {
				use, err = s.reserve(c, g.ID, changes)
				return err
			}
		}
		return uncovered
	})
	return use, err
}

// reserve counts changes against the grant with an id. The caller has the lock.
func (s *Grants) reserve(c grantContent, id string, changes []GrantChange) (*GrantUse, error) {
	stored, err := c.byID(id) // a grant from held may have its Expires limited by the holder
	if err != nil {
		return nil, err
	}
	use := &GrantUse{store: s, Grant: id, pendingUse: pendingUse{ID: rand.Text(), Changes: changes}}
	stored.Open = append(stored.Open, use.pendingUse)
	stored.Seen = latest(stored.Seen, c.now.UTC().Round(0))
	if err := s.save(stored); err != nil {
		return nil, err
	}
	return use, nil
}

// coversAll returns an error unless the grant covers all changes, made in this order.
func (g Grant) coversAll(changes []GrantChange) (err error) {
	if len(g.Open) >= maxOpenChanges {
		return beyond("too many of its changes are under way")
	}
	used := g.counted()
	for _, c := range changes {
		if used, err = g.Covers(used, c); err != nil {
			return err
		}
	}
	return nil
}

// Settle ends a use. The changes for which made returns true stay counted, the others do not. A use that is never
// settled keeps counting all of them. The receiver may be nil; made must not be.
func (u *GrantUse) Settle(made func(i int) bool) error {
	if u == nil || u.store == nil {
		return nil
	}
	return u.store.withContent(func(c grantContent) error {
		g, err := c.byID(u.Grant)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(g.Open, func(t pendingUse) bool { return t.ID == u.ID })
		if i < 0 {
			return nil
		}
		g.Open = slices.Delete(g.Open, i, i+1)
		for n, change := range u.Changes {
			if made(n) {
				g.Used = g.Used.with(change)
			}
		}
		return u.store.save(g)
	})
}

// latest returns the later of two times.
func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// MayHave reports whether there may be any grant. It costs one system call, so that calls of users without grants stay
// cheap. The receiver may be nil.
func (s *Grants) MayHave() bool {
	if s == nil || !filepath.IsAbs(s.dir) {
		return false
	}
	_, err := os.Lstat(s.dir)
	return err == nil
}

// grantContent is the content of the folder while its lock is held.
type grantContent struct {
	now     time.Time
	grants  []Grant // the oldest first
	damaged []*DamagedGrant
}

// byID returns the grant with an id. Its errors are *[UnknownGrant] and *[DamagedGrant].
func (c grantContent) byID(id string) (Grant, error) {
	for _, g := range c.grants {
		if g.ID == id {
			return g, nil
		}
	}
	for _, d := range c.damaged {
		if d.Name == id+grantSuffix {
			return Grant{}, d
		}
	}
	return Grant{}, &UnknownGrant{id}
}

// withContent calls do with the content of the folder, under its lock. If there is no folder, the content is empty, and
// nothing is created.
func (s *Grants) withContent(do func(grantContent) error) error {
	return inFolder(s.folder.Use, s.readContent, do)
}

// withExistingContent is withContent for a folder that must exist.
func (s *Grants) withExistingContent(do func(grantContent) error) error {
	return inFolder(s.folder.UseExisting, s.readContent, do)
}

// readContent reads the folder. It removes grants that ended long ago and temporary files of killed processes, and ends
// grants if the clock was set back. The caller has the lock.
func (s *Grants) readContent(names []string) (grantContent, error) {
	c := grantContent{now: s.now()}
	if names == nil { // no folder, so no lock under which s.latestSeen could be updated
		return c, nil
	}
	wasSetBack := s.clockWasSetBack(c.now)
	for _, name := range names {
		path := filepath.Join(s.dir, name)
		switch filepath.Ext(name) {
		case grantTempSuffix:
			_ = s.system.Remove(path) // best effort: tried again at the next read
		case grantSuffix:
			if err := s.addGrant(&c, name, wasSetBack); err != nil {
				return grantContent{}, err
			}
		}
	}
	if wasSetBack { // new grants go by the new clock
		s.latestSeen = c.now
		s.began = c.now
	}
	slices.SortStableFunc(c.grants, func(a, b Grant) int { return a.Made.Compare(b.Made) })
	return c, nil
}

// addGrant reads the file of a grant into c. It removes the file of a grant that is past its retention, and ends a grant
// that a clock set back would prolong.
func (s *Grants) addGrant(c *grantContent, name string, wasSetBack bool) error {
	path := filepath.Join(s.dir, name)
	g, damaged, err := s.read(name)
	if err != nil {
		return unusableGrants(path, err)
	}
	if damaged != nil {
		c.damaged = append(c.damaged, damaged)
		return nil
	}
	if g.isPastRetention(c.now) {
		_ = s.system.Remove(path) // best effort: tried again at the next read
		return nil
	}
	// If the clock is behind a time already seen, the grant would last longer than granted.
	isBehind := c.now.Before(latest(g.Made, g.Seen).Add(-clockTolerance))
	isAffected := wasSetBack && g.Made.Before(s.latestSeen)
	if g.Ended == "" && (isBehind || isAffected) {
		if err := s.end(g, c.now, endedByClock); err != nil {
			return err
		}
		g.Ended = endedByClock
	}
	c.grants = append(c.grants, g)
	return nil
}

// clockWasSetBack records the current time, and reports whether the clock was set back since began: it shows an earlier
// time than before, or advanced less than the monotonic clock.
func (s *Grants) clockWasSetBack(now time.Time) bool {
	elapsed := now.Sub(s.began) // by the monotonic clock, if the times have one
	elapsedByClock := now.Round(0).Sub(s.began.Round(0))
	isBehind := now.Round(0).Before(s.latestSeen.Round(0).Add(-clockTolerance))
	s.latestSeen = latest(s.latestSeen, now)
	return isBehind || elapsedByClock < elapsed-clockTolerance
}

// isPastRetention reports whether a grant ended so long ago that it is removed.
func (g Grant) isPastRetention(now time.Time) bool {
	end := g.Expires
	if g.Ended != "" {
		end = g.EndedAt
	}
	return now.After(end.Add(retention))
}

// read reads the file of a grant. damaged is set if the file is not a valid grant.
func (s *Grants) read(name string) (g Grant, damaged *DamagedGrant, err error) {
	damage, err := s.folder.Read(name, maxGrantFile, func(data []byte) (ok bool) {
		g, ok = s.parse(strings.TrimSuffix(name, grantSuffix), data)
		return ok
	})
	if damage != "" { // err is nil
		return g, &DamagedGrant{name, damage}, nil
	}
	return g, nil, err
}

// grantRecord is a grant as stored, with an HMAC by the key of the folder.
type grantRecord struct {
	Sum string `json:"sum"`
	Grant
}

// encode returns the content of the file of a grant.
func (s *Grants) encode(g Grant) ([]byte, error) {
	return ownerfiles.Sealed(s.key(), func(code string) any { return grantRecord{Sum: code, Grant: g} })
}

// parse reads the file of the grant with an id. It accepts exactly the bytes that encode writes.
func (s *Grants) parse(id string, data []byte) (Grant, bool) {
	var r grantRecord
	if len(data) > maxGrantFile || json.Unmarshal(data, &r) != nil {
		return Grant{}, false
	}
	isLifetimeValid := r.Made.Before(r.Expires) && r.Expires.Sub(r.Made) <= MaxGrantTime
	if r.ID != id || r.Check() != nil || !isLifetimeValid {
		return Grant{}, false
	}
	encoded, err := s.encode(r.Grant)
	if err != nil || !bytes.Equal(encoded, data) {
		return Grant{}, false
	}
	return r.Grant, true
}

// key returns the key of the folder. The caller has the lock.
func (s *Grants) key() []byte {
	if s.cachedKey == nil {
		s.cachedKey = ownerfiles.Key(s.dir, grantsKeyFile)
	}
	return s.cachedKey
}

// save writes the file of a grant atomically.
func (s *Grants) save(g Grant) error {
	data, err := s.encode(g)
	if err != nil {
		return err
	}
	base := filepath.Join(s.dir, g.ID)
	path := base + grantSuffix
	_, err = ownerfiles.Replace(s.system, base+grantTempSuffix, path, data, time.Time{})
	return unusableGrants(path, err) // nil for nil
}
