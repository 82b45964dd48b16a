package bootstrap

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// accessVariable gives the embedded program the access rules of a vault.
const accessVariable = "VAULTWICKET_ACCESS"

// VaultEnvironment returns the environment of the embedded CLI that runs with args, those after "vaultwicket
// vault". It is that of the process where the gateway has started it. Typed by hand it also has the access
// rules of the settings, and the error says why the program may not run.
func VaultEnvironment(std terminal.Streams, args []string) (getenv func(string) string, err error) {
	if exec.StartedByGateway(std.Getenv) {
		return std.Getenv, nil
	}
	rules, err := rulesByHand(args, std)
	if err != nil {
		return nil, err
	}
	// The rules are in addition to those of the environment. Invalid ones stay, and then every call is denied.
	given, err := access.Parse(std.Getenv(accessVariable))
	if err != nil || !rules.Restrict() {
		return std.Getenv, nil
	}
	text := given.Meet(rules).String()
	return func(name string) string {
		if name == accessVariable {
			return text
		}
		return std.Getenv(name)
	}, nil
}

// rulesByHand returns the access rules that the settings and the machine have for the folder of a
// command line. The error is that vaultwicket is paused or may be, that the machine does not allow changes, or
// that the folder is within a vault that has rules, or around one: its paths are not those of the rules.
func rulesByHand(args []string, std terminal.Streams) (access.Rules, error) {
	if state := ownerfiles.StateFolder(std.Getenv, ""); state != "" { // otherwise nothing can be paused
		paused, err := admission.IsPaused(state)
		switch {
		case err != nil:
			return access.Rules{}, terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf("state folder %q: %v", state, err),
				"the pause state is kept there; make it a folder that only you can access",
			)
		case paused:
			return access.Rules{}, terminal.Fail(
				terminal.ExitDenied,
				"vaultwicket is paused",
				`"vaultwicket resume" ends the pause`,
			)
		}
	}
	if len(args) == 0 {
		return access.Rules{}, nil
	}
	flags := settings.NewFlags("vault")
	s, _, err := flags.Load(std, nil)
	if err != nil {
		return access.Rules{}, err
	}
	folder, err := filepath.Abs(args[0])
	if err != nil {
		return access.Rules{}, err
	}
	if slices.Contains(args, "--write") && !flags.ManagedMutations() {
		return access.Rules{}, terminal.Fail(
			terminal.ExitDenied,
			"the managed settings of this machine do not allow changes",
			"the administrator of this machine can change allow-mutations",
		)
	}
	rules := flags.ManagedAccess(std, s, settings.Vault{Folder: folder})
	for _, served := range s.Served {
		if !served.Policy.Access.Restrict() {
			continue
		}
		possible := []string{served.Folder}
		if served.Folder == "" {
			possible = nil
			for _, listed := range appvaults.Read(std.Getenv) {
				isServed := served.Name == listed.Name()
				if served.ID != "" {
					isServed = served.ID == listed.ID
				}
				if isServed {
					possible = append(possible, listed.Folder)
				}
			}
		}
		for _, folder := range possible {
			switch {
			case appvaults.SameFolder(folder, args[0]):
				rules = rules.Meet(served.Policy.Access)
			case ownerfiles.VaultAround(args[0], []string{folder}) != "",
				ownerfiles.VaultAround(folder, []string{args[0]}) != "":
				return access.Rules{}, terminal.Fail(
					terminal.ExitDenied,
					fmt.Sprintf(
						"folder %q: overlaps the vault %q, which has access rules",
						args[0],
						folder,
					),
					"use the folder of the vault itself",
				)
			}
		}
	}
	return rules, nil
}

// WithoutSettings returns the streams with the environment of a program that has no settings of the user:
// the variables of any child and values, with the clock standing at now.
func WithoutSettings(std terminal.Streams, now time.Time, values map[string]string) terminal.Streams {
	values[date.NowVariable] = now.Format(time.RFC3339)
	for _, entry := range exec.OwnersEnvironment(std.Getenv) {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	std.Environ = func() []string { return nil }
	std.Lookup = func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
	return std
}

// VaultsHere returns the folders of the vaults that the app lists, and those with a folder .obsidian around the working
// folder, or one or two levels below the home folder, each once; at most twenty.
func VaultsHere(std terminal.Streams) (folders []string) {
	add := func(folder string) {
		if len(folders) < 20 && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	for _, folder := range appvaults.VaultFolders(std.Getenv) {
		add(folder)
	}
	if folder := settings.NearestVault(); folder != "" {
		add(folder)
	}
	home := ownerfiles.Home(runtime.GOOS, std.Getenv)
	if home == "" {
		return folders
	}
	for _, pattern := range []string{"*", filepath.Join("*", "*")} {
		found, _ := filepath.Glob(filepath.Join(home, pattern, ".obsidian")) // the pattern is a right one
		for _, marker := range found {
			add(filepath.Dir(marker))
		}
	}
	return folders
}

// ExpandHome returns a path with the home folder in place of a "~" at its beginning, as shells read it.
func ExpandHome(std terminal.Streams, name string) string {
	home := ownerfiles.Home(runtime.GOOS, std.Getenv)
	rest, isBelow := strings.CutPrefix(filepath.ToSlash(name), "~/")
	switch {
	case home == "":
		return name
	case name == "~":
		return home
	case isBelow:
		return filepath.Join(home, filepath.FromSlash(rest))
	}
	return name
}
