package settings

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// agentHint is how a hint for an agent begins: it tells what somebody else can do.
const agentHint = "the user can "

// settingHint is such a hint about a setting, its value and where it comes from, see policy.Denial.
var settingHint = regexp.MustCompile(`^set ([a-z-]+) to ([a-z0-9.]+)( and restart)?( \([^()]*\))?$`)

// OwnerHint returns a hint that was written for an agent as one for the owner, who reads it at a terminal and can
// follow it: it names the flag and the settings file, if the hint is about a setting. Any other hint is returned as
// it is.
func (f *Flags) OwnerHint(std terminal.Streams, hint string) string {
	act, isForAgent := strings.CutPrefix(hint, agentHint)
	if !isForAgent {
		return hint
	}
	found := settingHint.FindStringSubmatch(act)
	if found == nil {
		return "you can " + act
	}
	row, isSetting := settingOf(found[1])
	at, err := f.place(std)
	if !isSetting || err != nil || at.name == "" {
		return "you can " + act
	}
	flag := "--" + row.name + "=" + found[2]
	if row.kind == boolean && found[2] == "true" {
		flag = "--" + row.name
	}
	return fmt.Sprintf("add %s, or set %s in %s%s", flag, row.line(found[2]), shortened(std, at.name), found[4])
}

// shortened returns a path with "~" for the home folder, as shells write it.
func shortened(std terminal.Streams, name string) string {
	home := ownerfiles.Home(runtime.GOOS, std.Getenv)
	within, isBelow := strings.CutPrefix(name, home+string(filepath.Separator))
	if runtime.GOOS == "windows" || home == "" || !isBelow {
		return name
	}
	return "~/" + within
}
