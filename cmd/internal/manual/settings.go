package manual

import "strings"

// Settings are what is told of the settings file.
type Settings struct {
	List   []Setting
	Vault  []Fact // the keys of a table [[vaults]]
	Levels []Fact // of access rules
}

// Setting is a setting.
type Setting struct{ Name, Variable, Default, Usage string }

// settingsExample is a settings file.
const settingsExample = `tier = "v1"
allow-mutations = true

[[vaults]]
name = "Notes"
folder = "/home/me/Notes"
[vaults.access]
"/" = "rw"
"Private" = "none"

[profiles.careful]
confirm = "writes"`

func (s Source) settings() Page {
	name := program + "-" + SettingsPage
	var d document
	d.head(s.Date, name, 5, "settings of vaultwicket")
	d.section("Description")
	d.prose("Every setting has one name: a flag, an environment variable, and a key of the settings file, which is TOML. A flag beats the variable, the variable beats the profile that is chosen, " +
		"and the profile beats the rest of the file. An unknown, duplicate or invalid setting is an error, and so is a file that others can write.")
	d.paragraph()
	d.prose("A running server reads the file again when it changes. It takes what is stricter, and never what is looser.")
	d.subsection("Settings")
	var tags []string
	for _, one := range s.Settings.List {
		tags = append(tags, "Ic "+one.Name)
	}
	d.list(tags, func(i int) { d.setting(s.Settings.List[i]) })
	d.subsection("Vaults")
	d.prose("One table [[vaults]] for each vault; the first one is the default. Each needs a name, an id or a folder.")
	d.facts("Ic", s.Settings.Vault)
	d.paragraph()
	d.prose("The table [vaults.access] has paths of folders and notes with the access to each:")
	d.facts("Ic", s.Settings.Levels)
	d.subsection("Profiles")
	d.prose("A table [profiles.NAME] has settings that replace those of the file while the profile is chosen.")
	d.section("Files")
	d.facts("Pa", []Fact{{"~/.config/vaultwicket/config.toml", "the settings file on Linux; \"vaultwicket config path\" prints where it is"}})
	d.examples([]Example{
		{"agents read and change notes; Private is hidden", settingsExample},
		{"write a file with every setting as a comment", "vaultwicket config init"},
	})
	d.references([]string{program + " 1", program + "-config 1"})
	return Page{Name: name, Section: 5, Text: d.text.String()}
}

func (d *document) setting(one Setting) {
	d.prose(strings.TrimSuffix(sentence(one.Usage), ".") + ".")
	if one.Default != "" {
		d.prose("Default: " + one.Default + ".")
	}
	d.prose("Variable:")
	d.macro("Ev " + one.Variable + " .")
}
