package bootstrap

import (
	"path/filepath"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
)

// openNotifier opens the notifier that tells the owner about approval requests. It returns an error if an agent could
// read a file with a secret, or if an agent or another user could replace the program.
func (o *Opened) openNotifier() error {
	c := o.Notify
	if o.NotifyIgnored() {
		o.Log.Warn("the table [notify] of the settings file is ignored: the managed settings of this machine say so")
	}
	for _, name := range []string{c.NtfyTokenFile, c.WebhookSecretFile} {
		if vault := o.VaultAround(o.Std, name); name != "" && vault != "" {
			return failure.New(
				failure.CodeBadRequest,
				"move the file out of the vault",
				"[notify]: %q is inside the vault %q, where an agent may read",
				name,
				vault,
			)
		}
	}
	if len(c.Command) > 0 {
		if reason := o.whyUnsafe(filepath.Clean(c.Command[0])); reason != "" {
			return failure.New(
				failure.CodeBadRequest,
				"name a program that only you or the administrator can change",
				"[notify]: the program %q %s",
				c.Command[0],
				reason,
			)
		}
	}
	var err error
	if o.Notifier, err = consent.OpenNotifier(c, exec.OwnersEnvironment(o.Std.Getenv), o.Log); err != nil {
		return failure.New(
			failure.CodeBadRequest,
			"correct the table [notify] of the settings file",
			"[notify]: %v",
			err,
		)
	}
	return nil
}
