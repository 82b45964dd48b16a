package tests

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/gateway/state/approvals"
	"vaultwicket/gateway/state/paths"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
	"vaultwicket/tiers"
)

// office is a gateway that has to ask before every change, on true vaults.
type office struct {
	t       *testing.T
	gateway *gateway.Gateway
	config  gateway.Config
	state   string
	vault   string // the folder of the first one
	session bool   // what is sent comes from one session
}

// notesAsked are in every vault of an office.
var notesAsked = map[string]string{
	"Inbox/a.md": "one\n", "Inbox/b.md": "see [[a]]\n", "Inbox/Deep/c.md": "three\n",
	"Inbox2/a.md": "two\n", "Secret/s.md": "CANARY [[a]]\n", "root.md": "root\n",
	".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
}

func openOffice(t *testing.T, change func(*gateway.Config)) *office {
	t.Helper()
	o := &office{t: t, session: true, state: t.TempDir(), vault: filepath.Join(t.TempDir(), "Notes")}
	fillVault(t, o.vault)
	environment := map[string]string{"XDG_STATE_HOME": o.state, "VAULTWICKET_NOW": "2026-11-21T09:30:00+01:00"}
	getenv := func(name string) string { return environment[name] }
	runner := exec.New(exec.Config{CLI: "/nowhere/obsidian", Self: binary, Getenv: getenv})
	t.Cleanup(func() { runner.Close() })
	o.config = gateway.Config{
		Policy: policy.Policy{Ceiling: tiers.V1, Mutations: true, UI: true, Confirm: policy.ConfirmWrites, MinVersion: tiers.DefaultMinimum},
		Vault:  gateway.Vault{Folder: o.vault},
		Runner: runner, Backend: gateway.Embedded, Session: "office", Getenv: getenv, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&o.config)
	}
	o.gateway = gateway.New(o.config)
	return o
}

func fillVault(t *testing.T, folder string) {
	t.Helper()
	for name, text := range notesAsked {
		writeFile(t, filepath.Join(folder, filepath.FromSlash(name)), []byte(text))
	}
}

// again is a gateway as another process of the user has it.
func (o *office) again(change func(*gateway.Config)) *office {
	other := *o
	if change != nil {
		change(&other.config)
	}
	other.gateway = gateway.New(other.config)
	return &other
}

// do sends a call of words such as "path=a.md"; answers are what the person says,
// one after the other. asked are the questions.
func (o *office) do(words []string, answers ...func(gateway.Question) gateway.Reply) (result gateway.Result, asked []gateway.Question) {
	return o.send(gateway.Request{Command: words[0], Words: words[1:], Caller: "me"}, answers...)
}

func (o *office) send(req gateway.Request, answers ...func(gateway.Question) gateway.Reply) (result gateway.Result, asked []gateway.Question) {
	o.t.Helper()
	req.Ask, req.OneSession = o.asker(&asked, answers), o.session
	return o.gateway.Do(o.t.Context(), req), asked
}

func (o *office) asker(asked *[]gateway.Question, answers []func(gateway.Question) gateway.Reply) gateway.Asker {
	return func(_ context.Context, q gateway.Question) gateway.Reply {
		*asked = append(*asked, q)
		if len(*asked) > len(answers) {
			o.t.Errorf("asked in vain: %s", q.Text)
			return gateway.No
		}
		return answers[len(*asked)-1](q)
	}
}

// says is a person who says the same to everything.
func says(r gateway.Reply) func(gateway.Question) gateway.Reply {
	return func(gateway.Question) gateway.Reply { return r }
}

// first does something, and then says yes.
func first(do func()) func(gateway.Question) gateway.Reply {
	return func(gateway.Question) gateway.Reply { do(); return gateway.Yes }
}

func codeOf(r gateway.Result) string {
	if r.Error == nil {
		return ""
	}
	return r.Error.Code
}

// refusing runs do and checks that it changes nothing: not in the vault, not in
// the journal, and nothing was let through that would.
func (o *office) refusing(what, code string, do func() string) {
	o.t.Helper()
	before, begun := treeOf(o.t, o.vault), o.begun()
	if got := do(); got != code {
		o.t.Errorf("%s: got %q, want %q", what, got, code)
	}
	if treeOf(o.t, o.vault) != before {
		o.t.Fatalf("%s: the vault is another one", what)
	}
	if now := o.begun(); now != begun {
		o.t.Errorf("%s: %d changes were begun", what, now-begun)
	}
	if got, _ := o.do([]string{"read", "path=root.md"}); codeOf(got) != "" {
		o.t.Errorf("%s: a read behind it fails: %+v", what, got.Error)
	}
}

var letThrough = regexp.MustCompile(`"effect":"(?:write|destr|publish|admin)[a-z]*","decision":"allow"`)

// begun counts the changes that were let through.
func (o *office) begun() (count int) {
	_ = filepath.WalkDir(filepath.Join(o.state, "vaultwicket"), func(path string, d fs.DirEntry, err error) error {
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

func (o *office) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(o.vault, filepath.FromSlash(name)))
	return string(text)
}

func (o *office) write(name, text string) {
	o.t.Helper()
	writeFile(o.t, filepath.Join(o.vault, filepath.FromSlash(name)), []byte(text))
}

func TestBegunCounts(t *testing.T) {
	o := openOffice(t, nil)
	if got, _ := o.do([]string{"append", "path=root.md", "content=x"}, says(gateway.Yes)); codeOf(got) != "" || o.begun() != 1 || o.read("root.md") != "root\nx" {
		t.Errorf("got %+v, %d begun, the note is %q", got.Error, o.begun(), o.read("root.md"))
	}
}

// A yes is to the notes as the person was shown them.
func TestWhatChangesWhileThePersonThinksIsShownAgain(t *testing.T) {
	for name, c := range map[string]struct {
		words   []string
		meddle  func(*office)
		command string
	}{
		"the note":                     {[]string{"delete", "path=root.md"}, func(o *office) { o.write("root.md", "new\n") }, "delete"},
		"the note is gone":             {[]string{"delete", "path=root.md"}, func(o *office) { os.Remove(filepath.Join(o.vault, "root.md")) }, "delete"},
		"a note that was to be made":   {[]string{"create", "path=new.md", "content=x", "overwrite"}, func(o *office) { o.write("new.md", "of somebody else\n") }, "create"},
		"one that an append makes":     {[]string{"daily:append", "content=x"}, func(o *office) { o.write("2026-11-21.md", "mine\n") }, "daily:append"},
		"another note of a move":       {[]string{"rename", "path=Inbox/a.md", "name=z"}, func(o *office) { o.write("Inbox/b.md", "see [[a]], and [[a|more]]\n") }, "rename"},
		"one more note that is linked": {[]string{"rename", "path=Inbox/a.md", "name=z"}, func(o *office) { o.write("root.md", "see [[Inbox/a]]\n") }, "rename"},
	} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t, nil)
			var left [32]byte
			result, asked := o.do(c.words, first(func() { c.meddle(o); left = treeOf(t, o.vault) }))
			if code := codeOf(result); len(asked) != 1 || code != "conflict" && code != "not_found" && code != "already_exists" {
				t.Errorf("asked %d times, got %+v", len(asked), result.Error)
			}
			if treeOf(t, o.vault) != left || o.begun() != 0 {
				t.Error("something was changed")
			}
		})
	}
	t.Run("of a batch", func(t *testing.T) {
		o := openOffice(t, nil)
		var left [32]byte
		result, _ := o.batch([]gateway.Operation{operation("a", "append", "path=Inbox/a.md", "content=x"), operation("b", "delete", "path=root.md")},
			first(func() { o.write("root.md", "new\n"); left = treeOf(t, o.vault) }))
		if result.Error == nil || result.Error.Code != "conflict" || treeOf(t, o.vault) != left {
			t.Errorf("got %+v", result.Error)
		}
	})
}

func operation(id, command string, words ...string) gateway.Operation {
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

func (o *office) batch(operations []gateway.Operation, answers ...func(gateway.Question) gateway.Reply) (gateway.BatchResult, []gateway.Question) {
	o.t.Helper()
	var asked []gateway.Question
	b := gateway.Batch{Operations: operations, Caller: "me", Ask: o.asker(&asked, answers)}
	return o.gateway.DoBatch(o.t.Context(), b), asked
}

// A person who stops everything while a question is open has stopped it too.
func TestAYesDoesNotReachPastWhatWasClosedMeanwhile(t *testing.T) {
	o := openOffice(t, nil)
	pause := gateway.PauseFile(paths.State(o.config.Getenv, ""))
	o.refusing("paused", "paused", func() string {
		got, _ := o.do([]string{"delete", "path=root.md"}, first(func() { writeFile(t, pause, nil) }))
		os.Remove(pause)
		return codeOf(got)
	})
	o.refusing("paused, in a batch", "paused", func() string {
		got, _ := o.batch([]gateway.Operation{operation("a", "delete", "path=root.md")}, first(func() { writeFile(t, pause, nil) }))
		os.Remove(pause)
		if got.Error == nil {
			return got.Results[0].Result.Error.Code
		}
		return got.Error.Code
	})
	o.refusing("mutations are off", "mutations_off", func() string {
		got, _ := o.do([]string{"delete", "path=root.md"}, first(func() {
			off := o.config.Policy
			off.Mutations = false
			o.gateway.Tighten([]policy.Policy{off}, gateway.Limits{}, false)
		}))
		return codeOf(got)
	})
}

// Two vaults can have one name, and notes of the same text.
func TestAYesIsForOneVault(t *testing.T) {
	o := openOffice(t, nil)
	twin := filepath.Join(t.TempDir(), "Notes")
	fillVault(t, twin)
	o = o.again(func(c *gateway.Config) {
		c.Vaults = []gateway.Served{{Vault: gateway.Vault{Folder: o.vault}, Policy: c.Policy}, {Vault: gateway.Vault{Folder: twin, ID: "0123456789abcdef"}, Policy: c.Policy}}
	})
	for _, words := range [][]string{{"delete", "path=root.md"}, {"create", "path=new.md", "content=x"}} {
		here := gateway.Request{Command: words[0], Words: words[1:], Caller: "me"}
		there := here
		there.Vault = "0123456789abcdef"
		var seen []gateway.Question
		for _, req := range []gateway.Request{here, there} {
			req.Caller = "one who is declined"
			_, asked := o.send(req, says(gateway.No))
			seen = append(seen, asked...)
		}
		if len(seen) != 2 || seen[0].Digest == seen[1].Digest {
			t.Errorf("%s: one digest for two vaults", words)
		}
		unasked := o.gateway.Do(t.Context(), here)
		if codeOf(unasked) != "unconfirmed" {
			t.Fatalf("got %+v", unasked)
		}
		o.approve()
		if got := o.gateway.Do(t.Context(), there); codeOf(got) != "unconfirmed" {
			t.Errorf("%s: the yes for one vault is taken for another: %+v", words, got)
		}
		o.deny()
		if got := o.gateway.Do(t.Context(), here); codeOf(got) != "" {
			t.Errorf("%s: the yes is not taken: %+v", words, got.Error)
		}
	}
	remember := gateway.Request{Command: "append", Words: []string{"path=Inbox/a.md", "content=x"}, Caller: "me"}
	if got, _ := o.send(remember, says(gateway.YesHere)); codeOf(got) != "" {
		t.Fatalf("got %+v", got.Error)
	}
	remember.Vault = "0123456789abcdef"
	if got, asked := o.send(remember, says(gateway.No)); codeOf(got) != "unconfirmed" || len(asked) != 1 {
		t.Errorf("a standing yes for one vault is one for another: %+v", got)
	}
}

// The desk is one for all processes, and what is typed has one caller.
func TestAYesFromTheTerminalIsForOneVault(t *testing.T) {
	o := openOffice(t, func(c *gateway.Config) { c.Session = "1" })
	twin := filepath.Join(t.TempDir(), "Notes")
	fillVault(t, twin)
	other := o.again(func(c *gateway.Config) { c.Session, c.Vault = "2", gateway.Vault{Folder: twin} })
	req := gateway.Request{Command: "delete", Words: []string{"path=root.md"}, Caller: "terminal"}
	o.gateway.Do(t.Context(), req)
	o.approve()
	if got := other.gateway.Do(t.Context(), req); codeOf(got) != "unconfirmed" {
		t.Errorf("in another vault: %+v", got)
	}
	if got := o.again(func(c *gateway.Config) { c.Session = "3" }).gateway.Do(t.Context(), req); codeOf(got) != "" {
		t.Errorf("in the same one, typed again: %+v", got.Error)
	}
}

// approve says yes to the one question that waits, and deny says no.
func (o *office) approve() { o.t.Helper(); o.answerOpen((*approvals.Desk).Approve) }
func (o *office) deny()    { o.t.Helper(); o.answerOpen((*approvals.Desk).Deny) }

func (o *office) answerOpen(answer func(*approvals.Desk, string) (approvals.Question, error)) {
	o.t.Helper()
	waiting := o.waiting()
	if len(waiting) != 1 {
		o.t.Fatalf("%d questions wait", len(waiting))
	}
	if _, err := answer(o.desk(), waiting[0].Code); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) desk() *approvals.Desk {
	return approvals.Open(gateway.ApprovalsFolder(paths.State(o.config.Getenv, "")), nil)
}

// waiting are the questions that nobody has answered yet.
func (o *office) waiting() []approvals.Question {
	o.t.Helper()
	list, _, err := o.desk().List()
	if err != nil {
		o.t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(q approvals.Question) bool { return q.State != approvals.Pending })
}

// A yes is for the caller whom the person was told of.
func TestAYesIsForOneCaller(t *testing.T) {
	o := openOffice(t, nil)
	req := gateway.Request{Command: "delete", Words: []string{"path=root.md"}, Caller: "me"}
	o.gateway.Do(t.Context(), req)
	o.approve()
	for _, caller := range []string{"you", "", "m", "me\x00"} {
		theirs := req
		theirs.Caller = caller
		o.refusing("caller "+caller, "unconfirmed", func() string { return codeOf(o.gateway.Do(t.Context(), theirs)) })
	}
	if got := o.gateway.Do(t.Context(), req); codeOf(got) != "" {
		t.Errorf("got %+v", got.Error)
	}
}

// The desk: a yes is used up, and worth nothing when the note is another one.
func TestAYesFromTheDesk(t *testing.T) {
	o := openOffice(t, nil)
	req := gateway.Request{Command: "append", Words: []string{"path=root.md", "content=x"}, Caller: "me"}
	ask := func() string { return codeOf(o.gateway.Do(t.Context(), req)) }
	o.refusing("asked", "unconfirmed", ask)
	o.gateway.Do(t.Context(), req)
	o.approve()
	o.write("root.md", "meanwhile\n")
	o.refusing("changed since", "unconfirmed", ask)
	o.gateway.Do(t.Context(), req)
	o.approve()
	got := o.gateway.Do(t.Context(), req)
	if codeOf(got) != "" || o.read("root.md") != "meanwhile\nx" || got.Hash != hashOfText("meanwhile\nx") {
		t.Fatalf("got %+v, the note is %q", got, o.read("root.md"))
	}
	o.refusing("used up", "unconfirmed", ask)
	o.write("root.md", "root\n")
	if got := ask(); got != "" { // nobody has taken the first yes, and the note is what it was
		t.Errorf("the first yes: %q", got)
	}
	o.write("root.md", "root\n")
	o.refusing("used up too", "unconfirmed", ask)
}

// Nobody is asked about a call that was made: its first answer is given again.
func TestAnAnsweredKeyIsNotAskedAbout(t *testing.T) {
	o := openOffice(t, nil)
	asked := 0
	req := gateway.Request{Command: "append", Words: []string{"path=root.md", "content=x"}, Caller: "me", IdempotencyKey: "k", Ask: func(context.Context, gateway.Question) gateway.Reply {
		asked++
		return gateway.Yes
	}}
	first := o.gateway.Do(t.Context(), req)
	again := o.gateway.Do(t.Context(), req)
	if codeOf(first) != "" || codeOf(again) != "" || asked != 1 || again.Change == nil || again.Change.ID != first.Change.ID || o.read("root.md") != "root\nx" {
		t.Errorf("asked %d times: %+v, then %+v", asked, first, again)
	}
}

func TestOfManyWithOneYesFromTheDeskOneRuns(t *testing.T) {
	o := openOffice(t, func(c *gateway.Config) { c.Limits.Parallel = 8 })
	req := gateway.Request{Command: "append", Words: []string{"path=root.md", "content=x"}, Caller: "me"}
	o.gateway.Do(t.Context(), req)
	o.approve()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { o.gateway.Do(t.Context(), req) })
	}
	all.Wait()
	if text := o.read("root.md"); text != "root\nx" {
		t.Errorf("the note is %q", text)
	}
}

// A vault may be called anything.
func TestAVaultOfAnyNameCanBeApproved(t *testing.T) {
	for _, name := range []string{"Ideas 👩‍💻", "a b", `say "hi"`} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "\t\"") {
			continue
		}
		folder := filepath.Join(t.TempDir(), name)
		fillVault(t, folder)
		o := openOffice(t, func(c *gateway.Config) { c.Vault.Folder = folder })
		req := gateway.Request{Command: "delete", Words: []string{"path=root.md"}, Caller: "me", Client: "odd\x1b[2J client"}
		asked := o.gateway.Do(t.Context(), req)
		if !strings.Contains(asked.Error.Hint, "vaultwicket approvals") {
			t.Errorf("%q: %+v", name, asked.Error)
			continue
		}
		o.approve()
		if got := o.gateway.Do(t.Context(), req); codeOf(got) != "" {
			t.Errorf("%q: the yes is not taken: %+v", name, got.Error)
		}
	}
}

// A yes for a folder is for changes of the notes in it that destroy nothing.
func TestAYesForAFolder(t *testing.T) {
	o := openOffice(t, nil)
	if got, asked := o.do([]string{"append", "path=Inbox/a.md", "content=x"}, says(gateway.YesHere)); codeOf(got) != "" || asked[0].Folder != "Inbox" {
		t.Fatalf("got %+v, asked %+v", got.Error, asked)
	}
	for _, words := range [][]string{
		{"append", "path=Inbox/a.md", "content=y"}, {"prepend", "path=Inbox/Deep/c.md", "content=y"}, {"create", "path=Inbox/new.md", "content=y"},
		{"append", "file=b", "content=y"}, {"move", "path=Inbox/new.md", "to=Inbox/Deep/"},
	} {
		if got, _ := o.do(words); codeOf(got) != "" {
			t.Errorf("%s: %+v", words, got.Error)
		}
	}
	for _, words := range [][]string{
		{"delete", "path=Inbox/a.md"}, {"create", "path=Inbox/a.md", "content=y", "overwrite"}, {"property:remove", "path=Inbox/p.md", "name=k"},
		{"append", "path=Inbox2/a.md", "content=y"}, {"append", "path=root.md", "content=y"}, {"create", "path=inbox/new.md", "content=y"},
		{"create", "path=new.md", "content=y"}, {"daily:append", "content=y"},
		{"move", "path=Secret/s.md", "to=Inbox/"}, {"move", "path=Inbox/b.md", "to=Secret/"}, {"move", "path=root.md", "to=Inbox/"},
		{"rename", "path=Inbox/a.md", "name=z"}, // a link in another folder follows it
	} {
		o.write("Inbox/p.md", "---\nk: v\n---\n")
		o.refusing(fmt.Sprint(words), "unconfirmed", func() string {
			got, asked := o.do(words, says(gateway.Void))
			if len(asked) != 1 {
				t.Errorf("%s: asked %d times", words, len(asked))
			}
			return codeOf(got)
		})
	}
	o.refusing("another caller", "unconfirmed", func() string {
		got, _ := o.send(gateway.Request{Command: "append", Words: []string{"path=Inbox/a.md", "content=z"}, Caller: "you"}, says(gateway.No))
		return codeOf(got)
	})
	o.refusing("a batch", "unconfirmed", func() string {
		got, _ := o.batch([]gateway.Operation{operation("a", "append", "path=Inbox/a.md", "content=z")}, says(gateway.No))
		return got.Error.Code
	})
	if got := o.again(nil).gateway.Do(t.Context(), gateway.Request{Command: "append", Words: []string{"path=Inbox/a.md", "content=z"}, Caller: "me"}); codeOf(got) != "unconfirmed" {
		t.Errorf("it outlives the process: %+v", got)
	}
}

// Where a yes to all of a folder would be one for more, none is offered, and one
// that is given all the same is a yes to the one call.
func TestAYesForAFolderThatIsNoneIsForOneCall(t *testing.T) {
	for _, words := range [][]string{
		{"append", "path=root.md", "content=x"}, {"move", "path=Secret/s.md", "to=Inbox2/"}, {"delete", "path=Inbox/a.md"},
		{"create", "path=Inbox/a.md", "content=x", "overwrite"}, {"rename", "path=Inbox/a.md", "name=z"},
	} {
		o := openOffice(t, nil)
		got, asked := o.do(words, says(gateway.YesHere))
		if codeOf(got) != "" || len(asked) != 1 || asked[0].Folder != "" {
			t.Errorf("%s: got %+v, asked %+v", words, got.Error, asked)
		}
		for _, next := range [][]string{{"append", "path=Inbox/b.md", "content=x"}, {"append", "path=Inbox2/a.md", "content=x"}, {"create", "path=other.md", "content=x"}} {
			if got, asked := o.do(next, says(gateway.No)); codeOf(got) != "unconfirmed" || len(asked) != 1 {
				t.Errorf("%s, then %s: %+v", words, next, got)
			}
		}
	}
}

func TestNobodyIsAskedAboutWhatWouldFail(t *testing.T) {
	o := openOffice(t, nil)
	for _, c := range []struct {
		words []string
		code  string
	}{
		{[]string{"delete", "path=gone.md"}, "not_found"}, {[]string{"append", "path=Inbox/gone.md", "content=x"}, "not_found"},
		{[]string{"create", "path=root.md", "content=x"}, "already_exists"}, {[]string{"move", "path=root.md", "to=Inbox/a.md"}, "already_exists"},
		{[]string{"delete", "file=nobody"}, "not_found"}, {[]string{"undo", "id=20200101T000000.000000000Z-0000"}, "not_found"},
	} {
		o.refusing(fmt.Sprint(c.words), c.code, func() string { got, _ := o.do(c.words); return codeOf(got) })
	}
	o.refusing("a hash of another text", "conflict", func() string {
		got, _ := o.send(gateway.Request{Command: "delete", Words: []string{"path=root.md"}, ExpectHash: "0123456789abcdef", Caller: "me"})
		return codeOf(got)
	})
	o.refusing("a dry run", "unconfirmed", func() string {
		var asked []gateway.Question
		dry := o.gateway.DryRun(t.Context(), gateway.Request{Command: "delete", Words: []string{"path=root.md"}, Caller: "me", Ask: o.asker(&asked, nil)})
		return dry.Error.Code
	})
	o.refusing("in a batch", "not_found", func() string {
		got, _ := o.batch([]gateway.Operation{operation("a", "append", "path=root.md", "content=x"), operation("b", "delete", "path=gone.md")})
		return got.Error.Code
	})
	if rest, _, err := approvals.Open(gateway.ApprovalsFolder(paths.State(o.config.Getenv, "")), nil).List(); len(rest) > 0 || err != nil {
		t.Errorf("on the desk there are %v, %v", rest, err)
	}
}

// A batch is all or nothing as far as the person is concerned.
func TestABatchThatIsDeclinedIsNotBegun(t *testing.T) {
	operations := []gateway.Operation{
		operation("a", "append", "path=Inbox/a.md", "content=x"), operation("r", "read", "path=root.md"),
		operation("b", "delete", "path=root.md"), operation("c", "create", "path=new.md", "content=x"),
	}
	for _, confirm := range []policy.Confirm{policy.ConfirmWrites, policy.ConfirmDestructive} {
		o := openOffice(t, func(c *gateway.Config) { c.Policy.Confirm = confirm })
		for _, atomic := range []bool{false, true} {
			for _, r := range []gateway.Reply{gateway.No, gateway.NoWay, gateway.Later} {
				o.refusing(fmt.Sprint(confirm, atomic, r), "unconfirmed", func() string {
					var asked []gateway.Question
					got := o.gateway.DoBatch(t.Context(), gateway.Batch{Operations: operations, Atomic: atomic, Caller: fmt.Sprint("caller ", atomic, r), Ask: o.asker(&asked, []func(gateway.Question) gateway.Reply{says(r)})})
					if len(asked) != 1 || len(got.Results) > 0 {
						t.Errorf("asked %d times, got %+v", len(asked), got)
					}
					return got.Error.Code
				})
			}
		}
		got, asked := o.batch(operations, says(gateway.Yes))
		if !got.OK || len(asked) != 1 || o.read("root.md") != "" || o.read("new.md") == "" {
			t.Errorf("%v: accepted: %+v", confirm, got)
		}
	}
}

// Notes that the access rules hide are in no question, and whatever is in them, a
// question is the same.
func TestHiddenNotesAreInNoQuestion(t *testing.T) {
	rules, err := access.New(map[string]access.Level{"/": access.Delete, "Secret": access.None})
	if err != nil {
		t.Fatal(err)
	}
	var seen [][]string
	for _, hidden := range []string{"CANARY [[a]] [[Inbox/a]]\n", "", "[[root]]\n"} {
		o := openOffice(t, func(c *gateway.Config) { c.Policy.Access = rules })
		if hidden == "" {
			os.RemoveAll(filepath.Join(o.vault, "Secret"))
		} else {
			o.write("Secret/s.md", hidden)
		}
		var all []string
		for _, words := range [][]string{
			{"rename", "path=Inbox/a.md", "name=z"}, {"move", "path=Inbox/a.md", "to=Inbox2/z.md"}, {"delete", "path=root.md"}, {"append", "file=a", "content=x"},
			{"delete", "path=Secret/s.md"}, {"append", "path=Secret/s.md", "content=x"}, {"delete", "file=s"}, {"move", "path=Secret/s.md", "to=Inbox/"},
			{"create", "path=new.md", "template=s"},
		} {
			o.refusing(fmt.Sprint(words), "", func() string {
				got, asked := o.do(words, says(gateway.No))
				for _, q := range asked {
					if strings.Contains(q.Text, "CANARY") || strings.Contains(q.Text, "Secret/") {
						t.Errorf("%s: %s", words, q.Text)
					}
					all = append(all, fmt.Sprintf("%s %x", q.Text, q.Path))
				}
				if len(asked) == 0 && codeOf(got) == "" {
					t.Errorf("%s: not asked", words)
				}
				all = append(all, codeOf(got)+" "+got.Error.Message)
				return ""
			})
		}
		seen = append(seen, all)
	}
	for _, other := range seen[1:] {
		if !slices.Equal(other, seen[0]) {
			t.Errorf("a hidden note shows:\n%q\nand\n%q", seen[0], other)
		}
	}
}
