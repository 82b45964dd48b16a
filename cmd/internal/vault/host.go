package vault

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"vaultwicket/cmd/internal/vault/bases/source"
	"vaultwicket/cmd/internal/vault/confine"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/gateway/names"
	"vaultwicket/gateway/registry"
	"vaultwicket/gateway/state/journal"
	"vaultwicket/gateway/state/paths"
	"vaultwicket/policy/access"
)

// host is what outlives one call: the surroundings of the process and the
// folder, once it is opened. A process that was started for one call answers
// one, a worker many. What is worth keeping from one call to the next, such as
// an index of the vault, has its place here and nowhere else.
type host struct {
	env func(string) string
	now func() time.Time // of the machine, for which files are young
	// pause waits, but no longer than the call lasts.
	pause func(context.Context, time.Duration)
	known knowledge
	memo  memo // of what was computed for the whole vault
	bases source.Memory

	// confine locks the process into folders; it is nil where the process is not
	// ours alone, as in tests. sandbox is what came of it.
	confine func(folders []string) confine.State
	sandbox confine.State
	locked  sync.Once
	// homeless says that there was no vault then: one that is made later lies
	// behind the wall.
	homeless bool
	listed   func() []registry.Vault // the app's list of vaults

	swept atomic.Bool // the vault was searched for what killed writers left in it

	identity string // of the vault's folder, found out before the process is locked in
	journals sync.Mutex
	journal  *journal.Journal // of the vault, once something was written

	rules    access.Rules
	rulesErr error // then nothing is answered

	mu       sync.Mutex
	path     string
	folder   *disk.Folder
	seen     fs.FileInfo // of the folder when it was opened, nil if not asked for
	patterns string      // of the ignore file
	spelled  spelled
	sight    *sight
	behind   *disk.Folder // folder as sight sees it
}

// newHost returns a host that has read nothing yet.
func newHost(env func(string) string, confine func([]string) confine.State) *host {
	h := &host{env: env, now: time.Now, pause: pause, confine: confine}
	h.rules, h.rulesErr = access.Parse(env(accessVariable))
	h.listed = sync.OnceValue(func() []registry.Vault { return registry.Read(env) })
	return h
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// lockIn locks the process into the vault and the folders of this program, at
// the first call. With list set the app's list of vaults is read before, for
// then it cannot be any more: it lies among the app's own secrets. A worker
// therefore knows the list as it was when it began.
func (h *host) lockIn(vault string, list bool) {
	h.locked.Do(func() {
		h.identity = names.Identity(vault)
		if h.confine == nil {
			h.sandbox = confine.Unconfined("the process is shared")
			return
		}
		if list {
			h.listed()
		}
		_, err := os.Stat(vault)
		h.homeless = err != nil
		folders := []string{vault}
		for _, dir := range []string{paths.Cache(h.env, vault), paths.State(h.env, vault)} {
			if paths.MakePrivate(dir) {
				folders = append(folders, dir)
			}
		}
		h.sandbox = h.confine(folders)
	})
}

// nameOfVault returns what the vault is called: the name that the disk has for its
// folder, unless that is a link.
func (h *host) nameOfVault(path string) string {
	asked, real := filepath.Base(path), filepath.Base(h.identity)
	if names.Same(asked, real) {
		return real
	}
	return asked
}

// journalAt returns the journal of a vault. A worker keeps it.
func (h *host) journalAt(dir, vault string) *journal.Journal {
	h.journals.Lock()
	defer h.journals.Unlock()
	if h.journal == nil {
		h.journal = journal.OpenAs(dir, h.identity, vault, journal.Limits{})
	}
	return h.journal
}

// open gives a call the folder at path as it may see it, and the rules. It is opened at the
// first call and stays open until the host is closed; the ignore file is looked
// at again each time.
func (h *host) open(path string, v *vault) error {
	if h.rulesErr != nil {
		return badRules(h.rulesErr)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.folder == nil || h.path != path {
		folder, err := disk.Open(path)
		if err != nil {
			return errVaultNotFound
		}
		h.closeFolder()
		h.path, h.folder, h.seen = path, folder, nil
	}
	patterns, err := patternsOf(h.folder)
	if err != nil {
		return err
	}
	if respelled := h.spell(); h.behind == nil || h.patterns != patterns || respelled {
		h.patterns, h.sight, h.behind = patterns, newSight(h.spelled.rules, patterns), h.folder
		if h.sight != nil {
			h.behind = h.folder.Behind(h.sight)
		}
	}
	v.disk, v.sight, v.rules = h.behind, h.sight, h.spelled.rules
	return nil
}

// moved reports whether the opened folder is not the one any more to which its
// path leads: it was removed, renamed or replaced. A folder that is not open
// yet has not moved.
func (h *host) moved() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.folder == nil {
		return false
	}
	if h.seen == nil {
		opened, err := h.folder.Info()
		if err != nil {
			return true
		}
		h.seen = opened
	}
	there, err := os.Stat(h.path)
	return err != nil || !os.SameFile(there, h.seen)
}

func (h *host) close() {
	h.known.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closeFolder()
}

func (h *host) closeFolder() {
	if h.folder != nil {
		h.folder.Close()
		h.folder, h.behind = nil, nil
	}
}
