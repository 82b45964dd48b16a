package names

import (
	"strings"
	"sync"
	"time"
)

const (
	// trust is how long it is cached that a folder distinguishes spellings:
	// another one may be mounted in its place.
	trust = 30 * time.Second
	// settling is how old a change of a folder has to be for the next one to have another
	// time. FAT has a resolution of two seconds.
	settling = 2 * time.Second
	// maxFolders and maxNames bound the cache.
	maxFolders = 4096
	maxNames   = 100_000
)

// knack says which spellings of a name a folder distinguishes.
type knack uint8

const (
	tellsCase knack = 1 << iota // names of other cases are other files
	tellsForm                   // names of other normal forms are
	foldsAny                    // neither is sure
)

// memory caches what was learned about folders, by their paths.
type memory struct {
	now func() time.Time

	mu       sync.Mutex
	knacks   map[string]learned
	listings map[string]listing
	names    int // in all listings
}

type learned struct {
	knack
	at time.Time
}

// listing is the names in a folder when it had this stamp.
type listing struct {
	stamp
	names map[string]struct{}
}

// stamp is different after a change of a folder. The zero stamp is that of an unknown folder.
type stamp struct{ modified time.Time }

// tellsAll reports whether every folder on a path is known to distinguish the name in it
// from all other spellings, so that the path is as the disk has it.
func (m *memory) tellsAll(path string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	folder, rest := "", path
	for rest != "" {
		asked, more, _ := strings.Cut(rest, "/")
		if !m.knows(folder, asked, now) {
			return false
		}
		folder, rest = path[:len(path)-len(rest)+len(asked)], more
	}
	return true
}

func (m *memory) tells(folder, asked string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.knows(folder, asked, m.now())
}

func (m *memory) knows(folder, asked string, now time.Time) bool {
	if isPlain(asked) {
		return true
	}
	l, ok := m.knacks[folder]
	if !ok || now.Sub(l.at) > trust || l.knack&tellsCase == 0 || mayStandFor(asked) {
		return false
	}
	return l.knack&tellsForm != 0 || otherForm(asked) == asked
}

// folds reports whether a folder is known to ignore case or normal form.
func (m *memory) folds(folder string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.knacks[folder]
	return ok && l.knack == foldsAny && m.now().Sub(l.at) <= trust
}

// note caches what was learned about a folder.
func (m *memory) note(folder string, k knack, apart bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.knacks[folder]
	if now := m.now(); now.Sub(l.at) > trust {
		l = learned{at: now}
	}
	switch {
	case !apart:
		l.knack = foldsAny
	case l.knack != foldsAny:
		l.knack |= k
	}
	if len(m.knacks) >= maxFolders {
		clear(m.knacks)
	}
	m.knacks[strings.Clone(folder)] = l
}

// lists reports whether a folder listed the name and has not changed since.
func (m *memory) lists(folder string, s stamp, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.listings[folder]
	if !ok || s == (stamp{}) || !l.modified.Equal(s.modified) {
		return false
	}
	_, listed := l.names[name]
	return listed
}

// keep caches what a folder lists, unless it was changed so recently that the next change could
// have the same stamp.
func (m *memory) keep(folder string, s stamp, begun time.Time, names []string) {
	if s == (stamp{}) || s.modified.Add(settling).After(begun) || len(names) > maxNames {
		return
	}
	l := listing{s, make(map[string]struct{}, len(names))}
	for _, name := range names {
		l.names[name] = struct{}{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names += len(names) - len(m.listings[folder].names); m.names > maxNames {
		clear(m.listings)
		m.names = len(names)
	}
	m.listings[strings.Clone(folder)] = l
}
