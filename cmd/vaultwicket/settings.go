package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// settings is what a person has chosen, parsed and within its bounds.
type settings struct {
	cli         string
	backend     gateway.Backend
	vault       gateway.Vault
	policy      policy.Policy
	timeout     time.Duration
	maxOutput   int
	maxParallel int
}

// setting is one row of the table of settings. Each has one name everywhere:
// the flag --name, the environment variable VAULTWICKET_NAME with underscores,
// and the key of the settings file.
type setting struct {
	name, fallback, usage string
	boolean               bool
	set                   func(s *settings, text string) error
}

// table lists every setting. The order is that of the help text.
var table = [...]setting{
	{name: "cli", fallback: "obsidian", usage: "name or absolute path of the official CLI", set: setCLI},
	{name: "backend", fallback: "auto", usage: "auto, obsidian or embedded", set: setBackend},
	{name: "vault", usage: "name or id of a vault, or its folder (written with a separator, such as ./Notes)", set: setVault},
	{name: "tier", fallback: "v0", usage: "ceiling: v0, v1, v2 or v3", set: setTier},
	{name: "disable", usage: "commands to close, separated by commas", set: setDisable},
	{name: "enable-only", usage: "the only commands to leave open, separated by commas", set: setEnableOnly},
	{name: "allow-mutations", fallback: "false", boolean: true, usage: "open calls that change notes", set: setMutations},
	{name: "allow-publish", fallback: "false", boolean: true, usage: "open calls that send text off the machine", set: setPublish},
	{name: "allow-ui", fallback: "true", boolean: true, usage: "open calls that move the focus or open a view", set: setUI},
	{name: "confirm", fallback: "destructive", usage: "ask a person before: never, destructive or writes", set: setConfirm},
	{name: "timeout", fallback: "15s", usage: "limit of one call, 1s to 55s", set: setTimeout},
	{name: "max-output", fallback: "32KiB", usage: "output shown in one MCP answer, 1KiB to 1MiB", set: setMaxOutput},
	{name: "min-cli-version", fallback: "1.12.7", usage: "oldest Obsidian to use, never below 1.12.2", set: setMinVersion},
	{name: "max-parallel", fallback: "4", usage: "calls at once, 1 to 64", set: setMaxParallel},
}

func settingNames() []string {
	var names []string
	for _, s := range table {
		names = append(names, s.name)
	}
	return names
}

func setCLI(s *settings, text string) error {
	if text == "" {
		return fmt.Errorf("is empty")
	}
	if strings.ContainsAny(text, `/\`) && !filepath.IsAbs(text) {
		return fmt.Errorf("%q is a relative path; want a name to look up or an absolute path", text)
	}
	s.cli = text
	return nil
}

func setBackend(s *settings, text string) error {
	switch b := gateway.Backend(text); b {
	case gateway.Auto, gateway.App, gateway.Embedded:
		s.backend = b
		return nil
	}
	return fmt.Errorf("%q is no backend, want auto, obsidian or embedded", text)
}

// setVault takes a folder where the text looks like one: a name or an id never
// holds a separator.
func setVault(s *settings, text string) error {
	if text == "" {
		return nil
	}
	if strings.ContainsAny(text, `/\`) || text == "." || text == ".." {
		folder, err := filepath.Abs(text)
		if err != nil {
			return err
		}
		s.vault = gateway.Vault{Folder: folder}
		return nil
	}
	if call, err := allowlist.Parse("version", nil); err == nil {
		if _, err := call.In(text); err != nil {
			return err
		}
	}
	if isID(text) {
		s.vault = gateway.Vault{ID: text}
		return nil
	}
	s.vault = gateway.Vault{Name: text}
	return nil
}

// isID reports whether text has the form of the app's vault ids.
func isID(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

func setTier(s *settings, text string) (err error) {
	s.policy.Ceiling, err = tiers.ParseTier(text)
	return err
}

func setDisable(s *settings, text string) (err error) {
	s.policy.Disable, err = commandList(text)
	return err
}

func setEnableOnly(s *settings, text string) (err error) {
	s.policy.EnableOnly, err = commandList(text)
	return err
}

// commandList reads names of commands. A name that is none would close nothing
// without a word, so it is an error.
func commandList(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	list := strings.Split(text, ",")
	for i, name := range list {
		list[i] = strings.TrimSpace(name)
		if _, err := allowlist.Describe(list[i]); err != nil {
			return nil, fmt.Errorf("%q is no command%s", list[i], didYouMean(list[i], allowlist.Names()))
		}
	}
	return list, nil
}

func setMutations(s *settings, text string) (err error) {
	s.policy.Mutations, err = parseBool(text)
	return err
}

func setPublish(s *settings, text string) (err error) {
	s.policy.Publish, err = parseBool(text)
	return err
}

func setUI(s *settings, text string) (err error) {
	s.policy.UI, err = parseBool(text)
	return err
}

// parseBool takes true and false only: in a setting that opens something, "1",
// "yes" or "on" may as well be a mistake.
func parseBool(text string) (bool, error) {
	if i := slices.Index([]string{"false", "true"}, text); i >= 0 {
		return i == 1, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", text)
}

func setConfirm(s *settings, text string) (err error) {
	s.policy.Confirm, err = policy.ParseConfirm(text)
	return err
}

const (
	minTimeout = time.Second
	maxTimeout = 55 * time.Second // several MCP clients give up after 60 s
)

func setTimeout(s *settings, text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < minTimeout || d > maxTimeout {
		return fmt.Errorf("%q is no time limit, want %v to %v", text, minTimeout, maxTimeout)
	}
	s.timeout = d
	return nil
}

const (
	minOutput = 1 << 10
	maxOutput = 1 << 20 // more would not fit the context of a model anyway
)

func setMaxOutput(s *settings, text string) error {
	n, err := parseSize(text)
	if err != nil || n < minOutput || n > maxOutput {
		return fmt.Errorf("%q is no size for an answer, want 1KiB to 1MiB", text)
	}
	s.maxOutput = n
	return nil
}

// parseSize reads a number of bytes, plain or in KiB or MiB.
func parseSize(text string) (int, error) {
	digits, unit := text, 1
	if rest, ok := strings.CutSuffix(text, "KiB"); ok {
		digits, unit = rest, 1<<10
	} else if rest, ok := strings.CutSuffix(text, "MiB"); ok {
		digits, unit = rest, 1<<20
	}
	n, err := strconv.ParseUint(digits, 10, 20)
	return int(n) * unit, err
}

func setMinVersion(s *settings, text string) error {
	v, err := tiers.ParseVersion(text)
	if err != nil {
		return err
	}
	if v.Before(tiers.MinimumFloor) {
		return fmt.Errorf("%s is below %s, the oldest release that can be used", v, tiers.MinimumFloor)
	}
	s.policy.MinVersion = v
	return nil
}

func setMaxParallel(s *settings, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 64 {
		return fmt.Errorf("%q is no number of calls, want 1 to 64", text)
	}
	s.maxParallel = n
	return nil
}

func didYouMean(word string, list []string) string {
	if near := allowlist.Nearest(word, list); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
