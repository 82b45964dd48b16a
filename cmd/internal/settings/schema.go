package settings

import (
	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/policy/access"
)

// object is a part of a JSON Schema.
type object = map[string]any

// printSchema is "config schema": the JSON Schema of the settings file, for
// editors. It knows the form of a value; what a value means, such as whether a
// profile is there, is for "config check".
func printSchema(_ *Flags, std terminal.Streams) error {
	return terminal.PrintJSON(std.Out, configSchema(), terminal.ExitDone)
}

func configSchema() object {
	definitions := object{"command": object{"enum": allowlist.Names()}}
	general, profile := object{}, object{}
	for _, row := range table {
		definitions[row.name] = row.schema()
		reference := object{"$ref": "#/$defs/" + row.name}
		general[row.name] = reference
		if row.name != "profile" {
			profile[row.name] = reference
		}
	}
	vault := tableSchema(vaultKeys())
	vault["anyOf"] = []object{{"required": []string{"name"}}, {"required": []string{"id"}}, {"required": []string{"folder"}}}
	general["vaults"] = object{"type": "array", "description": "the vaults, the first one being the default", "items": vault}
	general["flow"] = flowForm()
	general["flow"].(object)["description"] = flowAbout
	general["profiles"] = object{
		"type": "object", "description": "profile to apply to the rest of the file, by the name of the profile", "propertyNames": object{"minLength": 1},
		"additionalProperties": object{"type": "object", "properties": profile, "additionalProperties": false},
	}
	general["agents"] = object{
		"type": "object", "description": "agents by their names, each with rights that narrow those of the file and of its vaults",
		"propertyNames": object{"pattern": agentPattern}, "additionalProperties": tableSchema(agentKeys()),
	}
	general["notify"] = notifySchema()
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "vaultwicket settings",
		"type": "object", "properties": general, "additionalProperties": false, "$defs": definitions,
	}
}

// schema describes the value of a setting.
func (s setting) schema() object {
	o := object{"description": s.usage, "default": s.valueOf(s.fallback)}
	switch s.kind {
	case boolean:
		o["type"] = "boolean"
	case numeric:
		o["type"], o["minimum"], o["maximum"] = "integer", s.form.least, s.form.most
	case list:
		o["type"], o["items"] = "array", s.item()
	default:
		o["type"] = "string"
		if s.form.choices != nil {
			o["enum"] = s.form.choices
		}
		if s.form.pattern != "" {
			o["pattern"] = s.form.pattern
		}
	}
	return o
}

// item describes one name of a list.
func (s setting) item() object {
	switch {
	case s.form.choices != nil:
		return object{"enum": s.form.choices}
	case s.form.pattern != "":
		return object{"type": "string", "pattern": s.form.pattern}
	}
	return object{"$ref": "#/$defs/command"}
}

const accessAbout = "what may be done with a folder or note, by its path; \"/\" is the vault, the most specific path wins"

// accessForm describes a table of access rules.
func accessForm() object {
	return object{"type": "object", "minProperties": 1, "additionalProperties": object{"enum": levelNames()}}
}

func levelNames() []string {
	var names []string
	for level := access.None; level <= access.Delete; level++ {
		names = append(names, level.String())
	}
	return names
}
