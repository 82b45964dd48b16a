package vault

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/moment"
	"vaultwicket/cmd/internal/vault/note"
	"vaultwicket/cmd/internal/vault/outcome"
)

// The app's settings file for unique notes, and its default.
const (
	uniqueConfig  = "zk-prefixer.json"
	defaultUnique = "YYYYMMDDHHmm"
)

// uniqueSettings is what the user chose for unique notes. Each may be empty.
type uniqueSettings struct {
	Folder   string `json:"folder"`
	Format   string `json:"format"`
	Template string `json:"template"`
}

func uniqueCommands() []command {
	return []command{{
		name: "unique", about: "Make a note that is named after the present time",
		params: []param{
			{name: "name", hint: "text", about: "Text to add to its name"},
			{name: "content", hint: "text", kind: content, about: "Its text"},
			{name: "open", kind: flag, about: "Has no effect without the app"},
			{name: "paneType", oneOf: []string{"tab", "split", "window"}, about: "Has no effect without the app"},
		},
		plan: unique, meant: meansUnique,
	}}
}

// unique puts text that is given behind the template's, so that neither is lost.
func unique(v *vault, p params) (proposal, error) {
	var settings uniqueSettings
	if err := v.config(uniqueConfig, &settings); err != nil {
		return proposal{}, err
	}
	made, err := v.uniquePath(settings, p["name"])
	if err != nil {
		return proposal{}, err
	}
	text, err := v.uniqueText(settings.Template, made)
	if err != nil {
		return proposal{}, err
	}
	if p.has("content") {
		text = note.Append(text, p["content"], false)
	}
	return proposal{steps: []step{{path: made, after: holding(text)}}, said: "Created: " + made.String(), note: made}, nil
}

// maxMinutes is how far a name may lie in the future: with a format without
// minutes the next free name is that of tomorrow.
const maxMinutes = 24*60 + 1

// uniquePath returns the first path from the present minute on that is free. In
// a name, a blank stands between the time and what is added.
func (v *vault) uniquePath(settings uniqueSettings, name string) (disk.Path, error) {
	folder := normal(strings.TrimSpace(settings.Folder))
	if folder == "" {
		var err error
		if folder, err = v.newFolder(); err != nil {
			return disk.Path{}, err
		}
	}
	if strings.ContainsAny(name, `/\`) {
		return disk.Path{}, misuse("Invalid value for name: %s. The folder of unique notes is a setting of the vault.", name)
	}
	format := settings.Format
	if strings.TrimSpace(format) == "" {
		format = defaultUnique
	}
	for n := range maxMinutes {
		text := path.Join(folder, strings.TrimSpace(moment.Format(v.clock().Add(time.Duration(n)*time.Minute), format)+" "+name))
		if !strings.HasSuffix(text, ".md") {
			text += ".md"
		}
		made, err := v.pathOf(text)
		if err != nil {
			return disk.Path{}, failure("File %q cannot be made: %v.", verbatim(text), err)
		}
		if _, err := v.disk.Stat(made); errors.Is(err, fs.ErrNotExist) {
			return made, nil
		}
	}
	return disk.Path{}, failure("The names of all unique notes of a day are taken.")
}

// uniqueText returns what the template for unique notes makes of a new one. As
// for daily notes, one that is set but not there is none.
func (v *vault) uniqueText(template string, made disk.Path) ([]byte, error) {
	name := normal(strings.TrimSpace(template))
	if name == "" {
		return nil, nil
	}
	at, err := v.resolve(name)
	var missing *fault
	if errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var settings templateSettings
	if err := v.config(templateConfig, &settings); err != nil {
		return nil, err
	}
	return v.fill(at, name, settings, made.Stem())
}

// meansUnique judges a unique note, which may begin with what a template gives.
func meansUnique(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	verdict := outcome.Pieces(c.now.text, false, []byte(p["content"]))
	if !verdict.Done && outcome.AddsOnce(c.now.text, nil, p["content"]) {
		return outcome.Verdict{Done: true, Style: templateStyle}, nil
	}
	return verdict, nil
}
