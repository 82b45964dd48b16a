// Package progress counts how far a call has come: notes read of those found, operations of
// a batch. A count passes from the embedded program to the gateway as a line on standard
// error, and within the gateway through the context of the call.
//
// A count is only of what the caller may see. It is for display: nothing depends on it, and
// a count that is missing or late is no fault.
package progress

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Count is how far a call has come. The zero Count is nothing known.
type Count struct {
	Done, Total int // Total is of what is known so far, and may rise
	Of          Kind
}

// Kind says what is counted.
type Kind string

// What is counted.
const (
	Read       Kind = "read"       // files of the vault
	Changed    Kind = "changed"    // files of the vault
	Operations Kind = "operations" // of a batch
)

// String returns the count for people, such as "120 of 3000 files read".
func (c Count) String() string {
	if c.Of == Operations {
		return fmt.Sprintf("%d of %d operations", c.Done, c.Total)
	}
	return fmt.Sprintf("%d of %d files %s", c.Done, c.Total, c.Of)
}

// mark begins a line of the embedded program with a count. Nothing else that it prints on
// standard error begins so.
const mark = "vaultwicket-progress: "

// Line returns the count as the embedded program prints it, with a line break.
func (c Count) Line() string { return fmt.Sprintf("%s%s %d %d\n", mark, c.Of, c.Done, c.Total) }

// maxCount is more files than a vault has.
const maxCount = 1 << 30

// Parse reads what Line returns, with or without the line break.
func Parse(line string) (c Count, ok bool) {
	text, marked := strings.CutPrefix(strings.TrimSuffix(line, "\n"), mark)
	words := strings.Split(text, " ")
	if !marked || len(words) != 3 {
		return Count{}, false
	}
	done, err := strconv.ParseUint(words[1], 10, 31)
	if err != nil {
		return Count{}, false
	}
	total, err := strconv.ParseUint(words[2], 10, 31)
	c = Count{int(done), int(total), Kind(words[0])}
	ok = err == nil && total <= maxCount && done <= total && (c.Of == Read || c.Of == Changed)
	if !ok {
		return Count{}, false
	}
	return c, true
}

type key struct{}

// With has tell called with the counts of a call. It is called from any goroutine, and not
// after the call has returned; nil is nobody.
func With(ctx context.Context, tell func(Count)) context.Context {
	return context.WithValue(ctx, key{}, tell)
}

// Of returns who wants to know how far the call of ctx has come. It is never nil.
func Of(ctx context.Context) (tell func(Count)) {
	if tell, _ = ctx.Value(key{}).(func(Count)); tell == nil {
		return func(Count) {}
	}
	return tell
}
