package notes

import (
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/moment"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/session"
)

// templateFolder returns the folder that holds the templates.
func templateFolder(v *session.Vault) (disk.Path, templateSettings, error) {
	var settings templateSettings
	if err := v.ReadConfig(templateConfig, &settings); err != nil {
		return disk.Path{}, settings, err
	}
	name := session.NormalPath(strings.TrimSpace(settings.Folder))
	if name == "" && strings.TrimSpace(settings.Folder) != "/" {
		return disk.Path{}, settings, answer.NotConfigured.Failure("No template folder configured.")
	}
	folder, err := v.FolderOf(name)
	if err != nil {
		return disk.Path{}, settings, answer.Failure("%s leads to no folder of the vault: %v", disk.ConfigPath(templateConfig), err)
	}
	return folder, settings, nil
}

// listTemplates names the notes of the template folder, by their path in it
// and without the ending that all of them share.
func listTemplates(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	folder, _, err := templateFolder(v)
	if err != nil {
		return answer.Reply{}, err
	}
	names, err := templateNames(v, folder)
	switch {
	case err != nil:
		return answer.Reply{}, err
	case p.Has("total"):
		return answer.Text(strconv.Itoa(len(names))), nil
	case len(names) == 0:
		return answer.Nothing("", "the template folder %q has no notes", answer.Verbatim(folder.String())), nil
	}
	return answer.Text(strings.Join(names, "\n")), nil
}

// templateNames returns the names of the templates that the caller may see. A template
// folder that does not exist has none.
func templateNames(v *session.Vault, folder disk.Path) ([]string, error) {
	var names []string
	_, err := v.EachFile(folder, func(l session.Listed) {
		if l.IsNote() {
			name := strings.TrimPrefix(strings.TrimPrefix(l.Path.String(), folder.String()), "/")
			names = append(names, strings.TrimSuffix(name, ".md"))
		}
	})
	if err != nil && !disk.IsMissing(err) {
		return nil, err
	}
	order.Sort(names)
	return names, nil
}

// readTemplate prints a template, as it is or filled in. Without a title the
// place for one is filled with nothing: no note is made here that has one.
func readTemplate(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	folder, settings, err := templateFolder(v)
	if err != nil {
		return answer.Reply{}, err
	}
	path, err := template(v, folder, p["name"])
	if err != nil {
		return answer.Reply{}, err
	}
	if !p.Has("resolve") {
		return v.Show(session.Target{Path: path, Typed: p["name"]})
	}
	filled, err := fill(v, path, p["name"], settings, p["title"])
	return answer.Text(string(filled)), err
}

// fill returns the text of a template with its blanks filled in.
func fill(v *session.Vault, path disk.Path, typed string, settings templateSettings, title string) ([]byte, error) {
	text, err := v.Disk.Read(path)
	if err != nil {
		return nil, answer.ReadError(typed, err)
	}
	if settings.DateFormat == "" {
		settings.DateFormat = defaultDate
	}
	now := v.Clock()
	return blanks{now: now, date: moment.Format(now, settings.DateFormat), title: title}.in(v, string(text))
}

// fromTemplate returns what a template makes of a note with this title.
func fromTemplate(v *session.Vault, name, title string) ([]byte, error) {
	folder, settings, err := templateFolder(v)
	if err != nil {
		return nil, err
	}
	path, err := template(v, folder, name)
	if err != nil {
		return nil, err
	}
	return fill(v, path, name, settings, title)
}

// template finds a template by its name: its path in the template folder, with
// or without .md.
func template(v *session.Vault, folder disk.Path, name string) (disk.Path, error) {
	for _, file := range []string{name, name + ".md"} {
		path, err := v.PathOf(strings.TrimPrefix(folder.String()+"/"+file, "/"))
		if err != nil || path.Ext() != "md" {
			continue
		}
		if _, err := v.Disk.Stat(path); err == nil {
			return path, nil
		}
	}
	names, err := templateNames(v, folder)
	if err != nil {
		return disk.Path{}, err
	}
	return disk.Path{}, answer.NotFound.DidYouMean(lookup.NearestPaths(name, names), "Template %q not found.", answer.Verbatim(name))
}
