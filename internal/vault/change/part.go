package change

import (
	"bytes"
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// changesPartOf reports whether everything that a step changes is within one section, block or line that has
// the hash. Callers know the hash of the part that they have read; what others write elsewhere in the note does
// not matter to them.
func (s Step) changesPartOf(v *call.Vault, hash string) bool {
	if s.IsMove() || !s.Before.Exists || !s.After.Exists || s.Path.Ext() != "md" {
		return false
	}
	before := v.Judged(s.Before.Text).Bytes()
	after := v.Judged(s.After.Text).Bytes()
	changed := changedSpan(before, after)
	isPart := func(part markdown.Span) bool {
		isIn := part.Start <= changed.Start && changed.End <= part.End
		return isIn && answer.Digest(before[part.Start:part.End]) == hash
	}
	scanned := markdown.Scan(before)
	for i := range scanned.Headings {
		if isPart(scanned.Section(i)) {
			return true
		}
	}
	if slices.ContainsFunc(scanned.Blocks, func(b markdown.Block) bool { return isPart(b.Span) }) {
		return true
	}
	// It may also be the line of a task, above or below which the next task is added.
	start := bytes.LastIndexByte(before[:changed.Start], '\n') + 1
	for range 2 {
		end := start + len(before[start:])
		next := len(before)
		if n := bytes.IndexByte(before[start:], '\n'); n >= 0 {
			end = start + n
			next = start + n + 1
		}
		line := before[start:end]
		isWithin := start <= changed.Start && changed.End <= next
		isAfter := changed.Start == next && changed.End == next
		bare := bytes.TrimSuffix(line, []byte("\r"))
		isHash := answer.Digest(bare) == hash || answer.Digest(before[start:next]) == hash
		if isHash && (isWithin || isAfter) {
			return true
		}
		if start == 0 {
			return false
		}
		start = bytes.LastIndexByte(before[:start-1], '\n') + 1
	}
	return false
}

// changedSpan returns the span of before that after replaces: everything between their common prefix and common
// suffix.
func changedSpan(before, after []byte) markdown.Span {
	start := 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	end := 0
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return markdown.Span{Start: start, End: len(before) - end}
}
