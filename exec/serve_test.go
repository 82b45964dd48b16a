package exec

import (
	"bufio"
	"context"
	"io"
	"testing"
	"time"

	"vaultwicket/policy"
	"vaultwicket/tests/require"
)

// serverRunner returns a Runner whose own binary is a fake server, and the
// permit to start it.
func serverRunner(t *testing.T, do string, exit int) (*Runner, policy.ServerPermit, string) {
	t.Helper()
	permit := everything.Server("/vault")
	path := fake(t, "vaultwicket", script{Parts: []part{{Argv: permit.Args(), Do: do, Exit: exit}}})
	return New(Config{Self: path}), permit, path
}

func TestServe(t *testing.T) {
	r, permit, _ := serverRunner(t, "server", 0)
	p, err := r.Serve(t.Context(), permit)
	require.NoError(t, err)
	if _, err := io.WriteString(p.In, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Out).ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("%q, %v", line, err)
	}
	p.In.Close()
	if rest, err := io.ReadAll(p.Out); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	p.Stop()
}

func TestServeEnds(t *testing.T) {
	t.Run("by Stop", func(t *testing.T) {
		r, permit, path := serverRunner(t, "ignore", 0)
		p, err := r.Serve(t.Context(), permit)
		require.NoError(t, err)
		pid := marked(t, path)
		p.Stop()
		if err := p.Wait(); err != nil || !gone(pid) {
			t.Errorf("%v, gone %v", err, gone(pid))
		}
	})
	t.Run("with its context", func(t *testing.T) {
		r, permit, path := serverRunner(t, "server", 0)
		ctx, cancel := context.WithCancel(t.Context())
		p, err := r.Serve(ctx, permit)
		require.NoError(t, err)
		pid := marked(t, path)
		cancel()
		if err := p.Wait(); err != nil || !gone(pid) {
			t.Errorf("%v, gone %v", err, gone(pid))
		}
	})
	t.Run("with a status", func(t *testing.T) {
		r, permit, _ := serverRunner(t, "", 4)
		p, err := r.Serve(t.Context(), permit)
		require.NoError(t, err)
		if err := p.Wait(); codeOf(err) != CodeCrashed {
			t.Error(err)
		}
	})
	t.Run("by a signal", func(t *testing.T) {
		r, permit, _ := serverRunner(t, "crash", 0)
		p, err := r.Serve(t.Context(), permit)
		require.NoError(t, err)
		if err := p.Wait(); codeOf(err) != CodeCrashed {
			t.Error(err)
		}
	})
	t.Run("before it begins", func(t *testing.T) {
		for _, self := range []string{"relative", "/no/such/program"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if _, err := New(Config{Self: self}).Serve(ctx, everything.Server("/vault")); codeOf(err) != CodeNotFound {
				t.Errorf("%s: %v", self, err)
			}
			cancel()
		}
	})
}
