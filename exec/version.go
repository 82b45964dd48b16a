package exec

import (
	"fmt"
	"strings"

	goversion "github.com/hashicorp/go-version"

	"vaultwicket/tiers"
)

// release is what the client answered to the question for its version. The app
// updates itself, the installer does not.
type release struct {
	app       tiers.Version
	installer tiers.Version // zero when the answer did not name one
}

// parseRelease reads "1.12.7" or "1.12.7 (installer 1.12.4)" and nothing else.
func parseRelease(line string) (release, bool) {
	app, installer, two := strings.Cut(line, " (installer ")
	first, ok := parseVersion(app)
	if !ok || !two {
		return release{app: first}, ok
	}
	installer, closed := strings.CutSuffix(installer, ")")
	second, ok := parseVersion(installer)
	return release{app: first, installer: second}, ok && closed
}

// parseVersion takes three numbers. The library alone would take much more, a
// single number too.
func parseVersion(s string) (tiers.Version, bool) {
	if strings.Count(s, ".") != 2 || strings.Trim(s, "0123456789.") != "" {
		return tiers.Version{}, false
	}
	v, err := goversion.NewVersion(s)
	if err != nil {
		return tiers.Version{}, false
	}
	segments := v.Segments()
	return tiers.Version{segments[0], segments[1], segments[2]}, true
}

// check compares the app with the oldest one that may run a call.
func (r release) check(program string, minimum tiers.Version) error {
	if !r.app.Before(minimum) {
		return nil
	}
	return &Unavailable{
		code: CodeTooOld, program: program,
		reason: fmt.Sprintf("belongs to Obsidian %s, and the call needs %s", r.app, minimum),
		hint:   "the user can update Obsidian to " + minimum.String() + " or newer",
	}
}

// notice remarks on an installer from before the native client. It is no error:
// the client that was found is not the Electron executable.
func (r release) notice() []string {
	native := tiers.DefaultMinimum // the first one with the native client
	if r.installer == (tiers.Version{}) || !r.installer.Before(native) {
		return nil
	}
	return []string{fmt.Sprintf("the Obsidian installer is %s; installers from %s on bring a faster client, "+
		"download the latest one and register the command line interface again", r.installer, native)}
}
