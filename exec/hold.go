package exec

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Hold is the right of one call to have an answer in memory that is more than a few pages. A [Runner] lets a few calls have
// one of up to middleAnswer, and one call a larger one: a few answers of megabytes could fill the memory of a machine. A
// program with such an answer waits for it, up to the time limit of its call, in the line of its caller: who has had little
// lately goes first, and nobody's answer of some pages waits for a large one.
//
// A caller that keeps the text of an [Outcome] after Run puts a Hold into the context, and
// releases it with the text.
type Hold struct {
	caller        string
	middle, large *shares.Line // of the Runner

	mu   sync.Mutex
	held *shares.Line // in which it has a place, nil for none
}

const (
	middleAnswer  = 1 << 20 // bytes
	middleAnswers = 4       // at once
)

// Hold returns a Hold of a caller that is not held yet.
func (r *Runner) Hold(caller string) *Hold {
	return &Hold{caller: caller, middle: r.middle, large: r.large}
}

type holdKey struct{}

// WithHold has the programs of a call keep their large answer under h, one program at a time;
// the text of the one before must be dropped.
func WithHold(ctx context.Context, h *Hold) context.Context {
	return context.WithValue(ctx, holdKey{}, h)
}

// Release returns the right, if it is held.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release()
}

func (h *Hold) release() {
	if h.held != nil {
		h.held.Release(h.caller)
		h.held = nil
	}
}

// take waits as long as ctx lasts for the right to an answer that has so many bytes, or will have. It returns how many it may
// have then, which may be fewer.
func (h *Hold) take(ctx context.Context, size int64) (allowed int64) {
	if h == nil {
		return math.MaxInt64 // a program that answers no call, such as a probe
	}
	h.mu.Lock() // the other stream of the program may be waiting
	defer h.mu.Unlock()
	switch {
	case h.held == h.large:
		return math.MaxInt64
	case size <= middleAnswer && h.held == h.middle:
		return middleAnswer
	case size <= middleAnswer:
		if _, err := h.middle.Acquire(ctx, h.caller); err != nil {
			return 0
		}
		h.held = h.middle
		return middleAnswer
	}
	_, err := h.large.Acquire(ctx, h.caller)
	if err == nil {
		h.release()
		h.held = h.large
		return math.MaxInt64
	}
	if h.held == h.middle {
		return middleAnswer
	}
	return 0
}

// holding runs a program under the Hold of its call, or a new one. The answer of an earlier
// program of the same call is released first, so that no call waits while it blocks others.
func (r *Runner) holding(ctx context.Context) (held context.Context, end func()) {
	if h := holdOf(ctx); h != nil {
		h.Release()
		return ctx, func() {}
	}
	h := r.Hold("")
	return WithHold(ctx, h), h.Release
}

func holdOf(ctx context.Context) *Hold {
	h, _ := ctx.Value(holdKey{}).(*Hold)
	return h
}

// withhold removes everything from an answer of the app that could name a hidden note. The app
// does not know the rules: its errors suggest other notes, and anything can be on its standard
// error. The requested data and sentences that only repeat the call stay.
func (a *attempt) withhold(permit policy.Grant) {
	q := questionOf(permit, Program{backend: appBackend})
	v := &a.verdict
	saysNothing := v.stdout == "" && v.stderr == ""
	v.stderr = ""
	v.notices = slices.DeleteFunc(v.notices, func(notice string) bool { return notice != q.reply.Empty })
	switch {
	case a.Kind != process.Exited, v.unavailable != nil:
		v.stdout = ""
		v.cut = false
	case v.failure != nil && !saysNothing && !q.isKnownRefusal(trimmed(v.stdout)):
		v.stdout = ""
		v.cut = false
		v.failure = &Failure{
			fact: fact{
				code:   v.failure.code,
				hint:   v.failure.hint,
				reason: fmt.Sprintf("the Obsidian app answered command %q with an error, or not as it should", q.name),
			},
			text: v.failure.text,
		}
	case v.failure == nil && q.reply.Kind == allowlist.Confirmation:
		v.stdout = q.knownConfirmation(firstLine(v.stdout))
	}
}

// Missing is the answer of the app to a call on a note that does not exist, for a hidden note.
// Its ExitCode is -1 and the rest zero for a call that names none.
func Missing(call allowlist.Call) Outcome {
	for _, s := range call.NamedPaths() {
		text := fmt.Sprintf("Error: File \"%s\" not found.", s.Path)
		return Outcome{
			Stdout:  text + "\n",
			Total:   int64(len(text)) + 1,
			Failure: question{name: call.Name(), reply: call.Reply()}.refusal(text, 0),
		}
	}
	return notRun()
}

// isKnownRefusal reports whether text is an error that repeats nothing but what the call itself names.
func (q question) isKnownRefusal(text string) bool {
	switch text {
	case textNoActiveFile,
		textNoTemplates,
		"Error: Destination file already exists!",
		"Error: File is not a markdown file.",
		"Error: Invalid date format. Use YYYY-MM-DD":
		return true
	}
	rest, isError := strings.CutPrefix(text, prefixError)
	what, rest, quoted := strings.Cut(rest, ` "`)
	if !isError || !quoted || !isWord(what) {
		return false
	}
	return slices.ContainsFunc(q.values, func(value string) bool {
		return rest == value+`" not found.` || rest == value+`" already exists.`
	})
}

// knownConfirmation returns a confirmation with names from the call only, of another its first words.
func (q question) knownConfirmation(line string) string {
	for _, prefix := range q.reply.Confirms {
		rest, ok := strings.CutPrefix(line, prefix)
		if !ok {
			continue
		}
		for _, value := range q.values {
			if rest == value || rest == value+".md" || strings.HasPrefix(rest, value+": ") {
				return line + "\n"
			}
		}
		return strings.TrimRight(prefix, ": ") + "\n"
	}
	return ""
}
