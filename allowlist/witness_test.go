package allowlist

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// The catalogue in testdata/commands.json was gathered from the help page and
// from recordings, before and apart from the table. The table must say the same,
// or the difference is listed below with its reason.

// deviations are the places in which the table knowingly differs. The key is
// the command and the fact, the value the reason. One that no longer differs
// fails the test.
var deviations = map[string]string{
	"help tier":    "the gateway probes the client with it, whatever tier is open",
	"version tier": "the version gate needs it, whatever tier is open",

	"daily effect": "the call does not show whether the note is there, and it makes a missing one",

	"plugin:enable effect":    "it starts plugin code, so the worse of its two effects counts",
	"plugin:reload effect":    "as plugin:enable",
	"plugin:uninstall effect": "destructive stands beside admin, which is the worse of the two",
	"theme:uninstall effect":  "as plugin:uninstall",
	"publish:remove effect":   "destructive stands beside publish, which is the worse of the two",

	"create oneOf":   "without a name or path the app makes a note called Untitled",
	"bookmark oneOf": "what it does without a subject is stated nowhere",
	"task oneOf":     "a task is named by its line; this takes the place of three needs",
	"task needs":     "see oneOf, which is stricter: the open note needs a line too",
	"task exclusive": "ref holds a line already, so a second one would be another task",

	"bookmark target": "the page does not say; with a subject required there is nothing to fall back to",

	"unique name kind":             "it becomes part of a file name",
	"theme:set name empty":         "a restricted command is never sent, so its values are never looked at",
	"workspace:save name required": "which layout is replaced without a name is stated nowhere",
	"template:insert path":         "an extension of the embedded vault CLI; the app has no target for it",

	"links depth":     "an extension of the embedded vault CLI",
	"links direction": "as depth",
	"links limit":     "as depth",

	"property:set folder":    "an extension of the embedded vault CLI: several notes at once",
	"property:set query":     "as folder",
	"property:set exclusive": "one note, or several",

	"read frontmatter": "an extension of the embedded vault CLI",
	"tasks text":       "an extension of the embedded vault CLI: a filter by words",
	"task text":        "as for tasks",

	"move files":     "an extension of the embedded vault CLI: several files at once",
	"move query":     "as files",
	"move links":     "an extension of the embedded vault CLI; the app goes by a setting",
	"move exclusive": "one file, or several",
	"rename links":   "as for move",

	"append heading":         "an extension of the embedded vault CLI; the app ignores it",
	"append exclusive":       "lines of their own continue none",
	"daily:append heading":   "as for append",
	"daily:append exclusive": "as for append",

	"daily:path date":      "an extension of the embedded vault CLI",
	"daily:path offset":    "as date",
	"daily:path exclusive": "both name the day",
	"daily:read date":      "as for daily:path",
	"daily:read offset":    "as for daily:path",
	"daily:read exclusive": "as for daily:path",
	"daily:append date":    "as for daily:path",
	"daily:append offset":  "as for daily:path",
	"daily:prepend date":   "as for daily:path",
	"daily:prepend offset": "as for daily:path",

	"daily:prepend exclusive": "as for daily:path",
	"base:views file":         "an extension of the embedded vault CLI; the app has no target for it",
	"base:views path":         "as file",
	"base:views exclusive":    "both name the base",
	"base:query where":        "an extension of the embedded vault CLI",
	"base:query select":       "as where",
	"base:query sort":         "as where",
	"base:query group":        "as where",
	"base:query limit":        "as where",
	"base:query offset":       "as where",
	"base:query values":       "as where",
	"base:query groups":       "as where",
	"base:query summaries":    "as where",
	"base:query explain":      "as where",
	"base:query this":         "as where",
	"random:read count":       "an extension of the embedded vault CLI",
	"random:read min-age":     "as count",
	"random:read seed":        "as count",

	"append create-heading":       "as append heading",
	"append needs":                "a heading is made where one is named",
	"daily:append create-heading": "as append heading",
	"daily:append needs":          "as append needs",
	"task date":                   "an extension of the embedded vault CLI",
	"task date effect":            "it needs another one that writes",

	"tasks folder":      "an extension of the embedded vault CLI",
	"tasks due":         "as folder",
	"tasks due-before":  "as folder",
	"tasks due-after":   "as folder",
	"tasks overdue":     "as folder",
	"tasks no-due":      "as folder",
	"tasks priority":    "as folder",
	"tasks tag":         "as folder",
	"base:create group": "the embedded program makes a note of a group",
	"tasks sort":        "as folder",
	"create links":      "as those of move",
	"tasks group":       "as folder",
	"tasks details":     "as folder",
	"tasks exclusive":   "filters that no task can fit",
}

func TestTheTableSaysWhatTheCatalogueSays(t *testing.T) {
	seen := map[string]bool{}
	for _, entry := range readCatalogue(t) {
		r := find(entry.Name)
		if r == nil {
			t.Errorf("%s is in the catalogue and not in the table", entry.Name)
			continue
		}
		theirs := entry.facts()
		ours := r.facts(entry.types())
		for _, fact := range slices.Sorted(keysOf(theirs, ours)) {
			if theirs[fact] == ours[fact] {
				continue
			}
			key := entry.Name + " " + fact
			seen[key] = true
			assert.That(t, deviations[key] != "", "%s: the catalogue says %q, the table %q", key, theirs[fact], ours[fact])
		}
	}
	for key := range deviations {
		assert.That(t, seen[key], "%s is listed as a deviation and does not deviate", key)
	}
}

func TestTheTableAndTheCatalogueNameTheSameCommands(t *testing.T) {
	var theirs []string
	for _, entry := range readCatalogue(t) {
		theirs = append(theirs, entry.Name)
	}
	ours := slices.DeleteFunc(Names(), func(name string) bool { return find(name).embeddedOnly })
	slices.Sort(theirs)
	slices.Sort(ours)
	assert.That(t, slices.Equal(theirs, ours), "catalogue and table differ:\n%v\n%v", theirs, ours)
	assert.That(t, len(ours) == 115, "the table has %d commands, the help page 115", len(ours))
}

// The app still takes some flags that the help page dropped, with a meaning
// that nobody can rely on.
func TestUnlistedFlagsStayOut(t *testing.T) {
	count := 0
	for _, entry := range readCatalogue(t) {
		for _, p := range entry.UndocumentedParams {
			count++
			assert.That(t, find(entry.Name).param(p.Name) == nil, "%s has the unlisted %s", entry.Name, p.Name)
		}
	}
	assert.That(t, count == 3, "the catalogue has %d unlisted flags, want 3", count)
}

// What can carry text out talks to the network, by the catalogue; the other
// network commands only fetch, or are restricted.
func TestOnlyNetworkCommandsSend(t *testing.T) {
	for _, entry := range readCatalogue(t) {
		r := find(entry.Name)
		sends := r.sends || r.effect == tiers.Publishes
		assert.That(t, !sends || entry.Network, "%s sends without a network", entry.Name)
		assert.Equal(t, sends, entry.Name == "web" || entry.Effect == "publish", "%s: sends", entry.Name)
	}
}

// entry is one command of the catalogue, as far as the table has the same.
type entry struct {
	Name, Tier, Effect, MaxEffect, MinVersion, NeedsActiveFile string
	AlsoEffects                                                []string
	Network                                                    bool
	EffectWhen                                                 []struct {
		Param, Effect string
		Additive      bool
	}
	Params []struct {
		Name, Kind, Type     string
		Required, AllowEmpty bool
		Enum                 []string
		Minimum              int64
	}
	UndocumentedParams []struct{ Name string }
	Exclusive          []struct{ Params []string }
	Requires           []struct {
		Param string
		Needs []string
	}
	Output struct{ Default string }
}

func readCatalogue(t *testing.T) []entry {
	t.Helper()
	text := require.Value(os.ReadFile("testdata/commands.json"))(t)
	var catalogue struct{ Commands []entry }
	require.NoError(t, json.Unmarshal(text, &catalogue))
	return catalogue.Commands
}

// catalogueKinds are the types of the catalogue that a kind may stand for.
var catalogueKinds = map[kind][]string{
	kindFlag: {"bool"}, kindText: {"string", "json", "code"}, kindContent: {"content"},
	kindName: {"string", "name"}, kindLink: {"name"}, kindBase: {"name"}, kindTitle: {"name"},
	kindPath: {"path"}, kindNewPath: {"path"}, kindDestination: {"path"}, kindFolder: {"folder"},
	kindRef: {"string"}, kindNumber: {"int"}, kindChoice: {"enum"}, kindChar: {"char"},
	kindURL: {"url"}, kindWord: {"string"},
}

var catalogueTargets = map[string]target{
	"active": targetActive, "active-base": targetActive, "active-editor": targetActive,
	"none": targetNone, "vault": targetVault, "daily": targetDaily,
}

func (e entry) types() map[string]string {
	types := map[string]string{}
	for _, p := range e.Params {
		types[p.Name] = p.Type
	}
	return types
}

func (e entry) facts() map[string]string {
	facts := map[string]string{
		"tier": e.Tier, "effect": strings.Join(append([]string{e.Effect}, e.AlsoEffects...), " and "), "worst": e.MaxEffect,
		"since": e.MinVersion, "oneOf": "[]", "json": fmt.Sprint(e.Output.Default == "json"),
	}
	facts["shows"] = fmt.Sprint(e.Effect == "ui")
	facts["target"] = e.NeedsActiveFile
	if target, ok := catalogueTargets[e.NeedsActiveFile]; ok {
		facts["target"] = fmt.Sprint(target)
	}
	var exclusive, needs []string
	for _, group := range e.Exclusive {
		exclusive = append(exclusive, strings.Join(group.Params, "|"))
	}
	for _, r := range e.Requires {
		needs = append(needs, r.Param+"→"+strings.Join(r.Needs, "|"))
	}
	facts["exclusive"], facts["needs"] = sorted(exclusive), sorted(needs)
	for _, p := range e.Params {
		facts[p.Name] = p.Kind
		facts[p.Name+" kind"] = p.Type
		facts[p.Name+" required"] = fmt.Sprint(p.Required)
		facts[p.Name+" empty"] = fmt.Sprint(p.AllowEmpty)
		facts[p.Name+" choices"] = strings.Join(p.Enum, "|")
		facts[p.Name+" least"] = fmt.Sprint(p.Minimum)
	}
	for _, w := range e.EffectWhen {
		switch {
		case w.Additive:
			facts[w.Param+" shows"] = "true"
		case w.Param != "" && effectOf(w.Effect).WorseThan(effectOf(e.Effect)):
			facts[w.Param+" effect"] = w.Effect
		}
	}
	return facts
}

// facts writes the row down in the words of the catalogue. A kind that may stand
// for the type of the catalogue is written as that type.
func (r *row) facts(types map[string]string) map[string]string {
	described := r.describe()
	facts := map[string]string{
		"tier": r.tier.String(), "effect": r.effect.String(), "worst": described.Worst.String(),
		"since": described.Since.String(), "json": fmt.Sprint(r.reply.JSON),
		"shows": fmt.Sprint(described.Shows), "target": fmt.Sprint(r.target),
	}
	var oneOf, exclusive, needs []string
	for _, group := range r.oneOf {
		oneOf = append(oneOf, strings.Join(group, "|"))
	}
	for _, group := range r.exclusive {
		exclusive = append(exclusive, strings.Join(group, "|"))
	}
	for _, n := range r.needs {
		needs = append(needs, n.param+"→"+strings.Join(n.with, "|"))
	}
	facts["oneOf"], facts["exclusive"], facts["needs"] = sorted(oneOf), sorted(exclusive), sorted(needs)
	for i := range r.params {
		p := &r.params[i]
		if p.embeddedOnly {
			facts[p.name] = "ours"
			continue
		}
		facts[p.name] = map[kind]string{kindFlag: "flag", kindWord: "positional"}[p.kind]
		if facts[p.name] == "" {
			facts[p.name] = "param"
		}
		facts[p.name+" kind"] = p.kind.String()
		if slices.Contains(catalogueKinds[p.kind], types[p.name]) {
			facts[p.name+" kind"] = types[p.name]
		}
		facts[p.name+" required"] = fmt.Sprint(p.required)
		facts[p.name+" empty"] = "false"
		facts[p.name+" choices"] = strings.Join(p.choices, "|")
		facts[p.name+" least"] = fmt.Sprint(p.least)
	}
	for _, w := range r.when {
		facts[w.param+" effect"] = w.effect.String()
	}
	for _, name := range r.shows {
		facts[name+" shows"] = "true"
	}
	return facts
}

func sorted(list []string) string {
	slices.Sort(list)
	return fmt.Sprint(list)
}

// keysOf yields the keys of both maps, each once.
func keysOf(a, b map[string]string) iter.Seq[string] {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return maps.Keys(both)
}

func effectOf(name string) tiers.Effect {
	for e := tiers.Reads; e <= tiers.Executes; e++ {
		if e.String() == name {
			return e
		}
	}
	return tiers.Unknown
}
