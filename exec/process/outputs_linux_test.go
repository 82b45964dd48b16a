package process

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// eachWayOfReading runs a test with outputs that are polled and with outputs that os/exec copies.
func eachWayOfReading(t *testing.T, test func(t *testing.T)) {
	for name, hasHandles := range map[string]bool{"polled": true, "copied": false} {
		t.Run(name, func(t *testing.T) {
			before := processesHaveHandles
			if hasHandles && !before() {
				t.Skip("this system has no handles of processes")
			}
			processesHaveHandles = func() bool { return hasHandles }
			t.Cleanup(func() { processesHaveHandles = before })
			test(t)
		})
	}
}

// shell returns a child that runs a script.
func shell(script string, args ...string) Child {
	return Child{Path: "/bin/sh", Name: "sh", Args: append([]string{"-c", script}, args...), Env: os.Environ(), Keep: 1 << 20}
}

func TestBothStreamsAndTheStatusAreRead(t *testing.T) {
	eachWayOfReading(t, func(t *testing.T) {
		e := shell(`echo out; echo err >&2; exit 3`).Run(t.Context())
		stdout, _ := e.Stdout.Text()
		stderr, _ := e.Stderr.Text()
		assert.Equal(t, stdout, "out\n", "standard output")
		assert.Equal(t, stderr, "err\n", "standard error")
		assert.Equal(t, e.Kind, Exited, "kind")
		assert.Equal(t, e.Exit, 3, "status")
		assert.Equal(t, e.Held, false, "held")
	})
}

// Both streams are longer than their pipes: a reader of one after the other would wait for ever.
func TestLongOutputOnBothStreamsIsWhole(t *testing.T) {
	const script = `i=0; while [ $i -lt 20000 ]; do echo "line $i of the output"; echo "line $i of the errors" >&2; i=$((i+1)); done`
	eachWayOfReading(t, func(t *testing.T) {
		e := shell(script).Run(t.Context())
		stdout, _ := e.Stdout.Text()
		stderr, _ := e.Stderr.Text()
		assert.Equal(t, strings.Count(stdout, "\n"), 20000, "lines of standard output")
		assert.Equal(t, strings.Count(stderr, "\n"), 20000, "lines of standard error")
		assert.That(t, strings.HasSuffix(stdout, "line 19999 of the output\n"), "the end of standard output is lost")
	})
}

func TestAChildMayCloseItsStreamsAndRunOn(t *testing.T) {
	eachWayOfReading(t, func(t *testing.T) {
		e := shell(`echo out; exec >&- 2>&-; sleep 0.2; exit 5`).Run(t.Context())
		stdout, _ := e.Stdout.Text()
		assert.Equal(t, stdout, "out\n", "standard output")
		assert.Equal(t, e.Exit, 5, "status")
	})
}

func TestInputReachesTheChild(t *testing.T) {
	eachWayOfReading(t, func(t *testing.T) {
		c := shell(`cat`)
		c.Stdin = strings.Repeat("a line of the input\n", 20000)
		e := c.Run(t.Context())
		stdout, _ := e.Stdout.Text()
		assert.That(t, stdout == c.Stdin, "%d bytes of %d came back", len(stdout), len(c.Stdin))
	})
}

// A grandchild has the pipes open after the end of the child. What it writes does not extend the grace.
func TestHeldPipesAreGivenUp(t *testing.T) {
	scripts := map[string]string{
		"silent":  `sleep 60 & echo $! >"$0"; echo out`,
		"talking": `(while :; do echo more; done) & echo $! >"$0"; echo out`,
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			eachWayOfReading(t, func(t *testing.T) {
				file := t.TempDir() + "/pid"
				defer shell(`kill -9 $(cat "$0")`, file).Run(context.Background())
				e := shell(script, file).Run(t.Context())
				stdout, _ := e.Stdout.Text()
				assert.That(t, strings.Contains(stdout, "out\n"), "%.40q", stdout)
				assert.Equal(t, e.Held, true, "held")
				assert.Equal(t, e.Kind, Exited, "kind")
			})
		})
	}
}

func TestAChildEndsWithItsContext(t *testing.T) {
	scripts := map[string]string{
		"when it is asked": `exec sleep 60`,
		"when it must":     `trap "" TERM; while :; do sleep 60; done`,
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			eachWayOfReading(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(50*time.Millisecond, cancel) // before the end of the script, however busy the machine is
				e := shell(script).Run(ctx)
				assert.Equal(t, e.Kind, Stopped, "kind")
				assert.Equal(t, e.Cause, context.Canceled, "cause")
			})
		})
	}
}

func TestAChildDoesNotStartAfterTheEndOfItsContext(t *testing.T) {
	eachWayOfReading(t, func(t *testing.T) {
		file := t.TempDir() + "/started"
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e := shell(`: >"$0"`, file).Run(ctx)
		assert.Equal(t, e.Kind, Stopped, "kind")
		assert.Equal(t, e.Started, false, "started")
		_, err := os.Stat(file)
		assert.That(t, os.IsNotExist(err), "the script ran: %v", err)
	})
}

func TestNoDescriptorIsLeft(t *testing.T) {
	count := func() int { return len(require.Value(os.ReadDir("/proc/self/fd"))(t)) }
	eachWayOfReading(t, func(t *testing.T) {
		missing := shell(``)
		missing.Path = "/nowhere"
		shell(`echo out`).Run(t.Context())
		before := count()
		for range 10 {
			shell(`echo out; echo err >&2`).Run(t.Context())
			missing.Run(t.Context())
		}
		assert.Equal(t, count(), before, "open descriptors")
	})
}
