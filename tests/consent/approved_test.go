package consent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// askedGateway is a gateway that asks before what destroys alone, with some notes more.
func askedGateway(t *testing.T) *harness.InProcess {
	o := harness.NewInProcess(t, func(c *gateway.Config) { c.Policy.Confirm = policy.ConfirmDestructive })
	o.Write("junk.md", "old junk\n")
	o.Write("Tax.md", "the tax of ten years\n")
	return o
}

// The question names every operation, also those that need no approval, and those of which
// is not known before what they change.
func TestABatchQuestionNamesAllOperations(t *testing.T) {
	t.Parallel()
	ask := func(operations ...gateway.Operation) string {
		t.Helper()
		o := askedGateway(t)
		_, asked := o.Batch(operations, harness.Says(consent.No))
		require.Equal(t, len(asked), 1, "asked, times")
		for _, row := range strings.Split(asked[0].Text, "\n") {
			if strings.HasPrefix(row, "operation ") && !strings.Contains(asked[0].Text, "The batch also does this:\n") {
				t.Errorf("no heading:\n%s", asked[0].Text)
			}
		}
		return consent.Draw(asked[0].Lines)
	}
	removal := harness.Operation("d", "delete", "path=junk.md", "permanent")
	reference := harness.Operation("f", "append", "content=x")
	reference.From = map[string]gateway.Reference{"path": {ClientID: "r", Field: "path"}}
	for name, test := range map[string]struct {
		operations []gateway.Operation
		want       []string
		not        string
	}{
		"renamed away and there": {
			[]gateway.Operation{harness.Operation("a", "rename", "path=junk.md", "name=junk-old"),
				harness.Operation("b", "rename", "path=Tax.md", "name=junk"), removal},
			[]string{"operation 1: rename\nmoves: \"junk.md\" to \"junk-old.md\"", "operation 2: rename\nmoves: \"Tax.md\" to \"junk.md\""}, "",
		},
		"behind it": {[]gateway.Operation{removal,
			harness.Operation("a", "append", "path=junk.md", "content=x")},
			[]string{"operation 2: append\npath: \"junk.md\""}, ""},
		"in other letters": {[]gateway.Operation{removal,
			harness.Operation("a", "create", "path=JUNK.md", "content=x")}, []string{"operation 2: create\n"}, ""},
		"of a note by its name": {[]gateway.Operation{harness.Operation("a", "append", "file=junk", "content=x"), removal},
			[]string{"operation 1: append\nchanges: \"junk.md\""}, ""},
		"a path from elsewhere": {[]gateway.Operation{harness.Operation("r", "read", "path=root.md"), reference, removal},
			[]string{"operation 2: append\nchanges: \"root.md\""}, "operation 1"},
		"of other notes": {[]gateway.Operation{harness.Operation("a", "append", "path=root.md", "content=x"),
			harness.Operation("r", "read", "path=junk.md"), removal},
			[]string{"−1 line\nA batch of 3", "operation 1: append\nchanges: \"root.md\"\n│  root\n│ +x\n",
				"\nOne more operation only reads."}, ""},
	} {
		text := ask(test.operations...)
		for _, want := range test.want {
			assert.That(t, strings.Contains(text, want), "%s: no %q in\n%s", name, want, text)
		}
		assert.That(t, test.not == "" || !strings.Contains(text, test.not), "%s: %q in\n%s", name, test.not, text)
	}
}

// A batch that was approved at a terminal runs on the notes as they were then, and on
// others nothing of it does.
func TestABatchApprovedAtATerminalDoesNotRunOnOtherNotes(t *testing.T) {
	t.Parallel()
	operations := []gateway.Operation{
		harness.Operation("a", "append", "path=Inbox/a.md", "content=x"), harness.Operation("b", "delete", "path=junk.md", "permanent"),
	}
	o := askedGateway(t)
	send := func() gateway.BatchResult {
		return o.Gateway.DoBatch(t.Context(), gateway.Batch{Request: gateway.Request{Caller: "me"}, Operations: operations})
	}
	send()
	o.Approve()
	o.Write("junk.md", "not junk any more\n")
	o.Refusing("the note is another one", "unconfirmed", func() string {
		got := send()
		assert.That(t, len(got.Results) == 0, "got %+v", got)
		return got.Error.Code
	})
	o.Approve()
	got := send()
	assert.That(t, got.OK, "approved as it is: %+v", got)
	assert.Equal(t, o.Read("junk.md"), "", "approved as it is: %+v", got)
	assert.Equal(t, o.Read("Inbox/a.md"), "one\nx", "approved as it is: %+v", got)
}

// What the user approved waits for the change that is under way, and that change may
// make it another one.
func TestABatchThatWaitedRunsOnTheNotesThatWereShown(t *testing.T) {
	t.Parallel()
	o := askedGateway(t)
	operations := []gateway.Operation{
		harness.Operation("a", "append", "path=Inbox/a.md", "content=x"), harness.Operation("b", "delete", "path=junk.md", "permanent"),
	}
	var inner gateway.BatchResult
	outer, asked := o.Batch(operations, harness.First(func() {
		// The person thinks, and another caller of this gateway changes the note.
		inner = o.Gateway.DoBatch(t.Context(),
			gateway.Batch{Request: gateway.Request{Caller: "you"},
				Operations: []gateway.Operation{harness.Operation("c", "append", "path=junk.md", "content=more")}})
	}))
	if !inner.OK || len(asked) != 1 || outer.Error == nil || outer.Error.Code != "conflict" || len(outer.Results) > 0 || o.Read("Inbox/a.md") != "one\n" {
		t.Errorf("inner %+v, outer %+v", inner, outer)
	}
}

// What the user declined is refused at once for ten minutes: one question.
func TestADeclinedCallIsOneQuestion(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, func(c *gateway.Config) { c.Limits.Calls = 0 })
	asked := 0
	ask := func(context.Context, consent.Question) consent.Reply { asked++; return consent.No }
	send := func(req gateway.Request) gateway.Result {
		req.Ask, req.Caller = ask, "me"
		return o.Gateway.Do(t.Context(), req)
	}
	removal := gateway.Request{Command: "delete", Words: []string{"path=root.md"}}
	for n := range 100 {
		o.Write("root.md", fmt.Sprint("text ", n)) // the notes do not make it another call
		got := send(removal)
		if harness.CodeOf(got) != "unconfirmed" || !strings.Contains(got.Error.Message, "the user declined") || asked != 1 {
			t.Fatalf("call %d: asked %d times, got %+v", n, asked, got.Error)
		}
	}
	hashed := removal
	hashed.ExpectHash = harness.HashOfText("text 99")
	if got := send(hashed); harness.CodeOf(got) != "unconfirmed" || asked != 1 {
		t.Errorf("with a hash: asked %d times, %+v", asked, got.Error)
	}
	o.Write("root.md", "text 0")
	if got := send(gateway.Request{Command: "delete", Words: []string{"file=root"}}); harness.CodeOf(got) != "unconfirmed" || asked != 1 {
		t.Errorf("by name: asked %d times, %+v", asked, got.Error)
	}
	batch := gateway.Batch{Request: gateway.Request{Caller: "me", Ask: ask},
		Operations: []gateway.Operation{harness.Operation("a", "append", "path=Inbox/a.md", "content=x"),
			harness.Operation("b", "delete", "path=root.md")}}
	got := o.Gateway.DoBatch(t.Context(), batch)
	require.That(t, got.Error != nil, "in a batch: asked %d times, %+v", asked, got)
	assert.Equal(t, got.Error.Code, "unconfirmed", "in a batch: asked %d times, %+v", asked, got)
	assert.Equal(t, asked, 1, "in a batch: asked %d times, %+v", asked, got)
	other := removal
	other.Ask, other.Caller = ask, "you"
	if o.Gateway.Do(t.Context(), other); asked != 2 {
		t.Errorf("another caller: asked %d times", asked)
	}
	if send(gateway.Request{Command: "append", Words: []string{"path=root.md", "content=x"}}); asked != 3 {
		t.Errorf("another call: asked %d times", asked)
	}
}

// Who declined a batch has declined what it would have been asked about, whatever else
// is put around it.
func TestADeclinedBatchIsOneQuestion(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	asked := 0
	ask := func(context.Context, consent.Question) consent.Reply { asked++; return consent.No }
	pair := []gateway.Operation{harness.Operation("a", "delete", "path=Inbox/a.md"), harness.Operation("b", "delete", "path=root.md")}
	for _, operations := range [][]gateway.Operation{
		pair, pair, {pair[1], pair[0]}, append(pair[:2:2], harness.Operation("r", "read", "path=root.md")),
	} {
		got := o.Gateway.DoBatch(t.Context(), gateway.Batch{Request: gateway.Request{Caller: "me", Ask: ask}, Operations: operations})
		require.That(t, got.Error != nil, "asked %d times, got %+v", asked, got)
		assert.Equal(t, got.Error.Code, "unconfirmed", "asked %d times, got %+v", asked, got)
		assert.Equal(t, asked, 1, "asked %d times, got %+v", asked, got)
	}
	if o.Gateway.DoBatch(t.Context(), gateway.Batch{Request: gateway.Request{Caller: "me", Ask: ask}, Operations: pair[:1]}); asked != 2 {
		t.Errorf("one of the two: asked %d times", asked)
	}
}

// A yes for a folder lasts as long as a session. Who has none is asked every time.
func TestThereIsNoStandingYesWithoutASession(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	o.Session = false
	for _, content := range []string{"content=x", "content=y"} {
		got, asked := o.Do([]string{"append", "path=Inbox/a.md", content}, harness.Says(consent.YesHere))
		assert.Equal(t, harness.CodeOf(got), "", "%s: asked %+v, got %+v", content, asked, got.Error)
		require.Equal(t, len(asked), 1, "%s: asked %+v, got %+v", content, asked, got.Error)
		assert.Equal(t, asked[0].Folder, "", "%s: asked %+v, got %+v", content, asked, got.Error)
	}
	o.Session = true
	if got, asked := o.Do([]string{"append", "path=Inbox/a.md", "content=z"},
		harness.Says(consent.YesHere)); harness.CodeOf(got) != "" || len(asked) != 1 || asked[0].Folder != "Inbox" {
		t.Errorf("asked %+v, got %+v", asked, got.Error)
	}
	if got, asked := o.Do([]string{"append", "path=Inbox/a.md", "content=of the session"}); harness.CodeOf(got) != "" || len(asked) != 0 {
		t.Errorf("in the session: asked %d times, %+v", len(asked), got.Error)
	}
	o.Session = false // the same name, and no session: its yes is not for this one
	got, asked := o.Do([]string{"append", "path=Inbox/a.md", "content=w"}, harness.Says(consent.No))
	assert.Equal(t, harness.CodeOf(got), "unconfirmed", "asked %d times, %+v", len(asked), got.Error)
	assert.Equal(t, len(asked), 1, "asked %d times, %+v", len(asked), got.Error)
}

// The first answer under an idempotency key is not given again about a note that was
// hidden since, and never to another caller.
func TestAFirstAnswerIsForWhoSeesTheNote(t *testing.T) {
	t.Parallel()
	hide := func(o *harness.InProcess, path string, byFile bool) *harness.InProcess {
		if byFile {
			o.Write(".vaultwicketignore", path+"\n")
			return o.Again(nil)
		}
		rules := harness.Rules(t, map[string]access.Level{"/": access.Delete, path: access.None})
		return o.Again(func(c *gateway.Config) { c.Policy.Access = rules })
	}
	for name, test := range map[string]struct {
		words  []string
		hidden string
	}{
		"by path":          {[]string{"append", "path=Secret/s.md", "content=x"}, "Secret"},
		"by name":          {[]string{"append", "file=s", "content=x"}, "Secret"},
		"where it was":     {[]string{"move", "file=s", "to=Inbox/"}, "Secret"},
		"where it is":      {[]string{"move", "path=root.md", "to=Secret/"}, "Secret"},
		"the note itself":  {[]string{"property:set", "file=s", "name=k", "value=v"}, "Secret/s.md"},
		"of a destruction": {[]string{"delete", "file=s"}, "Secret"},
	} {
		for _, byFile := range []bool{false, true} {
			for i, confirm := range []policy.Confirm{policy.ConfirmNever, policy.ConfirmWrites} {
				if (i == 0) != byFile && !testenv.Long() {
					continue // one way to hide with each of the two
				}
				o := harness.NewInProcess(t, func(c *gateway.Config) { c.Policy.Confirm = confirm })
				req := gateway.Request{Command: test.words[0], Words: test.words[1:], Caller: "me", IdempotencyKey: "k"}
				yes, _ := o.Send(req, harness.Says(consent.Yes))
				require.That(t, harness.CodeOf(yes) == "", "%s: %+v", name, yes.Error)
				again, _ := o.Send(req)
				assert.Equal(t, harness.CodeOf(again), "", "%s: not given again: %+v", name, again)
				assert.Equal(t, again.Stdout, yes.Stdout, "%s: not given again: %+v", name, again)
				theirs := req
				theirs.Caller = "you"
				if got, _ := o.Send(theirs, harness.Says(consent.Yes)); harness.CodeOf(got) == "" || got.Stdout != "" || got.Path != "" {
					t.Errorf("%s: given to another caller: %+v", name, got)
				}
				named := req
				named.Client = "another program"
				if got, _ := o.Send(named, harness.Says(consent.Yes)); harness.CodeOf(got) == "" || got.Stdout != "" {
					t.Errorf("%s: given to another client: %+v", name, got)
				}
				hidden := hide(o, test.hidden, byFile)
				got, _ := hidden.Send(req, harness.Says(consent.No))
				if harness.CodeOf(got) == "" || got.Stdout != "" || got.Path != "" || got.Change != nil {
					t.Errorf("%s, by the file %v: given although it is hidden: %+v", name, byFile, got)
				}
			}
		}
	}
}

func TestAFirstAnswerOfABatchHidesWhatIsHidden(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, func(c *gateway.Config) { c.Policy.Confirm = policy.ConfirmNever })
	b := gateway.Batch{Request: gateway.Request{Caller: "me", IdempotencyKey: "k"}, Operations: []gateway.Operation{
		harness.Operation("a", "append", "path=root.md", "content=x"), harness.Operation("s", "read", "file=s"),
		harness.Operation("l", "files", "folder=Secret"), harness.Operation("i", "read", "path=root.md"),
	}}
	if got := o.Gateway.DoBatch(t.Context(), b); !got.OK {
		t.Fatalf("got %+v", got)
	}
	require.NoError(t, os.WriteFile(filepath.Join(o.Vault, ".vaultwicketignore"), []byte("Secret\n"), 0o600))
	got := o.Gateway.DoBatch(t.Context(), b)
	assert.That(t, !got.OK, "got %+v", got)
	assert.Equal(t, got.Summary.OK, 2, "got %+v", got)
	assert.Equal(t, got.Summary.Error, 2, "got %+v", got)
	assert.Equal(t, o.Read("root.md"), "root\nx", "got %+v", got)
	for i, hidden := range []bool{false, true, true, false} {
		r := got.Results[i].Result
		if !hidden {
			assert.That(t, r.Error == nil || r.Stdout != "" || r.Path != "", "operation %d: %+v", i, r)
			continue
		}
		assert.Equal(t, harness.CodeOfError(r.Error), "not_found", "operation %d: %+v", i, r)
		assert.Equal(t, r.Stdout, "", "operation %d", i)
		assert.Equal(t, r.Path, "", "operation %d", i)
	}
	b.Caller = "you"
	if got := o.Gateway.DoBatch(t.Context(), b); got.OK || len(got.Results) > 0 {
		t.Errorf("another caller: %+v", got)
	}
}
