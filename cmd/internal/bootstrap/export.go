package bootstrap

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/release"
)

// startExport starts to send the audit log. The exporter is nil if the settings name neither a target nor a key. It
// returns an error if a target file or the command is inside a vault, where an agent may write.
func (o Opened) startExport() (*audit.Exporter, error) {
	if len(o.Export) == 0 && o.Checkpoints == "" {
		return nil, nil
	}
	state, err := settings.StateFolder(o.Std)
	if err != nil {
		return nil, err
	}
	for _, address := range o.Export {
		if file := audit.ExportFileOf(address); file != "" && o.VaultAround(o.Std, file) != "" {
			return nil, &terminal.UsageError{
				Reason: fmt.Sprintf(
					"setting %q: %q is inside the vault %q, where an agent may write",
					"export",
					file,
					o.VaultAround(o.Std, file),
				),
			}
		}
	}
	c := audit.ExportConfig{
		State:   state,
		To:      o.Export,
		Getenv:  o.Std.Getenv,
		Version: release.Version,
		Log:     o.Log,
		Signer:  audit.StateKey(state),
	}
	if o.Checkpoints != "" && o.Checkpoints != settings.SignedByState {
		path, err := filepath.EvalSymlinks(o.Checkpoints)
		reason := ""
		if err != nil {
			reason = err.Error()
		} else {
			reason = o.whyUnsafe(path)
		}
		if reason != "" {
			return nil, &terminal.UsageError{
				Reason: fmt.Sprintf("setting %q: the command %q %s", "checkpoints", o.Checkpoints, reason),
			}
		}
		c.Signer = commandKey(path)
	}
	return audit.StartExport(c)
}

// whyUnsafe returns why an agent or another user could change a program, "" if neither could.
func (o Opened) whyUnsafe(program string) string {
	objection, err := ownerfiles.CheckProgram(
		program,
		ownerfiles.Surroundings{
			Vaults: func() []string { return o.VaultFolders(o.Std) },
			Home:   ownerfiles.Home(runtime.GOOS, o.Std.Getenv),
		},
	)
	if err != nil {
		return err.Error()
	}
	if objection.Remedy != "" {
		return objection.Reason + " (run: " + objection.Remedy + ")"
	}
	return objection.Reason
}

// commandKey is the path of a command that acts as an [audit.Signer], such as one for a hardware token: with the
// argument "public" it prints the public key in base64, and with "sign" the signature of its input.
type commandKey string

const (
	signFor   = 30 * time.Second // a user may have to touch the token
	maxSigned = 4096             // bytes of the output
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

// run runs the command and decodes its output.
func (c commandKey) run(verb, stdin string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), signFor)
	defer cancel()
	result := process.Child{
		Path:  string(c),
		Name:  string(c),
		Args:  []string{verb},
		Env:   os.Environ(),
		Stdin: stdin,
		Keep:  maxSigned,
	}.Run(ctx)
	if result.Kind != process.Exited || result.Exit != 0 {
		return nil, fmt.Errorf("the command %q ended with status %d", string(c), result.Exit)
	}
	text, _ := result.Stdout.Text()
	return base64.StdEncoding.DecodeString(strings.TrimSpace(text))
}
