package doctor

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/tiers"
)

func (m Machine) backends(ctx context.Context, r *Report) {
	if m.Invalid != nil {
		return
	}
	if m.Settings.Backend != gateway.Embedded {
		m.app(ctx, r)
	}
	if m.Settings.Backend != gateway.App {
		for _, v := range m.Settings.Served {
			if v.Folder == "" || !exists(v.Folder) {
				continue
			}
			sandbox, err := m.Embedded(ctx, v.Folder)
			switch {
			case err != nil:
				r.problem("embedded-fails", fmt.Sprintf("the embedded CLI does not answer for %q: %v", v.Folder, err), "without the app no note can be read", "run \"vaultwicket vault "+v.Folder+" files total\" to see what it says")
			case strings.HasPrefix(sandbox, "none") && m.OS == "linux":
				r.warn("no-sandbox", "the embedded CLI is not confined: "+sandbox, "a fault in it could reach files outside the vault; its own checks still hold",
					"use a kernel with Landlock (5.13 or later, listed in /sys/kernel/security/lsm)")
			default:
				r.ok("embedded", "the embedded CLI answers; confined: "+sandbox)
			}
		}
	}
}

// app checks the Obsidian CLI. With the backend auto the app may be missing.
func (m Machine) app(ctx context.Context, r *Report) {
	report := r.warn
	needed := "commands that need the app fail; everything else is answered by the embedded CLI"
	if m.Settings.Backend == gateway.App {
		report, needed = r.problem, "the setting backend is obsidian: every call fails"
	}
	version, failed := m.App(ctx)
	if failed == nil {
		number, _, _ := strings.Cut(version, " ")
		minimum := m.Settings.Policy.MinVersion
		if v, err := tiers.ParseVersion(number); err == nil && v.Before(minimum) {
			report("app-outdated", fmt.Sprintf("Obsidian %s is older than %s", number, minimum), needed, "update Obsidian to "+minimum.String()+" or newer")
			return
		}
		r.ok("app", "Obsidian "+version+" answers")
		return
	}
	if failed.Code == exec.CodeNotFound && m.Settings.Backend != gateway.App && !filepath.IsAbs(m.Settings.CLI) {
		r.ok("app", "no Obsidian CLI was found: the embedded CLI answers")
		return
	}
	if failed.Code == exec.CodeUnsuitable {
		needed = "a program that others could exchange is not started; " + needed
	}
	check, known := appChecks[failed.Code]
	if !known {
		check = "app-fails"
	}
	report(check, failed.Message, needed, cmp.Or(failed.Hint, "run the program by hand to see what it says: "+m.Settings.CLI+" version"))
}

// appChecks are the names of the findings about the app, by the code of its failure.
var appChecks = map[string]string{
	exec.CodeNotFound: "cli-missing", exec.CodeUnsuitable: "cli-unsafe", exec.CodeNotRunning: "app-closed",
	exec.CodeTooOld: "app-outdated", exec.CodeDisabled: "cli-disabled", exec.CodePlatform: "platform",
}
