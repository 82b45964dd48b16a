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

// Request is an unparsed call of a caller.
type Request struct {
	Command string
	// Vault is the name or id of one of the vaults, "" for the default one.
	Vault string
	// Params are the parameters by name; Words are the same as a command line
	// gives them. Only one of the two is set.
	Params allowlist.Params
	Words  []string
	// ExpectHash is the hash that the note must have for a change to be made, "" for any.
	ExpectHash string
	// IdempotencyKey makes sure that a call with side effects is carried out
	// once: the same key and call return the first answer.
	IdempotencyKey string
	// ReadsOnly refuses every call that does more than read, whatever the policy
	// permits: the tool that sent it promises so.
	ReadsOnly bool
	// Fields are those to keep of each row of an answer in JSON, in this order; nil keeps all.
	Fields []string
	// Limit bounds the rows and MaxOutput the bytes of Stdout in one answer; 0 is
	// no bound. With Keep the rest is kept for some minutes, for a request with its cursor.
	Limit, MaxOutput int
	Keep             bool
	// Cursor is that of an earlier answer to the same command: the answer is its next page. The
	// command, its parameters and an unchanged limit can be left out.
	Cursor string
	// Ask asks the user of the client, see [consent.Asker]; nil where that is not possible.
	Ask consent.Asker
	// AtTerminal says that the answer goes to the user's own terminal. Every other answer
	// leaves out how the program could be started without the gateway.
	AtTerminal bool
	// CallPrefix is what a call begins with at that terminal, for examples: the program and its subcommand.
	CallPrefix string
	// Owner says that the owner of the notes sends it, at a terminal or on the page: then undo is
	// possible during a pause, and counts against no limit.
	Owner bool
	// Caller identifies the session, Client is the name that the client gives itself and
	// Surface where the request came from: for the audit log, and for approvals.
	Caller, Client, Surface string
	// Taken is when the request was received, which its time limit counts from; zero
	// is the start of [Gateway.Do].
	Taken time.Time

	// OneSession says that the caller is one session of one client, so that an approval for
	// a folder can last for the session.
	OneSession bool
	// Answers says that the request brings the user's answer to an earlier one.
	Answers bool
	// Shows says that the client shows differences to its user: the result of a change has it.
	Shows bool

	visibility Fingerprint // when the request was begun
	reads      batchReads  // from places of flow rules, by the batch that it is part of
	batch      string      // that it is an operation of, for the journal
	alone      bool        // the batch has the lock of the journal
	planning   *planning   // of the batch, whose operations are planned before they are made; nil for others
}

// undoesForOwner reports whether the request is admitted during a pause and above the limits: the owner
// can always take changes back. The undo of an agent is a change like any other.
func (r Request) undoesForOwner() bool { return r.Owner && allowlist.TakesBack(r.Command) }

// withOneLimit returns the request with one limit: the smaller of the option and the parameter.
// For a command without the parameter it is the option, which cuts the answer into pages; a
// command that prints few rows by default gets it as its parameter.
func (r Request) withOneLimit() Request {
	at := -1
	text := r.Params[limitParam].Text()
	for i, word := range r.Words {
		if value, ok := strings.CutPrefix(word, limitParam+"="); ok {
			at = i
			text = value
			break
		}
	}
	switch allowlist.LimitOf(r.Command) {
	case allowlist.PagedRows:
		rows, err := strconv.Atoi(cmp.Or(text, "0"))
		if err != nil || rows < 1 {
			return r // no limit, or one that Parse refuses
		}
		if r.Limit == 0 || rows < r.Limit {
			r.Limit = rows
		}
		if r.Words != nil {
			r.Words = slices.Delete(slices.Clone(r.Words), at, at+1)
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
