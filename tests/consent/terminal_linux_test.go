package consent

import (
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A client that shows no forms, or opens no link, is told of the terminal, in both protocols, and the
// yes that is given there is good for the same call of the same server once.
func TestTheTerminalAnswersForAClientThatCannotAsk(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		for _, can := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
			asked := 0
			// A client that is given a link declines to open it.
			unanswered := func(s *session) gateway.Result {
				s.call(deleteIt, "")
				m := s.next()
				if m.Method == "elicitation/create" || m.Result.ResultType == "input_required" {
					asked++
					s.reply(m, deleteIt, `{"action":"decline"}`)
					m = s.next()
				}
				return m.Result.StructuredContent
			}
			o := harness.NewInProcess(t, nil)
			s := openSession(o, modern, can)
			var first gateway.Result
			o.Refusing(can, "unconfirmed", func() string {
				first = unanswered(s)
				return harness.CodeOf(first)
			})
			waiting := o.Waiting()
			if len(waiting) != 1 || strings.Contains(first.Error.Hint+first.Error.Message, waiting[0].Code) {
				t.Fatalf("%d questions wait, and the answer is %+v", len(waiting), first.Error)
			}
			for _, typed := range []string{"no\n", "yes\n"} {
				approve := osexec.Command(harness.Binary, "approve", waiting[0].Code)
				approve.Env = s.Process.Env
				shown, err := harness.AtTerminal(t, approve, typed)
				require.Equal(t, err == nil, typed == "yes\n", "%q at the terminal: %v\n%s", typed, err, shown)
				require.Contains(t, shown, `removes: "Inbox/a.md"`, "%q at the terminal: %v\n%s", typed, err, shown)
			}
			other := openSession(o, modern, can)
			o.Refusing("of another server", "unconfirmed", func() string {
				return harness.CodeOf(unanswered(other))
			})
			s.call(deleteIt, "")
			got := s.next().Result.StructuredContent
			assert.That(t, got.OK, "%s: %+v", can, got)
			assert.Equal(t, o.Read("Inbox/a.md"), "", "%s: %+v", can, got)
			o.Write("Inbox/a.md", "one\n")
			o.Refusing("again", "unconfirmed", func() string {
				return harness.CodeOf(unanswered(s))
			})
			assert.Equal(t, asked > 0, can != `{}`, "%s: it is given a link", can)
		}
	}
}
