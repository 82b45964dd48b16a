package settings

import (
	"errors"
	"fmt"
	"path/filepath"

	"vaultwicket/exec"
	"vaultwicket/gateway/notify"
)

func notifyKeys() []tableKey[notify.Config] {
	secretFile := object{"type": "string", "minLength": 1, "pattern": absolutePattern}
	webTarget := object{"type": "string", "minLength": 1, "pattern": `^https?://[^?#@]+$`}
	oneProgram := object{"type": "array", "minItems": 1, "prefixItems": []object{{"type": "string", "pattern": absolutePattern}}, "items": object{"type": "string", "minLength": 1}}
	return []tableKey[notify.Config]{
		{"ntfy", "URL of a topic of ntfy, such as https://ntfy.sh/a-name-that-nobody-guesses", webTarget, notifyText(func(c *notify.Config) *string { return &c.Ntfy })},
		{"ntfy-token-file", "private file with an access token for the topic (default: none)", secretFile, notifyText(func(c *notify.Config) *string { return &c.NtfyTokenFile })},
		{"webhook", "URL that a signed message is posted to", webTarget, notifyText(func(c *notify.Config) *string { return &c.Webhook })},
		{"webhook-secret-file", "private file with the key of the signatures, at least 16 bytes; needed for webhook", secretFile, notifyText(func(c *notify.Config) *string { return &c.WebhookSecretFile })},
		{"command", "list of the absolute path of a program and its arguments; the message is one more argument", oneProgram, func(r *reading, c *notify.Config, value any, at []string) error {
			err := nameList(func(c *notify.Config) *[]string { return &c.Command }, "the path of a program and its arguments")(r, c, value, at)
			if err == nil && len(c.Command) == 0 {
				err = errors.New("is empty")
			}
			return err
		}},
	}
}

func notifyText(to func(*notify.Config) *string) func(*reading, *notify.Config, any, []string) error {
	return func(_ *reading, c *notify.Config, value any, _ []string) (err error) {
		if *to(c), err = oneText(value); err == nil && *to(c) == "" {
			err = fmt.Errorf("is %s, want %s", typeName(value), wanted[textual])
		}
		return err
	}
}

func (r *reading) notify(value any) (c notify.Config) {
	if value == nil {
		return c
	}
	values, ok := value.(map[string]any)
	if !ok {
		r.report([]string{"notify"}, "%q is %s, want a table [notify]", "notify", typeName(value))
		return c
	}
	if !readKeys(r, notifyKeys(), &c, values, []string{"notify"}, "setting %q", "notify.", "unknown key") {
		return notify.Config{}
	}
	if err := c.Check(); err != nil {
		r.report([]string{"notify"}, "[notify]: %v", err)
		return notify.Config{}
	}
	return c
}

// openNotifier opens what tells the owner of questions. A program, or a file with a secret, that
// an agent or another user could write is refused.
func (o *Opened) openNotifier() error {
	c := o.Notify
	if f := o.file.notify; o.bounds.silent && (f.Ntfy != "" || f.Webhook != "" || len(f.Command) > 0) {
		o.Log.Warn("the table [notify] of the settings file is ignored: the managed settings of this machine say so")
	}
	for _, name := range []string{c.NtfyTokenFile, c.WebhookSecretFile} {
		if vault := o.VaultAround(o.Std, name); name != "" && vault != "" {
			return &UnsafePathError{"bad_request", fmt.Sprintf("[notify]: %q is inside the vault %q, where an agent may read", name, vault), "move the file out of the vault"}
		}
	}
	if len(c.Command) > 0 {
		if reason := o.whyUnsafe(filepath.Clean(c.Command[0])); reason != "" {
			return &UnsafePathError{"bad_request", fmt.Sprintf("[notify]: the program %q %s", c.Command[0], reason), "name a program that only you or the administrator can change"}
		}
	}
	var err error
	if o.Notifier, err = notify.Open(c, exec.OwnersEnvironment(o.Std.Getenv), o.Log); err != nil {
		return &UnsafePathError{"bad_request", "[notify]: " + err.Error(), "correct the table [notify] of the settings file"}
	}
	return nil
}
