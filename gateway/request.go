package gateway

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
)

// Request is a call of a caller that is not parsed yet.
type Request struct {
	Command string
	// Vault is the name or id of one of the vaults, "" for the default one.
	Vault string
	// Params are the parameters by name. Words are the same in the form of a command line. Only one of them is set.
	Params allowlist.Params
	Words  []string
	// ExpectHash is the hash that the note must have for a change to be made, "" for any.
	ExpectHash string
	// IdempotencyKey makes sure that a call with side effects is carried out only once: the same call with the same
	// key returns the first answer.
	IdempotencyKey string
	// ReadsOnly refuses calls that do more than read, even if the policy permits them: the tool that sends the
	// request promises that.
	ReadsOnly bool
	// Fields are the fields to keep of each row of a JSON answer, in this order; nil keeps all.
	Fields []string
	// Limit is the maximum of rows and MaxOutput of bytes of Stdout in one answer; 0 means no limit. With Keep the
	// rest is stored for some minutes, for a request with its cursor.
	Limit, MaxOutput int
	Keep             bool
	// Cursor is the cursor of an earlier answer to the same command: the answer is its next page. The command, its
	// parameters and an unchanged limit can be left out.
	Cursor string
	// Ask asks the user of the client, see [consent.Asker]; nil if that is not possible.
	Ask consent.Asker
	// AtTerminal means that the answer goes to the user's own terminal. Other answers do not tell how to start the
	// program without the gateway.
	AtTerminal bool
	// CallPrefix is how a call begins at that terminal, for examples: the program and its subcommand.
	CallPrefix string
	// Owner means that the owner of the notes sends the request, at a terminal or on the page. Then undo is possible
	// during a pause, and does not count against any limit.
	Owner bool
	// Caller identifies the session. Client is the name that the client gives itself, and Surface is where the
	// request came from. They are for the audit log and for approvals.
	Caller, Client, Surface string
	// Taken is when the request was received, from which its time limit counts; zero means the start of [Gateway.Do].
	Taken time.Time

	// OneSession means that the caller is one session of one client, so that an approval for a folder can last for
	// the session.
	OneSession bool
	// Answers means that the request carries the user's answer to an earlier one.
	Answers bool
	// Shows means that the client shows differences to its user: the result of a change then has the difference.
	Shows bool

	visibility Fingerprint // what hid notes when the request began
	reads      batchReads  // what the batch of the request read under flow rules
	batch      string      // id of the batch that the request belongs to, for the journal
	alone      bool        // the batch holds the lock of the journal
	planning   *planning   // of the batch, if its operations are planned before they are made; otherwise nil
}

// undoesForOwner reports whether the request is admitted even during a pause and above the limits, because the owner
// must always be able to undo changes. An undo by an agent is a change like any other.
func (r Request) undoesForOwner() bool { return r.Owner && allowlist.TakesBack(r.Command) }

// withOneLimit returns the request with a single limit: the smaller one of the option and the parameter. If the
// command does not have the parameter, the option cuts its answer into pages. A command that prints few rows by
// default gets the option as its parameter.
func (r Request) withOneLimit() Request {
	i := -1
	text := r.Params[limitParam].Text()
	for j, word := range r.Words {
		if value, ok := strings.CutPrefix(word, limitParam+"="); ok {
			i = j
			text = value
			break
		}
	}
	switch allowlist.LimitOf(r.Command) {
	case allowlist.PagedRows:
		rows, err := strconv.Atoi(cmp.Or(text, "0"))
		if err != nil || rows < 1 {
			return r // no limit, or one that Parse will refuse
		}
		if r.Limit == 0 || rows < r.Limit {
			r.Limit = rows
		}
		if r.Words != nil {
			r.Words = slices.Delete(slices.Clone(r.Words), i, i+1)
		}
		r.Params = maps.Clone(r.Params)
		delete(r.Params, limitParam)
	case allowlist.FewRows:
		if text != "" || r.Limit < 1 || r.Cursor != "" {
			return r
		}
		if r.Words != nil {
			r.Words = append(slices.Clone(r.Words), limitParam+"="+strconv.Itoa(r.Limit))
			return r
		}
		r.Params = maps.Clone(r.Params)
		if r.Params == nil {
			r.Params = allowlist.Params{}
		}
		r.Params[limitParam] = allowlist.Number(strconv.Itoa(r.Limit))
	}
	return r
}

const limitParam = "limit"

func (r Request) parse() (allowlist.Call, error) {
	if r.Words != nil {
		return allowlist.ParseWords(r.Command, r.Words)
	}
	return allowlist.Parse(r.Command, r.Params)
}

// Reference names a field of the result of an earlier operation.
type Reference struct{ ClientID, Field string }
