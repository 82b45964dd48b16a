package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/clients"
)

// hello is the first message of a client.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"vaultwicket-doctor","version":"1"}}}` + "\n"

// starter returns what starts the command of an entry as a client would, and asks who
// answers.
func starter(system clients.System) func(context.Context, []string) (name, version string, err error) {
	return func(ctx context.Context, command []string) (name, version string, err error) {
		argv := slices.Clone(command)
		if !filepath.IsAbs(argv[0]) {
			if argv[0] = system.Program(argv[0]); argv[0] == "" {
				return "", "", fmt.Errorf("%q is not on the PATH", command[0])
			}
		}
		return greet(ctx, argv)
	}
}

func greet(ctx context.Context, argv []string) (name, version string, err error) {
	printed, complaint, err := clients.Ask(ctx, argv, hello)
	var answer struct {
		Result struct {
			ServerInfo struct{ Name, Version string }
		}
	}
	line, _, _ := strings.Cut(printed, "\n")
	if json.Unmarshal([]byte(line), &answer) == nil && answer.Result.ServerInfo.Name != "" {
		return answer.Result.ServerInfo.Name, answer.Result.ServerInfo.Version, nil
	}
	if err == nil {
		err = errors.New("it does not answer initialize")
	}
	if said := firstLine(complaint); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return "", "", err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return quote.Short(line)
}
