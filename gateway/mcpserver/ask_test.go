package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// booth is a running server that has to ask before every change, and the app
// after it: a script that notes what it is called with.
type booth struct {
	*fake.Client
	era       era
	can       string // the capabilities that the client names
	client    string // what it calls itself
	called    string
	approvals *consent.Store
	state     string // the state folder
	ids       int
}

// era is a generation of the protocol.
type era string

const (
	legacyEra era = "legacy"
	modernEra era = "modern"
)

var eras = []era{legacyEra, modernEra}

const (
	formsOnly = `{"elicitation":{}}`
	removal   = `{"command":"delete","params":{"path":"a.md"}}`
	addition  = `{"command":"append","params":{"path":"In/a.md","content":"x"}}`
	reading   = `{"command":"file","params":{"path":"a.md"}}`
	accepted  = `{"action":"accept","content":{"allow":true}}`
	opened    = `{"action":"accept"}`
	declined  = `{"action":"decline"}`
	dismissed = `{"action":"cancel"}`
)

// openBooth starts a server of its own, with a handler that is changed before.
func openBooth(t *testing.T, e era, can string, changes ...func(*handler)) *booth {
	t.Helper()
	return boothAs{"codex-mcp-client", policy.AskClient, policy.NoMinAnswer}.open(t, e, can, changes...)
}

// boothAs is what a client calls itself, how the user is asked, and how soon an answer counts.
type boothAs struct {
	client string
	ask    policy.Asking
	least  time.Duration
}

func (as boothAs) open(t *testing.T, e era, can string, changes ...func(*handler)) *booth {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the app is a script")
	}
	folder, state := t.TempDir(), t.TempDir()
	b := &booth{era: e, can: can, client: as.client, called: filepath.Join(folder, "called")}
	app := filepath.Join(folder, "obsidian")
	script := fmt.Sprintf(`#!/bin/sh
echo "$*" >>'%s'
case "$*" in
*version) echo '1.12.7 (installer 1.12.7)' ;;
*delete*) echo 'Moved to trash: a.md' ;;
*append*) echo 'Appended to: In/a.md' ;;
*) printf 'path\ta.md\n' ;;
esac
`, b.called)
	testenv.WriteProgram(t, app, []byte(script))
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	b.state = ownerfiles.StateFolder(getenv, "")
	b.approvals = consent.OpenStore(consent.Folder(b.state), nil)
	open := policy.Policy{Ceiling: tiers.V2, Mutations: true, Confirm: policy.ConfirmWrites, Asking: as.ask,
		MinAnswer: as.least, MinVersion: tiers.DefaultMinimum}
	gw := gateway.New(gateway.Config{
		Vaults:  []gateway.Served{{Vault: gateway.Vault{Name: "Work"}, Policy: open}, {Vault: gateway.Vault{Name: "Home"}, Policy: open}},
		Runner:  exec.New(exec.Config{CLI: app, Self: "/nowhere/vaultwicket"}),
		Session: "booth", Getenv: getenv, Log: logTo(t),
	})
	h := handler{Config: Config{Gateway: gw, Version: "1", MaxOutput: 1 << 14, Log: logTo(t)}, sealers: &lazySealer{}}
	for _, change := range changes {
		change(&h)
	}
	s := require.Value(h.server())(t)
	b.Client = fake.Connect(t, func(ctx context.Context, in io.Reader, out io.Writer) error {
		return transport.ServeStdio(ctx, s, in, out, fake.Patience)
	})
	if e == legacyEra {
		b.Send(strings.NewReplacer(`{"elicitation":{}}`, can, `"name":"c"`, fmt.Sprintf(`"name":%q`, b.client)).Replace(fake.Initialize), fake.Initialized)
		b.Next()
	}
	return b
}

// tool sends a call of a tool. more are further members of its params.
func (b *booth) tool(name, arguments, more string) (id int) {
	b.T.Helper()
	b.ids++
	params := fmt.Sprintf(`"name":%q,"arguments":%s%s`, name, arguments, more)
	if b.era == modernEra {
		params += "," + strings.NewReplacer(`clientCapabilities":{}`, `clientCapabilities":`+b.can, `"name":"c"`,
			fmt.Sprintf(`"name":%q`, b.client)).Replace(fake.ModernMeta)
	}
	b.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s}}`, b.ids, params))
	return b.ids
}

// question is what the client is asked.
type question struct {
	call           int // of which it is
	id             any // of the request that asks, in the older protocol
	state, message string
	link           string // to the page, "" for a form
	fields         map[string]any
	required       []any
	tool, arg      string
}

// ask sends a call and returns the question about it.
func (b *booth) ask(arguments string) question {
	b.T.Helper()
	return b.asked("obsidianCli", arguments, b.tool("obsidianCli", arguments, ""))
}

// asked reads the question about a call.
func (b *booth) asked(tool, arguments string, id int) question {
	b.T.Helper()
	q := question{call: id, tool: tool, arg: arguments}
	m := b.Next()
	params := m.Params
	if b.era == modernEra {
		var result struct {
			ResultType, RequestState string
			InputRequests            map[string]struct {
				Method string
				Params map[string]any
			}
		}
		require.That(b.T, json.Unmarshal(m.Result, &result) == nil, "no question: %s %v", m.Result, m.Error)
		require.Equal(b.T, result.ResultType, "input_required", "no question: %s %v", m.Result, m.Error)
		require.Equal(b.T, len(result.InputRequests), 1, "asked %v", result.InputRequests)
		require.Equal(b.T, result.InputRequests["confirm"].Method, "elicitation/create", "asked %v", result.InputRequests)
		q.state, params = result.RequestState, result.InputRequests["confirm"].Params
	} else if m.Method != "elicitation/create" {
		b.T.Fatalf("no question: %+v %s", m, m.Result)
	}
	q.id, q.message = m.ID, params["message"].(string)
	if params["mode"] == "url" {
		q.link = params["url"].(string)
		if id, has := params["elicitationId"]; has != (b.era == legacyEra) ||
			has && !strings.HasSuffix(q.link, "/"+id.(string)) || params["requestedSchema"] != nil {
			b.T.Errorf("%s: asked %v", b.era, params)
		}
		return q
	}
	schema := params["requestedSchema"].(map[string]any)
	q.fields, q.required = schema["properties"].(map[string]any), schema["required"].([]any)
	return q
}

// reply sends the answer to a question, and does not wait.
func (b *booth) reply(q question, answer string) (call int) {
	b.T.Helper()
	if b.era == legacyEra {
		b.respond(q.id, answer)
		return q.call
	}
	return b.tool(q.tool, q.arg, fmt.Sprintf(`,"inputResponses":{"confirm":%s},"requestState":%q`, answer, q.state))
}

// respond sends the response to a request of the server.
func (b *booth) respond(id any, result string) {
	b.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, transport.Encode(id), result))
}

// answer sends the answer to a question and returns what came of the call.
func (b *booth) answer(q question, answer string) told {
	b.T.Helper()
	return b.result(b.reply(q, answer))
}

// told is the answer to a call: the code of an error, or "protocol" for an error
// of the protocol, or "asked" for one more question.
type told struct {
	Code, hint, message, stdout string
	approval                    map[string]any
}

// result reads the answer to a call, behind what may be said of its question before.
func (b *booth) result(id int) told {
	b.T.Helper()
	m := b.Next()
	for m.Method == "notifications/elicitation/complete" || m.Method == "notifications/cancelled" {
		m = b.Next()
	}
	require.That(b.T, fmt.Sprint(m.ID) == fmt.Sprint(float64(id)), "an answer to %v, want %d: %+v %s", m.ID, id, m, m.Result)
	return toldBy(m)
}

func toldBy(m fake.Message) told {
	if m.Error != nil {
		return told{Code: "protocol", message: m.Error.Message}
	}
	var result struct {
		ResultType        string
		StructuredContent struct {
			Stdout string
			Error  struct {
				Code, Hint, Message string
				Approval            map[string]any
			}
		}
	}
	_ = json.Unmarshal(m.Result, &result)
	if result.ResultType == "input_required" {
		return told{Code: "asked"}
	}
	e := result.StructuredContent.Error
	return told{e.Code, e.Hint, e.Message, result.StructuredContent.Stdout, e.Approval}
}

// ran returns the changes that the app was told to make.
func (b *booth) ran() (changes []string) {
	log, _ := os.ReadFile(b.called)
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "delete") || strings.Contains(line, "append") {
			changes = append(changes, strings.TrimSpace(line))
		}
	}
	return changes
}

// refused checks that a call was refused and nothing was run, and that the
// server is as good as before.
func (b *booth) refused(what string, got told) {
	b.T.Helper()
	assert.That(b.T, got.Code == "unconfirmed", "%s: got %+v, want unconfirmed", what, got)
	b.idle(what)
}

func (b *booth) idle(what string) {
	b.T.Helper()
	ran := b.ran()
	require.That(b.T, len(ran) == 0, "%s: the app was told %q", what, ran)
	assert.Equal(b.T, b.result(b.tool("obsidianCli", reading, "")).Code, "", "%s: a read after it is answered with", what)
}

// runs checks that a call went through, and that it was run once.
func (b *booth) runs(what string, got told, want ...string) {
	b.T.Helper()
	ran := b.ran()
	require.Equal(b.T, got.Code, "", "%s: got %+v, and the app was told %q", what, got, ran)
	require.EqualSlices(b.T, ran, want, "%s: got %+v, and the app was told %q", what, got, ran)
}

const removed = "vault=Work delete path=a.md"

// noAnswers are all answers that are no yes.
var noAnswers = map[string]string{
	"declined":                   declined,
	"cancelled":                  dismissed,
	"declined with a yes":        `{"action":"decline","content":{"confirm":true}}`,
	"cancelled with a yes":       `{"action":"cancel","content":{"confirm":true}}`,
	"an empty form":              `{"action":"accept","content":{}}`,
	"no form":                    `{"action":"accept"}`,
	"a form of null":             `{"action":"accept","content":null}`,
	"not chosen":                 `{"action":"accept","content":{"allow":false}}`,
	"chosen as a text":           `{"action":"accept","content":{"allow":"true"}}`,
	"chosen as a number":         `{"action":"accept","content":{"allow":1}}`,
	"chosen, and more":           `{"action":"accept","content":{"allow":true,"more":true}}`,
	"chosen for the folder, too": `{"action":"accept","content":{"allow":true,"folder":true}}`,
	"declined, and chosen":       `{"action":"decline","content":{"allow":true}}`,
	"cancelled, and chosen":      `{"action":"cancel","content":{"allow":true}}`,
	"accepted with a no":         `{"action":"accept","content":{"confirm":false}}`,
	"accepted with a text":       `{"action":"accept","content":{"confirm":"true"}}`,
	"accepted with a number":     `{"action":"accept","content":{"confirm":1}}`,
	"accepted with null":         `{"action":"accept","content":{"confirm":null}}`,
	"accepted with a list":       `{"action":"accept","content":{"confirm":[true]}}`,
	"accepted with an object":    `{"action":"accept","content":{"confirm":{"confirm":true}}}`,
	"the content is true":        `{"action":"accept","content":true}`,
	"the content is a text":      `{"action":"accept","content":"confirm"}`,
	"the content is a list":      `{"action":"accept","content":[{"confirm":true}]}`,
	"another field":              `{"action":"accept","content":{"Confirm":true}}`,
	"an earlier field":           `{"action":"accept","content":{"remember":true}}`,
	"a choice not offered":       `{"action":"accept","content":{"choice":"allow for this folder until the server stops"}}`,
	"a choice in another case":   `{"action":"accept","content":{"choice":"Allow once"}}`,
	"a choice and more":          `{"action":"accept","content":{"choice":"allow once","more":true}}`,
	"no action":                  `{"content":{"confirm":true}}`,
	"an empty action":            `{"action":"","content":{"confirm":true}}`,
	"an unknown action":          `{"action":"yes","content":{"confirm":true}}`,
	"a loud action":              `{"action":"ACCEPT","content":{"confirm":true}}`,
	"an action that is a number": `{"action":1,"content":{"confirm":true}}`,
	"an empty answer":            `{}`,
	"null":                       `null`,
	"true":                       `true`,
	"a text":                     `"accept"`,
	"a list":                     `[{"action":"accept","content":{"confirm":true}}]`,
}

func TestToChooseInTheFormIsTheApproval(t *testing.T) {
	for _, e := range eras {
		for what, answer := range noAnswers {
			b := openBooth(t, e, formsOnly)
			got := b.answer(b.ask(removalOf(what)), answer)
			b.refused(string(e)+", "+what, got)
			said := "the client's answer does not fit the form"
			assert.That(t, !strings.HasPrefix(what, "accepted") || strings.Contains(got.message, said), "%s, %s: %+v", e, what, got)
		}
		b := openBooth(t, e, formsOnly)
		if e == legacyEra {
			q := b.ask(removalOf("failed"))
			b.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"accept"}}`, transport.Encode(q.id)))
			b.refused("an error of the client", b.result(q.call))
		}
		q := b.ask(removal)
		allow, isField := q.fields["allow"].(map[string]any)
		require.That(t, isField, "%s: the fields are %v", e, q.fields)
		assert.Equal(t, len(q.fields), 1, "%s: the fields are %v", e, q.fields)
		assert.Equal(t, fmt.Sprintf("%v %v %v", allow["type"], allow["default"], q.required), "boolean false [allow]", "%s: the field", e)
		b.runs(string(e)+", accepted", b.answer(q, accepted), removed)
		got := b.answer(b.ask(removalOf("later")), declined)
		assert.Equal(t, got.Code, "unconfirmed", "%s: after an approval, a denial is answered with %+v", e, got)
		assert.Equal(t, len(b.ran()), 1, "%s: after an approval, a denial is answered with %+v", e, got)
	}
}

// removalOf is a call of its own for each name: the user is asked about one call once
// if they decline.
func removalOf(name string) string {
	return fmt.Sprintf(`{"command":"delete","params":{"path":"%s.md"}}`, name)
}

// While the user has not answered one question, no other call of the client opens a dialog:
// eight wait elsewhere. In the older protocol the calls wait for their turn.
func TestSeventyCallsAreOneDialog(t *testing.T) {
	b := openBooth(t, modernEra, formsOnly)
	q := b.ask(removal)
	for n := range 70 {
		got := b.result(b.tool("obsidianCli", removalOf(fmt.Sprint(n)), ""))
		require.Equal(t, got.Code, "unconfirmed", "call %d", n)
		require.Equal(t, strings.Contains(got.message, "8 approvals of this session are still pending"), n >= 7, "call %d", n)
	}
	b.idle("a question is open")
	list := b.result(b.tool("obsidianCli", `{"command":"approvals"}`, ""))
	rows := strings.Count(list.stdout, "\tdelete\tWork\tuntil ")
	assert.Equal(t, rows, 8, "%d of 8 wait: %+v", rows, list)
	assert.Equal(t, list.Code, "", "%d of 8 wait: %+v", rows, list)
	rowsOfList := strings.Split(strings.TrimSpace(list.stdout), "\n")
	id, _, _ := strings.Cut(rowsOfList[len(rowsOfList)-1], "\t")
	got := b.result(b.tool("obsidianCli", fmt.Sprintf(`{"command":"approvals","params":{"withdraw":%q}}`, id), ""))
	assert.Equal(t, got.stdout, "Withdrawn: "+id+"\tdelete\tWork\n", "withdrawn: %+v", got)
	assert.Equal(t, b.result(b.tool("obsidianCli", fmt.Sprintf(`{"command":"approvals","params":{"withdraw":%q}}`, id),
		"")).Code, "not_found", "withdrawn twice")
	b.runs("the one that was asked about", b.answer(q, accepted), removed)
	b.result(b.tool("obsidianCli", `{"command":"approvals","params":{"withdraw":"all"}}`, ""))
	assert.Equal(t, b.result(b.tool("obsidianCli", `{"command":"approvals"}`, "")).stdout, "No call of yours waits for approval.\n", "all withdrawn")
	b.ask(removalOf("next"))
}

// To close a question is no answer: the question waits for the user elsewhere, and no dialog is opened for it again. A
// client that drops what it was asked is not locked out either.
func TestAQuestionThatIsClosedWaitsElsewhere(t *testing.T) {
	for _, e := range eras {
		b := openBooth(t, e, formsOnly)
		for _, call := range []string{"one", "two", "three", "four", "five"} {
			got := b.answer(b.ask(removalOf(call)), dismissed)
			b.refused("dismissed", got)
			assert.Contains(t, got.message, "waits for the owner; the client closed the question after ", "%s: %+v", e, got)
		}
		b.refused("again", b.result(b.tool("obsidianCli", removalOf("one"), "")))
		assert.Equal(t, len(b.pending()), 5, "%s: questions that wait", e)
	}
	b := openBooth(t, modernEra, formsOnly)
	dropped := b.ask(removal)
	for _, call := range []string{removal, removal} {
		b.refused("dropped", b.result(b.tool("obsidianCli", call, "")))
	}
	b.approve()
	b.runs("approved elsewhere", b.result(b.tool("obsidianCli", removal, "")), removed)
	got := b.answer(dropped, accepted)
	assert.That(t, got.Code != "", "the answer that was dropped comes late: %+v", got)
	assert.Equal(t, len(b.ran()), 1, "the answer that was dropped comes late")
}

// What comes sooner than a person can read was answered by nobody, whatever it is: the question is left for the owner,
// who decides, and the agent is told so.
func TestAnAnswerThatNoPersonCanHaveGivenIsNone(t *testing.T) {
	for _, e := range eras {
		for what, answer := range map[string]string{"a yes": accepted, "a no": declined} {
			b := boothAs{"codex-mcp-client", policy.AskClient, time.Hour}.open(t, e, formsOnly)
			got := b.answer(b.ask(removal), answer)
			b.refused(what, got)
			assert.Contains(t, got.message, "before anybody could have read it", "%s, %s", e, what)
			require.That(t, got.approval != nil, "%s, %s: no approval is told of: %+v", e, what, got)
			assert.Equal(t, fmt.Sprint(got.approval["ways"]), "[terminal]", "%s, %s: ways", e, what)
			list := b.result(b.tool("obsidianCli", `{"command":"approvals"}`, "")).stdout
			assert.Contains(t, list, fmt.Sprint(got.approval["id"]), "%s, %s: the id", e, what)
			b.approve()
			b.runs(what+", and then approved", b.result(b.tool("obsidianCli", removal, "")), removed)
		}
	}
}

// What is destructive is decided in no form under auto, and nothing is where the owner wants to be asked elsewhere.
func TestWhereQuestionsReachTheOwner(t *testing.T) {
	for _, e := range eras {
		for _, test := range []struct {
			ask              policy.Asking
			destroys, writes bool // are asked about in a form
		}{{policy.AskTerminal, false, false}, {policy.AskPage, false, false}, {policy.AskAuto, false, true}, {policy.AskClient, true, true}} {
			for call, inForm := range map[string]bool{removal: test.destroys, addition: test.writes} {
				b := boothAs{"codex-mcp-client", test.ask, policy.NoMinAnswer}.open(t, e, formsOnly)
				if inForm {
					b.ask(call)
					continue
				}
				got := b.result(b.tool("obsidianCli", call, ""))
				b.refused(test.ask.String(), got)
				assert.Equal(t, len(b.pending()), 1, "%s, %v: questions that wait", e, test.ask)
			}
			b := boothAs{"codex-mcp-client", test.ask, policy.NoMinAnswer}.open(t, e, formsAndLinks)
			b.openPage()
			if test.ask == policy.AskPage || test.ask == policy.AskAuto {
				q := b.ask(removal)
				assert.That(t, q.link != "", "%s, %v: no link", e, test.ask)
			}
			if test.ask == policy.AskTerminal {
				got := b.result(b.tool("obsidianCli", removal, ""))
				assert.Equal(t, fmt.Sprint(got.approval["ways"]), "[terminal]", "%s: ways", e)
				_, err := consent.Decide(b.state, consent.Answer{Code: b.pending()[0].Code, Approve: true, By: "page"})
				assert.That(t, err != nil, "%s: it is approved on the page: %v", e, err)
				assert.Equal(t, len(b.pending()), 1, "%s: it is approved on the page: %v", e, err)
			}
		}
	}
}

// A form is used where the client is known to show all of it. One that is not known shows three lines.
func TestAFormIsUsedWhereItIsShownWhole(t *testing.T) {
	long := `{"command":"append","params":{"path":"In/a.md","content":"one\ntwo\nthree\nfour\nfive\nsix"}}`
	for client, inForm := range map[string]bool{"codex-mcp-client": true, "claude-code": false, "somebody": false} {
		for _, e := range eras {
			b := boothAs{client, policy.AskClient, policy.NoMinAnswer}.open(t, e, formsOnly)
			if inForm {
				q := b.ask(long)
				assert.Contains(t, q.message, "> one\n> two\n> three\n> four\n> five\n> six", "%s, %s", e, client)
				continue
			}
			got := b.result(b.tool("obsidianCli", long, ""))
			b.refused(client, got)
			assert.Contains(t, got.message, "no dialog was shown, because the question is longer than the ", "%s, %s", e, client)
			short := boothAs{client, policy.AskClient, policy.NoMinAnswer}.open(t, e, formsOnly)
			q := short.ask(removal)
			assert.That(t, strings.HasPrefix(q.message, `Delete "a.md" (vault "Work")`+"\n"), "%s, %s: %q", e, client, q.message)
		}
	}
}

// Calls that wait for the user block no read, however many they are: one dialog is open, and in
// the older protocol the other calls wait for their turn.
func TestWaitingQuestionsBlockNoRead(t *testing.T) {
	for _, e := range eras {
		b := openBooth(t, e, formsOnly)
		b.ask(removal)
		for n := range 20 {
			id := b.tool("obsidianCli", removalOf(fmt.Sprint(n)), "")
			if e == modernEra {
				b.result(id)
			}
		}
		for range 20 {
			require.Equal(t, b.result(b.tool("obsidianRead", reading, "")).Code, "", "%s", e)
		}
	}
}

// No one is asked about what changes nothing, or is refused anyway.
func TestNobodyIsAskedInVain(t *testing.T) {
	for _, e := range eras {
		b := openBooth(t, e, formsOnly)
		for arguments, code := range map[string]string{
			reading: "",
			`{"command":"delete","params":{"path":"a.md"},"dryRun":true}`:                                 "unconfirmed",
			`{"command":"delete","params":{"path":"../a.md"}}`:                                            "bad_value",
			`{"command":"delete","params":{}}`:                                                            "target_required",
			`{"command":"workspace:save","params":{"name":"a"}}`:                                          "tier_closed",
			`{"command":"publish:add","params":{"path":"a.md"}}`:                                          "mutations_off",
			`{"command":"eval","params":{"code":"1"}}`:                                                    "restricted_command",
			`{"command":"delete","params":{"path":"a.md"},"vault":"Elsewhere"}`:                           "vault_not_found",
			`{"command":"delete","params":{"path":"a.md"},"expectHash":"no hash"}`:                        "bad_request",
			`{"command":"delete","params":{"path":"a.md"},"confirm":true}`:                                "bad_request",
			`{"command":"delete","params":{"path":"a.md"},"inputResponses":{"confirm":` + accepted + `}}`: "bad_request",
		} {
			assert.Equal(t, b.result(b.tool("obsidianCli", arguments, "")).Code, code, "%s: %s is answered with", e, arguments)
			b.idle(arguments)
		}
	}
}

// A client that cannot show a form is not asked; a person can say yes elsewhere. The
// client is not told the code with which.
func TestWhoCannotBeAskedIsToldOfTheTerminal(t *testing.T) {
	for _, e := range eras {
		for _, can := range []string{`{}`, `{"elicitation":{"url":{}}}`, `{"sampling":{},"roots":{}}`, `{"elicitation":null}`} {
			t.Run(string(e)+can, func(t *testing.T) {
				b := openBooth(t, e, can)
				first := b.result(b.tool("obsidianCli", removal, ""))
				b.refused("not asked", first)
				list, _, err := b.approvals.List()
				require.NoError(t, err)
				require.Equal(t, len(list), 1)
				assert.That(t, !strings.Contains(first.hint+first.message, list[0].Code), "%v, %+v", list, first)
				again := b.result(b.tool("obsidianCli", removal, ""))
				assert.Equal(t, again.message, first.message, "asked again")
				b.approve()
				other := b.result(b.tool("obsidianCli", addition, ""))
				assert.Equal(t, other.Code, "unconfirmed", "another call")
				assert.Equal(t, len(b.ran()), 0, "another call")
				b.runs("approved", b.result(b.tool("obsidianCli", removal, "")), removed)
				b.deny() // the other one
				third := b.result(b.tool("obsidianCli", removal, ""))
				assert.Equal(t, third.Code, "unconfirmed", "a third time: %+v, %q", third, b.ran())
				assert.Equal(t, len(b.ran()), 1, "a third time: %+v, %q", third, b.ran())
			})
		}
	}
}

// approve says yes to the question that waits, and deny says no.
func (b *booth) approve() { b.T.Helper(); b.answerOpen(b.approvals.Approve) }
func (b *booth) deny()    { b.T.Helper(); b.answerOpen(b.approvals.Deny) }

func (b *booth) answerOpen(answer func(code string) (consent.StoredQuestion, error)) {
	b.T.Helper()
	list, _, err := b.approvals.List()
	list = slices.DeleteFunc(list, func(q consent.StoredQuestion) bool { return q.State != consent.Pending })
	require.Equal(b.T, err, nil, "%d questions wait, %v", len(list), err)
	require.Equal(b.T, len(list), 1, "%d questions wait, %v", len(list), err)
	if _, err := answer(list[0].Code); err != nil {
		b.T.Fatal(err)
	}
}

func TestADenialStands(t *testing.T) {
	b := openBooth(t, modernEra, `{}`)
	b.result(b.tool("obsidianCli", removal, ""))
	b.deny()
	b.can = formsOnly // nor is a client asked that can
	got := b.result(b.tool("obsidianCli", removal, ""))
	b.refused("denied", got)
	assert.That(t, strings.Contains(got.message, "the user declined"), "got %+v", got)
}

// Some clients claim that they can ask and never do.
func TestSilenceLeavesTheQuestionForTheTerminal(t *testing.T) {
	b := openBooth(t, legacyEra, formsOnly)
	q := b.ask(removal)
	b.Send(cancel(q.call)) // as a client does at its own limit
	b.idle("nobody has answered")
	b.approve()
	m := b.Next() // the dialog is over
	assert.Equal(t, m.Method, "notifications/cancelled", "%+v", m)
	b.respond(q.id, accepted)
	b.runs("approved", b.result(b.tool("obsidianCli", removal, "")), removed)
	b.respond(q.id, accepted)
	b.result(b.tool("obsidianCli", reading, ""))
	b.runs("an answer that comes too late", told{}, removed)
}

func TestAnAnswerToAnotherQuestionIsNone(t *testing.T) {
	b := openBooth(t, legacyEra, formsOnly)
	q := b.ask(removal)
	for _, id := range []string{"0", "-1", "999", `"x"`} {
		b.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, accepted))
	}
	b.idle("answers to other questions")
	b.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s}`, transport.Encode(q.id)))
	m := b.Next()
	assert.That(t, m.Error != nil, "an answer without one is taken: %+v", m)
	got := b.answer(q, declined)
	b.respond(q.id, accepted)
	b.refused("a no, and then a yes", got)
}

// The answer to a call that was cancelled runs nothing by itself, and counts for the same call when it is sent again.
func TestACancelledCallNeverRuns(t *testing.T) {
	b := openBooth(t, legacyEra, formsOnly)
	q := b.ask(removal)
	b.Send(cancel(q.call))
	b.idle("cancelled while the person was asked")
	b.respond(q.id, accepted)
	for len(b.pending()) > 0 {
		b.idle("accepted after it was cancelled")
	}
	b.runs("the same call", b.result(b.tool("obsidianCli", removal, "")), removed)

	b = openBooth(t, legacyEra, formsOnly)
	q = b.ask(removal)
	b.Send(cancel(b.tool("obsidianCli", addition, "")))
	b.refused("the one before a cancelled one", b.answer(q, declined))

	q = b.ask(removalOf("other")) // whichever comes first, the next one gets its turn
	b.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, transport.Encode(q.id), accepted), cancel(q.call))
	for id := b.tool("obsidianCli", addition, ""); ; {
		if m := b.Next(); m.Method != "" {
			b.respond(m.ID, declined)
		} else if fmt.Sprint(m.ID) == fmt.Sprint(id) {
			break
		}
	}
	ran := b.ran()
	assert.That(t, len(ran) <= 1, "the app was told %q", ran)
}

// In the older protocol one change is asked about after the other, in their
// order; reads go on meanwhile.
func TestTwoChangesAreAskedAboutOneAfterTheOther(t *testing.T) {
	b := openBooth(t, legacyEra, formsOnly)
	first := b.ask(removal)
	second := b.tool("obsidianCli", addition, "")
	for range 20 {
		b.idle("a question is open")
	}
	b.reply(first, declined)
	assert.Equal(t, b.result(first.call).Code, "unconfirmed")
	q := b.asked("obsidianCli", addition, second)
	assert.That(t, strings.HasPrefix(q.message, `Add text to "In/a.md"`), "asked %q", q.message)
	b.runs("the second one", b.answer(q, accepted), "vault=Work append content=x path=In/a.md")
}

func TestAStateIsGoodForItsCallOnly(t *testing.T) {
	b := openBooth(t, modernEra, formsOnly)
	q := b.ask(removal)
	for what, arguments := range map[string]string{
		"another vault":     `{"command":"delete","params":{"path":"a.md"},"vault":"Home"}`,
		"another path":      `{"command":"delete","params":{"path":"b.md"}}`,
		"another parameter": `{"command":"delete","params":{"path":"a.md","permanent":true}}`,
		"another hash":      `{"command":"delete","params":{"path":"a.md"},"expectHash":"0123456789abcdef"}`,
		"another command":   `{"command":"property:remove","params":{"path":"a.md","name":"x"}}`,
		"by name":           `{"command":"delete","params":{"file":"a.md"}}`,
	} {
		other := q
		other.arg = arguments
		b.refused(what, b.answer(other, accepted))
	}
	other := q
	other.tool, other.arg = "obsidianBatch", `{"operations":[{"clientId":"a","command":"delete","params":{"path":"a.md"}}]}`
	b.refused("in a batch", b.answer(other, accepted))
	b = openBooth(t, modernEra, formsOnly) // before, a question about the same call with another hash took the place
	b.runs("its own call", b.answer(b.ask(removal), accepted), removed)

	q = b.ask(addition)
	q.arg = strings.Replace(addition, `"x"`, `"y"`, 1)
	got := b.answer(q, accepted)
	assert.Equal(t, got.Code, "unconfirmed", "another text")
	assert.Equal(t, len(b.ran()), 1, "another text")
}

func TestAStateWorksOnce(t *testing.T) {
	for _, answer := range []string{declined, dismissed, noAnswers["accepted with a no"], noAnswers["null"]} {
		b := openBooth(t, modernEra, formsOnly)
		q := b.ask(removal)
		b.refused(answer, b.answer(q, answer))
		b.refused(answer+", and then a yes", b.answer(q, accepted))
	}
	b := openBooth(t, modernEra, formsOnly)
	q := b.ask(removal)
	b.refused("no answers", b.result(b.tool(q.tool, q.arg, fmt.Sprintf(`,"requestState":%q`, q.state))))
	b.refused("no answers, and then a yes", b.answer(q, accepted))
	q = b.ask(removal)
	b.runs("accepted", b.answer(q, accepted), removed)
	for range 3 {
		assert.Equal(t, b.answer(q, accepted).Code, "unconfirmed", "used again")
	}
	b.runs("used again", told{}, removed)
}

func TestAnswersWithoutAStateAreNone(t *testing.T) {
	b := openBooth(t, modernEra, formsOnly)
	for _, more := range []string{
		`,"inputResponses":{"confirm":` + accepted + `}`,
		`,"inputResponses":{"confirm":` + accepted + `},"requestState":""`,
		`,"inputResponses":{"confirm":` + accepted + `},"requestState":null`,
	} {
		b := openBooth(t, modernEra, formsOnly)
		assert.Equal(t, b.result(b.tool("obsidianCli", removal, more)).Code, "asked", "%s", more)
		b.idle(more)
	}
	q := b.ask(removal)
	for what, more := range map[string]string{
		"under another name": fmt.Sprintf(`,"inputResponses":{"yes":%s},"requestState":%q`, accepted, q.state),
		"a state of a list":  fmt.Sprintf(`,"inputResponses":{"confirm":%s},"requestState":[%q]`, accepted, q.state),
		"a list of answers":  fmt.Sprintf(`,"inputResponses":[%s],"requestState":%q`, accepted, q.state),
	} {
		assert.That(t, b.result(b.tool("obsidianCli", removal, more)).Code != "", "%s: it was run", what)
		b.idle(what)
	}
}

func TestAClientThatLostTheAbilityIsNotTakenAtItsWord(t *testing.T) {
	for _, can := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
		b := openBooth(t, modernEra, formsOnly)
		q := b.ask(removal)
		b.can = can
		got := b.answer(q, accepted)
		b.refused(can, got)
		assert.That(t, strings.Contains(got.hint, "vaultwicket approvals"), "got %+v", got)
	}
}

func TestAStateExpires(t *testing.T) {
	var passed atomic.Int64
	begun := time.Now()
	clock := func() time.Time { return begun.Add(time.Duration(passed.Load())) }
	for what, wait := range map[string][]time.Duration{"at its end": {consent.Life},
		"long after": {consent.Life + time.Hour}, "the clock was put back": {consent.Life, 0}} {
		passed.Store(0)
		b := openBooth(t, modernEra, formsOnly, func(h *handler) { h.sealers.now = clock })
		q := b.ask(removal)
		for _, d := range wait {
			passed.Store(int64(d))
			b.refused(what, b.answer(q, accepted))
		}
	}
	b := openBooth(t, modernEra, formsOnly, func(h *handler) { h.sealers.now = clock })
	q := b.ask(removal)
	passed.Add(int64(consent.Life - time.Second))
	b.runs("a moment before", b.answer(q, accepted), removed)
}

// A question ends with the server, and nothing of it is left: TestMain looks for goroutines.
func TestAQuestionEndsWithTheServer(t *testing.T) {
	t.Run("the input ends", func(t *testing.T) {
		b := openBooth(t, legacyEra, formsOnly)
		q := b.ask(removal)
		begun := time.Now()
		b.In.Close()
		got := b.result(q.call) // no one can answer any more
		assert.Equal(t, got.Code, "unconfirmed")
		assert.Contains(t, got.hint, "vaultwicket approvals")
		err := b.Wait()
		require.Equal(t, err, nil, "ended with %v; the app was told %q", err, b.ran())
		assert.Equal(t, len(b.ran()), 0, "ended with %v; the app was told %q", err, b.ran())
		waited := time.Since(begun)
		assert.That(t, waited <= fake.Patience/2, "it took %v", waited)
	})
	t.Run("the input ends after an answer", func(t *testing.T) {
		b := openBooth(t, legacyEra, formsOnly)
		q := b.ask(removal)
		b.reply(q, accepted)
		b.In.Close()
		got := b.result(q.call)
		assert.That(t, got.Code == "" || got.Code == "unconfirmed", "got %+v", got)
		assert.NoError(t, b.Wait(), "ended")
	})
	t.Run("a question is asked when the input has ended", func(t *testing.T) {
		b := openBooth(t, legacyEra, formsOnly)
		b.tool("obsidianCli", removal, "")
		b.In.Close()
		b.Rest()
		err := b.Wait()
		require.Equal(t, err, nil, "ended with %v; the app was told %q", err, b.ran())
		assert.Equal(t, len(b.ran()), 0, "ended with %v; the app was told %q", err, b.ran())
	})
}

func TestABatchIsOneQuestion(t *testing.T) {
	const two = `{"operations":[{"clientId":"a","command":"append","params":{"path":"In/a.md","content":"x"}},{"clientId":"r","command":"file","params":{"path":"a.md"}},{"clientId":"b","command":"delete","params":{"path":"a.md"}}]}`
	for _, e := range eras {
		b := openBooth(t, e, formsOnly)
		other := strings.ReplaceAll(two, `"a.md"`, `"b.md"`)
		b.refused("declined", b.answer(b.asked("obsidianBatch", other, b.tool("obsidianBatch", other, "")), declined))
		q := b.asked("obsidianBatch", two, b.tool("obsidianBatch", two, ""))
		assert.Equal(t, len(q.fields), 1, "asked %q with %v", q.message, q.fields)
		assert.Contains(t, q.message, `1. Add text to "In/a.md"`, "asked %q with %v", q.message, q.fields)
		assert.Contains(t, q.message, `2. Delete "a.md"`, "asked %q with %v", q.message, q.fields)
		b.runs(string(e), b.answer(q, accepted), "vault=Work append content=x path=In/a.md", removed)
		if e == modernEra {
			got := b.answer(q, accepted)
			assert.Equal(t, got.Code, "unconfirmed", "used again")
			assert.Equal(t, len(b.ran()), 2, "used again")
		}
	}
}

// A client that fails on a result which asks, or does not end its dialog by itself then, is told of the versions in which
// the server asks by a request.
func TestAClientIsAskedInAVersionThatItTakes(t *testing.T) {
	for client, isTold := range map[string]bool{"copilot-cli": false, "claude-code": false, "codex-mcp-client": true, "somebody": true} {
		b := boothAs{client, policy.AskClient, policy.NoMinAnswer}.open(t, modernEra, formsOnly)
		meta := strings.NewReplacer(`clientCapabilities":{}`, `clientCapabilities":`+b.can, `"name":"c"`,
			fmt.Sprintf(`"name":%q`, client)).Replace(fake.ModernMeta)
		b.Send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
		var told struct{ SupportedVersions []string }
		require.NoError(t, json.Unmarshal(b.Next().Result, &told))
		assert.Equal(t, slices.ContainsFunc(told.SupportedVersions, mcp.IsModernProtocol), isTold,
			"%s: a version without requests of the server is among %v", client, told.SupportedVersions)
		assert.Equal(t, slices.Contains(told.SupportedVersions, "2025-11-25"), true, "%s: the version before it is among %v", client, told.SupportedVersions)
	}
}

// cancel is the message with which a client cancels the request id.
func cancel(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
}
