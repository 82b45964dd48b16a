package handlers

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

func init() {
	register(
		Command{Name: "templates", Run: listTemplates},
		Command{Name: "template:read", Run: readTemplate},
		Command{Name: "template:insert", Plan: insertTemplate},
	)
}

// templateFolder returns the folder of the templates.
func templateFolder(v *call.Vault) (disk.Path, templateSettings, error) {
	var settings templateSettings
	if err := v.ReadConfig(templateConfig, &settings); err != nil {
		return disk.Path{}, settings, err
	}
	name := call.NormalPath(strings.TrimSpace(settings.Folder))
	if name == "" && strings.TrimSpace(settings.Folder) != "/" {
		return disk.Path{}, settings, answer.NotConfigured.Failure("No template folder configured.")
	}
	folder, err := v.FolderOf(name)
	if err != nil {
		return disk.Path{}, settings, answer.Failure(
			"%s leads to no folder of the vault: %v",
			disk.ConfigPath(templateConfig),
			err,
		)
	}
	return folder, settings, nil
}

// listTemplates names the notes of the template folder, by their path in it
// and without the ending that all of them share.
func listTemplates(v *call.Vault, p call.Values) (answer.Reply, error) {
	folder, _, err := templateFolder(v)
	if err != nil {
		return answer.Reply{}, err
	}
	names, err := templateNames(v, folder)
	return listReply(
		v,
		p,
		names,
		answer.Nothing("No templates found.", "the template folder %q has no notes", answer.Verbatim(folder.String())),
	), err
}

// templateNames returns the names of the templates that the caller may see. A template
// folder that does not exist has none.
func templateNames(v *call.Vault, folder disk.Path) ([]string, error) {
	var names []string
	_, err := v.EachEntry(folder, func(l call.Listed) {
		if l.IsNote() {
			name := strings.TrimPrefix(strings.TrimPrefix(l.Path.String(), folder.String()), "/")
			names = append(names, strings.TrimSuffix(name, ".md"))
		}
	}, nil)
	if err != nil && !disk.IsMissing(err) {
		return nil, err
	}
	filenames.Sort(names)
	return names, nil
}

// readTemplate prints a template, as it is or filled in. Without a title the
// place for one is filled with nothing: no note is made here that has one.
func readTemplate(v *call.Vault, p call.Values) (answer.Reply, error) {
	path, settings, err := templateNamed(v, p["name"])
	if err != nil {
		return answer.Reply{}, err
	}
	if !p.Has("resolve") {
		return v.Show(call.Target{Path: path, Typed: p["name"]})
	}
	filled, err := fill(v, path, p["name"], settings, p["title"])
	return answer.Judged(v.Judged(guard.NewUnjudged(filled))), err
}

// fill returns the text of a template with its blanks filled in.
func fill(v *call.Vault, path disk.Path, typed string, settings templateSettings, title string) ([]byte, error) {
	now := v.Clock()
	return blanks{
		now:   now,
		date:  date.Format(now, cmp.Or(settings.DateFormat, defaultDate)),
		title: title,
	}.in(
		v,
		path,
		typed,
	)
}

// fromTemplate returns what a template makes of a note with this title.
func fromTemplate(v *call.Vault, name, title string) ([]byte, error) {
	path, settings, err := templateNamed(v, name)
	if err != nil {
		return nil, err
	}
	return fill(v, path, name, settings, title)
}

// templateNamed finds a template by its name: its path in the template folder, with
// or without .md.
func templateNamed(v *call.Vault, name string) (disk.Path, templateSettings, error) {
	folder, settings, err := templateFolder(v)
	if err != nil {
		return disk.Path{}, settings, err
	}
	for _, file := range []string{name, name + ".md"} {
		path, err := v.PathOf(strings.TrimPrefix(folder.String()+"/"+file, "/"))
		if err != nil || path.Ext() != "md" {
			continue
		}
		switch _, err := v.Disk.Stat(path); {
		case err == nil:
			return path, settings, nil
		case disk.IsUnread(err):
			return disk.Path{}, settings, answer.ReadError(name, err)
		}
	}
	names, err := templateNames(v, folder)
	if err != nil {
		return disk.Path{}, settings, err
	}
	return disk.Path{}, settings, answer.NotFound.DidYouMean(
		lookup.NearestPaths(name, names),
		"Template %q not found.",
		answer.Verbatim(name),
	)
}

// maxVariable bounds what may stand between the braces of a variable, so that
// a template full of open braces is not searched to its end for each of them.
const maxVariable = 1000

// fresh returns the text of a new daily note: its template with the variables
// filled in. Without a template, or with one that is set but not there, the
// note is empty, as in the app.
func (d datedNote) fresh(v *call.Vault) ([]byte, error) {
	path, name, err := chosenTemplate(v, d.template)
	if err != nil || path == (disk.Path{}) {
		return nil, err
	}
	return blanks{now: d.now, date: d.date, title: d.Path.Stem(), period: d.period}.in(v, path, name)
}

// chosenTemplate returns the template that a setting names, and its name. The path is the zero one
// where none is set, or one that does not exist.
func chosenTemplate(v *call.Vault, setting string) (at disk.Path, name string, err error) {
	if name = call.NormalPath(strings.TrimSpace(setting)); name == "" {
		return at, "", nil
	}
	at, err = v.Resolve(name)
	fault, isFault := errors.AsType[*answer.Fault](err)
	if isFault && fault.Kind.Code != answer.Unread.Code { // one that cannot be read is one
		return disk.Path{}, "", nil
	}
	return at, name, err
}

// blanks are what is written in the places that a template leaves open.
type blanks struct {
	now   time.Time
	date  string // for a date without a format of its own
	title string
	// period is that of a periodic note, which has more variables; "" for other notes.
	period string
}

// in replaces the variables of a template: date, time and title, in any case,
// the first two with a format after a colon if wanted. Braces that have
// nothing known stay.
func (b blanks) in(v *call.Vault, path disk.Path, typed string) ([]byte, error) {
	source, err := v.ReadSource(path)
	if err != nil {
		return nil, answer.ReadError(typed, err)
	}
	text := string(source)
	v.Origin.Text = text
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		out.WriteString(before)
		if !found {
			v.Origin.Left = leftOver(out.String())
			return []byte(out.String()), nil
		}
		inner, _, closed := strings.Cut(rest[:min(len(rest), maxVariable)], "}}")
		if closed {
			value, known, err := b.variable(v, inner)
			if err != nil {
				return nil, err
			}
			if known {
				out.WriteString(value)
				text = rest[len(inner)+len("}}"):]
				continue
			}
		}
		out.WriteString("{{")
		text = rest
	}
}

// variable returns the value of the text between the braces.
func (b blanks) variable(v *call.Vault, inner string) (value string, known bool, err error) {
	name, format, _ := strings.Cut(inner, ":")
	if at, ok := b.dayOf(strings.TrimSpace(name)); ok {
		v.Origin.Timed = true
		return date.Format(at, cmp.Or(strings.TrimSpace(format), defaultDate)), true, nil
	}
	name = strings.ToLower(strings.TrimSpace(name))
	format = strings.TrimSpace(format)
	isClock := name == "date" || name == "time"
	switch {
	case isClock && format != "":
		v.Origin.Timed = true
		return date.Format(b.now, format), true, nil
	case strings.Contains(inner, ":"):
		return "", false, nil
	case name == "date":
		v.Origin.Timed = true
		return b.date, true, nil
	case name == "time":
		v.Origin.Timed = true
		// The file is read only here, so that a broken one fails only the calls that need it.
		settings := templateSettings{}
		if err := v.ReadConfig(templateConfig, &settings); err != nil {
			return "", true, err
		}
		return date.Format(b.now, cmp.Or(settings.TimeFormat, defaultTime)), true, nil
	case name == "title":
		return b.title, true, nil
	}
	return "", false, nil
}

// insertTemplate merges the properties of a template into those of the note and
// adds its text at the end of the note: the app does so at the cursor, and there
// is none here.
func insertTemplate(v *call.Vault, p call.Values) (change.Proposal, error) {
	t, err := v.Target(p)
	if err != nil {
		return change.Proposal{}, err
	}
	filled, err := fromTemplate(v, p["name"], t.Path.Stem())
	if err != nil {
		return change.Proposal{}, err
	}
	proposal, err := change.ProposeEdit(v, p, "Inserted into: ", func(text []byte) ([]byte, error) {
		// An empty note becomes what the template is, byte by byte.
		at := t.Path
		name := p["name"]
		if len(bytes.TrimSpace(text)) == 0 {
			return filled, nil
		}
		found := markdown.Scan(filled)
		properties, err := frontmatter.Parse(filled[found.Frontmatter.Start:found.Frontmatter.End])
		if err != nil {
			return nil, answer.Failure(
				"The properties of template %q cannot be read: %v",
				answer.Verbatim(name),
				inNote(err),
			)
		}
		if text, _, err = withProperties(text, properties); err != nil {
			return nil, answer.Failure(
				"The properties of %q cannot be changed: %v",
				answer.Verbatim(at.String()),
				inNote(err),
			)
		}
		body := filled[found.Body:]
		if len(bytes.TrimSpace(body)) == 0 {
			return text, nil
		}
		return edit.Append(text, string(body), edit.OwnLine), nil
	})
	proposal.Already = fmt.Sprintf("the template adds nothing to %q", answer.Verbatim(t.Path.String()))
	return proposal, err
}

// withProperties returns a note with more properties, and the names of those of which another value stays.
// Lists are united, and what has no value gets one.
func withProperties(text []byte, more frontmatter.Properties) (united []byte, kept []string, err error) {
	for len(more) > 0 {
		there, err := change.PropertiesIn(text)
		if err != nil {
			return text, nil, err
		}
		named := there.Named()
		given := map[string]bool{}
		var values frontmatter.Properties
		for len(more) > 0 && !given[markdown.FoldCase(more[0].Key)] { // one that differs in case alone is united with the first
			property := more[0]
			more = more[1:]
			given[markdown.FoldCase(property.Key)] = true
			value := property.Value
			if old, has := named.Lookup(property.Key); has && old.Value.Kind() != frontmatter.Null {
				both, ok := old.Value.Union(value)
				if !ok {
					if !old.Value.Equal(value) {
						kept = append(kept, property.Key)
					}
					continue
				}
				value = both
			}
			values = append(values, frontmatter.Property{Key: property.Key, Value: value})
		}
		edited, err := frontmatter.SetAll(text, values)
		if err != nil {
			return text, nil, err
		}
		text = edited
	}
	return text, kept, nil
}

// inNote counts the line in an error about properties from the start of the
// note, where the line above the block is the first.
func inNote(err error) error {
	if malformed, ok := errors.AsType[*frontmatter.Malformed](err); ok && malformed.Line > 0 {
		return fmt.Errorf("line %d: %s", malformed.Line+1, malformed.Reason)
	}
	return err
}

// maxLeftNames is how many placeholders a notice names.
const maxLeftNames = 5

// leftOver says what a template has that only a plugin of the app would fill in: commands of
// Templater, and placeholders with a name that is not known here. "" if there is nothing.
func leftOver(text string) string {
	var parts []string
	if n := strings.Count(text, "<%"); n > 0 {
		parts = append(parts, fmt.Sprintf("Templater commands (<%% %%>): %d", n))
	}
	// The names between double braces, each once. What is no plain name, such as code, is none.
	const known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:. "
	var names []string
	for _, rest, found := strings.Cut(text, "{{"); found; _, rest, found = strings.Cut(rest, "{{") {
		name, _, closed := strings.Cut(rest[:min(len(rest), maxVariable)], "}}")
		name = strings.TrimSpace(name)
		isWhole := closed && name != "" && len(name) <= longestPlaceholder
		isPlain := strings.Trim(name, known) == ""
		if isWhole && isPlain && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		more := ""
		if len(names) > maxLeftNames {
			names = names[:maxLeftNames]
			more = " and more"
		}
		parts = append(parts, "placeholders: {{"+strings.Join(names, "}}, {{")+"}}"+more)
	}
	if len(parts) == 0 {
		return ""
	}
	return "the template has parts that were left as they are, because no plugin runs here: " + strings.Join(
		parts,
		"; ",
	)
}

// longestPlaceholder is longer than the names that plugins have for their variables.
const longestPlaceholder = 30
