package bench

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/harness"
)

// pipeWorker is a resident worker with nothing in between.
type pipeWorker struct {
	*harness.Worker
	said []byte // the last part of the last answer
}

func startWorker(b *testing.B, path, vault string) *pipeWorker {
	return &pipeWorker{Worker: harness.StartWorker(b, path, vault)}
}

// call asks one question and reads the answer to its end.
func (w *pipeWorker) call(words []string) {
	if status := w.status(words); status != 0 {
		w.T.Fatalf("%q ended with status %d: %.400s", words, status, w.said)
	}
}

// status is call with an answer of any kind.
func (w *pipeWorker) status(words []string) uint8 {
	return w.Ask(words, func(part []byte) { w.said = append(w.said[:0], part...) })
}

// output is call with the last part of the answer, "" for one without a text.
func (w *pipeWorker) output(words []string) string {
	w.said = w.said[:0]
	w.call(words)
	return string(w.said)
}

// memory returns a line of the status of the worker in KiB.
func (w *pipeWorker) memory(line string) int { return memory(w.PID, line) }
