package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/clients"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// patient is a machine on which all is well, until a fault is put into it.
type patient struct {
	Machine
	t                    *testing.T
	root, vault          string
	env                  map[string]string
	clientsFile, program string
	paused               bool
	unknown              error // why it cannot be told whether it is paused
	name, version        string
	cannotStart          error
	app, appFolder       string
	system               map[string]string // files of the system, by their names
	appFails             *failure.Error
	busy                 error
	sandbox              string
	noEmbedded           error
	unfinished           error
	free                 uint64
	elevated             bool
}

var now = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// onMacOS has the machine be one of macOS.
func (p *patient) onMacOS() {
	if runtime.GOOS == "windows" {
		p.t.Skip("the clients of macOS are not at paths of Windows")
	}
	p.OS = "darwin"
}

func healthy(t *testing.T) *patient {
	t.Helper()
	root := require.Value(filepath.EvalSymlinks(t.TempDir()))(t)
	p := &patient{
		t: t, root: root, vault: filepath.Join(root, "Notes"), program: filepath.Join(root, "vaultwicket"),
		name: "vaultwicket", version: "0.1.0", app: "1.13.7", sandbox: "landlock 7: files", free: 1 << 40,
	}
	home := filepath.Join(root, "home")
	p.env = map[string]string{"HOME": home, "USERPROFILE": home, "APPDATA": filepath.Join(home, "Roaming"),
		"LOCALAPPDATA": filepath.Join(home, "Local"), "XDG_STATE_HOME": filepath.Join(root, "state"),
		"XDG_CACHE_HOME": filepath.Join(root, "cache")}
	for _, folder := range []string{"state", "cache", "home/.cursor"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.FromSlash(folder)), 0o700))
	}
	p.put(".obsidian/app.json", "{}")
	p.put("Daily.md", "a note\n")
	require.NoError(t, os.WriteFile(p.program, nil, 0o755))
	getenv := func(name string) string { return p.env[name] }
	p.Machine = Machine{
		OS: runtime.GOOS, Getenv: getenv, Now: func() time.Time { return now }, Version: "0.1.0", Built: now.AddDate(0, 0, -7),
		Settings: settings.Settings{Enabled: true, Policy: policy.Policy{MinVersion: tiers.DefaultMinimum},
			Backend: settings.Auto, Served: []settings.Served{{Vault: settings.Vault{Folder: p.vault}}}},
		State:     filepath.Join(root, "state"),
		Paused:    func() (bool, error) { return p.paused, p.unknown },
		App:       func(context.Context) (string, *failure.Error) { return p.app, p.appFails },
		AppFolder: func(context.Context, string) (string, *failure.Error) { return p.appFolder, nil },
		System: appvaults.System{OS: "linux", Getenv: getenv,
			IsVault: func(folder string) bool { return folder == "/mnt/c/Users/me/Notes" },
			Read: func(name string) ([]byte, error) {
				text, found := p.system[name]
				if !found {
					return nil, fs.ErrNotExist
				}
				return []byte(text), nil
			}},
		Embedded: func(context.Context, string) (string, error) { return p.sandbox, p.noEmbedded },
		Journal: func(settings.Vault) (*journal.Journal, error) {
			return journal.OpenAs(filepath.Join(root, "state", "journal"), p.vault, p.vault), nil
		},
		Settle:  func(context.Context, settings.Vault) error { return p.unfinished },
		Clients: clients.Installer{System: clients.System{OS: runtime.GOOS, Getenv: getenv}, Now: time.Now, Backups: filepath.Join(root, "state", "clients")},
		Start: func(_ context.Context, command []string) (string, string, error) {
			assert.That(t, slices.Contains(command, "serve"), "started %q", command)
			return p.name, p.version, p.cannotStart
		},
		Listen:   func(context.Context, string) error { return p.busy },
		Free:     func(string) (uint64, bool) { return p.free, true },
		Elevated: func() bool { return p.elevated },
	}
	p.install(p.program, p.vault)
	return p
}

// put writes a file of the vault.
func (p *patient) put(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.vault, filepath.FromSlash(name))
	require.NoError(p.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(p.t, os.WriteFile(file, []byte(text), 0o644))
}

func (p *patient) remove(name string) {
	p.t.Helper()
	require.NoError(p.t, os.RemoveAll(filepath.Join(p.vault, name)))
}

// install writes an entry into the file of a client.
func (p *patient) install(program, vault string) {
	p.t.Helper()
	c, known := clients.Find("cursor")
	require.That(p.t, known, "there is no such client")
	change, err := p.Clients.Install(c, clients.User,
		clients.Server{Name: "vaultwicket", Command: program, Args: clients.Args(vault, false, ""), System: p.OS}, true)
	require.NoError(p.t, err)
	require.Value(change.Write(context.Background()))(p.t)
	p.clientsFile = p.Clients.System.File(c, clients.User)
}

// installFor writes an entry that allows changes into the file of another client.
func (p *patient) installFor(id string) {
	p.t.Helper()
	c, known := clients.Find(id)
	require.That(p.t, known, "there is no client %s", id)
	change, err := p.Clients.Install(c, clients.User,
		clients.Server{Name: "vaultwicket", Command: p.program, Args: clients.Args(p.vault, true, ""), System: p.OS},
		true)
	require.NoError(p.t, err)
	require.Value(change.Write(context.Background()))(p.t)
}

// setting writes a settings file below the root.
func (p *patient) setting(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.root, filepath.FromSlash(name))
	require.NoError(p.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(p.t, os.WriteFile(file, []byte(text), 0o600))
}

// settingsOf changes a settings file below the root.
func (p *patient) settingsOf(name string, change func(string) string) {
	p.t.Helper()
	text := require.Value(os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name))))(p.t)
	p.setting(name, change(string(text)))
}

func (p *patient) policy(change func(*policy.Policy)) {
	change(&p.Settings.Policy)
	change(&p.Settings.Served[0].Policy)
}

func (p *patient) rules(levels map[string]access.Level) {
	p.t.Helper()
	rules := require.Value(access.New(levels))(p.t)
	p.policy(func(at *policy.Policy) { at.Access = rules })
}

// auditLine writes a line into the audit log.
func (p *patient) auditLine() {
	p.t.Helper()
	log := audit.Open(audit.AuditFolder(p.State), audit.Limits{})
	defer log.Close()
	for range 3 {
		require.NoError(p.t, log.Write(audit.Line{Kind: "decision", Command: "read"}, audit.Durable))
	}
}

func (p *patient) ask() {
	p.t.Helper()
	_, err := consent.OpenStore(consent.Folder(p.State), p.Now).Ask(consent.StoredQuestion{
		Vault: "Notes", Command: "delete", Digest: consent.Digest{1}, Session: "agent", Text: "Allow this?", Expires: now.Add(time.Hour),
	})
	require.NoError(p.t, err)
}

func (p *patient) link(target, name string) {
	p.t.Helper()
	if err := os.Symlink(target, filepath.Join(p.vault, name)); err != nil {
		p.t.Skip("no symbolic links here: ", err)
	}
}

func (p *patient) http(h settings.HTTP) {
	h.Addr = "127.0.0.1:8765"
	p.Settings.HTTP = h
}

func (p *patient) file(name, text string, mode os.FileMode) string {
	p.t.Helper()
	file := filepath.Join(p.root, name)
	require.NoError(p.t, os.WriteFile(file, []byte(text), mode))
	return file
}

func appFailure(code string) *failure.Error {
	return &failure.Error{Code: code, Message: "the app " + code, Hint: "do something about " + code}
}

func TestAllIsWell(t *testing.T) {
	p := healthy(t)
	p.auditLine()
	r := Check(t.Context(), p.Machine)
	assert.Equal(t, r.Worst(), OK)
	assert.That(t, len(r.Findings) >= 8, "%+v", r.Findings)
}

// faults are put into a machine one at a time, each with the finding that it has to
// cause.
var faults = []struct {
	finding string
	level   Level
	put     func(*patient)
}{
	{"settings-invalid", Problem, func(p *patient) { p.Invalid = errors.New(`setting "tier": invalid tier "v9"`) }},
	{"disabled", Warning, func(p *patient) { p.Settings.Enabled = false }},
	{"unasked-changes", Warning, func(p *patient) {
		p.policy(func(at *policy.Policy) { at.Mutations, at.Confirm = true, policy.ConfirmNever })
	}},
	{"publishing", Warning, func(p *patient) { p.policy(func(at *policy.Policy) { at.Mutations, at.Publish = true, true }) }},
	{"vault-none", Warning, func(p *patient) { p.Settings.Served = nil }},
	{"vault-none", Warning, func(p *patient) {
		p.Settings.Served = nil
		p.Nearest = filepath.Join(p.root, "Notes")
	}},
	{"vault-unknown", Problem, func(p *patient) { p.Settings.Served[0].Vault = settings.Vault{Name: "Nope"} }},
	{"vault-elsewhere", Problem, func(p *patient) { p.askedForFolder(`D:\Notes`) }},
	{"vault-elsewhere", Problem, func(p *patient) {
		p.askedForFolder(`/Users/me/Notes`)
		p.system["/.dockerenv"] = ""
	}},
	{"vault-missing", Problem, func(p *patient) { p.Settings.Served[0].Folder = filepath.Join(p.root, "gone") }},
	{"vault-not-folder", Problem, func(p *patient) { p.Settings.Served[0].Folder = p.program }},
	{"vault-too-wide", Warning, func(p *patient) { p.env["HOME"], p.env["USERPROFILE"] = p.vault, p.vault }},
	{"vault-unopened", Warning, func(p *patient) { p.remove(".obsidian") }},
	{"vault-empty", Warning, func(p *patient) { p.remove("Daily.md") }},
	{"vault-in-vault", Warning, func(p *patient) {
		p.put("Work/.obsidian/app.json", "{}")
		p.put("Work/a.md", "a")
		p.Settings.Served = append(p.Settings.Served, settings.Served{Vault: settings.Vault{Folder: filepath.Join(p.vault, "Work")}})
	}},
	{"app-settings", Warning, func(p *patient) { p.put(".obsidian/daily-notes.json", "{") }},
	{"app-settings", Warning, func(p *patient) { p.put(".obsidian/types.json", "[1]") }},
	{"daily-template-missing", Warning, func(p *patient) { p.put(".obsidian/daily-notes.json", `{"template":"Templates/Day"}`) }},
	{"template-folder-missing", Warning, func(p *patient) { p.put(".obsidian/templates.json", `{"folder":"Templates"}`) }},
	{"rule-without-folder", Warning, func(p *patient) { p.rules(map[string]access.Level{"/": access.Read, "Privat": access.None}) }},
	{"nothing-readable", Warning, func(p *patient) { p.rules(map[string]access.Level{"/": access.None}) }},
	{"ignore-not-file", Problem, func(p *patient) { p.put(".vaultwicketignore/x", "") }},
	{"ignore-not-file", Problem, func(p *patient) { p.link("Daily.md", ".vaultwicketignore") }},
	{"ignore-too-long", Problem, func(p *patient) { p.put(".vaultwicketignore", strings.Repeat("Private/\n", 10_000)) }},
	{"ignore-not-utf8", Warning, func(p *patient) { p.put(".vaultwicketignore", "L\xe4den/\n") }},
	{"ignore-empty", Warning, func(p *patient) { p.put(".vaultwicketignore", "# nothing yet\n") }},
	{"ignore-everything", Warning, func(p *patient) { p.put(".vaultwicketignore", "*\n") }},
	{"ignore-space", Warning, func(p *patient) { p.put(".vaultwicketignore", "Private/ \n") }},
	{"placeholders", Warning, func(p *patient) { p.put("In/.Report.md.icloud", "bplist") }},
	{"conflict-copies", Warning, func(p *patient) { p.put("Daily.sync-conflict-20261121-101010-ABCDEFG.md", "a") }},
	{"conflict-copies", Warning, func(p *patient) { p.put("Daily (Ann's conflicted copy 2026-11-21).md", "a") }},
	{"unreadable", Warning, func(p *patient) {
		p.TryRead = func(name string) error {
			if filepath.Base(name) == "Daily.md" {
				return syscall.EIO
			}
			return nil
		}
	}},
	{"placeholders", Warning, func(p *patient) {
		p.onMacOS()
		p.put("Evicted/Note.md", "a")
		p.Elsewhere = func(info fs.FileInfo) bool { return info.Name() == "Evicted" }
		p.List = func(folder string) ([]fs.DirEntry, error) {
			if filepath.Base(folder) == "Evicted" {
				p.t.Error("a folder that iCloud has evicted is listed, which fetches it")
			}
			return os.ReadDir(folder)
		}
	}},
	{"vault-closed-by-macos", Problem, func(p *patient) {
		p.onMacOS()
		p.List = func(folder string) ([]fs.DirEntry, error) {
			return nil, &fs.PathError{Op: "open", Path: folder, Err: syscall.EPERM}
		}
	}},
	{"vault-unreadable", Problem, func(p *patient) {
		p.onMacOS()
		p.List = func(folder string) ([]fs.DirEntry, error) {
			return nil, &fs.PathError{Op: "open", Path: folder, Err: syscall.EACCES}
		}
	}},
	{"closed-by-macos", Warning, func(p *patient) {
		p.onMacOS()
		p.put("Journal/Secret.md", "a")
		p.List = func(folder string) ([]fs.DirEntry, error) {
			if filepath.Base(folder) == "Journal" {
				return nil, &fs.PathError{Op: "open", Path: folder, Err: syscall.EPERM}
			}
			return os.ReadDir(folder)
		}
	}},
	{"closed-by-macos", Warning, func(p *patient) {
		p.onMacOS()
		p.TryRead = func(name string) error { return &fs.PathError{Op: "open", Path: name, Err: syscall.EPERM} }
	}},
	{"unreadable", Warning, func(p *patient) {
		p.put("Journal/Secret.md", "a")
		p.List = func(folder string) ([]fs.DirEntry, error) {
			if filepath.Base(folder) == "Journal" {
				return nil, &fs.PathError{Op: "open", Path: folder, Err: syscall.EPERM}
			}
			return os.ReadDir(folder)
		}
	}},
	{"links-outside", Warning, func(p *patient) { p.link(p.root, "Outside") }},
	{"links-outside", Warning, func(p *patient) { p.link("nowhere.md", "Broken.md") }},
	{"cli-missing", Problem, func(p *patient) { p.Settings.Backend, p.appFails = settings.App, appFailure(exec.CodeNotFound) }},
	{"cli-missing", Warning, func(p *patient) { p.Settings.CLI, p.appFails = p.program+"-gone", appFailure(exec.CodeNotFound) }},
	{"cli-unsafe", Problem, func(p *patient) { p.Settings.Backend, p.appFails = settings.App, appFailure(exec.CodeUnsuitable) }},
	{"app-closed", Warning, func(p *patient) { p.appFails = appFailure(exec.CodeNotRunning) }},
	{"app-outdated", Problem, func(p *patient) { p.Settings.Backend, p.appFails = settings.App, appFailure(exec.CodeTooOld) }},
	{"app-outdated", Warning, func(p *patient) { p.app = "1.11.3 (installer 1.5.0)" }},
	{"cli-disabled", Warning, func(p *patient) { p.appFails = appFailure(exec.CodeDisabled) }},
	{"app-fails", Warning, func(p *patient) { p.appFails = appFailure(exec.CodeTimeout) }},
	{"app-fails", Warning, func(p *patient) { p.appFails = &failure.Error{Code: exec.CodeTimeout, Message: "no hint"} }},
	{"embedded-fails", Problem, func(p *patient) { p.noEmbedded = errors.New("it ended with status 2") }},
	{"no-sandbox", Warning, func(p *patient) {
		if runtime.GOOS == "windows" {
			p.t.Skip("the clients of Linux are not at paths of Windows")
		}
		p.OS, p.sandbox = "linux", "none: the kernel has no Landlock"
	}},
	{"state-none", Problem, func(p *patient) { p.State = "" }},
	{"state-unsafe", Problem, func(p *patient) {
		p.StateUnsafe = &terminal.UsageError{Reason: "state folder: is inside the vault", Advice: "move it"}
	}},
	{"state-read-only", Problem, func(p *patient) { p.StateReadOnly = "state folder: not writable" }},
	{"state-other", Warning, func(p *patient) {
		if runtime.GOOS != "windows" {
			p.OS = "windows" // the state is looked for there; clients are at paths of Windows
		}
		require.NoError(p.t, os.MkdirAll(filepath.Join(p.root, "home", "Local", "Packages", "Claude_x", "LocalCache",
			"Local", "vaultwicket", "journal"), 0o700))
	}},
	{"disk-full", Warning, func(p *patient) { p.free = 10 << 20 }},
	{"paused", Warning, func(p *patient) { p.paused = true }},
	{"paused", Warning, func(p *patient) { p.unknown = fs.ErrPermission }},
	{"export-dropped", Warning, func(p *patient) {
		p.file("state/export-0.json", `{"target":"syslog+tcp://logs.example:514","sent":9,"dropped":2}`, 0o600)
	}},
	{"servers-unknown", Warning, func(p *patient) {
		require.NoError(p.t, os.WriteFile(ownerfiles.ServersFolder(p.State), nil, 0o600))
	}},
	{"approvals-pending", Warning, (*patient).ask},
	{"approvals-damaged", Warning, func(p *patient) {
		p.ask()
		files := require.Value(filepath.Glob(filepath.Join(consent.Folder(p.State), "*.json")))(p.t)
		for _, file := range files {
			require.NoError(p.t, os.WriteFile(file, []byte("{"), 0o600))
		}
	}},
	{"journal-unusable", Problem, func(p *patient) {
		p.Journal = func(settings.Vault) (*journal.Journal, error) { return nil, errors.New("it belongs to another user") }
	}},
	{"change-unfinished", Problem, func(p *patient) {
		p.unfinished = failure.New(failure.CodeState, "see that the vault can be written", "a change was broken off")
	}},
	{"cache-unusable", Warning, func(p *patient) { p.env["XDG_CACHE_HOME"] = filepath.Join(p.vault, "cache") }},
	{"audit-broken", Problem, func(p *patient) {
		p.auditLine()
		file := filepath.Join(audit.AuditFolder(p.State), "audit.jsonl")
		text := require.Value(os.ReadFile(file))(p.t)
		require.NoError(p.t, os.WriteFile(file, []byte(strings.Replace(string(text), `"read"`, `"none"`, 1)), 0o600))
	}},
	{"audit-missed", Warning, func(p *patient) {
		require.NoError(p.t, audit.OpenLogs(p.State).WriteLasting(audit.Line{Kind: "decision", Command: "append"}, audit.Durable))
		name := filepath.Join(audit.AuditFolder(p.State), "audit.reserve")
		file := require.Value(os.OpenFile(name, os.O_RDWR, 0))(p.t)
		_, err := file.WriteAt([]byte(`{"version":1,"missed":3,"sum":""}`+strings.Repeat(" ", 100)), 0)
		require.NoError(p.t, errors.Join(err, file.Close()))
	}},
	{"audit-full", Warning, func(p *patient) {
		p.auditLine()
		require.NoError(p.t, os.Truncate(p.file("state/"+strings.TrimPrefix(audit.AuditFolder(p.State),
			p.State+string(filepath.Separator))+"/old", "", 0o600), 3<<30))
	}},
	{"token-missing", Problem, func(p *patient) { p.http(settings.HTTP{TokenFile: filepath.Join(p.root, "none")}) }},
	{"token-short", Problem, func(p *patient) { p.http(settings.HTTP{TokenFile: p.file("token", "secret\n", 0o600)}) }},
	{"token-unsafe", Problem, func(p *patient) {
		if runtime.GOOS == "windows" {
			p.t.Skip("permissions are those of the folder")
		}
		p.http(settings.HTTP{TokenFile: p.file("token", strings.Repeat("a", 43), 0o644)})
	}},
	{"certificate-unusable", Problem, func(p *patient) {
		p.http(settings.HTTP{Cert: p.file("cert", "", 0o600), Key: p.file("key", "", 0o600)})
	}},
	{"http-address", Problem, func(p *patient) { p.Settings.HTTP.Addr, p.busy = "127.0.0.1:8765", syscall.EADDRINUSE }},
	{"http-open", Warning, func(p *patient) { p.Settings.HTTP.Addr = "0.0.0.0:8765" }},
	{"proxies-unnamed", Warning, func(p *patient) { p.http(settings.HTTP{PublicURL: "https://notes.example"}) }},
	{"proxies-wide", Warning, func(p *patient) { p.http(settings.HTTP{Proxies: []string{"0.0.0.0/0"}}) }},
	{"proxies-elsewhere", Warning, func(p *patient) { p.http(settings.HTTP{Proxies: []string{"10.0.0.1", "unix"}}) }},
	{"client-file", Warning, func(p *patient) { require.NoError(p.t, os.WriteFile(p.clientsFile, []byte("{"), 0o600)) }},
	{"clients-without-entry", Warning, func(p *patient) { require.NoError(p.t, os.WriteFile(p.clientsFile, []byte("{}"), 0o600)) }},
	{"clients-none", Warning, func(p *patient) { require.NoError(p.t, os.RemoveAll(filepath.Join(p.root, "home"))) }},
	{"entry-approves", Warning, func(p *patient) {
		text := require.Value(os.ReadFile(p.clientsFile))(p.t)
		require.NoError(p.t, os.WriteFile(p.clientsFile,
			[]byte(strings.Replace(string(text), `"command"`, `"autoApprove": ["obsidianCli"], "command"`, 1)), 0o600))
	}},
	{"answers-hook", Warning, func(p *patient) {
		p.installFor("claude-code")
		project := filepath.Join(p.root, "project")
		p.settingsOf("home/.claude.json", func(text string) string {
			return strings.Replace(text, "{", fmt.Sprintf(`{"projects": {%q: {}},`, project), 1)
		})
		p.setting("project/.claude/settings.local.json", `{"hooks": {"Elicitation": [{"hooks": [{"type": "command", "command": "echo"}]}]}}`)
	}},
	{"answers-full-access", Warning, func(p *patient) {
		p.installFor("codex")
		p.settingsOf("home/.codex/config.toml", func(text string) string { return "sandbox_mode = \"danger-full-access\"\n" + text })
	}},
	{"answers-full-access", Warning, func(p *patient) {
		p.installFor("claude-code")
		p.setting("home/.claude/settings.json", `{"permissions": {"defaultMode": "bypassPermissions"}}`)
	}},
	{"answers-full-access", Warning, func(p *patient) {
		p.installFor("qwen")
		p.settingsOf("home/.qwen/settings.json", func(text string) string {
			return strings.Replace(text, "{", `{"tools": {"approvalMode": "yolo"},`, 1)
		})
	}},
	{"entry-temporary", Problem, func(p *patient) {
		p.install(filepath.Join(p.root, "go-build12", "b001", "exe", "vaultwicket"), p.vault)
	}},
	{"entry-program-missing", Problem, func(p *patient) { require.NoError(p.t, os.Remove(p.program)) }},
	{"entry-not-executable", Problem, func(p *patient) {
		require.NoError(p.t, os.Remove(p.program))
		require.NoError(p.t, os.Mkdir(p.program, 0o755))
	}},
	{"entry-relative", Warning, func(p *patient) { p.install("vaultwicket", p.vault) }},
	{"entry-vault-relative", Problem, func(p *patient) { p.install(p.program, "Notes/Work") }},
	{"entry-vault-unknown", Warning, func(p *patient) { p.install(p.program, "Notes") }},
	{"entry-no-vault", Warning, func(p *patient) {
		p.install(p.program, "")
		p.Settings.Served = nil
	}},
	{"entry-vault-missing", Problem, func(p *patient) { p.install(p.program, filepath.Join(p.root, "gone")) }},
	{"entry-fails", Problem, func(p *patient) { p.cannotStart = errors.New("it ended with status 4") }},
	{"entry-other-program", Problem, func(p *patient) { p.name = "another" }},
	{"entry-version", Warning, func(p *patient) { p.version = "0.0.9" }},
	{"clock", Warning, func(p *patient) { p.Now = func() time.Time { return time.Unix(0, 0) } }},
	{"clock", Warning, func(p *patient) { p.Built = now.AddDate(1, 0, 0) }},
	{"zone", Warning, func(p *patient) { p.env["TZ"] = "Europe/Nowhere" }},
	{"elevated", Warning, func(p *patient) { p.elevated = true }},
}

// askedForFolder has no folder set, so that the app is asked for it, from inside of WSL.
func (p *patient) askedForFolder(folder string) {
	p.appFolder, p.system = folder, map[string]string{"/proc/version": "Linux version 5.15.167.4-microsoft-standard-WSL2"}
	p.Settings.Backend, p.Settings.Served[0].Vault = settings.App, settings.Vault{Name: "Notes"}
	p.policy(func(at *policy.Policy) { at.Private = require.Value(access.NewPrivate([]string{"private"}, nil))(p.t) })
}

// A folder that the app names by its path on Windows is found inside of WSL, and a fix names what to set.
func TestAFolderThatTheAppNamesOtherwise(t *testing.T) {
	for named, want := range map[string][2]string{
		`C:\Users\me\Notes`: {"vault", `which is "/mnt/c/Users/me/Notes" here`},
		`D:\Notes`:          {"vault-elsewhere", "/mnt/c/Users/NAME/Notes; a drive has to be mounted first"},
	} {
		p := healthy(t)
		p.askedForFolder(named)
		r := Check(t.Context(), p.Machine)
		assert.That(t, slices.ContainsFunc(r.Findings,
			func(f Finding) bool { return f.Check == want[0] && strings.Contains(f.What+f.Fix, want[1]) }), "%q: %+v",
			named, r.Findings)
	}
}

func TestEveryFaultIsFound(t *testing.T) {
	found := 0
	for i, fault := range faults {
		t.Run(fmt.Sprintf("%d %s", i, fault.finding), func(t *testing.T) {
			p := healthy(t)
			fault.put(p)
			r := Check(t.Context(), p.Machine)
			at := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Check == fault.finding && f.Level == fault.level })
			require.That(t, at >= 0, "not found; there are %+v", r.Findings)
			f := r.Findings[at]
			assert.That(t, f.What != "", "it says %+v", f)
			assert.That(t, f.Why != "", "it says %+v", f)
			assert.That(t, f.Fix != "", "it says %+v", f)
			if r.Worst() == OK || fault.level == Warning && r.Count(Problem) > 0 {
				t.Errorf("all findings are %+v", r.Findings)
			}
			found++
		})
	}
	t.Logf("%d of %d faults were found", found, len(faults))
}

// Names that differ only in case, and hard links, exist on some systems alone.
func TestFaultsOfSomeFileSystems(t *testing.T) {
	p := healthy(t)
	p.put("daily.md", "another\n")
	if _, err := os.Stat(filepath.Join(p.vault, "DAILY.md")); err == nil {
		t.Skip("here both are one file")
	}
	p.policy(func(at *policy.Policy) { at.Mutations = true })
	require.NoError(t, os.Link(filepath.Join(p.vault, "Daily.md"), filepath.Join(p.vault, "Linked.md")))
	r := Check(t.Context(), p.Machine)
	for _, want := range []string{"same-name", "hard-links"} {
		assert.That(t, slices.ContainsFunc(r.Findings,
			func(f Finding) bool { return f.Check == want && f.Level == Warning }), "%s was not found: %+v", want,
			r.Findings)
	}
}

func TestRunningServersAreListed(t *testing.T) {
	p := healthy(t)
	remove := require.Value(ownerfiles.RegisterServer(ownerfiles.ServersFolder(p.State), ownerfiles.Server{
		Session: "4711-a", PID: 4711, Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Transport: "stdio", Vaults: []string{"Work", "Home\x1b"},
	}))(t)
	said := func() string {
		r := Check(t.Context(), p.Machine)
		at := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Check == "servers" && f.Level == OK })
		require.That(t, at >= 0, "%+v", r.Findings)
		return r.Findings[at].What
	}
	what := said()
	assert.That(t, strings.HasPrefix(what, "1 running server: stdio 4711 (Work, Home"), "%q", what)
	assert.That(t, !strings.Contains(what, "\x1b"), "%q", what)
	remove()
	assert.Equal(t, said(), "no server is running")
}

func TestNothingIsChanged(t *testing.T) {
	p := healthy(t)
	p.auditLine()
	before := tree(t, p.root)
	Check(t.Context(), p.Machine)
	after := tree(t, p.root)
	assert.That(t, after == before, "before:\n%s\nafter:\n%s", before, after)
}

func tree(t *testing.T, root string) string {
	t.Helper()
	var lines []string
	require.NoError(t, filepath.Walk(root, func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprint(name, info.Mode(), info.ModTime(), info.Size()))
		return nil
	}))
	return strings.Join(lines, "\n")
}

func TestReports(t *testing.T) {
	r := &Report{}
	r.ok("a", "all is well")
	r.problem("b", "bad\x1b[31m", "it matters", "mend it")
	var text, data strings.Builder
	require.NoError(t, r.Print(&text, terminal.Screen{}))
	want := "ok       all is well\nPROBLEM  bad" + terminal.Visible("\x1b") +
		"[31m\n         why: it matters\n         fix: mend it  (b)\n\n1 problem, 0 warnings\n"
	assert.That(t, text.String() == want, "printed %q", text.String())
	require.NoError(t, r.JSON(&data))
	var read struct {
		OK                 bool
		Problems, Warnings int
		Findings           []Finding
	}
	err := json.Unmarshal([]byte(data.String()), &read)
	require.Equal(t, err, nil, "%s", data.String())
	require.That(t, !read.OK, "%s: %+v, %v", data.String(), read, err)
	require.Equal(t, read.Problems, 1, "%s", data.String())
	assert.EqualSlices(t, read.Findings, r.Findings, "%s", data.String())
}

// Each client says how questions come to the user, by the setting ask and whether a browser is paired.
func TestQuestionsOfAClient(t *testing.T) {
	for id, want := range map[string]string{
		"claude-code": "opens a link", "codex": "shows a form for changes that delete and overwrite nothing", "copilot": "opens a link",
		"gemini": "has no dialog", "claude-desktop": "shows no dialog",
	} {
		p := healthy(t)
		p.installFor(id)
		for ask, also := range map[policy.Asking]string{policy.AskAuto: want, policy.AskClient: "ask is client", policy.AskTerminal: "in a terminal alone"} {
			p.Settings.Policy.Asking = ask
			said := ""
			for _, f := range Check(t.Context(), p.Machine).Findings {
				if f.Check == "questions" {
					said += f.What
				}
			}
			assert.That(t, strings.Contains(said, also), "%s, %v: %q", id, ask, said)
			isToldOfPairing := strings.Contains(said, "no browser is paired")
			assert.Equal(t, isToldOfPairing, ask != policy.AskTerminal, id+" with "+ask.String())
		}
	}
}
