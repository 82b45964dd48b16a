package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/textedit"
	"github.com/vaultwicket/vaultwicket/policy"
)

// document is the parsed content of a settings file. Every value in it is valid, whether it is used or not.
type document struct {
	place
	info     fs.FileInfo                  // the state of the file when it was read, nil if there is no file
	general  map[string]string            // the texts of the settings outside of tables, by setting
	profiles map[string]map[string]string // the texts of the settings of each profile
	vaults   []vaultTable
	agents   policy.Agents
	notify   consent.NotifyConfig
	flows    []policy.Flow
	lineOf   func(path ...string) int // the line of a key
}

// origin is the name of the file as the origin of a setting in messages.
func (d document) origin() string { return "file " + d.name }

// base is the name of the file without its folder, for messages to agents: they must not learn where the user
// keeps files.
func (d document) base() string { return filepath.Base(d.name) }

type problem struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

func (p problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Message) }

// wrongFile is the error for a settings file with problems. Its message is the first problem; "config check"
// prints all of them.
type wrongFile struct {
	name     string
	problems []problem
}

func (e *wrongFile) Error() string { return fmt.Sprintf("settings file %q: %s", e.name, e.problems[0]) }

// Code classifies an invalid file as an invalid request.
func (e *wrongFile) Code() string { return "bad_request" }

// Hint refers to the command that prints the other problems.
func (e *wrongFile) Hint() string {
	if len(e.problems) == 1 {
		return ""
	}
	return fmt.Sprintf(`"vaultwicket config check" shows %d more`, len(e.problems)-1)
}

// parseDocument reads a settings file strictly: unknown keys, duplicate keys and invalid values are problems. The
// problems are sorted by line.
func parseDocument(content []byte) (document, []problem) {
	root, content, wrong := parseTOML(content)
	if wrong != nil {
		return document{}, []problem{*wrong}
	}
	r := &reading{content: content}
	d := document{
		general:  r.settings(root, nil),
		profiles: r.profiles(root["profiles"]),
		vaults:   r.vaults(root["vaults"]),
		agents:   r.agents(root["agents"]),
		notify:   r.notify(root["notify"]),
		flows:    r.flows(root["flow"], []string{"flow"}),
		lineOf:   r.lineOf,
	}
	if name := d.general["profile"]; name != "" && d.profiles[name] == nil {
		r.report([]string{"profile"}, "setting %q: %s", "profile", d.noProfile(name))
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int { return a.Line - b.Line })
	return d, r.problems
}

// parseTOML parses a file and also returns it without its byte order mark. wrong is nil if the file can be parsed.
func parseTOML(content []byte) (root map[string]any, body []byte, wrong *problem) {
	body, err := textedit.TOMLBody(content)
	if malformed, ok := errors.AsType[*textedit.Malformed](err); ok {
		return nil, nil, &problem{malformed.Line, malformed.Reason}
	}
	if err != nil {
		return nil, nil, &problem{1, err.Error()}
	}
	if err := toml.Unmarshal(body, &root); err != nil {
		found := syntaxProblem(err)
		return nil, nil, &found
	}
	return root, body, nil
}

// syntaxProblem translates an error of the TOML parser into terms of settings.
func syntaxProblem(err error) problem {
	var wrong *toml.DecodeError
	if !errors.As(err, &wrong) {
		return problem{1, err.Error()}
	}
	text := strings.TrimPrefix(wrong.Error(), "toml: ")
	switch { // the parser describes characters
	case strings.HasPrefix(text, "unexpected character U+000A"),
		strings.HasPrefix(text, "unexpected end"),
		strings.HasPrefix(text, "expected value"):
		text = "the value is missing"
	case strings.HasSuffix(text, "at start of value"):
		text = `a value is a text in quotation marks ("v1"), a number, true, false or a list`
	case strings.HasPrefix(text, "expected '='"):
		text = "a setting is written name = value"
	}
	row, _ := wrong.Position()
	return problem{max(row, 1), text}
}

// reading collects the problems of a document while it is read.
type reading struct {
	content  []byte
	lines    lines
	problems []problem
}

// report adds a problem at the line of a key.
func (r *reading) report(path []string, format string, args ...any) {
	r.problems = append(r.problems, problem{r.lineOf(path...), fmt.Sprintf(format, args...)})
}

// lineOf returns the line of a key, or of the nearest existing table around it, or 1. The lines are counted on first
// use: a file without problems does not need them.
func (r *reading) lineOf(path ...string) int {
	if r.lines == nil {
		r.lines = linesOf(r.content)
	}
	for ; len(path) > 0; path = path[:len(path)-1] {
		if line, ok := r.lines[keyOf(path)]; ok {
			return line
		}
	}
	return 1
}

// tableNames are the top-level keys of a file that are not settings.
var tableNames = []string{"vaults", "profiles", "agents", "notify", "flow"}

// settings reads the settings of a table, which is the whole file (path is nil) or a profile. The result contains the
// valid ones.
func (r *reading) settings(values map[string]any, path []string) map[string]string {
	texts := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := append(slices.Clone(path), name)
		row, isSetting := settingOf(name)
		switch {
		case path == nil && slices.Contains(tableNames, name):
			continue
		case !isSetting && path == nil:
			r.report(
				at,
				"unknown setting %q%s",
				excerpt.Short(name),
				excerpt.DidYouMean(name, append(Names(), tableNames...)),
			)
			continue
		case !isSetting:
			r.report(
				at,
				"unknown setting %q%s",
				excerpt.Short(strings.Join(at, ".")),
				excerpt.DidYouMean(name, Names()),
			)
			continue
		case path != nil && name == "profile":
			r.report(at, "setting %q: a profile cannot choose a profile", strings.Join(at, "."))
			continue
		}
		text, err := row.read(values[name])
		if err != nil {
			r.report(at, "setting %q: %v", strings.Join(at, "."), err)
			continue
		}
		texts[name] = text
	}
	return texts
}

// read converts a value of the file, which must have the type of the setting, to the text that a flag would have. It
// returns an error if the value is invalid.
func (s setting) read(value any) (string, error) {
	text := ""
	ok := false
	switch v := value.(type) {
	case string:
		text = v
		ok = s.kind == textual
	case bool:
		text = strconv.FormatBool(v)
		ok = s.kind == boolean
	case int64:
		text = strconv.FormatInt(v, 10)
		ok = s.kind == numeric
	case []any:
		ok = s.kind == list
		for i := 0; ok && i < len(v); i++ { // a flag would read a name with a comma as two names
			name, isText := v[i].(string)
			if !isText {
				return "", fmt.Errorf("contains %s, want %s", typeName(v[i]), wanted[list])
			}
			if name == "" || strings.Contains(name, ",") || strings.TrimSpace(name) != name {
				return "", fmt.Errorf("invalid name %q", excerpt.Short(name))
			}
			text = strings.TrimPrefix(text+","+name, ",")
		}
	}
	if !ok {
		hint := ""
		if plural := s.name + "s"; slices.Contains(tableNames, plural) && s.kind == textual {
			hint = fmt.Sprintf("; tables go in %q", plural)
		}
		return "", fmt.Errorf("is %s, want %s%s", typeName(value), wanted[s.kind], hint)
	}
	if s.name == "vault" && strings.ContainsAny(text, `/\`) && !filepath.IsAbs(text) {
		return "", fmt.Errorf("%q is a relative path, want an absolute one", excerpt.Short(text))
	}
	return text, s.set(&Settings{}, text)
}

// wanted describes for messages how a setting of each kind is written in the file.
var wanted = [...]string{
	textual: `text in quotes`,
	boolean: "true or false, without quotes",
	numeric: "a whole number, without quotes",
	list:    `a list such as ["one", "two"]`,
}

// typeName describes the type of a TOML value for messages.
func typeName(value any) string {
	switch value.(type) {
	case string:
		return "text"
	case bool:
		return "true or false"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a fraction"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or a time"
}

// profiles reads the tables profiles.NAME.
func (r *reading) profiles(value any) map[string]map[string]string {
	profiles := map[string]map[string]string{}
	if value == nil {
		return profiles
	}
	tables, ok := value.(map[string]any)
	if !ok {
		r.report([]string{"profiles"}, "%q is %s, want tables such as [profiles.home]", "profiles", typeName(value))
		return profiles
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		at := []string{"profiles", name}
		values, ok := tables[name].(map[string]any)
		switch {
		case name == "":
			r.report(at, "a profile needs a name")
		case !ok:
			r.report(
				at,
				"%q is %s, want a table [profiles.%s]",
				strings.Join(at, "."),
				typeName(tables[name]),
				excerpt.Short(name),
			)
		default:
			profiles[name] = r.settings(values, at)
		}
	}
	return profiles
}

// lines maps the keys of a file to their line numbers, for messages. In an array of tables, the table with index n
// has the key "n".
type lines map[string]int

func keyOf(path []string) string { return strings.Join(path, "\x00") }

// linesOf returns the lines of the keys in content, which must be valid TOML.
func linesOf(content []byte) lines {
	finder := lineFinder{content: content, line: 1, found: lines{}}
	arrays := map[string]int{} // the number of tables so far in each array of tables
	var parser unstable.Parser
	parser.Reset(content)
	var table []string
	for parser.NextExpression() {
		node := parser.Expression()
		switch node.Kind {
		case unstable.KeyValue:
			finder.pair(node, table)
		case unstable.Table, unstable.ArrayTable:
			table = finder.table(node, arrays)
		}
	}
	return finder.found
}

// lineFinder finds the lines of keys. It must visit the keys in the order of the file.
type lineFinder struct {
	content []byte
	offset  int // of the last key
	line    int // of offset
	found   lines
}

// note records the line of a key, unless the key was noted before.
func (f *lineFinder) note(path []string, node *unstable.Node) {
	if next := int(node.Raw.Offset); next > f.offset {
		f.line += bytes.Count(f.content[f.offset:next], []byte("\n"))
		f.offset = next
	}
	key := keyOf(path)
	if _, isNoted := f.found[key]; !isNoted {
		f.found[key] = f.line
	}
}

// table notes the keys in a header [a.b] or [[a.b]], and returns the path of the table. arrays contains the number of
// tables so far in each array of tables.
func (f *lineFinder) table(header *unstable.Node, arrays map[string]int) (path []string) {
	for keys := header.Key(); keys.Next(); {
		path = append(path, string(keys.Node().Data))
		key := keyOf(path)
		count, isArray := arrays[key]
		switch {
		case !keys.IsLast() && isArray:
			path = append(path, strconv.Itoa(count-1))
		case keys.IsLast() && header.Kind == unstable.ArrayTable:
			path = append(path, strconv.Itoa(count))
			arrays[key]++
		}
		f.note(path, keys.Node())
	}
	return path
}

// pair notes a key in a table and the keys inside its value.
func (f *lineFinder) pair(node *unstable.Node, table []string) {
	path := slices.Clone(table)
	for keys := node.Key(); keys.Next(); {
		path = append(path, string(keys.Node().Data))
		f.note(path, keys.Node())
	}
	f.value(node.Value(), path)
}

// value notes the keys inside a value.
func (f *lineFinder) value(node *unstable.Node, path []string) {
	i := 0
	for children := node.Children(); children.Next(); i++ {
		child := children.Node()
		switch child.Kind {
		case unstable.KeyValue: // in an inline table
			f.pair(child, path)
		case unstable.InlineTable: // in an array
			f.value(child, append(slices.Clone(path), strconv.Itoa(i)))
		}
	}
}
