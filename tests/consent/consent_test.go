package consent

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestWhatChangesWhileThePersonThinksIsShownAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words   []string
		meddle  func(*harness.InProcess)
		command string
	}{
		"the note":         {[]string{"delete", "path=root.md"}, func(o *harness.InProcess) { o.Write("root.md", "new\n") }, "delete"},
		"the note is gone": {[]string{"delete", "path=root.md"}, func(o *harness.InProcess) { os.Remove(filepath.Join(o.Vault, "root.md")) }, "delete"},
		"a note that was to be made": {[]string{"create", "path=new.md", "content=x", "overwrite"},
			func(o *harness.InProcess) { o.Write("new.md", "of somebody else\n") }, "create"},
		"one that an append makes": {[]string{"daily:append", "content=x"}, func(o *harness.InProcess) { o.Write("2026-11-21.md", "mine\n") }, "daily:append"},
		"another note of a move": {[]string{"rename", "path=Inbox/a.md", "name=z"},
			func(o *harness.InProcess) { o.Write("Inbox/b.md", "see [[a]], and [[a|more]]\n") }, "rename"},
		"one more note that is linked": {[]string{"rename", "path=Inbox/a.md", "name=z"},
			func(o *harness.InProcess) { o.Write("root.md", "see [[Inbox/a]]\n") }, "rename"},
	} {
		t.Run(name, func(t *testing.T) {
			o := harness.NewInProcess(t, harness.OneShot) // a worker is notified of a change a moment later
			var left [32]byte
			result, asked := o.Do(c.words, harness.First(func() { c.meddle(o); left = harness.TreeOf(t, o.Vault) }))
			if code := harness.CodeOf(result); len(asked) != 1 || code != "conflict" && code != "not_found" && code != "already_exists" {
				t.Errorf("asked %d times, got %+v", len(asked), result.Error)
			}
			// The program itself refuses a change of a note that the question did not show.
			begins := name == "one more note that is linked"
			assert.Equal(t, harness.TreeOf(t, o.Vault), left, "something was changed, or %d calls began", o.Begun())
			assert.Equal(t, o.Begun() != 0, begins, "something was changed, or %d calls began", o.Begun())
		})
	}
	t.Run("of a batch", func(t *testing.T) {
		o := harness.NewInProcess(t, nil)
		var left [32]byte
		result, _ := o.Batch([]gateway.Operation{harness.Operation("a", "append", "path=Inbox/a.md", "content=x"), harness.Operation("b", "delete", "path=root.md")},
			harness.First(func() { o.Write("root.md", "new\n"); left = harness.TreeOf(t, o.Vault) }))
		require.That(t, result.Error != nil, "got %+v", result.Error)
		assert.Equal(t, result.Error.Code, "conflict", "got %+v", result.Error)
		assert.Equal(t, harness.TreeOf(t, o.Vault), left, "got %+v", result.Error)
	})
}

// Two vaults can have one name, and notes of the same text.
func TestAYesIsForOneVault(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	twin := filepath.Join(t.TempDir(), "Notes")
	harness.FillVault(t, twin)
	o = o.Again(func(c *gateway.Config) {
		c.Vaults = []gateway.Served{{Vault: gateway.Vault{Folder: o.Vault}, Policy: c.Policy},
			{Vault: gateway.Vault{Folder: twin, ID: "0123456789abcdef"}, Policy: c.Policy}}
	})
	for _, words := range [][]string{{"delete", "path=root.md"}, {"create", "path=new.md", "content=x"}} {
		here := gateway.Request{Command: words[0], Words: words[1:], Caller: "me"}
		there := here
		there.Vault = "0123456789abcdef"
		var seen []consent.Question
		for _, req := range []gateway.Request{here, there} {
			req.Caller = "one who is declined"
			_, asked := o.Send(req, harness.Says(consent.No))
			seen = append(seen, asked...)
		}
		require.Equal(t, len(seen), 2, "%s: one digest for two vaults", words)
		assert.That(t, seen[0].Digest != seen[1].Digest, "%s: one digest for two vaults", words)
		unasked := o.Gateway.Do(t.Context(), here)
		require.That(t, harness.CodeOf(unasked) == "unconfirmed", "got %+v", unasked)
		o.Approve()
		assert.Equal(t, harness.CodeOf(o.Gateway.Do(t.Context(), there)), "unconfirmed", "%s: the yes for one vault is taken for another", words)
		o.Deny()
		got := o.Gateway.Do(t.Context(), here)
		assert.That(t, harness.CodeOf(got) == "", "%s: the yes is not taken: %+v", words, got.Error)
	}
	remember := gateway.Request{Command: "append", Words: []string{"path=Inbox/a.md", "content=x"}, Caller: "me"}
	if got, _ := o.Send(remember, harness.Says(consent.YesHere)); harness.CodeOf(got) != "" {
		t.Fatalf("got %+v", got.Error)
	}
	remember.Vault = "0123456789abcdef"
	got, asked := o.Send(remember, harness.Says(consent.No))
	assert.Equal(t, harness.CodeOf(got), "unconfirmed", "a standing yes for one vault is one for another: %+v", got)
	assert.Equal(t, len(asked), 1, "a standing yes for one vault is one for another: %+v", got)
}

// The desk: a yes is used up, and worth nothing when the note is another one.
func TestAnApprovalInATerminal(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	req := gateway.Request{Command: "append", Words: []string{"path=root.md", "content=x"}, Caller: "me"}
	ask := func() string { return harness.CodeOf(o.Gateway.Do(t.Context(), req)) }
	o.Refusing("asked", "unconfirmed", ask)
	o.Gateway.Do(t.Context(), req)
	o.Approve()
	o.Write("root.md", "meanwhile\n")
	o.Refusing("changed since", "unconfirmed", ask)
	o.Gateway.Do(t.Context(), req)
	o.Approve()
	got := o.Gateway.Do(t.Context(), req)
	require.Equal(t, harness.CodeOf(got), "", "got %+v, the note is %q", got, o.Read("root.md"))
	require.Equal(t, o.Read("root.md"), "meanwhile\nx", "got %+v, the note is %q", got, o.Read("root.md"))
	require.Equal(t, got.Hash, harness.HashOfText("meanwhile\nx"), "got %+v, the note is %q", got, o.Read("root.md"))
	o.Refusing("used up", "unconfirmed", ask)
	o.Write("root.md", "root\n")
	if got := ask(); got != "" { // no one has taken the first approval, and the note is what it was
		t.Errorf("the first yes: %q", got)
	}
	o.Write("root.md", "root\n")
	o.Refusing("used up too", "unconfirmed", ask)
}

func TestAVaultOfAnyNameCanBeApproved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Ideas 👩‍💻", "a b", `say "hi"`} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "\t\"") {
			continue
		}
		folder := filepath.Join(t.TempDir(), name)
		harness.FillVault(t, folder)
		o := harness.NewInProcess(t, func(c *gateway.Config) { c.Vault.Folder = folder })
		req := gateway.Request{Command: "delete", Words: []string{"path=root.md"}, Caller: "me", Client: "odd\x1b[2J client"}
		asked := o.Gateway.Do(t.Context(), req)
		if !strings.Contains(asked.Error.Hint, "vaultwicket approvals") {
			t.Errorf("%q: %+v", name, asked.Error)
			continue
		}
		o.Approve()
		got := o.Gateway.Do(t.Context(), req)
		assert.That(t, harness.CodeOf(got) == "", "%q: the yes is not taken: %+v", name, got.Error)
	}
}

// A yes for a folder is for changes of the notes in it that destroy nothing.
func TestAYesForAFolder(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	if got, asked := o.Do([]string{"append", "path=Inbox/a.md", "content=x"}, harness.Says(consent.YesHere)); harness.CodeOf(got) != "" ||
		asked[0].Folder != "Inbox" {
		t.Fatalf("got %+v, asked %+v", got.Error, asked)
	}
	for _, words := range [][]string{
		{"append", "path=Inbox/a.md", "content=y"}, {"prepend", "path=Inbox/Deep/c.md", "content=y"}, {"create", "path=Inbox/new.md", "content=y"},
		{"append", "file=b", "content=y"}, {"move", "path=Inbox/new.md", "to=Inbox/Deep/"},
	} {
		got, _ := o.Do(words)
		assert.That(t, harness.CodeOf(got) == "", "%s: %+v", words, got.Error)
	}
	for _, words := range [][]string{
		{"delete", "path=Inbox/a.md"}, {"create", "path=Inbox/a.md", "content=y", "overwrite"}, {"property:remove", "path=Inbox/p.md", "name=k"},
		{"append", "path=Inbox2/a.md", "content=y"}, {"append", "path=root.md", "content=y"}, {"create", "path=inbox/new.md", "content=y"},
		{"create", "path=new.md", "content=y"}, {"daily:append", "content=y"},
		{"move", "path=Secret/s.md", "to=Inbox/"}, {"move", "path=Inbox/b.md", "to=Secret/"}, {"move", "path=root.md", "to=Inbox/"},
		{"rename", "path=Inbox/a.md", "name=z"}, // a link in another folder follows it
	} {
		o.Write("Inbox/p.md", "---\nk: v\n---\n")
		o.Refusing(fmt.Sprint(words), "unconfirmed", func() string {
			got, asked := o.Do(words, harness.Says(consent.Void))
			assert.Equal(t, len(asked), 1, "%s: asked, times", words)
			o.Must([]string{"approvals", "withdraw=all"}) // so that there is room for the next one
			return harness.CodeOf(got)
		})
	}
	o.Refusing("another caller", "unconfirmed", func() string {
		got, _ := o.Send(gateway.Request{Command: "append", Words: []string{"path=Inbox/a.md", "content=z"}, Caller: "you"}, harness.Says(consent.No))
		return harness.CodeOf(got)
	})
	o.Refusing("a batch", "unconfirmed", func() string {
		got, _ := o.Batch([]gateway.Operation{harness.Operation("a", "append", "path=Inbox/a.md", "content=z")}, harness.Says(consent.No))
		return got.Error.Code
	})
	got := o.Again(nil).Gateway.Do(t.Context(), gateway.Request{Command: "append", Words: []string{"path=Inbox/a.md", "content=z"}, Caller: "me"})
	assert.That(t, harness.CodeOf(got) == "unconfirmed", "it outlives the process: %+v", got)
}

// Where a yes to all of a folder would be one for more, none is offered, and one
// that is given all the same is a yes to the one call.
func TestAYesForAFolderThatIsNoneIsForOneCall(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{
		{"append", "path=root.md", "content=x"}, {"move", "path=Secret/s.md", "to=Inbox2/"}, {"delete", "path=Inbox/a.md"},
		{"create", "path=Inbox/a.md", "content=x", "overwrite"}, {"rename", "path=Inbox/a.md", "name=z"},
	} {
		o := harness.NewInProcess(t, nil)
		got, asked := o.Do(words, harness.Says(consent.YesHere))
		assert.Equal(t, harness.CodeOf(got), "", "%s: got %+v, asked %+v", words, got.Error, asked)
		require.Equal(t, len(asked), 1, "%s: got %+v, asked %+v", words, got.Error, asked)
		assert.Equal(t, asked[0].Folder, "", "%s: got %+v, asked %+v", words, got.Error, asked)
		for _, next := range [][]string{{"append", "path=Inbox/b.md", "content=x"},
			{"append", "path=Inbox2/a.md", "content=x"}, {"create", "path=other.md", "content=x"}} {
			got, asked := o.Do(next, harness.Says(consent.No))
			assert.Equal(t, harness.CodeOf(got), "unconfirmed", "%s, then %s: %+v", words, next, got)
			assert.Equal(t, len(asked), 1, "%s, then %s: %+v", words, next, got)
		}
	}
}

func TestNobodyIsAskedAboutWhatWouldFail(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	for _, c := range []struct {
		words []string
		code  string
	}{
		{[]string{"delete", "path=gone.md"}, "not_found"}, {[]string{"append", "path=Inbox/gone.md", "content=x"}, "not_found"},
		{[]string{"create", "path=root.md", "content=x"}, "already_exists"}, {[]string{"move", "path=root.md", "to=Inbox/a.md"}, "already_exists"},
		{[]string{"delete", "file=nobody"}, "not_found"}, {[]string{"undo", "id=20200101T000000.000000000Z-0000"}, "not_found"},
	} {
		o.Refusing(fmt.Sprint(c.words), c.code, func() string { got, _ := o.Do(c.words); return harness.CodeOf(got) })
	}
	o.Refusing("a hash of another text", "conflict", func() string {
		got, _ := o.Send(gateway.Request{Command: "delete", Words: []string{"path=root.md"}, ExpectHash: "0123456789abcdef", Caller: "me"})
		return harness.CodeOf(got)
	})
	o.Refusing("a dry run", "unconfirmed", func() string {
		var asked []consent.Question
		dry := o.Gateway.DryRun(t.Context(), gateway.Request{Command: "delete", Words: []string{"path=root.md"}, Caller: "me", Ask: o.Asker(&asked, nil)})
		return dry.Error.Code
	})
	o.Refusing("in a batch", "not_found", func() string {
		got, _ := o.Batch([]gateway.Operation{harness.Operation("a", "append", "path=root.md", "content=x"), harness.Operation("b", "delete", "path=gone.md")})
		return got.Error.Code
	})
	rest, _, err := consent.OpenStore(consent.Folder(ownerfiles.StateFolder(o.Config.Getenv, "")), nil).List()
	assert.Equal(t, len(rest), 0, "on the desk there are %v", rest)
	assert.NoError(t, err, "on the desk there are %v", rest)
}

// A batch is all or nothing as far as the person is concerned.
func TestABatchThatIsDeclinedIsNotBegun(t *testing.T) {
	t.Parallel()
	operations := []gateway.Operation{
		harness.Operation("a", "append", "path=Inbox/a.md", "content=x"), harness.Operation("r", "read", "path=root.md"),
		harness.Operation("b", "delete", "path=root.md"), harness.Operation("c", "create", "path=new.md", "content=x"),
	}
	for _, confirm := range []policy.Confirm{policy.ConfirmWrites, policy.ConfirmDestructive} {
		o := harness.NewInProcess(t, func(c *gateway.Config) { c.Policy.Confirm = confirm })
		for _, atomic := range []bool{false, true} {
			for _, r := range []consent.Reply{consent.No, consent.NoWay, consent.Later} {
				o.Refusing(fmt.Sprint(confirm, atomic, r), "unconfirmed", func() string {
					var asked []consent.Question
					got := o.Gateway.DoBatch(t.Context(),
						gateway.Batch{Request: gateway.Request{Caller: fmt.Sprint("caller ", atomic, r),
							Ask: o.Asker(&asked, []func(consent.Question) consent.Reply{harness.Says(r)})},
							Operations: operations, Atomic: atomic})
					assert.Equal(t, len(asked), 1, "asked %d times, got %+v", len(asked), got)
					assert.Equal(t, len(got.Results), 0, "asked %d times, got %+v", len(asked), got)
					return got.Error.Code
				})
			}
		}
		got, asked := o.Batch(operations, harness.Says(consent.Yes))
		assert.That(t, got.OK, "%v: accepted: %+v", confirm, got)
		assert.Equal(t, len(asked), 1, "%v: accepted: %+v", confirm, got)
		assert.Equal(t, o.Read("root.md"), "", "%v: accepted: %+v", confirm, got)
		assert.That(t, o.Read("new.md") != "", "%v: accepted: %+v", confirm, got)
	}
}

// Notes that the access rules hide are in no question, and whatever is in them, a
// question is the same.
func TestHiddenNotesAreInNoQuestion(t *testing.T) {
	t.Parallel()
	rules := harness.Rules(t, map[string]access.Level{"/": access.Delete, "Secret": access.None})
	var seen [][]string
	for _, hidden := range []string{"CANARY [[a]] [[Inbox/a]]\n", "", "[[root]]\n"} {
		o := harness.NewInProcess(t, func(c *gateway.Config) { c.Policy.Access = rules })
		if hidden == "" {
			os.RemoveAll(filepath.Join(o.Vault, "Secret"))
		} else {
			o.Write("Secret/s.md", hidden)
		}
		var all []string
		for _, words := range [][]string{
			{"rename", "path=Inbox/a.md", "name=z"}, {"move", "path=Inbox/a.md", "to=Inbox2/z.md"},
			{"delete", "path=root.md"}, {"append", "file=a", "content=x"},
			{"delete", "path=Secret/s.md"}, {"append", "path=Secret/s.md", "content=x"}, {"delete", "file=s"}, {"move", "path=Secret/s.md", "to=Inbox/"},
			{"create", "path=new.md", "template=s"},
		} {
			o.Refusing(fmt.Sprint(words), "", func() string {
				got, asked := o.Do(words, harness.Says(consent.No))
				for _, q := range asked {
					assert.NotContains(t, q.Text, "CANARY", "%s", words)
					assert.NotContains(t, q.Text, "Secret/", "%s", words)
					all = append(all, fmt.Sprintf("%s %x", q.Text, q.Path))
				}
				assert.That(t, len(asked) != 0 || harness.CodeOf(got) != "", "%s: not asked", words)
				all = append(all, harness.CodeOf(got)+" "+got.Error.Message)
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

// A batch that the limits would stop half way does not begin. The owner can take back what was
// changed, above the limits and during a pause.
func TestLimitsStopNoBatchHalfWay(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, func(c *gateway.Config) {
		c.Policy.Confirm = policy.ConfirmNever
		c.Limits = admission.Limits{Calls: 1000, Mutations: 3}
	})
	var operations []gateway.Operation
	for i := range 4 {
		operations = append(operations, harness.Operation(fmt.Sprint(i), "create", fmt.Sprintf("path=n%d.md", i), "content=x"))
	}
	before := harness.TreeOf(t, o.Vault)
	got, _ := o.Batch(operations, nil)
	require.That(t, got.Error != nil, "four changes of three: no error")
	require.Equal(t, got.Error.Code, "rate_limited", "four changes of three: %+v", got.Error)
	require.Contains(t, got.Error.Hint, "send at most 3 at once", "four changes of three: %+v", got.Error)
	require.Equal(t, harness.TreeOf(t, o.Vault), before, "four changes of three")
	if got, _ := o.Batch(operations[:3], nil); got.Summary.OK != 3 {
		t.Fatalf("three changes of three: %+v", got)
	}
	if got, _ := o.Do([]string{"create", "path=more.md", "content=x"}, nil); harness.CodeOf(got) != "rate_limited" {
		t.Errorf("one more: %+v", got.Error)
	}
	back, _ := o.Batch([]gateway.Operation{harness.Operation("back", "undo", "id="+journal.NewID(time.Now()))}, nil)
	assert.Equal(t, fmt.Sprint(back.Failures()), "[rate_limited]", "an undo in a batch of an agent")
	state := ownerfiles.StateFolder(func(name string) string { return map[string]string{"XDG_STATE_HOME": o.State}[name] }, "")
	require.NoError(t, os.WriteFile(filepath.Clean(admission.PauseFile(state)), nil, 0o600))
	undo := gateway.Request{Command: "undo", Caller: "me"}
	if got := o.Gateway.Do(t.Context(), undo); harness.CodeOf(got) != "paused" {
		t.Errorf("an agent during a pause: %+v", got.Error)
	}
	undo.Owner = true // who is above the limits, too
	if got := o.Gateway.Do(t.Context(), undo); !got.OK {
		t.Errorf("the owner during a pause: %+v", got.Error)
	}
	if got := o.Gateway.Do(t.Context(),
		gateway.Request{Command: "create", Words: []string{"path=p.md", "content=x"},
			Owner: true}); harness.CodeOf(got) != "paused" {
		t.Errorf("the owner writes during a pause: %+v", got.Error)
	}
}

// An agent that takes changes back, and takes that back again, makes changes. An atomic batch that
// fails is taken back whatever the limits are.
func TestAnUndoOfAnAgentCountsAsAChange(t *testing.T) {
	t.Parallel()
	limited := func(c *gateway.Config) {
		c.Policy.Confirm = policy.ConfirmNever
		c.Limits = admission.Limits{Calls: 1000, Mutations: 3}
	}
	o := harness.NewInProcess(t, limited)
	last := harness.ChangeID(o.Must([]string{"create", "path=n.md", "content=x"}))
	undone := 0
	for ; undone < 10; undone++ {
		got, _ := o.Do([]string{"undo", "id=" + last})
		if !got.OK {
			require.Equal(t, harness.CodeOf(got), "rate_limited", "%+v", got.Error)
			assert.Contains(t, got.Error.Message, "changes a minute", "%+v", got.Error)
			break
		}
		last = got.Change.ID
	}
	assert.Equal(t, undone, 2, "undo of the undo, after one change of three")

	calls := harness.NewInProcess(t, func(c *gateway.Config) { c.Limits = admission.Limits{Calls: 2} })
	for n := range 3 {
		got, _ := calls.Do([]string{"undo"})
		assert.That(t, (harness.CodeOf(got) == "rate_limited") == (n == 2), "call %d of two: %+v", n+1, got.Error)
	}

	o = harness.NewInProcess(t, limited)
	batch := gateway.Batch{Request: gateway.Request{Caller: "me"}, Atomic: true, Operations: []gateway.Operation{
		harness.Operation("1", "create", "path=a.md", "content=x"), harness.Operation("2", "create", "path=b.md", "content=x"),
		harness.Operation("3", "append", "path=no.md", "content=x"),
	}}
	failed := o.Gateway.DoBatch(t.Context(), batch)
	assert.Equal(t, failed.Summary.Undone, 2,
		"an atomic batch of three changes of three is not taken back: %+v", failed)
	assert.Equal(t, o.Read("a.md")+o.Read("b.md"), "",
		"an atomic batch of three changes of three is not taken back: %+v", failed)
}

// The owner takes back as much as is wanted, alone and in a batch.
func TestAnUndoOfTheOwnerIsFree(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, func(c *gateway.Config) {
		c.Policy.Confirm = policy.ConfirmNever
		c.Limits = admission.Limits{Calls: 4, Mutations: 4}
	})
	var operations []gateway.Operation
	for i := range 4 {
		made := o.Must([]string{"create", fmt.Sprintf("path=n%d.md", i), "content=x"})
		operations = append(operations, harness.Operation(fmt.Sprint(i), "undo", "id="+harness.ChangeID(made)))
	}
	owner := gateway.Request{Command: "undo", Caller: "me", Owner: true}
	for range 2 {
		got := o.Gateway.Do(t.Context(), owner)
		assert.That(t, got.OK, "%+v", got.Error)
	}
	back := o.Gateway.DoBatch(t.Context(), gateway.Batch{Request: owner, Operations: operations[:2]})
	assert.Equal(t, back.Summary.OK, 2, "%+v", back)
}
