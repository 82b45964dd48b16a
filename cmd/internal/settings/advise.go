package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/textedit"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Refusal is a refused call, as the audit log recorded it.
type Refusal struct {
	Agent, Vault, Command, Path string // each "" if it is not known
	Code, Rule                  string
	Needs                       access.Level // the access that the call needs to the note at Path
}

// Advice describes how to change the settings file so that a call is allowed. If it has no edits, no change of the
// file would allow the call.
type Advice struct {
	File    string // the settings file, "" if there is none yet
	Setting string // the setting that refuses the call, "" if the settings allow it
	Origin  string // where the value of Setting comes from
	Edits   []Edit
	Opens   []string // per agent, the other commands that the edits enable
	Folder  string   // the folder that an added access rule covers, "" if the rule covers only the note of the call
}

// Edit changes one line. Text replaces Was. If Was is "", Text is inserted below Line; Line 0 is the beginning of the
// file. If Text is "", the line is removed.
type Edit struct {
	Line             int
	Table, Was, Text string
}

// Advise returns how to allow a refused call. It tries each change on a copy of the settings and decides the call
// again, so only changes that work are advised.
func (f *Flags) Advise(std terminal.Streams, r Refusal) (Advice, error) {
	current := f.again()
	if _, err := current.read(std); err != nil {
		return Advice{}, err
	}
	advice := Advice{}
	content, err := os.ReadFile(current.file.name)
	switch {
	case err == nil:
		advice.File = current.file.name
	case !errors.Is(err, fs.ErrNotExist):
		return Advice{}, err
	}
	t := trial{flags: f, std: std, refusal: r, origin: current.source}
	file := draftOf(bytes.TrimPrefix(content, []byte(textedit.BOM)))
	before, setting, err := t.decide(file)
	if err != nil {
		return Advice{}, err
	}
	advice.Setting = setting
	advice.Origin = before.Origins[setting]
	for range len(liftable) {
		if setting == "" {
			break
		}
		place := ""
		file, setting, place = t.lift(file, setting)
		if file == nil {
			return advice, nil
		}
		if place != "" && place != r.Path {
			advice.Folder = place
		}
	}
	if advice.Setting != "" && setting == "" {
		advice.Edits = file.edits()
		advice.Opens = t.opens(draftOf(content), file)
	}
	return advice, nil
}

// trial tries changes of the settings file until a refused call is allowed.
type trial struct {
	flags   *Flags
	std     terminal.Streams
	refusal Refusal
	origin  *source
}

// settingsIn returns the settings of an agent as they would be if file were the settings file.
func (t trial) settingsIn(file draft, agent string) (Settings, *Flags, error) {
	content := file.content()
	document, problems := parseDocument(content)
	if len(problems) > 0 {
		return Settings{}, nil, &wrongFile{t.origin.file.name, problems}
	}
	document.place = t.origin.file.place
	document.info = t.origin.file.info
	changed := *t.origin
	changed.file = document
	changed.agents = maps.Clone(document.agents)
	for name, agent := range t.origin.agents {
		if agent.Ended != "" { // the managed settings of the machine do not allow the agent
			narrowed := changed.agents[name]
			narrowed.Ended = agent.Ended
			changed.agents[name] = narrowed
		}
	}
	flags := t.flags.again()
	flags.source = &changed
	flags.agent = &agent
	flags.Reviews = false
	s, err := flags.read(t.std)
	if err == nil {
		err = flags.agree(&s)
	}
	return s, flags, err
}

// decide returns the policy for the call as it would be if file were the settings file, and the setting that refuses
// the call, "" if none does.
func (t trial) decide(file draft) (p policy.Policy, setting string, err error) {
	s, _, err := t.settingsIn(file, t.refusal.Agent)
	if err != nil {
		return p, "", err
	}
	i := slices.IndexFunc(
		s.Served,
		func(v Served) bool { return vaultTable{Vault: v.Vault}.label() == t.refusal.Vault },
	)
	p = s.Served[max(i, 0)].Policy
	return p, t.refusal.refusedBy(p), nil
}

// liftable contains the settings that can refuse a call and that the user can change. Each function returns, as TOML,
// a value with which the setting does not refuse the call; names is the present value of a setting that is a list.
var liftable = map[string]func(Refusal, []string) string{
	"tier": func(r Refusal, _ []string) string {
		command, _ := allowlist.Describe(r.Command) // refusedBy has checked that it exists
		return strconv.Quote(command.Tier.String())
	},
	"disable": func(r Refusal, now []string) string {
		return tomlList(slices.DeleteFunc(slices.Clone(now), func(name string) bool { return name == r.Command }))
	},
	"enable-only":          func(r Refusal, now []string) string { return tomlList(append(slices.Clone(now), r.Command)) },
	"allow-mutations":      func(Refusal, []string) string { return "true" },
	"allow-publish":        func(Refusal, []string) string { return "true" },
	"allow-ui":             func(Refusal, []string) string { return "true" },
	"access":               func(r Refusal, _ []string) string { return strconv.Quote(r.Needs.String()) },
	policy.RuleRemoteLinks: func(Refusal, []string) string { return `"allow"` },
	policy.RuleSuspicious:  func(Refusal, []string) string { return `"notice"` },
	policy.RuleSecrets:     func(Refusal, []string) string { return `"redact"` },
}

// tomlList returns names as a TOML array.
func tomlList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// refusedBy returns the setting through which p refuses the call, "" if p allows it. For an unknown command the
// result is "command".
func (r Refusal) refusedBy(p policy.Policy) string {
	command, err := allowlist.Describe(r.Command)
	if err != nil {
		return "command"
	}
	denial := p.Lists(command, policy.ClearFacts(time.Now()))
	isUnconfirmed := r.Code == policy.CodeUnconfirmed
	switch {
	case denial != nil && denial.Setting == "":
		return denial.Rule
	case denial != nil && (denial.Setting != "access" || r.Path == ""):
		return denial.Setting
	case r.Path != "" && p.Access.Level(r.Path) < r.Needs:
		return "access"
	case isUnconfirmed && r.Rule == policy.RuleRemoteLinks && !p.RemoteLinks:
		return policy.RuleRemoteLinks
	case isUnconfirmed && r.Rule == policy.RuleSuspicious && p.Suspicious == policy.SuspiciousAsk:
		return policy.RuleSuspicious
	case r.Code == failure.CodeSecret && p.Secrets == policy.SecretsBlock:
		return policy.RuleSecrets
	}
	return ""
}

// lift returns the file with the fewest changes after which setting does not refuse the call, and the next setting
// that refuses it; nil if no change is enough. place is the path of the added access rules, see [trial.places].
func (t trial) lift(file draft, setting string) (changed draft, next, place string) {
	value, known := liftable[setting]
	if !known {
		return nil, setting, ""
	}
	for _, place := range t.places(setting) {
		changed, next := t.liftAt(file, setting, place, value)
		if changed != nil {
			return changed, next, place
		}
	}
	return nil, setting, ""
}

// places returns the paths that an access rule for the call can have, the narrowest first: the note, then the folders
// that contain it, because the name of a note can look like a pattern. For other settings the result is one "".
func (t trial) places(setting string) []string {
	if setting != "access" {
		return []string{""}
	}
	places := []string{t.refusal.Path}
	for folder := path.Dir(t.refusal.Path); folder != "." && folder != "/"; folder = path.Dir(folder) {
		places = append(places, folder)
	}
	return append(places, "/")
}

// liftAt is [trial.lift] for rules about one place.
func (t trial) liftAt(
	file draft,
	setting, place string,
	value func(Refusal, []string) string,
) (changed draft, next string) {
	spots := t.spots(file, setting, place)
	var choices [][]spot // every combination of spots: small ones first, and the narrowest table first within a size
	for chosen := 1; chosen < 1<<len(spots); chosen++ {
		var choice []spot
		for i, s := range spots {
			if chosen&(1<<i) != 0 {
				choice = append(choice, s)
			}
		}
		choices = append(choices, choice)
	}
	slices.SortStableFunc(choices, func(a, b []spot) int { return len(a) - len(b) })
	for _, choice := range choices {
		tried := slices.Clone(file)
		for _, s := range choice {
			tried = tried.with(s, value(t.refusal, s.names))
		}
		if _, next, err := t.decide(tried); err == nil && next != setting {
			return tried, next
		}
	}
	return nil, setting
}

// spot is a place in the settings file where a setting can be.
type spot struct {
	path  []string // the key with the tables around it
	table string   // the table as shown to the user, "" for the general settings
	names []string // the value there, if it is a list
	isNew bool     // the table does not have the key yet
}

// spots returns the places in the file where a setting applies to the call, the narrowest table first. place is the
// path of the access rule if the setting is "access".
func (t trial) spots(file draft, setting, place string) (spots []spot) {
	var root map[string]any
	if toml.Unmarshal(file.content(), &root) != nil {
		return nil
	}
	add := func(table string, isAdded bool, path ...string) {
		value, found := valueAt(root, path)
		if !found && !isAdded {
			return
		}
		candidate := spot{path: path, table: table, isNew: !found}
		list, _ := value.([]any)
		for _, name := range list {
			candidate.names = append(candidate.names, fmt.Sprint(name))
		}
		spots = append(spots, candidate)
	}
	vault := -1
	for i, v := range t.origin.file.vaults {
		if v.label() == t.refusal.Vault {
			vault = i
		}
	}
	number := strconv.Itoa(vault)
	if setting == "access" {
		agentTable := []string{"agents", t.refusal.Agent, setting}
		if _, exists := valueAt(root, agentTable); exists {
			add("["+strings.Join(agentTable, ".")+"]", true, append(agentTable, place)...)
		}
		tableOfVault := []string{"vaults", number, setting}
		if _, exists := valueAt(root, tableOfVault); exists {
			add("[vaults.access]", true, append(tableOfVault, place)...)
		}
		return spots
	}
	add("[agents."+agentTableKey(t.refusal.Agent)+"]", false, "agents", t.refusal.Agent, setting)
	add("[[vaults]] of "+t.refusal.Vault, false, "vaults", number, setting)
	if profile, _ := root["profile"].(string); profile != "" {
		add("[profiles."+profile+"]", false, "profiles", profile, setting)
	}
	add("", true, setting)
	return spots
}

// valueAt returns the value at a path of keys and array indices.
func valueAt(root any, path []string) (value any, found bool) {
	for _, name := range path {
		switch node := root.(type) {
		case map[string]any:
			root, found = node[name]
		case []any:
			i, err := strconv.Atoi(name)
			if found = err == nil && i >= 0 && i < len(node); found {
				root = node[i]
			}
		default:
			found = false
		}
		if !found {
			return nil, false
		}
	}
	return root, true
}

// draft is the text of the settings file with a record of its changes.
type draft []draftLine

// draftLine is a line of a draft. number is its line number in the file, 0 for an added line. was is the original
// text of a changed line.
type draftLine struct {
	number           int
	text, was, table string
}

func draftOf(content []byte) (file draft) {
	for i, text := range strings.Split(string(content), "\n") {
		file = append(file, draftLine{number: i + 1, text: text})
	}
	return file
}

func (d draft) content() []byte {
	var text bytes.Buffer
	for i, line := range d {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(line.text)
	}
	return text.Bytes()
}

// assignment matches an equals sign and the value behind it: a string, a list of strings (on one or several lines),
// or a word. It also matches inside keys, strings and comments, so the caller must check the result.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`=[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\[(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[^\]"'#])*\]|[a-z0-9]+)`,
	)
})

// with returns the draft with a value set at s and nothing else changed. If that is not possible, it returns the
// draft unchanged.
func (d draft) with(s spot, value string) draft {
	lines := linesOf(d.content())
	key := s.path[len(s.path)-1]
	if s.isNew {
		name := key
		if s.table != "" {
			name = strconv.Quote(key)
		}
		line := draftLine{text: name + " = " + value, table: s.table}
		first := d.endOfGeneral()
		if s.table != "" {
			first = lines[keyOf(s.path[:len(s.path)-1])]
		}
		return slices.Insert(slices.Clone(d), first, line)
	}
	first := lines[keyOf(s.path)] - 1
	if first < 0 {
		return d
	}
	rest := make([][]byte, 0, len(d)-first)
	for _, line := range d[first:] {
		rest = append(rest, []byte(line.text+"\n"))
	}
	length, _ := linesOfValue(rest)
	text := strings.TrimSuffix(string(bytes.Join(rest[:length], nil)), "\n")
	for _, match := range assignment().FindAllStringSubmatchIndex(text, -1) {
		changed := d.replaced(first, length, text[:match[0]]+"= "+value+text[match[1]:], s.table)
		if changesOnly(d, changed, s.path) {
			return changed
		}
	}
	return d
}

// replaced returns the draft with length lines from the index at replaced by text, which must not have more lines.
func (d draft) replaced(at, length int, text, table string) draft {
	changed := slices.Clone(d)
	texts := strings.Split(text, "\n")
	for i := range length {
		line := &changed[at+i]
		newText := ""
		if i < len(texts) {
			newText = texts[i]
		}
		if newText == line.text {
			continue
		}
		if line.was == "" {
			line.was = line.text
		}
		line.text = newText
		line.table = table
	}
	return changed
}

// changesOnly reports whether after is valid TOML and differs from before at most in the value at path.
func changesOnly(before, after draft, path []string) bool {
	withoutKey := func(file draft) (encoded []byte, err error) {
		var root map[string]any
		if err := toml.Unmarshal(file.content(), &root); err != nil {
			return nil, err
		}
		parent, _ := valueAt(root, path[:len(path)-1])
		if table, isTable := parent.(map[string]any); isTable {
			delete(table, path[len(path)-1])
		}
		return json.Marshal(root)
	}
	oldJSON, errBefore := withoutKey(before)
	newJSON, errAfter := withoutKey(after)
	return errBefore == nil && errAfter == nil && bytes.Equal(oldJSON, newJSON)
}

// endOfGeneral returns the number of lines before the first table and its comment.
func (d draft) endOfGeneral() int {
	i := slices.IndexFunc(d, func(line draftLine) bool { return strings.HasPrefix(strings.TrimSpace(line.text), "[") })
	isBlankOrComment := func(text string) bool { return strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") }
	for i > 0 && isBlankOrComment(d[i-1].text) { // its comment, and the empty lines around it
		i--
	}
	if i < 0 {
		return len(d) - 1 // the empty text after the last newline
	}
	return i
}

// edits returns the changes of the draft.
func (d draft) edits() (list []Edit) {
	last := 0
	for _, line := range d {
		switch {
		case line.number == 0:
			list = append(list, Edit{Line: last, Table: line.table, Text: line.text})
		case line.was != "":
			was := strings.TrimSpace(line.was)
			text := strings.TrimSpace(line.text)
			list = append(list, Edit{Line: line.number, Table: line.table, Was: was, Text: text})
		}
		if line.number > 0 {
			last = line.number
		}
	}
	return list
}

// opens returns, one line per agent, the other commands that the change from before to after enables.
func (t trial) opens(before, after draft) (lines []string) {
	agents := slices.Sorted(maps.Keys(t.origin.agents))
	if len(t.origin.file.agents) == 0 {
		agents = []string{""}
	}
	for _, agent := range agents {
		var added []string
		enabledBefore := t.enabledFor(before, agent)
		enabledAfter := t.enabledFor(after, agent)
		for _, name := range slices.Sorted(maps.Keys(enabledAfter)) {
			isRefused := name == t.refusal.Command && agent == t.refusal.Agent
			if !enabledBefore[name] && !isRefused {
				added = append(added, name)
			}
		}
		if len(added) == 0 {
			continue
		}
		who := agent
		if who == "" {
			who = "every client"
		}
		lines = append(lines, who+": "+shortList(added))
	}
	return lines
}

// shortList lists the first few names and the number of the others.
func shortList(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// enabledFor returns the commands that file enables for an agent in the vault of the call. It is empty if file is
// invalid.
func (t trial) enabledFor(file draft, agent string) map[string]bool {
	t.refusal.Agent = agent
	enabled := map[string]bool{}
	p, _, err := t.decide(file)
	if err != nil {
		return enabled
	}
	for command := range allowlist.Commands() {
		if p.Lists(command, policy.ClearFacts(time.Now())) == nil {
			enabled[command.Name] = true
		}
	}
	return enabled
}
