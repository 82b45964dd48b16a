package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"vaultwicket/allowlist/quote"
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
	table := fmt.Sprintf("[agents.%s]\n%s\n", keyOfAgent(name), strings.Join(lines, "\n"))
	if _, problems := parseDocument([]byte(table)); len(problems) > 0 {
		return "", false, &wrongFile{f.file.name, problems}
	}
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
	if err := writeAside(target, []byte(after), f.file.info.Mode().Perm(), os.Rename); err != nil {
		return "", false, cannotWrite(f.file.name, err)
	}
	return f.file.name, true, nil
}

// keyOfAgent returns the name of an agent as a header of a table has it.
func keyOfAgent(name string) string {
	if strings.Contains(name, ".") {
		return strconv.Quote(name)
	}
	return name
}

// AccessTable returns the lines of the access rules of an agent, which are given as PATH=LEVEL,
// none without any.
func AccessTable(agent string, given []string) (lines []string, err error) {
	for _, one := range given {
		at := strings.LastIndexByte(one, '=')
		if at < 1 {
			return nil, fmt.Errorf("invalid value %q: want PATH=LEVEL, such as Work=rw", quote.Short(one))
		}
		if _, err := accessLevel(one[:at], one[at+1:]); err != nil {
			return nil, fmt.Errorf("access of %q: %w", quote.Short(one[:at]), err)
		}
		key, _ := json.Marshal(one[:at]) // a string of JSON is one of TOML
		lines = append(lines, fmt.Sprintf("%s = %q", key, one[at+1:]))
	}
	if lines != nil {
		lines = append([]string{"[agents." + keyOfAgent(agent) + ".access]"}, lines...)
	}
	return lines, nil
}
