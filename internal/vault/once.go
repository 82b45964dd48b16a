package vault

import (
	"io"
	"math"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
)

// AnswerOnce answers the single request on stdin, and returns the exit status. The pipes are used for this request
// only: the answer has no flow control besides the pipe, and the gateway cancels it by ending the process.
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
		reply := answer.Explain(err)
		return reply.Print(stdout)
	}
	var j *job
	if version == protocol.Version {
		j, err = w.onlyJob(in)
	}
	if j == nil || err != nil { // the gateway uses another protocol version
		_ = w.out.write(nil) // send the greeting, which contains our version
		return answer.ExitMisuse
	}
	return w.run(j)
}

// onlyJob reads a request and its input.
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
	j.allow(math.MaxInt64) // no flow control
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
