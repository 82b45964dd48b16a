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

// Refusal is a call that was refused, as far as the audit log has it.
type Refusal struct {
	Agent, Vault, Command, Path string // each "" where it is not known
	Code, Rule                  string
	Needs                       access.Level // of the note at Path
}

// Advice is how the settings file can be changed so that a call is allowed. Without edits no change of the file
// allows it.
type Advice struct {
	File    string // the settings file, "" where there is none yet
	Setting string // that refuses the call now, "" if the settings allow it
	Origin  string // where that comes from
	Edits   []Edit
	Opens   []string // what the edits allow besides the call
	Folder  string   // that a line of access is about, "" if it is about the note of the call alone
}

// Edit is a change of one line. Was is the text that Text replaces, "" where Text is added below the line, which is
// 0 for the beginning of the file. Where Text is "" the line is removed.
type Edit struct {
	Line             int
	Table, Was, Text string
}

// Advise returns how to allow a call that was refused. Each change is made in a copy of the file, which is loaded, and
// the call is decided again: an advice is one that was tried.
func (f *Flags) Advise(std terminal.Streams, r Refusal) (Advice, error) {
	current := f.again()
	if _, err := current.read(std); err != nil {
		return Advice{}, err
	}
	advised := Advice{}
	content, err := os.ReadFile(current.file.name)
	switch {
	case err == nil:
		advised.File = current.file.name
	case !errors.Is(err, fs.ErrNotExist):
		return Advice{}, err
	}
	t := trial{flags: f, std: std, refusal: r, origin: current.source}
	file := draftOf(bytes.TrimPrefix(content, []byte(textedit.BOM)))
	before, setting, err := t.decide(file)
	if err != nil {
		return Advice{}, err
	}
	advised.Setting = setting
	advised.Origin = before.Origins[setting]
	for range len(liftable) {
		if setting == "" {
			break
		}
		place := ""
		if file, setting, place = t.lift(file, setting); file == nil {
			return advised, nil
		}
		if place != "" && place != r.Path {
			advised.Folder = place
		}
	}
	if advised.Setting != "" && setting == "" {
		advised.Edits = file.edits()
		advised.Opens = t.opens(draftOf(content), file)
	}
	return advised, nil
}

// trial tries changes of the settings file on a refused call.
type trial struct {
	flags   *Flags
	std     terminal.Streams
	refusal Refusal
	origin  *source
}

// settingsIn returns the settings with another text of their file, for an agent.
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
		if agent.Ended != "" { // by the machine
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

// decide returns the policy of the call with a text of the file, and the setting that refuses the call, "" if none
// does.
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

// liftable are the settings that can refuse a call and be changed for it, each with its value that does not.
var liftable = map[string]func(Refusal, []string) string{
	"tier": func(r Refusal, _ []string) string {
		command, _ := allowlist.Describe(r.Command) // it was found before
		return strconv.Quote(command.Tier.String())
	},
	"disable": func(r Refusal, now []string) string {
		return listLine(slices.DeleteFunc(slices.Clone(now), func(name string) bool { return name == r.Command }))
	},
	"enable-only":          func(r Refusal, now []string) string { return listLine(append(slices.Clone(now), r.Command)) },
	"allow-mutations":      func(Refusal, []string) string { return "true" },
	"allow-publish":        func(Refusal, []string) string { return "true" },
	"allow-ui":             func(Refusal, []string) string { return "true" },
	"access":               func(r Refusal, _ []string) string { return strconv.Quote(r.Needs.String()) },
	policy.RuleRemoteLinks: func(Refusal, []string) string { return `"allow"` },
	policy.RuleSuspicious:  func(Refusal, []string) string { return `"notice"` },
	policy.RuleSecrets:     func(Refusal, []string) string { return `"redact"` },
}

func listLine(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// refusedBy returns the setting that refuses the call in a policy, "" if none does.
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

// lift returns the text of the file with the fewest changes after which a setting does not refuse the call, and what
// refuses it then; nil if none is enough. place is what the lines of access name, see [trial.places].
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

// places are what a line about a setting can name, the narrowest first: of access the note, and the folders that it is
// in, because a name can look like a pattern. Other settings name nothing.
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

// liftAt is [trial.lift] by lines that name a place.
func (t trial) liftAt(
	file draft,
	setting, place string,
	value func(Refusal, []string) string,
) (changed draft, next string) {
	spots := t.spots(file, setting, place)
	var choices [][]spot // the smallest first; of one size those of the narrowest table
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

// spot is where a file can have a setting: in a table, "" for none.
type spot struct {
	path  []string // of the key
	table string
	names []string // of the list that it has there
	isNew bool     // the key is to be added to the table
}

// spots returns where a file can have a setting for the call, the narrowest table first. A line of access names a place.
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
		one := spot{path: path, table: table, isNew: !found}
		list, _ := value.([]any)
		for _, name := range list {
			one.names = append(one.names, fmt.Sprint(name))
		}
		spots = append(spots, one)
	}
	vault := -1
	for i, v := range t.origin.file.vaults {
		if v.label() == t.refusal.Vault {
			vault = i
		}
	}
	number := strconv.Itoa(vault)
	if setting == "access" {
		for _, table := range [][]string{{"agents", t.refusal.Agent, setting}, {"vaults", number, setting}} {
			if _, found := valueAt(root, table); found {
				name := strings.Join(table, ".")
				if table[0] == "vaults" {
					name = "vaults.access"
				}
				add("["+name+"]", true, append(table, place)...)
			}
		}
		return spots
	}
	add("[agents."+keyOfAgent(t.refusal.Agent)+"]", false, "agents", t.refusal.Agent, setting)
	add("[[vaults]] of "+t.refusal.Vault, false, "vaults", number, setting)
	if profile, _ := root["profile"].(string); profile != "" {
		add("[profiles."+profile+"]", false, "profiles", profile, setting)
	}
	add("", true, setting)
	return spots
}

// valueAt returns what a file has under a key.
func valueAt(root any, path []string) (value any, found bool) {
	for _, name := range path {
		switch at := root.(type) {
		case map[string]any:
			root, found = at[name]
		case []any:
			i, err := strconv.Atoi(name)
			if found = err == nil && i >= 0 && i < len(at); found {
				root = at[i]
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

// draft is a text of the settings file, with what was changed of it.
type draft []draftLine

// draftLine is a line of a draft. number is that of the line in the file, 0 for one that is added.
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

// assignment is a value with the sign before it: a string, a list of strings, also over several lines, or a word. What
// looks like one in a key, a string or a comment is found too.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`=[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\[(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[^\]"'#])*\]|[a-z0-9]+)`,
	)
})

// with returns a draft with a value in a place, and nothing else changed. It stays as it is where that cannot be.
func (d draft) with(s spot, value string) draft {
	lines := linesOf(d.content())
	key := s.path[len(s.path)-1]
	if s.isNew {
		name := key
		if s.table != "" {
			name = strconv.Quote(key)
		}
		added := draftLine{text: name + " = " + value, table: s.table}
		at := d.endOfGeneral()
		if s.table != "" {
			at = lines[keyOf(s.path[:len(s.path)-1])]
		}
		return slices.Insert(slices.Clone(d), at, added)
	}
	at := lines[keyOf(s.path)] - 1
	if at < 0 {
		return d
	}
	rest := make([][]byte, 0, len(d)-at)
	for _, line := range d[at:] {
		rest = append(rest, []byte(line.text+"\n"))
	}
	length, _ := linesOfValue(rest)
	text := strings.TrimSuffix(string(bytes.Join(rest[:length], nil)), "\n")
	for _, found := range assignment().FindAllStringSubmatchIndex(text, -1) {
		changed := d.replaced(at, length, text[:found[0]]+"= "+value+text[found[1]:], s.table)
		if changesOnly(d, changed, s.path) {
			return changed
		}
	}
	return d
}

// replaced returns a draft with another text in place of some lines, of which it has no more.
func (d draft) replaced(at, length int, text, table string) draft {
	changed := slices.Clone(d)
	texts := strings.Split(text, "\n")
	for i := range length {
		line := &changed[at+i]
		now := ""
		if i < len(texts) {
			now = texts[i]
		}
		if now == line.text {
			continue
		}
		if line.was == "" {
			line.was = line.text
		}
		line.text = now
		line.table = table
	}
	return changed
}

// changesOnly reports whether a draft is right, and has nothing that another has not but the value under a key.
func changesOnly(before, after draft, path []string) bool {
	without := func(file draft) (text []byte, err error) {
		var root map[string]any
		if err := toml.Unmarshal(file.content(), &root); err != nil {
			return nil, err
		}
		above, _ := valueAt(root, path[:len(path)-1])
		if table, isTable := above.(map[string]any); isTable {
			delete(table, path[len(path)-1])
		}
		return json.Marshal(root)
	}
	was, errBefore := without(before)
	is, errAfter := without(after)
	return errBefore == nil && errAfter == nil && bytes.Equal(was, is)
}

// endOfGeneral returns how many lines there are before the first table.
func (d draft) endOfGeneral() int {
	i := slices.IndexFunc(d, func(line draftLine) bool { return strings.HasPrefix(strings.TrimSpace(line.text), "[") })
	isOfTable := func(text string) bool { return strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") }
	for i > 0 && isOfTable(d[i-1].text) { // its comment, and what is between
		i--
	}
	if i < 0 {
		return len(d) - 1 // what follows the last newline
	}
	return i
}

// edits returns what was changed.
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

// opens says which further commands each agent can call after a change of the file.
func (t trial) opens(before, after draft) (said []string) {
	agents := slices.Sorted(maps.Keys(t.origin.agents))
	if len(t.origin.file.agents) == 0 {
		agents = []string{""}
	}
	for _, agent := range agents {
		var more []string
		was := t.enabledFor(before, agent)
		now := t.enabledFor(after, agent)
		for _, name := range slices.Sorted(maps.Keys(now)) {
			isRefused := name == t.refusal.Command && agent == t.refusal.Agent
			if !was[name] && !isRefused {
				more = append(more, name)
			}
		}
		if len(more) == 0 {
			continue
		}
		who := agent
		if who == "" {
			who = "every client"
		}
		said = append(said, who+": "+shortList(more))
	}
	return said
}

// shortList names the first of some commands.
func shortList(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// enabledFor returns the commands that are enabled for an agent in the vault of the call.
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
