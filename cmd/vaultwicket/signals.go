package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that ends with the first SIGINT or SIGTERM, so
// that children are stopped and answers are written. The second one ends the
// program at once; the children then end with it (see package exec).
func untilSignal(parent context.Context, log io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-caught:
		}
		cancel()
		s := <-caught
		fmt.Fprintln(log, "vaultwicket: stopped immediately by the second signal")
		os.Exit(128 + number(s))
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel()
	}
}

func number(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return 1
}
