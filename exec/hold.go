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

// Hold is the right of one call to keep an answer of more than a few pages in memory. A [Runner] lets a few calls
// keep an answer of up to mediumAnswer, and one call a larger one: several answers of megabytes could exhaust the
// memory of a machine. A program with such an answer waits for the right, up to the time limit of its call, in a
// fair queue: callers that had little recently go first, and a medium answer never waits for a large one.
//
// A caller that keeps the text of an [Outcome] after Run puts a Hold into the context, and
// releases it together with the text.
type Hold struct {
	caller        string
	middle, large *shares.Line // of the Runner

	mu   sync.Mutex
	held *shares.Line // the line in which the Hold has a place, nil if none
}

const (
	mediumAnswer     = 1 << 20 // bytes
	maxMediumAnswers = 4       // at once
)

// Hold returns a Hold for a caller. It is not acquired yet.
func (r *Runner) Hold(caller string) *Hold {
	return &Hold{caller: caller, middle: r.middle, large: r.large}
}

type holdKey struct{}

// WithHold makes the programs of a call keep their large answers under h, one program at a time. The text of the
// previous one must be dropped first.
func WithHold(ctx context.Context, h *Hold) context.Context {
	return context.WithValue(ctx, holdKey{}, h)
}

// Release releases the right if it was acquired.
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

// take waits, until ctx ends, for the right to an answer of size bytes. It returns how many bytes the answer may
// have, which may be fewer.
func (h *Hold) take(ctx context.Context, size int64) (allowed int64) {
	if h == nil {
		return math.MaxInt64 // a program that answers no call, such as a probe
	}
	h.mu.Lock() // the other stream of the program may be waiting too
	defer h.mu.Unlock()
	switch {
	case h.held == h.large:
		return math.MaxInt64
	case size <= mediumAnswer && h.held == h.middle:
		return mediumAnswer
	case size <= mediumAnswer:
		if _, err := h.middle.Acquire(ctx, h.caller); err != nil {
			return 0
		}
		h.held = h.middle
		return mediumAnswer
	}
	_, err := h.large.Acquire(ctx, h.caller)
	if err == nil {
		h.release()
		h.held = h.large
		return math.MaxInt64
	}
	if h.held == h.middle {
		return mediumAnswer
	}
	return 0
}

// underHold returns a context with the Hold of the call, or with a new one if it has none. The answer of an earlier
// program of the same call is released first, so that no call waits while it blocks others.
func (r *Runner) underHold(ctx context.Context) (held context.Context, end func()) {
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

// withhold removes everything from an answer of the app that could name a hidden note. The app does not know the
// access rules: its errors suggest other notes, and its standard error may contain anything. Requested data, and
// messages that only repeat the call, stay.
func (a *attempt) withhold(permit policy.Grant) {
	q := newQuestion(permit, Program{backend: appBackend})
	v := &a.verdict
	wasSilent := v.stdout == "" && v.stderr == ""
	v.stderr = ""
	v.notices = slices.DeleteFunc(v.notices, func(notice string) bool { return notice != q.reply.Empty })
	switch {
	case a.Kind != process.Exited, v.unavailable != nil:
		v.stdout = ""
		v.cut = false
	case v.failure != nil && !wasSilent && !q.repeatsOnlyCall(trimmed(v.stdout)):
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

// Missing returns the answer that the app would give to a call on a note that does not exist. It is used for hidden
// notes. For a call that names no note it returns an Outcome that is zero but for an ExitCode of -1.
func Missing(call allowlist.Call) Outcome {
	for _, named := range call.NamedPaths() {
		text := fmt.Sprintf("Error: File \"%s\" not found.", named.Path)
		return Outcome{
			Stdout:  text + "\n",
			Total:   int64(len(text)) + 1,
			Failure: question{name: call.Name(), reply: call.Reply()}.refusal(text, 0),
		}
	}
	return notRun()
}

// repeatsOnlyCall reports whether text is an error that names nothing but what the call itself names.
func (q question) repeatsOnlyCall(text string) bool {
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

// knownConfirmation returns the first line of a confirmation if all names in it are from the call. Otherwise it
// returns only the fixed words at its start, "" if it has none.
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
