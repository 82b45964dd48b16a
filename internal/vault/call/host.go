package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/ranking"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

// Host is the state that outlives a call: the environment of the process, the open folder, and all caches such as the
// index of the vault. A worker uses it for many calls, another process for one.
type Host struct {
	Env       func(string) string
	Now       func() time.Time                     // the clock of the machine, for the age of files
	Pause     func(context.Context, time.Duration) // waits for a duration or until the context ends
	Knowledge search.Store
	Memo      search.Memo // cached results for the whole vault
	Bases     bases.Memory
	Meaning   *ranking.Embeddings // embeddings of notes; nil unless the user has configured a server for them

	// confineTo confines the process to folders; nil if the process is shared, as in tests. Sandbox is the
	// result.
	confineTo    func(folders []string, network system.Network) system.Confinement
	Sandbox      system.Confinement
	locked       sync.Once
	VaultMissing bool                     // there was no vault when the process was confined
	AppVaults    func() []appvaults.Vault // the app's list of vaults

	Commits Commits // the changes that are being made

	identity string // identity of the vault's folder, determined before the process is confined
	journals sync.Mutex
	journal  *journal.Journal // nil before it is first used

	rules    access.Rules
	rulesErr error // an error in the rules; every call fails with it
	// marker replaces secrets in what is read by marks; nil replaces none. exceptions are the files to which
	// content rules do not apply.
	marker     *guard.Marker
	exceptions access.Exceptions

	mu       sync.Mutex
	path     string
	folder   *disk.Folder
	seen     fs.FileInfo // the folder when it was opened; nil until FolderMoved needs it
	patterns string      // text of the ignore file
	judge    *disk.Judge // nil if notes cannot restrict access to themselves
	judging  string      // identifies the criteria of judge in caches
	spelled  spelled
	sight    *Sight
	visible  *disk.Folder // the folder restricted to sight

	beneath *Host // for the host of a [Batch], the host of the vault on the disk; otherwise nil
	batches batches
}

// EmbeddingsVariable is the address of an embeddings server, a space, and the name of a model. EmbeddingsKeyVariable is
// the path of a file with the key for it.
const (
	EmbeddingsVariable    = "VAULTWICKET_EMBEDDINGS"
	EmbeddingsKeyVariable = "VAULTWICKET_EMBEDDINGS_KEY_FILE"
)

// NewHost returns a host that has read nothing yet.
func NewHost(env func(string) string, confine func([]string, system.Network) system.Confinement) *Host {
	h := &Host{Env: env, Now: time.Now, confineTo: confine}
	h.Pause = func(ctx context.Context, d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	h.rules, h.rulesErr = access.Parse(env(AccessVariable))
	if exceptions, err := access.ParseExceptions(strings.Split(env(ExceptionsVariable), "\n")); err == nil {
		h.exceptions = exceptions
	} else {
		h.rulesErr = err
	}
	if private := h.rules.Private(); !private.IsZero() {
		h.judging = fmt.Sprintf("%q %q", private, h.exceptions.Of("private").Lines())
		h.judge = disk.NewJudge(
			func(p disk.Path) bool { return !h.exceptions.Has("private", p.String()) },
			func(text []byte) bool { return LevelIn(private, text) == access.None },
			func(text io.Reader) bool { return suspects(private, text) },
		)
	}
	if server := env(EmbeddingsVariable); server != "" {
		h.Meaning = ranking.NewEmbeddings(server, env(EmbeddingsKeyVariable))
	}
	if marker, err := guard.ParseMarker(env(guard.Variable)); err == nil {
		h.marker = marker
	} else {
		h.rulesErr = err
	}
	h.AppVaults = sync.OnceValue(func() []appvaults.Vault { return appvaults.Read(env) })
	return h
}

// Confine confines the process to the vault and the folders of this program; only the first call has an effect. After
// it the process cannot read the app's list of vaults, which is in a folder with secrets of the app, so AppVaults
// must be called before if the list is needed. A worker therefore has the list as it was when it started.
func (h *Host) Confine(vault string) {
	h.locked.Do(func() {
		h.identity = filenames.Identity(vault)
		if h.confineTo == nil {
			h.Sandbox = system.Unconfined("the process is shared")
			return
		}
		_, err := os.Stat(vault)
		h.VaultMissing = err != nil
		folders := []string{vault}
		for _, dir := range []string{ownerfiles.CacheFolder(h.Env, vault), ownerfiles.StateFolder(h.Env, vault)} {
			if ownerfiles.EnsureFolder(dir) {
				folders = append(folders, dir)
			}
		}
		var network system.Network
		if h.Meaning != nil {
			network.Port, network.Names = h.Meaning.Reach()
		}
		h.Sandbox = h.confineTo(folders, network)
	})
}

// OpenFolder sets the visible files of the folder at path, and the access rules, in v. The folder is opened at the
// first call and stays open until the host is closed; the ignore file is read again each time.
func (h *Host) OpenFolder(path string, v *Vault) error {
	if h.beneath != nil {
		if err := h.beneath.OpenFolder(path, v); err != nil {
			return err
		}
		h.batches.cover(v)
		return nil
	}
	if h.rulesErr != nil {
		return answer.Misuse("%s cannot be read, so nothing is answered: %v", AccessVariable, h.rulesErr)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.folder == nil || h.path != path {
		folder, err := disk.Open(path)
		if err != nil {
			return answer.VaultError(err)
		}
		h.closeFolder()
		h.path = path
		h.folder = folder
		h.seen = nil
	}
	ignored, err := h.folder.Ignored()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return answer.Unusable(err, "Cannot use %s, so nothing is answered", access.IgnoreFile)
	}
	patterns := string(ignored)
	if respelled := h.respell(); h.visible == nil || h.patterns != patterns || respelled {
		h.patterns = patterns
		h.sight = NewSight(h.spelled.rules, patterns)
		h.visible = h.folder
		if h.sight != nil {
			h.visible = h.folder.WithView(h.sight)
		}
		// Shared by calls, so it is charged to the budget of none.
		h.visible = h.redacting(h.visible, func(text []byte) ([]byte, error) { return h.marker.Redact(text), nil })
		if h.judge != nil {
			h.visible = h.visible.Judging(h.judge)
		}
	}
	v.unread = new(unread)
	v.Disk = h.redacting(h.visible, v.redact).Telling(v.unread.tell)
	v.shared = h.visible
	v.Sight = h.sight
	v.Rules = h.spelled.rules
	return nil
}

// redacting returns a folder that replaces secrets by marks when files are read, if the host has a marker.
func (h *Host) redacting(folder *disk.Folder, redact func(text []byte) ([]byte, error)) *disk.Folder {
	if h.marker == nil {
		return folder
	}
	return folder.Redacting(func(p disk.Path, text []byte) ([]byte, error) {
		if h.exceptions.Has("secrets", p.String()) {
			return text, nil
		}
		return redact(text)
	})
}

// FolderMoved reports whether the path of the opened folder no longer leads to it: it was removed, renamed or replaced.
// It returns false if no folder is open.
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
	current, err := os.Stat(h.path)
	return err != nil || !os.SameFile(current, h.seen)
}

// GiveBack frees memory that the next call can fill again from the cache file.
func (h *Host) GiveBack() {
	h.Memo.Forget()
	h.Bases.Forget()
	h.Knowledge.Rest()
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
		h.folder = nil
		h.visible = nil
	}
}

// Journal returns the journal of the vault. It is opened once per process, because finding its folder examines every
// parent folder of it and of the vault.
func (v *Vault) Journal() (*journal.Journal, error) {
	h := v.Host
	h.journals.Lock()
	defer h.journals.Unlock()
	if h.journal != nil {
		return h.journal, nil
	}
	dir := ownerfiles.StateFolder(h.Env, v.Path)
	if dir == "" {
		return nil, answer.Failure(
			"Nothing can be changed: the journal needs a folder outside the vault. Set XDG_STATE_HOME to a folder.",
		)
	}
	h.journal = journal.OpenAs(dir+"/journal", h.identity, v.Path)
	return h.journal, nil
}

// ReadConfig reads a settings file of the app into settings. A missing file leaves the defaults; a malformed one is an
// error, because a guess could put notes in the wrong place.
func (v *Vault) ReadConfig(name string, settings any) error {
	text, err := v.Disk.Config(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text.ForProgram(), settings)
	}
	if err != nil {
		return answer.Unusable(err, "Cannot use the settings in %s", disk.ConfigPath(name))
	}
	return nil
}

// NormalPath returns a typed path in the app's form: single slashes as separators, none at the ends, ordinary spaces,
// Unicode normal form C.
func NormalPath(path string) string {
	path = strings.NewReplacer(`\`, "/", "\u00a0", " ", "\u202f", " ").Replace(path)
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	return norm.NFC.String(strings.Join(segments, "/"))
}
