package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"vaultwicket/cmd/internal/release"
	"vaultwicket/gateway/mcpserver"
)

// serveGrace is added to the time limit of a call for the calls that are open
// when the client closes our input: the last of them may just have started.
const serveGrace = 2 * time.Second

// serve is "vaultwicket serve": MCP on standard input and output.
func serve(ctx context.Context, std streams, args []string) error {
	var own serveFlags
	o, err := open("serve", std, args, own.add)
	if err != nil {
		return err
	}
	defer o.runner.Close()
	if len(o.rest) > 0 {
		return &wrongUse{reason: fmt.Sprintf("serve takes no %q", clip(o.rest[0])), hint: `"vaultwicket help serve" shows the flags`}
	}
	ctx, free, err := withParent(ctx, own.parent, o.log)
	if err != nil {
		return err
	}
	defer free()
	defer o.reloads(ctx, std)()
	// With SIGPIPE watched, a closed output is an error of the write and the
	// server ends in order; it would be killed in the middle of it otherwise.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	err = mcpserver.ServeStdio(ctx, mcpserver.Config{
		Gateway: o.gateway, Version: release.Version, MaxOutput: o.maxOutput, MarkUntrusted: o.marks, Grace: o.timeout + serveGrace, Log: o.log,
	}, ownInput(std.in), std.out)
	if errors.Is(err, context.Canceled) {
		return nil // a signal is the ordinary way to end a server
	}
	return o.told(err)
}

// serveFlags are the flags of serve that are no settings.
type serveFlags struct{ parent parentPID }

func (s *serveFlags) add(f *flags) {
	stay(f)
	f.observed = true
	f.Var(&s.parent, "parent-pid", "end when this process is gone; for programs that start the server")
}
