package command

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/text/unicode/norm"

	"vaultwicket/cmd/internal/vault/bases"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/meaning"
	"vaultwicket/exec/frame"
	"vaultwicket/gateway/names"
	"vaultwicket/gateway/registry"
	"vaultwicket/gateway/state/journal"
	"vaultwicket/gateway/state/private"
	"vaultwicket/policy/access"
)

// Host is what outlives one call: the surroundings of the process and the
// folder, once it is opened. A process that was started for one call answers
// one, a worker many. What is worth keeping from one call to the next, such as
// an index of the vault, has its place here and nowhere else.
type Host struct {
	Env func(string) string
	Now func() time.Time // of the machine, for which files are young
	// Pause waits, but no longer than the call lasts.
	Pause     func(context.Context, time.Duration)
	Knowledge knowledge.Store
	Memo      knowledge.Memo // of what was computed for the whole vault
	Bases     bases.Memory
	// Kept are answers of which a part was sent; nil where the process ends with one.
	Kept *Store
	// Meaning has the vectors of notes; nil where the user has named no server that makes them.
	Meaning *meaning.Store
	// Tally makes what tells the gateway how far a call has come; nil tells nothing.
	Tally func(messages io.Writer) *frame.Tally

	// confineTo locks the process into folders; it is nil where the process is not
	// ours alone, as in tests. Sandbox is the result.
	confineTo func(folders []string, port uint16) system.Confinement
	Sandbox   system.Confinement
	locked    sync.Once
	// VaultMissing says that there was no vault then: the process cannot reach one
	// that is made later.
	VaultMissing bool
	AppVaults    func() []registry.Vault // the app's list of vaults

	Swept atomic.Bool // the vault was searched for what killed writers left in it

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
	sight    *Sight
	visible  *disk.Folder // folder as sight sees it
}

// EmbeddingsVariable is the address of a server on this machine that makes vectors of texts, a space, and the name of
// a model.
const EmbeddingsVariable = "VAULTWICKET_EMBEDDINGS"

// NewHost returns a host that has read nothing yet.
func NewHost(env func(string) string, confine func([]string, uint16) system.Confinement) *Host {
	h := &Host{Env: env, Now: time.Now, Pause: pause, Tally: frame.NewTally, confineTo: confine}
	h.rules, h.rulesErr = access.Parse(env(AccessVariable))
	if of := env(EmbeddingsVariable); of != "" {
		h.Meaning = meaning.New(of)
	}
	h.AppVaults = sync.OnceValue(func() []registry.Vault { return registry.Read(env) })
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

// Confine locks the process into the vault and the folders of this program, at
// the first call. With list set the app's list of vaults is read before, for
// then it cannot be any more: it lies among the app's own secrets. A worker
// therefore knows the list as it was when it began.
func (h *Host) Confine(vault string, list bool) {
	h.locked.Do(func() {
		h.identity = names.Identity(vault)
		if h.confineTo == nil {
			h.Sandbox = system.Unconfined("the process is shared")
			return
		}
		if list {
			h.AppVaults()
		}
		_, err := os.Stat(vault)
		h.VaultMissing = err != nil
		folders := []string{vault}
		for _, dir := range []string{private.CacheFolder(h.Env, vault), private.StateFolder(h.Env, vault)} {
			if private.EnsureFolder(dir) {
				folders = append(folders, dir)
			}
		}
		port := uint16(0)
		if h.Meaning != nil {
			port = h.Meaning.Port()
		}
		h.Sandbox = h.confineTo(folders, port)
	})
}

// nameOfVault returns what the vault is called: the name that the disk has for its
// folder, unless that is a link.
func (h *Host) nameOfVault(path string) string {
	asked, real := filepath.Base(path), filepath.Base(h.identity)
	if names.Same(asked, real) {
		return real
	}
	return asked
}

// journalAt returns the journal of a vault. A worker keeps it.
func (h *Host) journalAt(dir, vault string) *journal.Journal {
	h.journals.Lock()
	defer h.journals.Unlock()
	if h.journal == nil {
		h.journal = journal.OpenAs(dir, h.identity, vault, journal.Limits{})
	}
	return h.journal
}

// OpenFolder gives a call the folder at path as it may see it, and the rules. It is opened at the
// first call and stays open until the host is closed; the ignore file is looked
// at again each time.
func (h *Host) OpenFolder(path string, v *Vault) error {
	if h.rulesErr != nil {
		return badRules(h.rulesErr)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.folder == nil || h.path != path {
		folder, err := disk.Open(path)
		if err != nil {
			return ErrVaultNotFound
		}
		h.closeFolder()
		h.path, h.folder, h.seen = path, folder, nil
	}
	patterns, err := patternsOf(h.folder)
	if err != nil {
		return err
	}
	if respelled := h.respell(); h.visible == nil || h.patterns != patterns || respelled {
		h.patterns, h.sight, h.visible = patterns, NewSight(h.spelled.rules, patterns), h.folder
		if h.sight != nil {
			h.visible = h.folder.WithView(h.sight)
		}
	}
	v.Disk, v.Sight, v.Rules = h.visible, h.sight, h.spelled.rules
	return nil
}

// FolderMoved reports whether the opened folder is not the one any more to which its
// path leads: it was removed, renamed or replaced. A folder that is not open
// yet has not moved.
func (h *Host) FolderMoved() bool {
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

// GiveBack drops what the next call can have again from the cache file.
func (h *Host) GiveBack() {
	h.Memo.Forget()
	h.Bases.Forget()
	h.Knowledge.Rest()
	if h.Kept != nil {
		h.Kept.Sweep()
	}
}

// Close writes the cache and closes the folder of the vault.
func (h *Host) Close() {
	if h.Meaning != nil {
		h.Meaning.Close()
	}
	h.Knowledge.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closeFolder()
}

func (h *Host) closeFolder() {
	if h.folder != nil {
		h.folder.Close()
		h.folder, h.visible = nil, nil
	}
}

// isRegistered reports whether the app's own list of vaults has folder under
// that id. The list is looked at only for what can be an id: a call that names
// its vault by name, or not at all, reads nothing outside the vault.
func (h *Host) isRegistered(id, folder string) bool {
	return registry.IsID(id) && slices.ContainsFunc(h.AppVaults(), func(r registry.Vault) bool { return r.ID == id && registry.SameFolder(r.Folder, folder) })
}

// Journal returns the journal of the vault.
func (v *Vault) Journal() (*journal.Journal, error) {
	dir := private.StateFolder(v.Host.Env, v.Path)
	if dir == "" {
		return nil, Failure("Nothing can be changed: the journal needs a folder outside the vault. Set XDG_STATE_HOME to a folder.")
	}
	return v.Host.journalAt(dir+"/journal", v.Path), nil
}

// ReadConfig reads one of the app's settings files into settings. A missing file
// means the defaults; a broken one is an error, for a guess would put notes in
// the wrong place.
func (v *Vault) ReadConfig(name string, settings any) error {
	text, err := v.Disk.Config(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, settings)
	}
	if err != nil {
		return Failure("Cannot use the settings in %s: %v", disk.ConfigPath(name), err)
	}
	return nil
}

// NormalPath brings a path that a person typed into the app's form: slashes only,
// none at the ends, no two in a row, no odd blanks, composed letters.
func NormalPath(path string) string {
	path = strings.NewReplacer(`\`, "/", "\u00a0", " ", "\u202f", " ").Replace(path)
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	return norm.NFC.String(strings.Join(segments, "/"))
}

// StepPath returns a path in an entry as the disk has it.
func StepPath(v *Vault, text string) (disk.Path, error) {
	at, err := ParseStepPath(text)
	if err != nil {
		return at, err
	}
	return v.NameOnDisk(at)
}

// ParseStepPath returns the path in an entry, which is judged as if it came from
// anywhere.
func ParseStepPath(text string) (disk.Path, error) {
	if text == disk.Bookmarks().String() {
		return disk.Bookmarks(), nil
	}
	return disk.ParsePath(strings.TrimSuffix(text, "/")) // with the slash it is a folder
}
