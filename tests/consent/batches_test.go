package consent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// taking has an operation take a parameter from the result of another one.
func taking(o gateway.Operation, key, from, field string) gateway.Operation {
	o.From = map[string]gateway.Reference{key: {ClientID: from, Field: field}}
	return o
}

// chain is a batch whose operations rest on what earlier ones of it make.
type chain struct {
	name       string
	operations []gateway.Operation
	shown      []string          // in the question, in this order
	want       map[string]string // the notes afterwards, "" for none
}

var chains = []chain{
	{
		"create, then append",
		[]gateway.Operation{harness.Operation("a", "create", "path=new.md", "content=one"), harness.Operation("b", "append", "path=new.md", "content=two")},
		[]string{"1. Create", "+one", "2. Change", "+two"},
		map[string]string{"new.md": "one\ntwo"},
	},
	{
		"append, then delete",
		[]gateway.Operation{harness.Operation("a", "append", "path=junk.md", "content=more"), harness.Operation("b", "delete", "path=junk.md")},
		[]string{"+more", "-old junk", "-more"},
		map[string]string{"junk.md": ""},
	},
	{
		"move, then edit",
		[]gateway.Operation{harness.Operation("a", "move", "path=junk.md", "to=Far/junk.md"),
			harness.Operation("b", "append", "path=Far/junk.md", "content=more"),
			harness.Operation("c", "delete", "path=Far/junk.md", "permanent")},
		[]string{"Far/junk.md", "+more", "-old junk", "-more"},
		map[string]string{"junk.md": "", "Far/junk.md": ""},
	},
	{
		"replace, and back",
		[]gateway.Operation{harness.Operation("a", "note:replace", "path=junk.md", "old=old", "new=new"),
			harness.Operation("b", "note:replace", "path=junk.md", "old=new", "new=old")},
		[]string{"-old junk", "+new junk", "-new junk", "+old junk"},
		map[string]string{"junk.md": "old junk\n"},
	},
	{
		"renamed away and another one there",
		[]gateway.Operation{harness.Operation("a", "rename", "path=junk.md", "name=junk-old"),
			harness.Operation("b", "rename", "path=Tax.md", "name=junk"),
			harness.Operation("c", "delete", "path=junk.md", "permanent")},
		[]string{"junk-old.md", "-the tax of ten years"},
		map[string]string{"junk.md": "", "junk-old.md": "old junk\n", "Tax.md": ""},
	},
	{
		"delete, then create again",
		[]gateway.Operation{harness.Operation("a", "delete", "path=junk.md", "permanent"),
			harness.Operation("b", "create", "path=junk.md", "content=again"),
			harness.Operation("c", "create", "path=junk.md", "content=over", "overwrite")},
		[]string{"-old junk", "+again", "-again", "+over"},
		map[string]string{"junk.md": "over"},
	},
	{
		"a text from a note that was changed",
		[]gateway.Operation{harness.Operation("a", "append", "path=junk.md", "content=more"),
			harness.Operation("r", "read", "path=junk.md"),
			taking(harness.Operation("b", "append", "path=Tax.md"), "content", "r", "stdout")},
		[]string{"+more", "+old junk", "+more"},
		map[string]string{"Tax.md": "the tax of ten years\nold junk\nmore"},
	},
	{
		"the path of a new note",
		[]gateway.Operation{harness.Operation("a", "create", "name=Fresh", "content=one"),
			taking(harness.Operation("b", "append", "content=two"), "path", "a", "path"),
			taking(harness.Operation("c", "delete", "permanent"), "path", "b", "path")},
		[]string{"+one", "+two", "-one", "-two"},
		map[string]string{"Fresh.md": ""},
	},
}

// The user is shown each operation of a batch on what those before it make, and what they were shown is what is done.
func TestABatchIsDoneAsItWasShown(t *testing.T) {
	t.Parallel()
	for _, c := range chains {
		for _, atomic := range []bool{false, true} {
			o := askedGateway(t).Again(func(c *gateway.Config) { c.Policy.Confirm = policy.ConfirmWrites })
			before := harness.TreeOf(t, o.Vault)
			var asked []consent.Question
			send := func(answer func(consent.Question) consent.Reply) gateway.BatchResult {
				asked = nil
				return o.Gateway.DoBatch(t.Context(), gateway.Batch{
					Request:    gateway.Request{Caller: fmt.Sprint("caller ", c.name), Ask: o.Asker(&asked, []func(consent.Question) consent.Reply{answer})},
					Operations: c.operations, Atomic: atomic,
				})
			}
			got := send(harness.Says(consent.Void))
			require.That(t, len(asked) == 1, "%s, atomic %v: asked %d times: %+v", c.name, atomic, len(asked), got.Error)
			assert.That(t, harness.TreeOf(t, o.Vault) == before, "%s, atomic %v: something was made before the answer", c.name, atomic)
			text := consent.Draw(asked[0].Lines)
			rest := text
			for _, line := range c.shown {
				_, behind, found := strings.Cut(rest, line)
				assert.That(t, found, "%s, atomic %v: no %q in the rest of\n%s", c.name, atomic, line, text)
				rest = behind
			}
			got = send(harness.Says(consent.Yes))
			assert.That(t, got.OK, "%s, atomic %v: %+v %+v", c.name, atomic, got.Error, got.Results)
			for note, want := range c.want {
				assert.Equal(t, o.Read(note), want, "%s, atomic %v: %s", c.name, atomic, note)
			}
		}
	}
}

// What the user was shown rests on the notes as they were. If one of them is another by the time of the answer, nothing is done;
// others may change.
func TestABatchRestsOnTheNotesBeforeIt(t *testing.T) {
	t.Parallel()
	for _, c := range chains {
		for _, atomic := range []bool{false, true} {
			for _, test := range []struct {
				note string
				ok   bool
			}{{"junk.md", false}, {"Inbox/a.md", true}} {
				if _, concerned := c.want["junk.md"]; !concerned && !test.ok {
					continue
				}
				o := askedGateway(t).Again(func(c *gateway.Config) { c.Policy.Confirm = policy.ConfirmWrites })
				got, asked := batchOf(o, atomic, c.operations, harness.First(func() { o.Write(test.note, "of another program\n") }))
				what := fmt.Sprintf("%s, atomic %v, %s", c.name, atomic, test.note)
				require.Equal(t, len(asked), 1, "%s: asked, times", what)
				if test.ok {
					assert.That(t, got.OK, "%s: %+v %+v", what, got.Error, got.Results)
					continue
				}
				assert.Equal(t, harness.CodeOfError(got.Error), "conflict", "%s: %+v", what, got)
				assert.Equal(t, len(got.Results), 0, "%s: %+v", what, got)
				assert.Equal(t, o.Read("junk.md"), "of another program\n", "%s", what)
				assert.Equal(t, o.Read("Tax.md"), "the tax of ten years\n", "%s", what)
			}
		}
	}
}

func batchOf(
	o *harness.InProcess,
	atomic bool,
	operations []gateway.Operation,
	answers ...func(consent.Question) consent.Reply,
) (gateway.BatchResult, []consent.Question) {
	var asked []consent.Question
	return o.Gateway.DoBatch(o.T.Context(), gateway.Batch{
		Request: gateway.Request{Caller: "me", Ask: o.Asker(&asked, answers)}, Operations: operations, Atomic: atomic,
	}), asked
}

// dryRunOf returns the dry run of a batch, by which nothing is changed and nobody asked.
func dryRunOf(o *harness.InProcess, atomic bool, operations ...gateway.Operation) gateway.BatchDryRun {
	o.T.Helper()
	before := harness.TreeOf(o.T, o.Vault)
	var asked []consent.Question
	got := o.Gateway.DryRunBatch(o.T.Context(), gateway.Batch{
		Request: gateway.Request{Caller: "me", Ask: o.Asker(&asked, nil)}, Operations: operations, Atomic: atomic,
	})
	assert.That(o.T, got.DryRun, "a dry run asked %d times: %+v", len(asked), got)
	assert.Equal(o.T, len(asked), 0, "a dry run asked %d times: %+v", len(asked), got)
	assert.That(o.T, harness.TreeOf(o.T, o.Vault) == before, "a dry run changed something")
	return got
}

// A dry run of a batch plans every operation on what those before it make, and shows what all of them do together.
func TestADryRunOfABatchShowsWhatItWouldDo(t *testing.T) {
	t.Parallel()
	for _, c := range chains {
		for _, atomic := range []bool{false, true} {
			for confirm, decision := range map[policy.Confirm]string{policy.ConfirmNever: "allow", policy.ConfirmWrites: "ask"} {
				o := askedGateway(t).Again(func(c *gateway.Config) { c.Policy.Confirm = confirm })
				what := fmt.Sprintf("%s, atomic %v, confirm %v", c.name, atomic, confirm)
				got := dryRunOf(o, atomic, c.operations...)
				assert.That(t, got.OK, "%s: %+v", what, got)
				assert.Equal(t, got.Decision, decision, "%s: %+v", what, got)
				all := ""
				for i, one := range got.Results {
					assert.Equal(t, one.ClientID, c.operations[i].ClientID, "%s", what)
					assert.That(t, one.OK, "%s: %+v", what, one)
					all += one.Diff
				}
				for _, line := range c.shown {
					isLine := strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")
					assert.That(t, !isLine || strings.Contains(all, "\n"+line), "%s: no %q in\n%s", what, line, all)
				}
				// What is shown of the whole is what is done.
				changed := map[string]bool{}
				for _, f := range got.Files {
					changed[f.Path] = true
				}
				before := map[string]string{}
				for note := range c.want {
					before[note] = o.Read(note)
				}
				made, _ := batchOf(o, atomic, c.operations, harness.Says(consent.Yes))
				require.That(t, made.OK, "%s: %+v", what, made)
				for note, want := range c.want {
					if before[note] != want {
						assert.That(t, changed[note] || strings.Contains(got.Diff, note), "%s: %q is not in %+v\n%s", what, note, got.Files, got.Diff)
					} else {
						assert.That(t, !changed[note], "%s: %q is in %+v", what, note, got.Files)
					}
				}
			}
		}
	}
}

// Each operation of a dry run has its own decision and reason.
func TestADryRunOfABatchSaysWhyItWouldNotBeMade(t *testing.T) {
	t.Parallel()
	o := askedGateway(t)
	appends := harness.Operation("a", "append", "path=junk.md", "content=x")
	unknown := taking(harness.Operation("u", "append", "path=junk.md"), "content", "a", "change.id")
	for _, test := range []struct {
		name       string
		operations []gateway.Operation
		decisions  []string
		code       string
		at         string
	}{
		{"one is refused", []gateway.Operation{appends, harness.Operation("b", "eval", "code=1"),
			harness.Operation("c", "delete", "path=junk.md", "permanent")}, []string{"allow", "deny", "ask"},
			"restricted_command", "b"},
		{"one would fail", []gateway.Operation{appends, harness.Operation("b", "delete", "path=gone.md")}, []string{"allow", "ask"}, "not_found", "b"},
		{"one asks", []gateway.Operation{appends, harness.Operation("b", "delete", "path=junk.md", "permanent")}, []string{"allow", "ask"}, "unconfirmed", "b"},
		{"no command", []gateway.Operation{harness.Operation("b", "nothing"), appends}, []string{"deny", "allow"}, "unknown_command", "b"},
		{"no batch", nil, nil, "bad_request", ""},
		{"a value that nobody knows", []gateway.Operation{appends, unknown}, []string{"allow", "allow"}, "", ""},
		{"two of a name", []gateway.Operation{appends, appends}, nil, "bad_request", "a"},
	} {
		for _, atomic := range []bool{false, true} {
			got := dryRunOf(o, atomic, test.operations...)
			var decisions []string
			for _, one := range got.Results {
				decisions = append(decisions, one.Decision)
			}
			what := fmt.Sprintf("%s, atomic %v", test.name, atomic)
			assert.Equal(t, fmt.Sprint(decisions), fmt.Sprint(test.decisions), "%s: decisions", what)
			assert.Equal(t, harness.CodeOfError(got.Error), test.code, "%s: code", what)
			assert.Equal(t, got.ClientID, test.at, "%s: the operation", what)
			isOK := test.code == "" || test.code == "unconfirmed"
			assert.Equal(t, got.OK, isOK, "%s: ok", what)
		}
	}
}
