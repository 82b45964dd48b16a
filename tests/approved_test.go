package tests

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/gateway"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
)

// askedOffice is an office that asks before what destroys alone, with some notes more.
func askedOffice(t *testing.T) *office {
	o := openOffice(t, func(c *gateway.Config) { c.Policy.Confirm = policy.ConfirmDestructive })
	o.write("junk.md", "old junk\n")
	o.write("Tax.md", "the tax of ten years\n")
	return o
}

// An approved operation of a batch runs on the notes that the question showed. What
// operations before it put in their place is another note.
func TestAnApprovedOperationRunsOnTheNotesThatWereShown(t *testing.T) {
	swap := []gateway.Operation{
		operation("away", "rename", "path=junk.md", "name=junk-old"),
		operation("there", "rename", "path=Tax.md", "name=junk"),
	}
	for name, last := range map[string]gateway.Operation{
		"delete for good":   operation("last", "delete", "path=junk.md", "permanent"),
		"delete":            operation("last", "delete", "path=junk.md"),
		"delete by name":    operation("last", "delete", "file=junk"),
		"create overwrite":  operation("last", "create", "path=junk.md", "content=x", "overwrite"),
		"remove a property": operation("last", "property:remove", "path=junk.md", "name=k"),
		"restore a version": operation("last", "history:restore", "path=junk.md", "version=1"),
	} {
		for _, atomic := range []bool{false, true} {
			o := askedOffice(t)
			o = o.again(func(c *gateway.Config) { c.Policy.Ceiling = 3 })
			for _, note := range []string{"junk.md", "Tax.md"} {
				if got, _ := o.do([]string{"property:set", "path=" + note, "name=k", "value=v"}); codeOf(got) != "" {
					t.Fatal(got.Error)
				}
			}
			junk, tax := o.read("junk.md"), o.read("Tax.md")
			var asked []gateway.Question
			got := o.gateway.DoBatch(t.Context(), gateway.Batch{
				Operations: append(swap[:2:2], last), Atomic: atomic, Caller: "me",
				Ask: o.asker(&asked, []func(gateway.Question) gateway.Reply{says(gateway.Yes)}),
			})
			if got.OK || len(asked) != 1 || len(got.Results) != 3 || got.Results[2].Result.Error == nil || got.Results[2].Result.Error.Code != "conflict" {
				t.Errorf("%s, atomic %v: asked %d times, got %+v", name, atomic, len(asked), got)
			}
			want := map[string]string{"junk.md": tax, "junk-old.md": junk, "Tax.md": ""}
			if atomic {
				want = map[string]string{"junk.md": junk, "junk-old.md": "", "Tax.md": tax}
			}
			for note, text := range want {
				if o.read(note) != text {
					t.Errorf("%s, atomic %v: %s is %q, want %q", name, atomic, note, o.read(note), text)
				}
			}
		}
	}
}

// Two approved operations on one note were both shown with the note as it was.
func TestASecondApprovedChangeOfANoteIsAConflict(t *testing.T) {
	o := openOffice(t, nil)
	got, asked := o.batch([]gateway.Operation{operation("a", "append", "path=root.md", "content=x"), operation("b", "delete", "path=root.md")}, says(gateway.Yes))
	if len(asked) != 1 || got.Summary != (gateway.Summary{OK: 1, Error: 1}) || got.Results[1].Result.Error.Code != "conflict" || o.read("root.md") != "root\nx" {
		t.Errorf("asked %d times, got %+v", len(asked), got)
	}
}

// The question names every operation that changes an asked note, also those that need
// no approval, and those of which nobody knows before what they change.
func TestABatchQuestionNamesWhatTouchesTheAskedNotes(t *testing.T) {
	ask := func(operations ...gateway.Operation) string {
		t.Helper()
		o := askedOffice(t)
		_, asked := o.batch(operations, says(gateway.No))
		if len(asked) != 1 {
			t.Fatalf("asked %d times", len(asked))
		}
		for _, row := range strings.Split(asked[0].Text, "\n") {
			if strings.HasPrefix(row, "operation ") && !strings.Contains(asked[0].Text, "The batch also changes these notes, or may:\n") {
				t.Errorf("no heading:\n%s", asked[0].Text)
			}
		}
		return asked[0].Text
	}
	removal := operation("d", "delete", "path=junk.md", "permanent")
	reference := operation("f", "append", "content=x")
	reference.From = map[string]gateway.Reference{"path": {ClientID: "r", Field: "path"}}
	for name, test := range map[string]struct {
		operations []gateway.Operation
		want       []string
		not        string
	}{
		"renamed away and there": {
			[]gateway.Operation{operation("a", "rename", "path=junk.md", "name=junk-old"), operation("b", "rename", "path=Tax.md", "name=junk"), removal},
			[]string{"operation 1: rename\nmoves: \"junk.md\" to \"junk-old.md\"", "operation 2: rename\npath: \"Tax.md\"\nname: \"junk\""}, "",
		},
		"behind it":             {[]gateway.Operation{removal, operation("a", "append", "path=junk.md", "content=x")}, []string{"operation 2: append\nchanges: \"junk.md\""}, ""},
		"in other letters":      {[]gateway.Operation{removal, operation("a", "create", "path=JUNK.md", "content=x")}, []string{"operation 2: create\n"}, ""},
		"of a note by its name": {[]gateway.Operation{operation("a", "append", "file=junk", "content=x"), removal}, []string{"operation 1: append\nchanges: \"junk.md\""}, ""},
		"a path from elsewhere": {[]gateway.Operation{operation("r", "read", "path=root.md"), reference, removal}, []string{"operation 2: append\npath, from the result of: \"r\""}, "operation 1"},
		"of other notes":        {[]gateway.Operation{operation("a", "append", "path=root.md", "content=x"), operation("r", "read", "path=junk.md"), removal}, nil, "operation "},
	} {
		text := ask(test.operations...)
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		if test.not != "" && strings.Contains(text, test.not) {
			t.Errorf("%s: %q in\n%s", name, test.not, text)
		}
	}
}

// A batch that was approved at a terminal runs on the notes as they were then, and on
// others nothing of it does.
func TestABatchApprovedAtATerminalDoesNotRunOnOtherNotes(t *testing.T) {
	operations := []gateway.Operation{operation("a", "append", "path=Inbox/a.md", "content=x"), operation("b", "delete", "path=junk.md", "permanent")}
	o := askedOffice(t)
	send := func() gateway.BatchResult {
		return o.gateway.DoBatch(t.Context(), gateway.Batch{Operations: operations, Caller: "me"})
	}
	send()
	o.approve()
	o.write("junk.md", "not junk any more\n")
	o.refusing("the note is another one", "unconfirmed", func() string {
		got := send()
		if len(got.Results) > 0 {
			t.Errorf("got %+v", got)
		}
		return got.Error.Code
	})
	o.approve()
	if got := send(); !got.OK || o.read("junk.md") != "" || o.read("Inbox/a.md") != "one\nx" {
		t.Errorf("approved as it is: %+v", got)
	}
}

// What the user approved waits for the change that is under way, and that change may
// make it another one.
func TestABatchThatWaitedRunsOnTheNotesThatWereShown(t *testing.T) {
	o := askedOffice(t)
	operations := []gateway.Operation{operation("a", "append", "path=Inbox/a.md", "content=x"), operation("b", "delete", "path=junk.md", "permanent")}
	var inner gateway.BatchResult
	outer, asked := o.batch(operations, first(func() {
		// The person thinks, and another caller of this gateway changes the note.
		inner = o.gateway.DoBatch(t.Context(), gateway.Batch{Operations: []gateway.Operation{operation("c", "append", "path=junk.md", "content=more")}, Caller: "you"})
	}))
	if !inner.OK || len(asked) != 1 || outer.Error == nil || outer.Error.Code != "conflict" || len(outer.Results) > 0 || o.read("Inbox/a.md") != "one\n" {
		t.Errorf("inner %+v, outer %+v", inner, outer)
	}
}

// What the user declined is refused at once for ten minutes: one question.
func TestADeclinedCallIsOneQuestion(t *testing.T) {
	o := openOffice(t, func(c *gateway.Config) { c.Limits.Calls = 0 })
	asked := 0
	ask := func(context.Context, gateway.Question) gateway.Reply { asked++; return gateway.No }
	send := func(req gateway.Request) gateway.Result {
		req.Ask, req.Caller = ask, "me"
		return o.gateway.Do(t.Context(), req)
	}
	removal := gateway.Request{Command: "delete", Words: []string{"path=root.md"}}
	for n := range 100 {
		o.write("root.md", fmt.Sprint("text ", n)) // the notes do not make it another call
		got := send(removal)
		if codeOf(got) != "unconfirmed" || !strings.Contains(got.Error.Message, "the user declined") || asked != 1 {
			t.Fatalf("call %d: asked %d times, got %+v", n, asked, got.Error)
		}
	}
	hashed := removal
	hashed.ExpectHash = hashOfText("text 99")
	if got := send(hashed); codeOf(got) != "unconfirmed" || asked != 1 {
		t.Errorf("with a hash: asked %d times, %+v", asked, got.Error)
	}
	o.write("root.md", "text 0")
	if got := send(gateway.Request{Command: "delete", Words: []string{"file=root"}}); codeOf(got) != "unconfirmed" || asked != 1 {
		t.Errorf("by name: asked %d times, %+v", asked, got.Error)
	}
	batch := gateway.Batch{Operations: []gateway.Operation{operation("a", "append", "path=Inbox/a.md", "content=x"), operation("b", "delete", "path=root.md")}, Caller: "me", Ask: ask}
	if got := o.gateway.DoBatch(t.Context(), batch); got.Error == nil || got.Error.Code != "unconfirmed" || asked != 1 {
		t.Errorf("in a batch: asked %d times, %+v", asked, got)
	}
	other := removal
	other.Ask, other.Caller = ask, "you"
	if o.gateway.Do(t.Context(), other); asked != 2 {
		t.Errorf("another caller: asked %d times", asked)
	}
	if send(gateway.Request{Command: "append", Words: []string{"path=root.md", "content=x"}}); asked != 3 {
		t.Errorf("another call: asked %d times", asked)
	}
}

// Who declined a batch has declined what it would have been asked about, whatever else
// is put around it.
func TestADeclinedBatchIsOneQuestion(t *testing.T) {
	o := openOffice(t, nil)
	asked := 0
	ask := func(context.Context, gateway.Question) gateway.Reply { asked++; return gateway.No }
	pair := []gateway.Operation{operation("a", "delete", "path=Inbox/a.md"), operation("b", "delete", "path=root.md")}
	for _, operations := range [][]gateway.Operation{
		pair, pair, {pair[1], pair[0]}, append(pair[:2:2], operation("r", "read", "path=root.md")),
	} {
		got := o.gateway.DoBatch(t.Context(), gateway.Batch{Operations: operations, Caller: "me", Ask: ask})
		if got.Error == nil || got.Error.Code != "unconfirmed" || asked != 1 {
			t.Errorf("asked %d times, got %+v", asked, got)
		}
	}
	if o.gateway.DoBatch(t.Context(), gateway.Batch{Operations: pair[:1], Caller: "me", Ask: ask}); asked != 2 {
		t.Errorf("one of the two: asked %d times", asked)
	}
}

// One question of a caller is open at a time, at the client and in the terminal.
func TestOneQuestionOfACallerIsOpen(t *testing.T) {
	o := openOffice(t, func(c *gateway.Config) { c.Limits.Calls = 0 })
	open := func(req gateway.Request) bool {
		got := o.gateway.Do(t.Context(), req)
		return codeOf(got) == "unconfirmed" && strings.Contains(got.Error.Message, "another question of this session is still open")
	}
	another := gateway.Request{Command: "append", Words: []string{"path=root.md", "content=x"}, Caller: "me"}
	inside := 0
	req := gateway.Request{Command: "delete", Words: []string{"path=root.md"}, Caller: "me", Ask: func(context.Context, gateway.Question) gateway.Reply {
		for range 70 {
			next := another
			next.Ask = func(context.Context, gateway.Question) gateway.Reply { t.Error("asked as well"); return gateway.No }
			if open(next) {
				inside++
			}
		}
		return gateway.Void
	}}
	if got := o.gateway.Do(t.Context(), req); codeOf(got) != "unconfirmed" || inside != 70 {
		t.Errorf("%d of 70 were refused; %+v", inside, got.Error)
	}
	req.Ask = nil
	o.gateway.Do(t.Context(), req)
	for n := range 70 {
		another.Words = []string{"path=root.md", fmt.Sprint("content=", n)}
		if !open(another) {
			t.Fatalf("call %d puts one more question in the terminal", n)
		}
	}
	if waiting := o.waiting(); len(waiting) != 1 || waiting[0].Command != "delete" {
		t.Errorf("%d questions wait", len(waiting))
	}
	theirs := another
	theirs.Caller = "you"
	if open(theirs) {
		t.Error("one caller keeps another from asking")
	}
}

// A yes for a folder lasts as long as a session. Who has none is asked every time.
func TestThereIsNoStandingYesWithoutASession(t *testing.T) {
	o := openOffice(t, nil)
	o.session = false
	for _, content := range []string{"content=x", "content=y"} {
		got, asked := o.do([]string{"append", "path=Inbox/a.md", content}, says(gateway.YesHere))
		if codeOf(got) != "" || len(asked) != 1 || asked[0].Folder != "" {
			t.Errorf("%s: asked %+v, got %+v", content, asked, got.Error)
		}
	}
	o.session = true
	if got, asked := o.do([]string{"append", "path=Inbox/a.md", "content=z"}, says(gateway.YesHere)); codeOf(got) != "" || len(asked) != 1 || asked[0].Folder != "Inbox" {
		t.Errorf("asked %+v, got %+v", asked, got.Error)
	}
	if got, asked := o.do([]string{"append", "path=Inbox/a.md", "content=of the session"}); codeOf(got) != "" || len(asked) != 0 {
		t.Errorf("in the session: asked %d times, %+v", len(asked), got.Error)
	}
	o.session = false // the same name, and no session: its yes is not for this one
	if got, asked := o.do([]string{"append", "path=Inbox/a.md", "content=w"}, says(gateway.No)); codeOf(got) != "unconfirmed" || len(asked) != 1 {
		t.Errorf("asked %d times, %+v", len(asked), got.Error)
	}
}

// The first answer under an idempotency key is not given again about a note that was
// hidden since, and never to another caller.
func TestAFirstAnswerIsForWhoSeesTheNote(t *testing.T) {
	hide := func(o *office, path string, byFile bool) *office {
		if byFile {
			o.write(".vaultwicketignore", path+"\n")
			return o.again(nil)
		}
		rules, err := access.New(map[string]access.Level{"/": access.Delete, path: access.None})
		if err != nil {
			t.Fatal(err)
		}
		return o.again(func(c *gateway.Config) { c.Policy.Access = rules })
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
			for _, confirm := range []policy.Confirm{policy.ConfirmNever, policy.ConfirmWrites} {
				o := openOffice(t, func(c *gateway.Config) { c.Policy.Confirm = confirm })
				req := gateway.Request{Command: test.words[0], Words: test.words[1:], Caller: "me", IdempotencyKey: "k"}
				yes, _ := o.send(req, says(gateway.Yes))
				if codeOf(yes) != "" {
					t.Fatalf("%s: %+v", name, yes.Error)
				}
				if again, _ := o.send(req); codeOf(again) != "" || again.Stdout != yes.Stdout {
					t.Errorf("%s: not given again: %+v", name, again)
				}
				theirs := req
				theirs.Caller = "you"
				if got, _ := o.send(theirs, says(gateway.Yes)); codeOf(got) == "" || got.Stdout != "" || got.Path != "" {
					t.Errorf("%s: given to another caller: %+v", name, got)
				}
				named := req
				named.Client = "another program"
				if got, _ := o.send(named, says(gateway.Yes)); codeOf(got) == "" || got.Stdout != "" {
					t.Errorf("%s: given to another client: %+v", name, got)
				}
				hidden := hide(o, test.hidden, byFile)
				got, _ := hidden.send(req, says(gateway.No))
				if codeOf(got) == "" || got.Stdout != "" || got.Path != "" || got.Change != nil {
					t.Errorf("%s, by the file %v: given although it is hidden: %+v", name, byFile, got)
				}
			}
		}
	}
}

// The same of a batch, for each of its operations.
func TestAFirstAnswerOfABatchHidesWhatIsHidden(t *testing.T) {
	o := openOffice(t, func(c *gateway.Config) { c.Policy.Confirm = policy.ConfirmNever })
	b := gateway.Batch{Caller: "me", IdempotencyKey: "k", Operations: []gateway.Operation{
		operation("a", "append", "path=root.md", "content=x"), operation("s", "read", "file=s"), operation("l", "files", "folder=Secret"), operation("i", "read", "path=root.md"),
	}}
	if got := o.gateway.DoBatch(t.Context(), b); !got.OK {
		t.Fatalf("got %+v", got)
	}
	if err := os.WriteFile(filepath.Join(o.vault, ".vaultwicketignore"), []byte("Secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := o.gateway.DoBatch(t.Context(), b)
	if got.OK || got.Summary.OK != 2 || got.Summary.Error != 2 || o.read("root.md") != "root\nx" {
		t.Errorf("got %+v", got)
	}
	for i, hidden := range []bool{false, true, true, false} {
		r := got.Results[i].Result
		if (r.Error != nil && r.Error.Code == "not_found" && r.Stdout == "" && r.Path == "") != hidden {
			t.Errorf("operation %d: %+v", i, r)
		}
	}
	b.Caller = "you"
	if got := o.gateway.DoBatch(t.Context(), b); got.OK || len(got.Results) > 0 {
		t.Errorf("another caller: %+v", got)
	}
}
