module vaultwicket

go 1.26.0

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/hashicorp/go-version v1.9.0 // indirect
	github.com/mark3labs/mcp-go v1.2.1 // indirect
	github.com/pelletier/go-toml/v2 v2.4.3 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/sourcegraph/conc v0.3.0 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

// The real package costs 3 ms at every start and is not used; see the stand-in.
replace github.com/santhosh-tekuri/jsonschema/v6 => ./gateway/mcpserver/jsonschema
