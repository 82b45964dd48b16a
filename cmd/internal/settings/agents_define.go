package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vaultwicket/cmd/internal/terminal"
)

// DefineAgent adds the table of an agent with these lines to the end of the settings file, which
// is created if it is missing, and returns the file. An agent that is defined already keeps its
// table; added is false then. The rest of the file stays as it is, byte for byte.
func (f *Flags) DefineAgent(std terminal.Streams, name string, lines []string) (file string, added bool, err error) {
	if err := CheckAgentName(name); err != nil {
		return "", false, &terminal.UsageError{Reason: err.Error()}
	}
	if f.file.name == "" {
		return "", false, place{}.missing()
	}
	if _, defined := f.file.agents[name]; defined {
		return f.file.name, false, nil
	}
	table := fmt.Sprintf("[agents.%s]\n%s\n", name, strings.Join(lines, "\n"))
	if f.file.info == nil {
		return f.file.name, true, writeNew(f.file.name, []byte(table))
	}
	target, err := filepath.EvalSymlinks(f.file.name)
	if err != nil {
		return "", false, cannotWrite(f.file.name, err)
	}
	before, err := os.ReadFile(target)
	if err != nil {
		return "", false, cannotWrite(f.file.name, err)
	}
	after := string(before)
	if after != "" && !strings.HasSuffix(after, "\n") {
		after += "\n"
	}
	after += "\n" + table
	if _, problems := parseDocument([]byte(after)); len(problems) > 0 {
		return "", false, &wrongFile{f.file.name, problems}
	}
	temporary, err := os.CreateTemp(filepath.Dir(target), ".config-*.toml")
	if err != nil {
		return "", false, cannotWrite(f.file.name, err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.WriteString(after)
	err = errors.Join(err, temporary.Chmod(f.file.info.Mode().Perm()), temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), target)
	}
	if err != nil {
		return "", false, cannotWrite(f.file.name, err)
	}
	return f.file.name, true, nil
}
