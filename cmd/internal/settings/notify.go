package settings

import (
	"errors"
	"fmt"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
)

// notifyKeys returns the keys of the table [notify].
func notifyKeys() []tableKey[consent.NotifyConfig] {
	secretFile := object{"type": "string", "minLength": 1, "pattern": absolutePattern}
	webTarget := object{"type": "string", "minLength": 1, "pattern": `^https?://[^?#@]+$`}
	program := object{
		"type":        "array",
		"minItems":    1,
		"prefixItems": []object{{"type": "string", "pattern": absolutePattern}},
		"items":       object{"type": "string", "minLength": 1},
	}
	return []tableKey[consent.NotifyConfig]{
		{
			"ntfy",
			"URL of a topic of ntfy, such as https://ntfy.sh/a-name-that-nobody-guesses",
			webTarget,
			notifyText(func(c *consent.NotifyConfig) *string { return &c.Ntfy }),
		},
		{
			"ntfy-token-file",
			"private file with an access token for the topic (default: none)",
			secretFile,
			notifyText(func(c *consent.NotifyConfig) *string { return &c.NtfyTokenFile }),
		},
		{
			"webhook",
			"URL that a signed message is posted to",
			webTarget,
			notifyText(func(c *consent.NotifyConfig) *string { return &c.Webhook }),
		},
		{
			"webhook-secret-file",
			"private file with the key of the signatures, at least 16 bytes; needed for webhook",
			secretFile,
			notifyText(func(c *consent.NotifyConfig) *string { return &c.WebhookSecretFile }),
		},
		{
			"command",
			"list of the absolute path of a program and its arguments; the message is one more argument",
			program,
			notifyCommand,
		},
	}
}

// notifyCommand reads the program to start and its arguments.
func notifyCommand(r *reading, c *consent.NotifyConfig, value any, at []string) error {
	command := func(c *consent.NotifyConfig) *[]string { return &c.Command }
	readList := nameList(command, "the path of a program and its arguments")
	if err := readList(r, c, value, at); err != nil {
		return err
	}
	if len(c.Command) == 0 {
		return errors.New("is empty")
	}
	return nil
}

// notifyText returns a reader for a text that must not be empty.
func notifyText(field func(*consent.NotifyConfig) *string) func(*reading, *consent.NotifyConfig, any, []string) error {
	return func(_ *reading, c *consent.NotifyConfig, value any, _ []string) error {
		text, err := asText(value)
		if err != nil {
			return err
		}
		if text == "" {
			return fmt.Errorf("is %s, want %s", typeName(value), wanted[textual])
		}
		*field(c) = text
		return nil
	}
}

// notify reads the table [notify]. The result is zero if there was a problem.
func (r *reading) notify(value any) (c consent.NotifyConfig) {
	if value == nil {
		return c
	}
	values, ok := value.(map[string]any)
	if !ok {
		r.report([]string{"notify"}, "%q is %s, want a table [notify]", "notify", typeName(value))
		return c
	}
	if !readKeys(r, notifyKeys(), &c, values, []string{"notify"}, "setting %q", "notify.", "unknown key") {
		return consent.NotifyConfig{}
	}
	if err := c.Check(); err != nil {
		r.report([]string{"notify"}, "[notify]: %v", err)
		return consent.NotifyConfig{}
	}
	return c
}

// NotifyIgnored reports whether the settings file has a table [notify] that the managed settings of the machine
// disable.
func (f *Flags) NotifyIgnored() bool {
	notify := f.file.notify
	isSet := notify.Ntfy != "" || notify.Webhook != "" || len(notify.Command) > 0
	return isSet && f.bounds.silent
}
