package files

import (
	"encoding/json"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

// listRecents answers from the app's own record, which it writes when it
// saves its workspace. Files that are gone by now are left out.
func listRecents(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	var record struct{ LastOpenFiles []string }
	if text, err := v.Disk.Config("workspace.json"); err == nil {
		_ = json.Unmarshal(text, &record) // a scratch file that cannot be understood records nothing
	}
	var open []string
	for _, name := range record.LastOpenFiles {
		path, err := v.PathOf(name)
		if err != nil {
			continue
		}
		if _, err := v.Disk.Stat(path); err == nil {
			open = append(open, path.String())
		}
	}
	if p.Has("total") {
		return answer.Text(strconv.Itoa(len(open))), nil
	}
	if len(open) == 0 {
		return answer.Nothing("", "the app has recorded no opened files; recent lists the notes that were changed last"), nil
	}
	return answer.Text(strings.Join(open, "\n")), nil
}
