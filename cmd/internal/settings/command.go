package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/policy"
)

var configActions = []struct {
	name string
	run  func(f *Flags, std terminal.Streams) error
}{
	{"show", showConfig},
	{"check", checkConfig},
	{"path", printConfigPath},
	{"init", initConfig},
	{"set", setConfig},
	{"edit", editConfig},
	{"schema", printSchema},
}

// printSchema runs "config schema", which prints the JSON Schema of the settings file.
func printSchema(_ *Flags, std terminal.Streams) error {
	return terminal.PrintJSON(std.Out, configSchema(), terminal.ExitDone)
}

// Command runs "vaultwicket config", which shows and changes the settings.
func Command(_ context.Context, std terminal.Streams, args []string) error {
	f := NewFlags("config")
	if err := f.Parse(args); err != nil {
		return err
	}
	var names []string
	for _, action := range configActions {
		isWhole := f.NArg() == 1 || action.name == "set"
		if isWhole && f.Arg(0) == action.name {
			return action.run(f, std)
		}
		names = append(names, action.name)
	}
	if f.NArg() != 1 {
		return &terminal.UsageError{
			Reason: "usage: vaultwicket config show|check|path|init|set|edit|schema",
			Advice: "one of " + strings.Join(names, ", "),
		}
	}
	return &terminal.UsageError{
		Reason: fmt.Sprintf("unknown action %q%s", excerpt.Short(f.Arg(0)), excerpt.DidYouMean(f.Arg(0), names)),
		Advice: "one of " + strings.Join(names, ", "),
	}
}

// printConfigPath runs "config path", which prints where the settings file is or would be.
func printConfigPath(f *Flags, std terminal.Streams) error {
	location, err := f.place(std)
	if err != nil {
		return err
	}
	if location.name == "" {
		return location.missing()
	}
	return f.printFile(std, location.name)
}

// printFile prints the path of a settings file.
func (f *Flags) printFile(std terminal.Streams, name string) error {
	if f.JSON {
		return terminal.PrintJSON(std.Out, map[string]string{"path": name}, terminal.ExitDone)
	}
	return terminal.Write(std.Out, name+"\n")
}

// missing returns the error of a command that needs a settings file if none is used.
func (p place) missing() error {
	if p.origin != "" {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("the settings file is %q (%s)", noFile, p.origin),
			Advice: "set one with --config",
		}
	}
	return &terminal.UsageError{Reason: "no location for a settings file", Advice: "set one with --config"}
}

// checked is what "config check --json" prints.
type checked struct {
	OK       bool      `json:"ok"`
	File     string    `json:"file,omitempty"`
	Problems []problem `json:"problems"`
}

// verify checks the settings, including what a server needs on this machine. A warning does not prevent a start.
func (f *Flags) verify(std terminal.Streams) (warning string, err error) {
	s, err := f.Settings(std)
	if err != nil {
		return "", err
	}
	// Only servers use a certificate, so Settings does not check it. It is also checked if no address is set.
	certificate := transport.HTTPConfig{
		Addr:    cmp.Or(s.HTTP.Addr, "127.0.0.1:0"),
		TLSCert: s.HTTP.Cert,
		TLSKey:  s.HTTP.Key,
	}
	if err := transport.CheckTLS(certificate); err != nil {
		return "", err
	}
	if err := s.HTTP.CheckOAuth(); err != nil {
		return "", err
	}
	if err := s.CheckCLI(f, std); err != nil {
		return "", err
	}
	return s.CheckState(std)
}

// sayOK prints that "config check" found no problem in what.
func sayOK(std terminal.Streams, what string) error {
	return terminal.Write(std.Out, terminal.Fit(std.Out, "OK: "+what+"\n"))
}

// checkConfig runs "config check", which reports every problem of the settings.
func checkConfig(f *Flags, std terminal.Streams) error {
	warning, err := f.verify(std)
	if warning != "" {
		terminal.Message(std.Err, terminal.Warning, warning)
	}
	answer := checked{OK: err == nil, File: f.file.name, Problems: []problem{}}
	var file *wrongFile
	switch {
	case errors.As(err, &file):
		answer.Problems = slices.Clone(file.problems)
	case err != nil:
		answer.Problems = []problem{{Message: err.Error()}}
	}
	switch {
	case f.JSON && err == nil:
		return terminal.PrintJSON(std.Out, answer, terminal.ExitDone)
	case f.JSON:
		return terminal.PrintJSON(std.Out, answer, terminal.StatusOf(err))
	case err == nil && f.file.info == nil && f.file.name != "":
		return sayOK(std, "there is no file "+terminal.Visible(f.file.name)+"; settings are from flags, variables and defaults")
	case err == nil && f.file.info == nil:
		return sayOK(std, "no settings file is used")
	case err == nil:
		return sayOK(std, terminal.Visible(f.file.name))
	case file != nil:
		var problems terminal.Several
		for _, p := range file.problems {
			problems = append(problems, &wrongFile{file.name, []problem{p}})
		}
		return problems
	}
	return err
}

// shownConfig is what "config show --json" prints.
type shownConfig struct {
	File     string         `json:"file,omitempty"`
	Settings []shownSetting `json:"settings"`
	Vaults   []shownVault   `json:"vaults"`
	Flows    []shownSetting `json:"flows,omitempty"` // the rules, each with its origin
}

type shownSetting struct {
	Name   string `json:"name"`
	Value  any    `json:"value"`
	Origin string `json:"origin"`
}

// shownVault is a served vault with its own restrictions; the first one is the default. Name, ID and Folder are
// empty if the app chooses the vault.
type shownVault struct {
	Name   string            `json:"name,omitempty"`
	ID     string            `json:"id,omitempty"`
	Folder string            `json:"folder,omitempty"`
	Ignore string            `json:"ignoreFile,omitempty"` // "" if there is none
	Tier   string            `json:"tier"`
	Origin string            `json:"origin"`           // where the tier comes from
	Access map[string]string `json:"access,omitempty"` // as written
}

// showConfig runs "config show", which prints every setting with its origin.
func showConfig(f *Flags, std terminal.Streams) error {
	s, err := f.Settings(std)
	if err != nil {
		return err
	}
	shown := shownConfig{Settings: []shownSetting{}, Vaults: []shownVault{}}
	if f.file.info != nil {
		shown.File = f.file.name
	}
	for i, row := range table {
		shown.Settings = append(shown.Settings, shownSetting{row.name, row.valueOf(f.raws[i].text), f.raws[i].origin})
	}
	for _, flow := range s.Served[0].Policy.Flows {
		name := "flow " + strconv.Quote(flow.Name)
		shown.Flows = append(shown.Flows, shownSetting{name, flow.String(), f.originOfFlow(s, flow)})
	}
	for _, served := range s.Served {
		shown.Vaults = append(shown.Vaults, showVault(served, s.tables))
	}
	if f.JSON {
		return terminal.PrintJSON(std.Out, shown, terminal.ExitDone)
	}
	return terminal.Write(std.Out, terminal.Fit(std.Out, shown.text()))
}

// originOfFlow returns where a flow rule comes from.
func (f *Flags) originOfFlow(s Settings, flow policy.Flow) string {
	agent := s.Agents[s.Agent]
	switch {
	case slices.ContainsFunc(f.file.flows, flow.Equal):
		return f.file.origin()
	case slices.ContainsFunc(agent.Rights.Flows, flow.Equal):
		return "agent " + s.Agent
	}
	return "managed settings " + f.bounds.name
}

// showVault describes a served vault.
func showVault(served Served, tables []vaultTable) shownVault {
	vault := shownVault{
		Name:   served.Name,
		ID:     served.ID,
		Folder: served.Folder,
		Ignore: access.IgnoreFileOf(served.Folder),
		Tier:   served.Policy.Ceiling.String(),
		Origin: served.Policy.Origins["tier"],
	}
	for _, t := range tables {
		if t.Vault != served.Vault || len(t.levels) == 0 {
			continue
		}
		vault.Access = map[string]string{}
		for path, level := range t.levels {
			vault.Access[path] = level.String()
		}
	}
	return vault
}

// text returns the settings and vaults in aligned columns.
func (shown shownConfig) text() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	for _, s := range append(slices.Clone(shown.Settings), shown.Flows...) {
		value := fmt.Sprint(s.Value)
		if names, ok := s.Value.([]string); ok {
			value = strings.Join(names, ",")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, terminal.Visible(cmp.Or(value, "–")), terminal.Visible(s.Origin))
	}
	w.Flush()
	for _, v := range shown.Vaults {
		text.WriteByte('\n')
		lines := [][2]string{
			{"vault", cmp.Or(v.Name, v.Folder, v.ID, "chosen by the app")},
			{"  id", v.ID},
			{"  folder", v.Folder},
			{"  ignore file", v.Ignore},
			{"  tier", v.Tier + " (" + v.Origin + ")"},
		}
		for _, path := range slices.Sorted(maps.Keys(v.Access)) {
			lines = append(lines, [2]string{"  access " + strconv.Quote(path), v.Access[path]})
		}
		for _, line := range lines {
			if line[1] != "" {
				fmt.Fprintf(w, "%s\t%s\n", line[0], terminal.Visible(line[1]))
			}
		}
		w.Flush()
	}
	return text.String()
}

// valueOf returns a valid text of a setting as a value of the type that it has in the settings file.
func (s setting) valueOf(text string) any {
	switch s.kind {
	case boolean:
		return text == "true"
	case numeric:
		n, _ := strconv.Atoi(text) // it was read before
		return n
	case list:
		return append([]string{}, names(text)...)
	}
	return text
}

// Description describes a setting for the documentation.
type Description struct{ Name, Variable, Default, Usage string }

// Describe returns a description of each setting, in the order of the help text.
func Describe() []Description {
	var list []Description
	for _, s := range table {
		list = append(list, Description{s.name, VariableOf(s.name), s.fallback, s.usage})
	}
	return list
}

// DescribeVault returns the keys of a table [[vaults]], each with its description.
func DescribeVault() [][2]string { return keyDescriptions(vaultKeys()) }

// levelTexts describes the access levels, from none to delete.
var levelTexts = []string{
	"no access; it is hidden completely",
	"it can be read, listed and found",
	"also, it can be created and changed",
	"also, it can be removed, replaced and moved away",
}

// DescribeLevels returns the access levels, each with a description of what it allows.
func DescribeLevels() (list [][2]string) {
	for i, name := range levelNames() {
		list = append(list, [2]string{name, levelTexts[i]})
	}
	return list
}

// Row is a setting with its value and origin, for display.
type Row struct {
	Name, Value, Default, Origin, About string
	Lines                               []string // lines for the settings file that set other values, see [setting.lines]
}

// List reads the settings again, with the same flags, and returns them in the order of the help text. file is
// the settings file that was read, "" if there is none.
func (f *Flags) List(std terminal.Streams) (rows []Row, file string, err error) {
	f = f.again()
	if _, err := f.read(std); err != nil {
		return nil, "", err
	}
	if f.file.info != nil {
		file = f.file.name
	}
	for i, s := range table {
		value := f.raws[i].text
		rows = append(rows, Row{
			Name:    s.name,
			Value:   value,
			Default: s.fallback,
			Origin:  f.raws[i].origin,
			About:   s.usage,
			Lines:   s.lines(value),
		})
	}
	return rows, file, nil
}

// lines returns example lines for the settings file, each with a value that differs from value.
func (s setting) lines(value string) (lines []string) {
	if runtime.GOOS == "windows" && strings.HasPrefix(s.example, "/") {
		s.example = "C:" + s.example // an absolute path has a drive there
	}
	others := []string{s.example}
	switch {
	case s.kind == boolean:
		others[0] = strconv.FormatBool(value != "true")
	case s.kind == numeric:
		n, _ := strconv.Atoi(value) // it was checked
		other := max(2*n, 4)
		if s.form.most > 0 && other > s.form.most {
			other = n / 2
		}
		others[0] = strconv.Itoa(other)
	case s.kind == list:
		other := append(names(value), s.example)
		if at := slices.Index(other, s.example); at < len(other)-1 {
			other = slices.Delete(other[:len(other)-1], at, at+1)
		}
		others[0] = strings.Join(other, ",")
	case len(s.form.choices) > 0:
		others = slices.DeleteFunc(slices.Clone(s.form.choices), func(choice string) bool { return choice == value })
	case value == s.example:
		others[0] = s.fallback
	}
	for _, other := range others {
		lines = append(lines, s.line(other))
	}
	return lines
}

// line returns the line of the settings file for a valid value. strconv.Quote is sufficient: for the characters
// that values can contain, it quotes as TOML does.
func (s setting) line(text string) string {
	switch s.kind {
	case textual:
		text = strconv.Quote(text)
	case list:
		var quoted []string
		for _, name := range names(text) {
			quoted = append(quoted, strconv.Quote(name))
		}
		text = "[" + strings.Join(quoted, ", ") + "]"
	}
	return s.name + " = " + text
}

// Choices returns the possible values of a setting; nil if it accepts any value or does not exist.
func Choices(name string) []string {
	row, _ := settingOf(name)
	return row.form.choices
}
