package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/mcpserver"
	"vaultwicket/gateway/mcpserver/streamable"
	"vaultwicket/gateway/state/private"
)

// tokenVariable contains the bearer token, for environments such as containers, where a file is
// inconvenient.
const tokenVariable = "VAULTWICKET_TOKEN"

// tokenName is the file of the token in the state folder.
const tokenName = "token"

// serveHTTP serves MCP at the address of the settings.
func serveHTTP(ctx context.Context, o settings.Opened, c mcpserver.Config) error {
	if err := outsideVaults(o, "tls-key", o.HTTP.Key); err != nil {
		return err
	}
	token, from, err := tokenOf(o)
	if err != nil {
		return err
	}
	passed, err := passedListener(o.Std.Getenv, os.Getpid())
	if err != nil {
		return err
	}
	config := streamable.Config{
		Addr: o.HTTP.Addr, Listener: passed, TLSCert: o.HTTP.Cert, TLSKey: o.HTTP.Key, Origins: o.HTTP.Origins, Hosts: o.HTTP.Hosts,
		Token: token, MaxSessions: o.HTTP.MaxSessions,
	}
	if o.Metrics != nil {
		var sessions atomic.Int64
		config.Opened, config.Ended = func(string) { sessions.Add(1) }, func(string) { sessions.Add(-1) }
		o.Follow(func() int { return int(sessions.Load()) })
		config.Metrics = o.Metrics.WritePrometheus
	}
	c.AgentOf = agentGateways(o)
	return mcpserver.ServeHTTP(ctx, c, config, func(url string) {
		if o.LogJSON {
			o.Log.Info("serving", "url", url, "token", from)
			return
		}
		fmt.Fprintf(o.Std.Err, "vaultwicket: serving %s, the token is in %s\n", url, from)
	})
}

// tokenOf returns the bearer token and where it comes from. It creates the token file if it is
// missing.
func tokenOf(o settings.Opened) (token, from string, err error) {
	if text := o.Std.Getenv(tokenVariable); text != "" {
		if o.HTTP.TokenFile != "" {
			return "", "", &terminal.UsageError{Reason: fmt.Sprintf("the setting %q and the environment %q both give a token", "token-file", tokenVariable), Advice: "leave one of the two out"}
		}
		if reason := streamable.Weakness(text); reason != "" {
			return "", "", &terminal.UsageError{Reason: fmt.Sprintf("environment %q: the token %s", tokenVariable, reason), Advice: "use 32 random bytes, such as the token file that vaultwicket creates"}
		}
		return text, "the environment " + tokenVariable, nil
	}
	file := o.HTTP.TokenFile
	if file == "" {
		state := private.StateFolder(o.Std.Getenv, "")
		if state == "" {
			return "", "", &terminal.UsageError{Reason: "no location for the HTTP token", Advice: "set --token-file"}
		}
		if !private.EnsureFolder(state) {
			return "", "", fmt.Errorf("state folder %q: %s", state, cmp.Or(private.WhyUnsafe(state), "cannot be made"))
		}
		file = filepath.Join(state, tokenName)
	}
	if err := outsideVaults(o, "token-file", file); err != nil {
		return "", "", err
	}
	token, _, err = streamable.Token(file)
	return token, terminal.Visible(file), err
}

// outsideVaults refuses a secret file, "" for none, that an agent could read.
func outsideVaults(o settings.Opened, setting, file string) error {
	if file == "" {
		return nil
	}
	vault := o.VaultAround(o.Std, file)
	if vault == "" {
		return nil
	}
	return &terminal.UsageError{Reason: fmt.Sprintf("%s %q is inside the vault %q, where an agent may read", setting, file, vault), Advice: "move it out of the vault"}
}

// endedServer returns the error of a server, nil after a signal, which is the ordinary end.
func endedServer(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
