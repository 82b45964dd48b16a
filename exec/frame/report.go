package frame

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// The codes with which the embedded program fails. Programs rely on them.
const (
	CodeNotFound         = "not_found"
	CodeAlreadyExists    = "already_exists"
	CodeAmbiguous        = "ambiguous"
	CodeConflict         = "conflict"
	CodeAccessDenied     = "access_denied"
	CodeNotConfigured    = "not_configured"
	CodeBadValue         = "bad_value"
	CodeCLIError         = "cli_error"
	CodeNeedsApp         = "needs_app"
	CodeTargetRequired   = "target_required"
	CodeUnconfirmed      = "unconfirmed"
	CodeStateUnavailable = "state_unavailable"
	CodeVaultNotFound    = "vault_not_found"
	CodeTimeout          = "timeout"
	CodeOutputLimit      = "output_limit"
	CodeContentTooLong   = "content_too_long"
)

// HintAppDoesLess is the hint for a change of which the app would make only a part. The gateway
// recognizes it, and has the embedded CLI make the change if it may.
const HintAppDoesLess = "the embedded CLI can make the whole change: the user can set backend to auto"

// HintNotFound is the hint for a note that does not exist, and for a hidden one.
const HintNotFound = "names are case-sensitive; look the name up with files, tags or search"

// Facts are what the embedded program reports about the note of a successful call, so that the
// gateway need not parse the answer.
type Facts struct {
	Path      string  `json:"path"`
	Hash      string  `json:"hash"`                // of the content, "" if the note does not exist
	Before    *string `json:"before,omitempty"`    // hash before the call: nil if nothing was written, "" if the note was created
	Change    string  `json:"change,omitempty"`    // id of the journal entry, "" if nothing was written
	Added     int     `json:"added,omitempty"`     // lines in all files
	Removed   int     `json:"removed,omitempty"`   // lines in all files
	Loses     bool    `json:"loses,omitempty"`     // the change was destructive, whatever its command is
	Overtaken bool    `json:"overtaken,omitempty"` // another program changed the note right after the call
	LineEnds  bool    `json:"lineEnds,omitempty"`  // the text was converted to the line ends of the note
	Image     string  `json:"image,omitempty"`     // media type of an image, "" for none; its bytes are the last line of the answer, in base64
	State     string  `json:"state,omitempty"`     // of the index that the answer depends on, "" if it depends on more
	Closed    string  `json:"closed,omitempty"`    // which notes their own texts close; "" for none
	Unchanged bool    `json:"unchanged,omitempty"` // the state is the one that was asked about, and nothing was answered
	Whole     *Whole  `json:"whole,omitempty"`     // nil unless the answer is the first part of a longer one, which the worker keeps
	Notice    string  `json:"notice,omitempty"`    // a remark: why the answer is empty, or how a query was read; no text of a note
}

// Whole is an answer that a worker keeps, of which it sent the first part.
type Whole struct {
	ID    string `json:"id"` // under which the worker prints it
	Bytes int    `json:"bytes"`
	Rows  int    `json:"rows"`
}

// Failure is what the embedded program reports about a call that failed. The zero Failure is none.
type Failure struct {
	Code   string `json:"code,omitempty"`
	Hint   string `json:"hint,omitempty"`
	Reason string `json:"reason,omitempty"` // the first line of the error text, at most [MaxReason] bytes
}

// MaxReason bounds the reason of a Failure, so that a report stays short.
const MaxReason = 256

// reportMark begins the last line on standard error of the embedded program: the facts or the
// failure as one line of JSON. Standard error never contains text of notes.
const reportMark = "vaultwicket-facts: "

// Line returns the facts as one line without its line break.
func (f Facts) Line() string { return line(f) }

// Line returns the failure as one line without its line break.
func (f Failure) Line() string {
	f.Reason, _, _ = strings.Cut(f.Reason, "\n")
	if n := MaxReason; len(f.Reason) > n {
		for ; n > 0 && !utf8.RuneStart(f.Reason[n]); n-- {
		}
		f.Reason = f.Reason[:n]
	}
	return line(f)
}

func line(report any) string {
	text, err := json.Marshal(report)
	if err != nil {
		return "" // strings always marshal
	}
	return reportMark + string(text)
}

// CutReport separates the report from the end of stderr. If there is none, or it
// cannot be parsed, stderr is returned as it is with zero values.
func CutReport(stderr string) (rest string, facts Facts, failure Failure) {
	lines := strings.TrimRight(stderr, "\r\n")
	start := strings.LastIndexByte(lines, '\n') + 1
	text, found := strings.CutPrefix(lines[start:], reportMark)
	var report struct {
		Facts
		Failure
	}
	if !found || json.Unmarshal([]byte(text), &report) != nil {
		return stderr, Facts{}, Failure{}
	}
	return stderr[:start], report.Facts, report.Failure
}
