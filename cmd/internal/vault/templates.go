package vault

import (
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/moment"
	"vaultwicket/cmd/internal/vault/order"
)

func templateCommands() []command {
	return []command{
		{
			name: "templates", about: "List the templates",
			params: []param{{name: "total", kind: flag, about: "Only how many there are"}},
			run:    listTemplates,
		},
		{
			name: "template:read", about: "Read a template",
			params: []param{
				{name: "name", hint: "name", required: true, about: "Name of the template"},
				{name: "resolve", kind: flag, about: "Fill in date, time and title"},
				{name: "title", hint: "text", about: "The title to fill in"},
			},
			run: readTemplate,
		},
	}
}

// templateFolder returns the folder that holds the templates.
func (v *vault) templateFolder() (disk.Path, templateSettings, error) {
	var settings templateSettings
	if err := v.config(templateConfig, &settings); err != nil {
		return disk.Path{}, settings, err
	}
	name := normal(strings.TrimSpace(settings.Folder))
	if name == "" && strings.TrimSpace(settings.Folder) != "/" {
		return disk.Path{}, settings, notConfigured.failure("No template folder configured.")
	}
	folder, err := v.folderOf(name)
	if err != nil {
		return disk.Path{}, settings, failure("%s leads to no folder of the vault: %v", disk.ConfigPath(templateConfig), err)
	}
	return folder, settings, nil
}

// listTemplates names the notes of the template folder, by their path in it
// and without the ending that all of them share.
func listTemplates(v *vault, p params) (reply, error) {
	folder, _, err := v.templateFolder()
	if err != nil {
		return reply{}, err
	}
	paths, err := v.below(folder.String(), isNote)
	if err != nil {
		return reply{}, err
	}
	if p.has("total") {
		return say(strconv.Itoa(len(paths))), nil
	}
	for i, path := range paths {
		path = strings.TrimPrefix(strings.TrimPrefix(path, folder.String()), "/")
		paths[i] = strings.TrimSuffix(path, ".md")
	}
	order.Sort(paths)
	return say(strings.Join(paths, "\n")), nil
}

// readTemplate prints a template, as it is or filled in. Without a title the
// place for one is filled with nothing: no note is made here that has one.
func readTemplate(v *vault, p params) (reply, error) {
	folder, settings, err := v.templateFolder()
	if err != nil {
		return reply{}, err
	}
	path, err := v.template(folder, p["name"])
	if err != nil {
		return reply{}, err
	}
	if !p.has("resolve") {
		return v.show(target{path, p["name"]})
	}
	filled, err := v.fill(path, p["name"], settings, p["title"])
	return say(string(filled)), err
}

// fill returns the text of a template with its blanks filled in.
func (v *vault) fill(path disk.Path, typed string, settings templateSettings, title string) ([]byte, error) {
	text, err := v.disk.Read(path)
	if err != nil {
		return nil, unreadable(typed, err)
	}
	if settings.DateFormat == "" {
		settings.DateFormat = defaultDate
	}
	now := v.clock()
	return blanks{now: now, date: moment.Format(now, settings.DateFormat), title: title}.in(v, string(text))
}

// fromTemplate returns what a template makes of a note with this title.
func (v *vault) fromTemplate(name, title string) ([]byte, error) {
	folder, settings, err := v.templateFolder()
	if err != nil {
		return nil, err
	}
	path, err := v.template(folder, name)
	if err != nil {
		return nil, err
	}
	return v.fill(path, name, settings, title)
}

// template finds a template by its name: its path in the template folder, with
// or without .md.
func (v *vault) template(folder disk.Path, name string) (disk.Path, error) {
	for _, file := range []string{name, name + ".md"} {
		path, err := v.pathOf(strings.TrimPrefix(folder.String()+"/"+file, "/"))
		if err != nil || path.Ext() != "md" {
			continue
		}
		if _, err := v.disk.Stat(path); err == nil {
			return path, nil
		}
	}
	return disk.Path{}, notFound.failure("Template %q not found.", verbatim(name))
}
