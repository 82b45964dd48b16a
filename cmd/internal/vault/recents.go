package vault

import (
	"encoding/json"
	"strconv"
	"strings"
)

func recentCommands() []command {
	return []command{{
		name: "recents", about: "List the files that were opened last, newest first",
		params: []param{{name: "total", kind: flag, about: "Only how many there are"}},
		run:    listRecents,
	}}
}

// listRecents answers from the app's own record, which it writes when it
// saves its workspace. Files that are gone by now are left out.
func listRecents(v *vault, p params) (reply, error) {
	var record struct{ LastOpenFiles []string }
	if text, err := v.disk.Config("workspace.json"); err == nil {
		_ = json.Unmarshal(text, &record) // a scratch file that cannot be understood records nothing
	}
	var open []string
	for _, name := range record.LastOpenFiles {
		path, err := v.pathOf(name)
		if err != nil {
			continue
		}
		if _, err := v.disk.Stat(path); err == nil {
			open = append(open, path.String())
		}
	}
	if p.has("total") {
		return say(strconv.Itoa(len(open))), nil
	}
	return say(strings.Join(open, "\n")), nil
}
