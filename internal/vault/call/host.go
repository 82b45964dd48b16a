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

// Host is the state that outlives one call: the environment of the process, the open folder, and
// all caches such as the index of the vault. A process started for one call answers one, a
// worker many.
type Host struct {
	Env       func(string) string
	Now       func() time.Time                     // of the machine, for the age of files
	Pause     func(context.Context, time.Duration) // waits until the context ends
	Knowledge search.Store
	Memo      search.Memo // computed for the whole vault
	Bases     bases.Memory
	Meaning   *ranking.Embeddings // vectors of notes; nil unless the user has named a server that makes them

	// confineTo locks the process into folders; it is nil where the process is shared, as in
	// tests. Sandbox is the result.
	confineTo    func(folders []string, network system.Network) system.Confinement
	Sandbox      system.Confinement
	locked       sync.Once
	VaultMissing bool                     // when the process was locked in: it cannot reach a vault made later
	AppVaults    func() []appvaults.Vault // the app's list of vaults

	Commits Commits // the changes that are being made

	identity string // of the vault's folder, from before the process is locked in
	journals sync.Mutex
	journal  *journal.Journal // of the vault, once something was written

	rules    access.Rules
	rulesErr error // then nothing is answered
	// marker replaces the secrets of what is read; nil replaces none. exceptions are the files for
	// which rules about texts do not apply.
	marker     *guard.Marker
	exceptions access.Exceptions

	mu       sync.Mutex
	path     string
	folder   *disk.Folder
	seen     fs.FileInfo // of the folder when it was opened, nil if not asked for
	patterns string      // of the ignore file
	judge    *disk.Judge // nil where no note narrows access to itself
	judging  string      // by what, for the cache
	spelled  spelled
	sight    *Sight
	visible  *disk.Folder // folder as sight sees it

	beneath *Host // of the vault without what is planned, see [Batch]; nil for the vault as it is on the disk
	batches batches
}

// EmbeddingsVariable is the address of a server that makes vectors of texts, a space, and the name of a model;
// EmbeddingsKeyVariable is the file of a key for it.
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
	if all, err := access.ParseExceptions(strings.Split(env(ExceptionsVariable), "\n")); err == nil {
		h.exceptions = all
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
	if of := env(EmbeddingsVariable); of != "" {
		h.Meaning = ranking.NewEmbeddings(of, env(EmbeddingsKeyVariable))
	}
	if marker, err := guard.ParseMarker(env(guard.Variable)); err == nil {
		h.marker = marker
	} else {
		h.rulesErr = err
	}
	h.AppVaults = sync.OnceValue(func() []appvaults.Vault { return appvaults.Read(env) })
	return h
}

// Confine locks the process into the vault and the folders of this program, at the first call.
// It can no longer read the app's list of vaults, which is in a folder with secrets of the app: AppVaults is called before
// where the list is needed. A worker therefore knows the list as it was when it began.
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

// OpenFolder gives a call the visible files of the folder at path, and the rules. The folder is
// opened at the first call and stays open until the host is closed; the ignore file is read
// again each time.
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
		// What calls share is charged to none.
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

// redacting returns a folder whose files are read with marks in place of secrets, if there are any.
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

// Journal returns the journal of the vault. A worker keeps it, and looks for its folder once: that takes a look at every folder
// above it and above the vault.
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

// ReadConfig reads one of the app's settings files into settings. A missing file means the
// defaults; a malformed one is an error, because a guess would put notes in the wrong place.
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

// NormalPath returns a typed path in the app's form: slashes only, none at the ends, no two in a
// row, plain blanks, Unicode normal form C.
func NormalPath(path string) string {
	path = strings.NewReplacer(`\`, "/", "\u00a0", " ", "\u202f", " ").Replace(path)
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	return norm.NFC.String(strings.Join(segments, "/"))
}
