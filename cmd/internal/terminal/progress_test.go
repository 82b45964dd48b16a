package terminal

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// recorder is a terminal that remembers what was written.
type recorder struct{ strings.Builder }

func started(out *recorder, width int) *Progress {
	p := &Progress{text: "search is running", hint: "wait"}
	p.begin(out, width)
	return p
}

func TestShortWorkIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out recorder
		p := started(&out, 80)
		time.Sleep(progressInterval - time.Millisecond)
		p.Stop()
		p.Stop()
		time.Sleep(3 * progressInterval)
		assert.Equal(t, out.String(), "")
	})
}

func TestLongWorkHasOneLineThatIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out recorder
		p := started(&out, 80)
		time.Sleep(2*progressInterval + time.Millisecond)
		synctest.Wait()
		want := "\rvaultwicket: search is running (wait), 1 s\rvaultwicket: search is running (wait), 2 s"
		assert.Equal(t, out.String(), want)
		out.Reset()
		p.Count("120 of 3000 files read")
		time.Sleep(progressInterval)
		synctest.Wait()
		want = "\rvaultwicket: search is running, 120 of 3000 files read, 3 s"
		assert.Equal(t, out.String(), want, "with a count")
		out.Reset()
		p.Stop()
		time.Sleep(3 * progressInterval)
		want = "\r" + strings.Repeat(" ", len("vaultwicket: search is running, 120 of 3000 files read, 3 s^C")) + "\r"
		assert.Equal(t, out.String(), want, "at the end")
	})
}

func TestAQuestionIsNotWrittenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out recorder
		p := started(&out, 20)
		time.Sleep(progressInterval + time.Millisecond)
		synctest.Wait()
		resume := p.Pause()
		before := out.String()
		want := "\rvaultwicket: searc…\r" + strings.Repeat(" ", 19) + "\r"
		assert.That(t, before == want, "%q, want %q", before, want)
		time.Sleep(5 * progressInterval)
		synctest.Wait()
		assert.Equal(t, out.String(), before, "while the question is there")
		resume()
		time.Sleep(progressInterval)
		synctest.Wait()
		assert.That(t, strings.HasPrefix(out.String(), before+"\rvaultwicket: "), "after the question: %q", out.String())
		p.Stop()
	})
}

func TestMessagesDoNotRunIntoTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out recorder
		messages := NewMessages(&out)
		_, err := messages.Write([]byte("before\n"))
		require.NoError(t, err)
		assert.Equal(t, out.String(), "before\n")
		p := started(&out, 20)
		messages.progress.Store(p)
		time.Sleep(progressInterval + time.Millisecond)
		synctest.Wait()
		out.Reset()
		require.Value(messages.Write([]byte("vaultwicket: warning: x\n")))(t)
		time.Sleep(progressInterval)
		synctest.Wait()
		want := "\r" + strings.Repeat(" ", 19) + "\rvaultwicket: warning: x\n\rvaultwicket: searc…"
		assert.That(t, out.String() == want, "%q, want %q", out.String(), want)
		p.Stop()
		out.Reset()
		_, err = messages.Write([]byte("after\n"))
		require.NoError(t, err)
		assert.Equal(t, out.String(), "after\n")
	})
}

func TestProgressIsForTerminals(t *testing.T) {
	var out recorder
	p := StartProgress(&out, "search is running", "wait")
	assert.That(t, p.out == nil, "it writes to a stream that is no terminal")
	p.Pause()()
	p.Stop()
	assert.Equal(t, out.String(), "")
}
