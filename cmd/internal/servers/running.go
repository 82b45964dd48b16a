package servers

import (
	"os"
	"time"

	"vaultwicket/cmd/internal/release"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/gateway/state/private"
)

// register notes in the state folder that this server runs, until end is called. It does
// not keep the first answer waiting, and a server without a place for it serves all the
// same.
func register(o settings.Opened) (end func()) {
	state := private.StateFolder(o.Std.Getenv, "")
	if state == "" || o.VaultAround(o.Std, state) != "" {
		return func() {}
	}
	s := private.Server{
		Session: settings.Session(), PID: os.Getpid(), Since: time.Now().UTC(), Version: release.Version, Transport: "stdio", Vaults: o.Gateway.VaultNames(),
		CallsMinute: o.Limits.Calls, ChangesMinute: o.Limits.Mutations, ChangesHour: o.Limits.MutationsHour,
	}
	if o.HTTP.Addr != "" {
		s.Transport = "http"
	}
	registered := make(chan func(), 1)
	go func() {
		remove, err := private.RegisterServer(private.ServersFolder(state), s)
		if err != nil {
			o.Log.Debug("this server is not in the list of running servers", "error", err.Error())
			remove = func() {}
		}
		registered <- remove
	}()
	return func() { (<-registered)() }
}
