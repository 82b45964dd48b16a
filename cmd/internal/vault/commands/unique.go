package commands

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/moment"
)

func init() {
	register(command.Command{Name: "unique", Plan: unique, Verify: meansUnique})
}

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

// unique puts text that is given after the template's, so that neither is lost.
func unique(v *command.Vault, p command.Values) (command.Proposal, error) {
	var settings uniqueSettings
	if err := v.ReadConfig(uniqueConfig, &settings); err != nil {
		return command.Proposal{}, err
	}
	made, err := uniquePath(v, settings, p["name"])
	if err != nil {
		return command.Proposal{}, err
	}
	text, err := uniqueText(v, settings.Template, made)
	if err != nil {
		return command.Proposal{}, err
	}
	if p.Has("content") {
		text = edit.Append(text, p["content"], false)
	}
	return command.Proposal{Steps: []command.Step{{Path: made, After: command.Existing(text)}}, Message: "Created: " + made.String(), Note: made}, nil
}

// maxMinutes is how far a name may lie in the future: with a format without
// minutes the next free name is that of tomorrow.
const maxMinutes = 24*60 + 1

// uniquePath returns the first path from the present minute on that is free. In
// a name, a blank separates the time from what is added.
func uniquePath(v *command.Vault, settings uniqueSettings, name string) (disk.Path, error) {
	folder := command.NormalPath(strings.TrimSpace(settings.Folder))
	if folder == "" {
		var err error
		if folder, err = newFolder(v); err != nil {
			return disk.Path{}, err
		}
	}
	if strings.ContainsAny(name, `/\`) {
		return disk.Path{}, command.Misuse("Invalid value for name: %s. The folder of unique notes is a setting of the vault.", command.Verbatim(name))
	}
	format := settings.Format
	if strings.TrimSpace(format) == "" {
		format = defaultUnique
	}
	for n := range maxMinutes {
		text := path.Join(folder, strings.TrimSpace(moment.Format(v.Clock().Add(time.Duration(n)*time.Minute), format)+" "+name))
		if !strings.HasSuffix(text, ".md") {
			text += ".md"
		}
		made, err := v.PathOf(text)
		if err != nil {
			return disk.Path{}, command.Failure("File %q cannot be created: %v.", command.Verbatim(text), err)
		}
		if _, err := v.Disk.Stat(made); errors.Is(err, fs.ErrNotExist) {
			return made, nil
		}
	}
	return disk.Path{}, command.Failure("The names of all unique notes of a day are taken.")
}

// uniqueText returns what the template for unique notes makes of a new one. As
// for daily notes, one that is set but not there is none.
func uniqueText(v *command.Vault, template string, made disk.Path) ([]byte, error) {
	name := command.NormalPath(strings.TrimSpace(template))
	if name == "" {
		return nil, nil
	}
	at, err := v.Resolve(name)
	var missing *command.Fault
	if errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var settings templateSettings
	if err := v.ReadConfig(templateConfig, &settings); err != nil {
		return nil, err
	}
	return fill(v, at, name, settings, made.Stem())
}

// meansUnique judges a unique note, which may begin with what a template gives.
func meansUnique(_ *command.Vault, p command.Values, c command.AppChange) (command.Verdict, error) {
	verdict := command.IsComposedOf(c.Now.Text, false, []byte(p["content"]))
	if !verdict.Done && command.AddsOnce(c.Now.Text, nil, p["content"]) {
		return command.Verdict{Done: true, Style: templateStyle}, nil
	}
	return verdict, nil
}
