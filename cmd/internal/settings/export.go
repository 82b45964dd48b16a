package settings

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/notify"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry/export"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/release"
)

// byState is the value of checkpoints for a key in the state folder.
const byState = "state"

// startExport starts to send the audit log, nil where the settings name no target and no key. A
// target or command in a vault is refused: an agent may write there.
func (o Opened) startExport() (*export.Exporter, error) {
	if len(o.Export) == 0 && o.Checkpoints == "" {
		return nil, nil
	}
	state, err := StateFolder(o.Std)
	if err != nil {
		return nil, err
	}
	for _, address := range o.Export {
		if file := export.FileOf(address); file != "" && o.VaultAround(o.Std, file) != "" {
			return nil, &terminal.UsageError{Reason: fmt.Sprintf("setting %q: %q is inside the vault %q, where an agent may write", "export", file, o.VaultAround(o.Std, file))}
		}
	}
	c := export.Config{State: state, To: o.Export, Getenv: o.Std.Getenv, Version: release.Version, Log: o.Log, Signer: audit.StateKey(state)}
	if o.Checkpoints != "" && o.Checkpoints != byState {
		path, err := filepath.EvalSymlinks(o.Checkpoints)
		reason := ""
		if err != nil {
			reason = err.Error()
		} else {
			reason = o.whyUnsafe(path)
		}
		if reason != "" {
			return nil, &terminal.UsageError{Reason: fmt.Sprintf("setting %q: the command %q %s", "checkpoints", o.Checkpoints, reason)}
		}
		c.Signer = commandKey(path)
	}
	return export.Start(c)
}

// whyUnsafe says why an agent or another user could change a program, "" if neither could.
func (o Opened) whyUnsafe(program string) string {
	reason, err := ownerfiles.CheckProgram(program, ownerfiles.Surroundings{Vaults: func() []string { return o.VaultFolders(o.Std) }, Home: o.Std.Getenv("HOME")})
	if err != nil {
		return err.Error()
	}
	return reason
}

// commandKey is the [audit.Signer] of a command, such as one for a hardware token: with the argument
// "public" it prints the public key in base64, and with "sign" the signature of its input.
type commandKey string

const (
	signFor   = 30 * time.Second // a person may have to touch the token
	maxSigned = 4096             // bytes of an answer
)

// Public returns the public key.
func (c commandKey) Public() (ed25519.PublicKey, error) {
	key, err := c.run("public", "")
	if err == nil && len(key) != ed25519.PublicKeySize {
		err = fmt.Errorf("the command %q prints no public key of Ed25519", string(c))
	}
	return key, err
}

// Sign signs a text.
func (c commandKey) Sign(text []byte) ([]byte, error) { return c.run("sign", string(text)) }

func (c commandKey) run(verb, stdin string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), signFor)
	defer cancel()
	end := process.Child{Path: string(c), Name: string(c), Args: []string{verb}, Env: os.Environ(), Stdin: stdin, Keep: maxSigned}.Run(ctx)
	if end.Kind != process.Exited || end.Exit != 0 {
		return nil, fmt.Errorf("the command %q ended with status %d", string(c), end.Exit)
	}
	text, _ := end.Stdout.Text()
	return base64.StdEncoding.DecodeString(strings.TrimSpace(text))
}

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
			return failure.New(failure.CodeBadRequest, "move the file out of the vault", "[notify]: %q is inside the vault %q, where an agent may read", name, vault)
		}
	}
	if len(c.Command) > 0 {
		if reason := o.whyUnsafe(filepath.Clean(c.Command[0])); reason != "" {
			return failure.New(failure.CodeBadRequest, "name a program that only you or the administrator can change", "[notify]: the program %q %s", c.Command[0], reason)
		}
	}
	var err error
	if o.Notifier, err = notify.Open(c, exec.OwnersEnvironment(o.Std.Getenv), o.Log); err != nil {
		return failure.New(failure.CodeBadRequest, "correct the table [notify] of the settings file", "[notify]: %v", err)
	}
	return nil
}
