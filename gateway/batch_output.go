package gateway

import (
	"fmt"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/failure"
)

const (
	// maxReferred bounds an output that operations of a batch refer to, in bytes. No
	// parameter takes a longer text.
	maxReferred = 1 << 20
	// maxAllReferred bounds all such outputs of a batch, which share it evenly.
	maxAllReferred = 8 << 20
)

// output is what was kept of the output of an operation.
type output struct {
	text  string
	bytes int64 // of all of it
	most  int   // that could be kept
	gap   string
}

// referred keeps the output of an operation that others refer to.
func (r *batchRun) referred(i int, result Result) output {
	if !r.steps[i].wanted {
		return output{}
	}
	o := output{bytes: int64(len(result.raw)), most: r.mostReferred(), gap: result.missingPart}
	if result.Truncated != nil {
		o.bytes = result.Truncated.TotalBytes
	}
	if len(result.raw) <= o.most {
		o.text = strings.Clone(result.raw)
	}
	return o
}

// mostReferred is how long an output may be for operations to refer to it. It
// depends on the batch alone, not on the outputs.
func (p *batchPlan) mostReferred() int {
	wanted := 0
	for _, step := range p.steps {
		if step.wanted {
			wanted++
		}
	}
	return min(maxReferred, maxAllReferred/max(1, wanted))
}

// whole returns an output without its last line break. One that is not whole is not
// used at all.
func (o output) whole(clientID string) (string, error) {
	switch {
	case o.bytes > int64(o.most):
		return "", failure.New(failure.CodeTooLong, fmt.Sprintf("refer to outputs of up to %d bytes in this batch, or read a part of the note", o.most),
			"the output of %q has %d bytes, which is too long to be referred to", quote.Short(clientID), o.bytes)
	case o.gap != "":
		return "", failure.New(failure.CodeBadRequest, "ask for less", "the output of %q is not whole: %s", quote.Short(clientID), o.gap)
	}
	return strings.TrimSuffix(strings.TrimSuffix(o.text, "\n"), "\r"), nil
}
