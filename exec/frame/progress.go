// Package progress counts how far a call has come: notes read of those found, operations of
// a batch. A count passes from the embedded program to the gateway as a line on standard
// error, and within the gateway through the context of the call.
//
// A count is only of what the caller may see. It is for display: nothing depends on it, and
// a count that is missing or late is no fault.
package frame

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Count is how far a call has come. The zero Count is nothing known.
type Progress struct {
	Done, Total int // Total is of what is known so far, and may rise
	Of          ProgressKind
}

// Kind says what is counted.
type ProgressKind string

// What is counted.
const (
	FilesRead    ProgressKind = "read"       // files of the vault
	FilesChanged ProgressKind = "changed"    // files of the vault
	Operations   ProgressKind = "operations" // of a batch
)

// String returns the count for people, such as "120 of 3000 files read".
func (c Progress) String() string {
	if c.Of == Operations {
		return fmt.Sprintf("%d of %d operations", c.Done, c.Total)
	}
	return fmt.Sprintf("%d of %d files %s", c.Done, c.Total, c.Of)
}

// mark begins a line of the embedded program with a count. Nothing else that it prints on
// standard error begins so.
const progressMark = "vaultwicket-progress: "

// Line returns the count as the embedded program prints it, with a line break.
func (c Progress) Line() string {
	return fmt.Sprintf("%s%s %d %d\n", progressMark, c.Of, c.Done, c.Total)
}

// maxCount is more files than a vault has.
const maxFiles = 1 << 30

// Parse reads what Line returns, with or without the line break.
func ParseProgress(line string) (c Progress, ok bool) {
	text, marked := strings.CutPrefix(strings.TrimSuffix(line, "\n"), progressMark)
	words := strings.Split(text, " ")
	if !marked || len(words) != 3 {
		return Progress{}, false
	}
	done, err := strconv.ParseUint(words[1], 10, 31)
	if err != nil {
		return Progress{}, false
	}
	total, err := strconv.ParseUint(words[2], 10, 31)
	c = Progress{int(done), int(total), ProgressKind(words[0])}
	ok = err == nil && total <= maxFiles && done <= total && (c.Of == FilesRead || c.Of == FilesChanged)
	if !ok {
		return Progress{}, false
	}
	return c, true
}

type progressKey struct{}

// With has tell called with the counts of a call. It is called from any goroutine, and not
// after the call has returned; nil is nobody.
func WithProgress(ctx context.Context, tell func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

// Of returns who wants to know how far the call of ctx has come. It is never nil.
func ProgressOf(ctx context.Context) (tell func(Progress)) {
	if tell, _ = ctx.Value(progressKey{}).(func(Progress)); tell == nil {
		return func(Progress) {}
	}
	return tell
}
