package session

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/text/unicode/norm"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
)

// ReadConfig reads one of the app's settings files into settings. A missing file
// means the defaults; a broken one is an error, for a guess would put notes in
// the wrong place.
func (v *Vault) ReadConfig(name string, settings any) error {
	text, err := v.Disk.Config(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, settings)
	}
	if err != nil {
		return answer.Failure("Cannot use the settings in %s: %v", disk.ConfigPath(name), err)
	}
	return nil
}

// NormalPath brings a path that a person typed into the app's form: slashes only,
// none at the ends, no two in a row, no odd blanks, composed letters.
func NormalPath(path string) string {
	path = strings.NewReplacer(`\`, "/", "\u00a0", " ", "\u202f", " ").Replace(path)
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	return norm.NFC.String(strings.Join(segments, "/"))
}
