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

// listTemplates lists the notes of the template folder by their path in it, without extension.
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

// templateNames returns the names of the templates that the caller may see, none if the folder does not exist.
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

// readTemplate prints a template, unchanged or with its variables filled in. Without title=, {{title}} becomes empty,
// because there is no note.
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

// fill returns the text of a template with its variables filled in.
func fill(v *call.Vault, path disk.Path, typed string, settings templateSettings, title string) ([]byte, error) {
	now := v.Clock()
	values := blanks{
		now:   now,
		date:  date.Format(now, cmp.Or(settings.DateFormat, defaultDate)),
		title: title,
	}
	return values.in(v, path, typed)
}

// fromTemplate returns the text that a template gives a note with a title.
func fromTemplate(v *call.Vault, name, title string) ([]byte, error) {
	path, settings, err := templateNamed(v, name)
	if err != nil {
		return nil, err
	}
	return fill(v, path, name, settings, title)
}

// templateNamed finds a template by its path in the template folder, with or without .md.
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

// maxVariable is the maximum length of the text between the braces of a variable, so that a template full of opening
// braces is not searched to its end for each of them.
const maxVariable = 1000

// fresh returns the text of a new dated note: its template with the variables filled in. Without a template, or if the
// template does not exist, the note is empty, as in the app.
func (d datedNote) fresh(v *call.Vault) ([]byte, error) {
	path, name, err := chosenTemplate(v, d.template)
	if err != nil || path == (disk.Path{}) {
		return nil, err
	}
	return blanks{now: d.now, date: d.date, title: d.Path.Stem(), period: d.period}.in(v, path, name)
}

// chosenTemplate returns the template that a setting names, and its name. The path is zero if no template is set, or if
// it does not exist.
func chosenTemplate(v *call.Vault, setting string) (at disk.Path, name string, err error) {
	if name = call.NormalPath(strings.TrimSpace(setting)); name == "" {
		return at, "", nil
	}
	at, err = v.Resolve(name)
	fault, isFault := errors.AsType[*answer.Fault](err)
	if isFault && fault.Kind.Code != answer.Unread.Code { // an unreadable template is not a missing one
		return disk.Path{}, "", nil
	}
	return at, name, err
}

// blanks are the values of the variables of a template.
type blanks struct {
	now   time.Time
	date  string // for {{date}} without a format
	title string
	// period is the name of the period of a periodic note, which has more variables; "" for other notes.
	period string
}

// in returns the text of a template with its variables replaced: date, time and title, in any case, the first two
// optionally with a format after a colon. Unknown variables are kept.
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
			v.Origin.Left = describeUnfilled(out.String())
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

// variable returns the value of a variable, given the text between the braces.
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
		// The settings are read only here, so that an invalid file only fails the calls that need it.
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

// insertTemplate plans to merge the properties of a template into those of the note, and to add its text at the end of
// the note. The app inserts at the cursor, but there is none here.
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
		// An empty note becomes the template, byte for byte.
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

// withProperties returns a note with more properties, and the names of those whose different value in the note is kept.
// Lists are merged, and properties without a value get one.
func withProperties(text []byte, more frontmatter.Properties) (merged []byte, keptNames []string, err error) {
	for len(more) > 0 {
		existing, err := change.PropertiesIn(text)
		if err != nil {
			return text, nil, err
		}
		byName := existing.Named()
		seen := map[string]bool{}
		var values frontmatter.Properties
		// A property whose name differs only in case is merged with the first, in the next round.
		for len(more) > 0 && !seen[markdown.FoldCase(more[0].Key)] {
			property := more[0]
			more = more[1:]
			seen[markdown.FoldCase(property.Key)] = true
			value := property.Value
			if old, has := byName.Lookup(property.Key); has && old.Value.Kind() != frontmatter.Null {
				union, ok := old.Value.Union(value)
				if !ok {
					if !old.Value.Equal(value) {
						keptNames = append(keptNames, property.Key)
					}
					continue
				}
				value = union
			}
			values = append(values, frontmatter.Property{Key: property.Key, Value: value})
		}
		edited, err := frontmatter.SetAll(text, values)
		if err != nil {
			return text, nil, err
		}
		text = edited
	}
	return text, keptNames, nil
}

// inNote converts the line number in an error about properties to that of the note, whose first line is the delimiter
// above the block.
func inNote(err error) error {
	if malformed, ok := errors.AsType[*frontmatter.Malformed](err); ok && malformed.Line > 0 {
		return fmt.Errorf("line %d: %s", malformed.Line+1, malformed.Reason)
	}
	return err
}

// maxLeftNames is how many placeholders a notice names.
const maxLeftNames = 5

// describeUnfilled describes the parts of a template that only a plugin of the app would fill in: Templater commands,
// and placeholders with unknown names. There is no remark if there are none.
func describeUnfilled(text string) answer.Notice {
	var parts []string
	if n := strings.Count(text, "<%"); n > 0 {
		parts = append(parts, fmt.Sprintf("Templater commands (<%% %%>): %d", n))
	}
	// The names between double braces, each once. Other text between them, such as code, is skipped.
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
		return answer.Notice{}
	}
	return answer.Remark(
		"the template has parts that were left as they are, because no plugin runs here: %s",
		strings.Join(parts, "; "),
	)
}

// longestPlaceholder is longer than the names of variables of known plugins, in bytes.
const longestPlaceholder = 30
