package main

var configHelp = description{
	Name: "config", Usage: "[flags] show | check | path | init | set KEY VALUE | edit | schema", Group: groupConfigure, Summary: "show, check, create or change the settings",
	About: []string{
		"\"show\" prints each setting with its value and its source, \"check\" all mistakes with their lines, and \"path\" the path of the settings file.",
		"\"init\" creates a file with every setting and its default as a comment; it never replaces a file. \"set\" writes one setting and leaves the other lines as they are. \"edit\" opens the file in $VISUAL or $EDITOR, and saves your changes once there are no mistakes. \"schema\" prints the JSON schema of the file, for editors.",
	},
	Examples: []example{
		{"write a settings file with every setting as a comment", "vaultwicket config init"},
		{"let agents use more commands", "vaultwicket config set tier v1"},
		{"each setting with its value and origin", "vaultwicket config show"},
		{"all mistakes in a file", "vaultwicket config check --config ./config.toml"},
	},
}
