package harness

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// InProcess is a gateway in the process of the test that has to ask before every change, on true vaults.
type InProcess struct {
	T       *testing.T
	Gateway *gateway.Gateway
	Config  gateway.Config
	State   string
	Vault   string // the folder of the first one
	Session bool   // what is sent comes from one session
}

// notesAsked are in every vault of a gateway.
var notesAsked = map[string]string{
	"Inbox/a.md": "one\n", "Inbox/b.md": "see [[a]]\n", "Inbox/Deep/c.md": "three\n",
	"Inbox2/a.md": "two\n", "Secret/s.md": "CANARY [[a]]\n", "root.md": "root\n",
	".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
}

func NewInProcess(t *testing.T, change func(*gateway.Config)) *InProcess {
	t.Helper()
	o := &InProcess{T: t, Session: true, State: t.TempDir(), Vault: filepath.Join(t.TempDir(), "Notes")}
	FillVault(t, o.Vault)
	environment := map[string]string{"XDG_STATE_HOME": o.State, "VAULTWICKET_NOW": "2026-11-21T09:30:00+01:00"}
	getenv := func(name string) string { return environment[name] }
	runner := exec.New(exec.Config{CLI: "/nowhere/obsidian", Self: Binary, Resident: true, Getenv: getenv})
	t.Cleanup(func() { runner.Close() })
	o.Config = gateway.Config{
		Policy: policy.Policy{Ceiling: tiers.V1, Mutations: true, UI: true, Confirm: policy.ConfirmWrites,
			Asking: policy.AskClient, MinVersion: tiers.DefaultMinimum},
		Vault:  gateway.Vault{Folder: o.Vault},
		Runner: runner, Backend: gateway.Embedded, Session: "harness", Getenv: getenv, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&o.Config)
	}
	o.Gateway = gateway.New(o.Config)
	return o
}

// OneShot has a process of its own answer each call, which reads the vault as it is then.
func OneShot(c *gateway.Config) {
	c.Runner.Close()
	c.Runner = exec.New(exec.Config{CLI: "/nowhere/obsidian", Self: Binary, Getenv: c.Getenv})
}

func FillVault(t *testing.T, folder string) {
	t.Helper()
	for name, text := range notesAsked {
		WriteFile(t, filepath.Join(folder, filepath.FromSlash(name)), []byte(text))
	}
}

// Rules are access rules of levels.
func Rules(t testing.TB, levels map[string]access.Level) access.Rules {
	t.Helper()
	rules := require.Value(access.New(levels))(t)
	return rules
}

// Again is a gateway as another process of the user has it.
func (o *InProcess) Again(change func(*gateway.Config)) *InProcess {
	other := *o
	if change != nil {
		change(&other.Config)
	}
	other.Gateway = gateway.New(other.Config)
	return &other
}

// Do sends a call of words such as "path=a.md"; answers are what the person says,
// one after the other. asked are the questions.
func (o *InProcess) Do(words []string, answers ...func(consent.Question) consent.Reply) (result gateway.Result, asked []consent.Question) {
	return o.Send(gateway.Request{Command: words[0], Words: words[1:], Caller: "me"}, answers...)
}

// Must is Do for what has to succeed.
func (o *InProcess) Must(words []string, answers ...func(consent.Question) consent.Reply) gateway.Result {
	o.T.Helper()
	result, _ := o.Do(words, answers...)
	require.That(o.T, result.OK, "%q: %+v", words, result.Error)
	return result
}

func (o *InProcess) Send(req gateway.Request, answers ...func(consent.Question) consent.Reply) (result gateway.Result, asked []consent.Question) {
	o.T.Helper()
	req.Ask = o.Asker(&asked, answers)
	req.OneSession = o.Session
	return o.Gateway.Do(o.T.Context(), req), asked
}

func (o *InProcess) Asker(asked *[]consent.Question, answers []func(consent.Question) consent.Reply) consent.Asker {
	return func(_ context.Context, q consent.Question) consent.Reply {
		*asked = append(*asked, q)
		if len(*asked) > len(answers) {
			o.T.Errorf("asked in vain: %s", q.Text)
			return consent.No
		}
		return answers[len(*asked)-1](q)
	}
}

// Says is a person who says the same to everything.
func Says(r consent.Reply) func(consent.Question) consent.Reply {
	return func(consent.Question) consent.Reply { return r }
}

// First does something, and then says yes.
func First(do func()) func(consent.Question) consent.Reply {
	return func(consent.Question) consent.Reply { do(); return consent.Yes }
}

// Refusing runs do and checks that it changes nothing: not in the vault, not in
// the journal, and nothing was let through that would.
func (o *InProcess) Refusing(what, code string, do func() string) {
	o.T.Helper()
	before := TreeOf(o.T, o.Vault)
	begun := o.Begun()
	assert.Equal(o.T, do(), code, "%s", what)
	require.That(o.T, TreeOf(o.T, o.Vault) == before, "%s: the vault is another one", what)
	now := o.Begun()
	assert.That(o.T, now == begun, "%s: %d changes were begun", what, now-begun)
	if got, _ := o.Do([]string{"read", "path=root.md"}); CodeOf(got) != "" {
		o.T.Errorf("%s: a read after it fails: %+v", what, got.Error)
	}
}

var letThrough = regexp.MustCompile(`"effect":"(?:write|destr|publish|admin)[a-z]*","decision":"allow"`)

// Begun counts the changes that were let through.
func (o *InProcess) Begun() (count int) {
	_ = filepath.WalkDir(filepath.Join(o.State, "vaultwicket"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		text, _ := os.ReadFile(path)
		if strings.Contains(path, "audit") {
			count += len(letThrough.FindAllString(string(text), -1))
		}
		return nil
	})
	return count
}

func (o *InProcess) Read(name string) string {
	text, _ := os.ReadFile(filepath.Join(o.Vault, filepath.FromSlash(name)))
	return string(text)
}

func (o *InProcess) Write(name, text string) {
	o.T.Helper()
	WriteFile(o.T, filepath.Join(o.Vault, filepath.FromSlash(name)), []byte(text))
}

func Operation(id, command string, words ...string) gateway.Operation {
	p := allowlist.Params{}
	for _, word := range words {
		key, value, text := strings.Cut(word, "=")
		p[key] = allowlist.Flag(true)
		if text {
			p[key] = allowlist.Text(value)
		}
	}
	return gateway.Operation{ClientID: id, Request: gateway.Request{Command: command, Params: p}}
}

func (o *InProcess) Batch(operations []gateway.Operation, answers ...func(consent.Question) consent.Reply) (gateway.BatchResult, []consent.Question) {
	o.T.Helper()
	var asked []consent.Question
	b := gateway.Batch{Request: gateway.Request{Caller: "me", Ask: o.Asker(&asked, answers)}, Operations: operations}
	return o.Gateway.DoBatch(o.T.Context(), b), asked
}

// Approve says yes to the one question that waits, and deny says no.
func (o *InProcess) Approve() { o.T.Helper(); o.answerOpen((*consent.Store).Approve) }

func (o *InProcess) Deny() { o.T.Helper(); o.answerOpen((*consent.Store).Deny) }

func (o *InProcess) answerOpen(answer func(*consent.Store, string) (consent.StoredQuestion, error)) {
	o.T.Helper()
	waiting := o.Waiting()
	require.That(o.T, len(waiting) == 1, "%d questions wait", len(waiting))
	if _, err := answer(o.store(), waiting[0].Code); err != nil {
		o.T.Fatal(err)
	}
}

func (o *InProcess) store() *consent.Store {
	return consent.OpenStore(consent.Folder(ownerfiles.StateFolder(o.Config.Getenv, "")), nil)
}

// Waiting are the questions that no one has answered yet.
func (o *InProcess) Waiting() []consent.StoredQuestion {
	o.T.Helper()
	list, _, err := o.store().List()
	require.NoError(o.T, err)
	return slices.DeleteFunc(list, func(q consent.StoredQuestion) bool { return q.State != consent.Pending })
}

// Decisions are what the audit log has of decisions, as "decision effect code".
func (o *InProcess) Decisions() (list []string) {
	o.T.Helper()
	for l, err := range audit.List(o.T.Context(), audit.AuditFolder(o.State+"/vaultwicket"), audit.Filter{}) {
		require.NoError(o.T, err)
		list = append(list, strings.TrimSpace(l.Kind+" "+l.Decision+" "+l.Effect+" "+l.Code))
	}
	return list
}

// As sends a call of another session.
func (o *InProcess) As(caller string, words []string, answers ...func(consent.Question) consent.Reply) (gateway.Result, []consent.Question) {
	return o.Send(gateway.Request{Command: words[0], Words: words[1:], Caller: caller, Surface: "http"}, answers...)
}
