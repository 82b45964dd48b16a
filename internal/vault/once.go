package vault

import (
	"io"
	"math"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
)

// AnswerOnce answers the one request on stdin, and returns the exit status. The pipes belong to that request alone: an answer
// of any length waits for nothing but its reader, and to cancel it is to end the process.
func AnswerOnce(h *call.Host, perform func(Call) protocol.Reply, folder string, stdin io.Reader, stdout io.Writer) int {
	w := &Worker{
		host:       h,
		perform:    perform,
		folder:     folder,
		out:        &outlet{to: stdout},
		exitStatus: make(chan int, 1),
		open:       map[uint32]*job{},
	}
	in := protocol.NewReader(stdin)
	version, err := w.handshake(in)
	if err != nil {
		said := answer.Explain(err)
		return said.Print(stdout)
	}
	var j *job
	if version == protocol.Version {
		j, err = w.onlyJob(in)
	}
	if j == nil || err != nil { // what the gateway sent is no protocol of ours
		_ = w.out.write(nil) // it has gone, or reads in our greeting which one that is
		return answer.ExitMisuse
	}
	return w.run(j)
}

// onlyJob takes a request and its input.
func (w *Worker) onlyJob(in *protocol.Reader) (*job, error) {
	f, err := in.Next()
	if err != nil {
		return nil, err
	}
	q, err := protocol.ParseRequest(f)
	if f.Kind != protocol.KindRequest || err != nil {
		return nil, protocol.Malformedf("kind %d is not a request", f.Kind)
	}
	j := newJob(f.ID, q, w.out)
	j.allow(math.MaxInt64) // nobody tells it that it may send more
	for j.waiting {
		if f, err = in.Next(); err != nil {
			return nil, err
		}
		if f.Kind != protocol.KindInput || f.ID != j.id {
			return nil, protocol.Malformedf("kind %d is not input", f.Kind)
		}
		j.receive(f.Payload)
	}
	return j, nil
}
