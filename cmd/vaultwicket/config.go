package main

var helpOfConfig = description{
	Name: "config", Usage: "[flags] show | check | path | init | set KEY VALUE | edit | schema", Group: groupConfigure, Summary: "show, check, create or change the settings",
	About: []string{
		"\"show\" prints each setting with its value and where that comes from, \"check\" everything that is wrong, with the line, and \"path\" where the settings file is.",
		"\"init\" writes a file with every setting and its default as a comment, and never over another file. \"set\" writes one setting and leaves the other lines as they are; \"edit\" opens the file in $VISUAL or $EDITOR, and keeps what you wrote once nothing is wrong with it. \"schema\" prints the JSON schema of the file, for editors.",
	},
	Examples: []example{
		{"write a settings file with every setting as a comment", "vaultwicket config init"},
		{"let agents use more commands", "vaultwicket config set tier v1"},
		{"each setting with its value and origin", "vaultwicket config show"},
		{"everything that is wrong in a file", "vaultwicket config check --config ./config.toml"},
	},
}
