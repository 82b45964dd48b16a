package harness

import (
	"bytes"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// Program is a vault, a home and a file of settings, and the program on them in all the
// ways in which a call can come.
type Program struct {
	T           *testing.T
	Vault, Home string
	settings    string // lines of the settings file before its tables
	Tables      string // lines of the table of the vault and of what follows
	Flags       []string
	Zone        string // the time zone of the local page, "" for UTC
	Client      string // what a client on a pipe calls itself, "" for t
}

// New makes the vault with the notes by their paths. The settings are those of
// a gateway that refuses nothing; the default of confirm stays.
func New(t *testing.T, notes map[string]string) *Program {
	t.Helper()
	folder := t.TempDir()
	r := &Program{T: t, Vault: filepath.Join(folder, "Notes"), Home: filepath.Join(folder, "home"),
		settings: "tier = \"v3\"\nallow-mutations = true\nbackend = \"embedded\"\nrate = 0\nrate-mutations = 0\nrate-mutations-hour = 0\ntoolsets = [\"all\"]\n"}
	for path, text := range notes {
		r.Write(path, text)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(r.Home, ".config", "vaultwicket"), 0o700))
	return r
}

func (r *Program) Write(path, text string) {
	r.T.Helper()
	WriteFile(r.T, filepath.Join(r.Vault, filepath.FromSlash(path)), []byte(text))
}

func (r *Program) Read(path string) string {
	text, _ := os.ReadFile(filepath.Join(r.Vault, filepath.FromSlash(path)))
	return string(text)
}

// Set replaces a setting, or adds it.
func (r *Program) Set(name, value string) *Program {
	var kept []string
	for line := range strings.Lines(r.settings) {
		if !strings.HasPrefix(line, name+" = ") {
			kept = append(kept, line)
		}
	}
	r.settings = strings.Join(kept, "") + name + " = " + value + "\n"
	return r
}

// Save writes the file of settings, which a running server reads again.
func (r *Program) Save() string {
	r.T.Helper()
	file := filepath.Join(r.Home, ".config", "vaultwicket", "config.toml")
	text := fmt.Sprintf("%s[[vaults]]\nname = \"Notes\"\nfolder = %q\n%s", r.settings, r.Vault, r.Tables)
	require.NoError(r.T, os.WriteFile(file+".new", []byte(text), 0o600))
	require.NoError(r.T, os.Rename(file+".new", file))
	return file
}

// command is the program with the home and the settings of r. Its clock
// stands still.
func (r *Program) command(args ...string) *osexec.Cmd {
	r.Save()
	c := osexec.Command(Binary, args...)
	c.Env = []string{"HOME=" + r.Home, "PATH=" + filepath.Join(r.Home, "bin"), "VAULTWICKET_TOKEN=" + Token, "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00"}
	return c
}

// Run is the program at a terminal without a user.
func (r *Program) Run(args ...string) (stdout, stderr string, status int) {
	r.T.Helper()
	c := r.command(args...)
	var out, log bytes.Buffer
	c.Stdout = &out
	c.Stderr = &log
	if err := c.Run(); c.ProcessState == nil {
		r.T.Fatalf("%q: %v", args, err)
	}
	return out.String(), log.String(), c.ProcessState.ExitCode()
}

// Must is run of what has to succeed.
func (r *Program) Must(args ...string) string {
	r.T.Helper()
	stdout, stderr, status := r.Run(args...)
	require.That(r.T, status == 0, "%q ended with %d: %s%s", args, status, stdout, stderr)
	return stdout
}

// App writes an official CLI that is a shell script, and has the app know the vault.
func (r *Program) App(script string) (name string) {
	r.T.Helper()
	name = filepath.Join(r.Home, "bin", "obsidian")
	require.NoError(r.T, os.MkdirAll(filepath.Dir(name), 0o700))
	testenv.WriteProgram(r.T, name, []byte("#!/bin/sh\n"+script+"\n"))
	registry := JSON(r.T, map[string]any{"vaults": map[string]any{"a1b2c3d4e5f60718": map[string]any{"path": r.Vault, "ts": 1, "open": true}}})
	WriteFile(r.T, filepath.Join(r.Home, ".config", "obsidian", "obsidian.json"), []byte(registry))
	return name
}
