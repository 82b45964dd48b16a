package gateway

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// BatchResult is the answer to a batch.
type BatchResult struct {
	OK bool `json:"ok"` // all operations succeeded
	// Results are in the order of the operations. It is empty if the batch was refused; then Error and ClientID say
	// why and for which operation.
	Results    []OperationResult `json:"results"`
	Summary    Summary           `json:"summary"`
	DurationMs int64             `json:"durationMs"`
	Notices    []string          `json:"notices,omitempty"`
	ClientID   string            `json:"clientId,omitempty"`
	Command    string            `json:"command,omitempty"` // the command of that operation
	Error      *failure.Error    `json:"error,omitempty"`
}

// OperationResult is the result of one operation.
type OperationResult struct {
	ClientID string `json:"clientId"`
	Command  string `json:"command"`
	Status   string `json:"status"` // ok, error or skipped
	// Undone tells for an operation of a failed atomic batch whether it was undone, nil if there was nothing to undo.
	Undone *bool   `json:"undone,omitempty"`
	Notice string  `json:"notice,omitempty"` // why it was skipped or not undone
	Result *Answer `json:"result,omitempty"`
}

// Answer is a [Result] without the fields that duplicate those of the operation.
type Answer struct {
	Stdout      string         `json:"stdout"`
	Stderr      string         `json:"stderr,omitempty"`
	ExitCode    int            `json:"exitCode"`
	Backend     string         `json:"backend,omitempty"`
	Vault       string         `json:"vault,omitempty"`
	Path        string         `json:"path,omitempty"`
	Hash        string         `json:"hash,omitempty"`
	SectionHash string         `json:"sectionHash,omitempty"`
	Truncated   *Truncated     `json:"truncated,omitempty"`
	Notices     []string       `json:"notices,omitempty"`
	Unread      int            `json:"unread,omitempty"` // see [Result]
	Change      *Change        `json:"change,omitempty"`
	Error       *failure.Error `json:"error,omitempty"`

	Image      *Image         `json:"-"` // see [Result]
	Difference []consent.Line `json:"-"`
	command    string
}

// Summary counts the operations by their status, and those that were or were not undone.
type Summary struct {
	OK        int `json:"ok"`
	Error     int `json:"error"`
	Skipped   int `json:"skipped"`
	Undone    int `json:"undone,omitempty"`
	NotUndone int `json:"notUndone,omitempty"`
}

// RejectBatch returns the result of a batch that was not started, see [Reject]. clientID is the operation that the
// error is about, "" for the batch.
func RejectBatch(clientID string, err error) BatchResult {
	cause := failure.Of(err)
	if clientID != "" {
		cause.Message = fmt.Sprintf("operation %q: %s", excerpt.Short(clientID), cause.Message)
	}
	return BatchResult{Results: []OperationResult{}, ClientID: excerpt.Short(clientID), Error: cause}
}

// count sets OK and the summary from the results.
func (r *BatchResult) count() {
	r.Summary = Summary{}
	for _, done := range r.Results {
		switch done.Status {
		case statusOK:
			r.Summary.OK++
		case statusError:
			r.Summary.Error++
		default:
			r.Summary.Skipped++
		}
		switch {
		case done.Undone == nil:
		case *done.Undone:
			r.Summary.Undone++
		default:
			r.Summary.NotUndone++
		}
	}
	r.OK = r.Summary.OK == len(r.Results)
}

// failure returns the first error of the batch or of its operations, nil if there is none.
func (r BatchResult) failure() *failure.Error {
	if r.Error != nil {
		return r.Error
	}
	for _, done := range r.Results {
		if done.Result != nil && done.Result.Error != nil {
			return done.Result.Error
		}
	}
	return nil
}

// answer returns the result without what [OperationResult] has already.
func (r Result) answer() *Answer {
	return &Answer{
		Stdout:      r.Stdout,
		Stderr:      r.Stderr,
		ExitCode:    r.ExitCode,
		Backend:     r.Backend,
		Vault:       r.Vault,
		Path:        r.Path,
		Hash:        r.Hash,
		SectionHash: r.SectionHash,
		Truncated:   r.Truncated,
		Notices:     r.Notices,
		Unread:      r.Unread,
		Change:      r.Change,
		Error:       r.Error,
		Image:       r.Image,
		Difference:  r.Difference,
		command:     r.Command,
	}
}

// Failures returns the codes of all errors, of the batch and of its operations.
func (r BatchResult) Failures() []string {
	var codes []string
	if r.Error != nil {
		codes = append(codes, r.Error.Code)
	}
	for _, done := range r.Results {
		if done.Result != nil && done.Result.Error != nil {
			codes = append(codes, cmp.Or(done.Result.Error.Code, failure.CodeInternal))
		}
	}
	return codes
}

const (
	// maxReferred is the maximum size in bytes of an output that other operations refer to. No parameter accepts
	// a longer text.
	maxReferred = 1 << 20
	// maxAllReferred is the maximum size of all such outputs of a batch, which share it evenly.
	maxAllReferred = 8 << 20
)

// output is what is kept of the output of an operation for others.
type output struct {
	text  string
	bytes int64  // size of the complete output
	most  int    // maximum size that is kept
	gap   string // which part is missing, "" if the output is complete
}

// referred returns the output of operation i for the operations that refer to it.
func (r *batchRun) referred(i int, result Result) output {
	if !r.steps[i].outputWanted {
		return output{}
	}
	wanted := 0
	for _, step := range r.steps {
		if step.outputWanted {
			wanted++
		}
	}
	o := output{bytes: int64(len(result.raw)), most: min(maxReferred, maxAllReferred/wanted), gap: result.missingPart}
	if result.Truncated != nil {
		o.bytes = result.Truncated.TotalBytes
	}
	if len(result.raw) <= o.most {
		o.text = strings.Clone(result.raw)
	}
	return o
}

// WhyNotMade returns one error that says why nothing of an atomic batch was made, nil if it was made.
func (r BatchResult) WhyNotMade() *failure.Error {
	if r.OK {
		return nil
	}
	if r.Error != nil {
		return r.Error
	}
	for _, done := range r.Results {
		if done.Result != nil && done.Result.Error != nil {
			cause := *done.Result.Error
			cause.Message = fmt.Sprintf("nothing was changed: operation %q: %s", excerpt.Short(done.ClientID), cause.Message)
			return &cause
		}
	}
	return &failure.Error{Code: failure.CodeNotApplied, Message: "nothing was changed"}
}
