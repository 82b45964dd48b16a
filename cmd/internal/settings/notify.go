package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/exec"
	"vaultwicket/exec/trust"
	"vaultwicket/gateway/notify"
)

// notifyKeys are the keys of the table "notify" of the file, each with what it means.
var notifyKeys = [][2]string{
	{"ntfy", "URL of a topic of ntfy, such as https://ntfy.sh/a-name-that-nobody-guesses"},
	{"ntfy-token-file", "private file with an access token for the topic (default: none)"},
	{"webhook", "URL that a signed message is posted to"},
	{"webhook-secret-file", "private file with the key of the signatures, at least 16 bytes; needed for webhook"},
	{"command", "list of the absolute path of a program and its arguments; the message is one more argument"},
}

// notify reads the table "notify".
func (r *reading) notify(value any) (c notify.Config) {
	if value == nil {
		return c
	}
	values, ok := value.(map[string]any)
	if !ok {
		r.report([]string{"notify"}, "%q is %s, want a table [notify]", "notify", typeName(value))
		return c
	}
	texts := map[string]*string{"ntfy": &c.Ntfy, "ntfy-token-file": &c.NtfyTokenFile, "webhook": &c.Webhook, "webhook-secret-file": &c.WebhookSecretFile}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		var err error
		switch to := texts[key]; {
		case to != nil:
			if *to, ok = values[key].(string); !ok || *to == "" {
				err = fmt.Errorf("is %s, want %s", typeName(values[key]), wanted[textual])
			}
		case key == "command":
			if c.Command, err = nameList(values[key], "the path of a program and its arguments"); err == nil && len(c.Command) == 0 {
				err = fmt.Errorf("is empty")
			}
		default:
			err = fmt.Errorf("unknown key%s", quote.DidYouMean(key, append(slices.Sorted(maps.Keys(texts)), "command")))
		}
		if err != nil {
			r.report([]string{"notify", key}, "setting %q: %v", "notify."+quote.Short(key), err)
			return notify.Config{}
		}
	}
	if err := c.Check(); err != nil {
		r.report([]string{"notify"}, "[notify]: %v", err)
		return notify.Config{}
	}
	return c
}

func notifySchema() object {
	properties := object{}
	for _, key := range notifyKeys {
		about := object{"type": "string", "minLength": 1, "description": key[1]}
		switch {
		case strings.HasSuffix(key[0], "-file"):
			about["pattern"] = absolutePattern
		case key[0] == "command":
			about = object{"type": "array", "minItems": 1, "description": key[1], "prefixItems": []object{{"type": "string", "pattern": absolutePattern}}, "items": object{"type": "string", "minLength": 1}}
		default:
			about["pattern"] = `^https?://[^?#@]+$`
		}
		properties[key[0]] = about
	}
	return object{
		"type": "object", "description": "how you are told that a question waits", "properties": properties, "additionalProperties": false,
		"dependentRequired": object{"webhook": []string{"webhook-secret-file"}, "webhook-secret-file": []string{"webhook"}, "ntfy-token-file": []string{"ntfy"}},
	}
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
		reason, err := trust.Place(filepath.Clean(c.Command[0]), trust.Surroundings{Vaults: func() []string { return o.VaultFolders(o.Std) }, Home: o.Std.Getenv("HOME")})
		if err != nil {
			reason = err.Error()
		}
		if reason != "" {
			return &UnsafePathError{"bad_request", fmt.Sprintf("[notify]: the program %q %s", c.Command[0], reason), "name a program that only you or the administrator can change"}
		}
	}
	var err error
	if o.Notifier, err = notify.Open(c, exec.OwnersEnvironment(o.Std.Getenv), o.Log); err != nil {
		return &UnsafePathError{"bad_request", "[notify]: " + err.Error(), "correct the table [notify] of the settings file"}
	}
	return nil
}
