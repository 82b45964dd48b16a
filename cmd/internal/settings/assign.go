package settings

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/textedit"
)

// setConfig runs "config set KEY VALUE", which writes one setting into the settings file and keeps all other lines. A
// missing file is created as "config init" does. The folder of a vault is written as an absolute path.
func setConfig(f *Flags, std terminal.Streams) error {
	if f.NArg() != 3 {
		return &terminal.UsageError{
			Reason: "usage: vaultwicket config set KEY VALUE",
			Advice: "such as: vaultwicket config set tier v1",
		}
	}
	row, text, location, err := f.parseAssignment(std, f.Arg(1), f.Arg(2))
	if err != nil {
		return err
	}
	if err := assign(location, row, text); err != nil {
		return err
	}
	if f.JSON {
		err = terminal.PrintJSON(std.Out, assigned{row.name, row.valueOf(text), location.name}, terminal.ExitDone)
	} else {
		err = terminal.Write(std.Out, fmt.Sprintf("%s in %s\n", row.line(text), terminal.Visible(location.name)))
	}
	if err != nil {
		return err
	}
	return f.noteEffect(std, row)
}

// assigned is what "config set --json" prints.
type assigned struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	File  string `json:"file"`
}

// parseAssignment returns the setting, its text and the settings file for a key and a value that the user typed. The folder
// of a vault is made absolute.
func (f *Flags) parseAssignment(std terminal.Streams, key, value string) (row setting, text string, location place, err error) {
	row, known := settingOf(key)
	if !known {
		return row, "", place{}, &terminal.UsageError{
			Reason: fmt.Sprintf("unknown setting %q%s", excerpt.Short(key), excerpt.DidYouMean(key, Names())),
			Advice: `"vaultwicket config show" lists the settings; tables such as [[vaults]] are written with an editor`,
		}
	}
	var parsed Settings
	if err := row.set(&parsed, value); err != nil {
		return row, "", place{}, &terminal.UsageError{Reason: fmt.Sprintf("setting %q: %v", row.name, err)}
	}
	text = value
	if row.name == "vault" && parsed.Vault.Folder != "" {
		text = parsed.Vault.Folder
	}
	if row.name == "vault" && parsed.Vault.Folder == "" && parsed.Vault.Name != "" {
		if err := checkVaultName(std, parsed.Vault.Name); err != nil {
			return row, "", place{}, err
		}
	}
	location, err = f.place(std)
	if err == nil && location.name == "" {
		err = location.missing()
	}
	return row, text, location, err
}

// checkVaultName returns an error if the app does not list a vault with this name: without a folder nothing could be read
// from it.
func checkVaultName(std terminal.Streams, name string) error {
	known := appvaults.VaultFolders(std.Getenv)
	if slices.ContainsFunc(known, func(folder string) bool { return filepath.Base(folder) == name }) {
		return nil
	}
	advice := "give its folder, such as: vaultwicket config set vault ~/Notes"
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		advice = fmt.Sprintf("a folder needs a slash: vaultwicket config set vault %q", "./"+name)
	}
	return &terminal.UsageError{
		Reason: fmt.Sprintf("setting \"vault\": the Obsidian app lists no vault %q", excerpt.Short(name)),
		Advice: advice,
	}
}

// Planned returns the line that [Assign] writes, and the settings file. The error is a [*terminal.UsageError].
func Planned(std terminal.Streams, key, value string) (line, file string, err error) {
	row, text, location, err := NewFlags("config").parseAssignment(std, key, value)
	if err != nil {
		return "", "", err
	}
	return row.line(text), location.name, nil
}

// Assign writes one setting into the settings file as "config set" does.
func Assign(std terminal.Streams, key, value string) error {
	row, text, location, err := NewFlags("config").parseAssignment(std, key, value)
	if err != nil {
		return err
	}
	return assign(location, row, text)
}

// noteEffect tells the user if a source other than the file still decides the setting, and when running servers apply
// the change.
func (f *Flags) noteEffect(std terminal.Streams, row setting) error {
	reloaded := f.again()
	if _, err := reloaded.Settings(std); err != nil {
		return err
	}
	if origin := reloaded.raws[settingIndex(row.name)].origin; origin != reloaded.file.origin() {
		terminal.Notef(std.Err, "%s decides %s, and not the file", origin, row.name)
	}
	terminal.Notef(std.Err, "%s", takesEffect)
	return nil
}

// takesEffect is the note about when a change of the settings file takes effect.
const takesEffect = "a running server takes what is stricter at once, and the rest when its client starts it again"

// assign writes a setting with this text into the settings file at a place.
func assign(location place, row setting, text string) error {
	before, err := openForChange(location)
	if err != nil {
		return err
	}
	if before.info == nil {
		return writeNew(location.name, withSetting([]byte(initialConfig()), row, text))
	}
	target, content, err := readTarget(location.name)
	if err != nil {
		return cannotWrite(location.name, err)
	}
	changed := withSetting(bytes.TrimPrefix(content, []byte(textedit.BOM)), row, text)
	if _, problems := parseDocument(changed); len(problems) > 0 {
		return &wrongFile{location.name, problems}
	}
	if err := writeAside(target, changed, before.info.Mode().Perm(), os.Rename); err != nil {
		return cannotWrite(location.name, err)
	}
	return nil
}

// withSetting returns the content of a settings file with a setting fresh. The line replaces the existing line of the
// setting, otherwise the comment with its default; if the file has neither, it is fresh before the first table.
func withSetting(content []byte, row setting, text string) []byte {
	line := []byte(row.line(text) + "\n")
	lines := bytes.SplitAfter(content, []byte("\n"))
	firstTable := slices.IndexFunc(lines, func(l []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(l), []byte("[")) })
	if firstTable < 0 {
		firstTable = len(lines)
	}
	head := lines[:firstTable]
	isSetting := func(l []byte) bool { return isLineOf(l, row.name, "") }
	if i := slices.IndexFunc(head, isSetting); i >= 0 {
		length, comment := linesOfValue(head[i:])
		line = append(bytes.TrimSuffix(line, []byte("\n")), comment...)
		return bytes.Join(slices.Replace(slices.Clone(lines), i, i+length, line), nil)
	}
	isComment := func(l []byte) bool { return isLineOf(l, row.name, "#") }
	if i := slices.IndexFunc(head, isComment); i >= 0 {
		return bytes.Join(slices.Replace(slices.Clone(lines), i, i+1, line), nil)
	}
	if len(head) > 0 {
		last := head[len(head)-1]
		if len(last) > 0 && !bytes.HasSuffix(last, []byte("\n")) {
			line = append([]byte("\n"), line...)
		}
	}
	return bytes.Join(slices.Insert(slices.Clone(lines), firstTable, line), nil)
}

// isLineOf reports whether a line begins with prefix and then sets the setting with this name.
func isLineOf(line []byte, name, prefix string) bool {
	text, hasPrefix := strings.CutPrefix(string(bytes.TrimSpace(line)), prefix)
	key, _, hasValue := strings.Cut(text, "=")
	return hasPrefix && hasValue && strings.Trim(key, ` "'`) == name
}

// linesOfValue returns the number of lines of the setting that begins on the first line, and what follows its value:
// a comment, if there is one, and the end of the line.
func linesOfValue(lines [][]byte) (length int, comment []byte) {
	var text []byte
	for _, l := range lines {
		text = append(text, l...)
		length++
		var whole map[string]any
		if toml.Unmarshal(text, &whole) == nil {
			break
		}
	}
	for at, c := range text {
		var value map[string]any
		if c == '#' && toml.Unmarshal(text[:at], &value) == nil {
			start := len(bytes.TrimRight(text[:at], " \t"))
			return length, text[start:]
		}
	}
	return length, text[len(bytes.TrimRight(text, " \t\r\n")):]
}
