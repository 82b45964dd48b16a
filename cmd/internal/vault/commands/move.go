package commands

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/relink"
)

func init() {
	register(
		command.Command{Name: "move", Plan: move, Verify: meansMoved},
		command.Command{Name: "rename", Plan: rename, Verify: meansMoved},
	)
}

func move(v *command.Vault, p command.Values) (command.Proposal, error) {
	return moving(v, p, "Moved", func(from disk.Path) string {
		if strings.HasSuffix(p["to"], "/") {
			return strings.TrimPrefix(p["to"], "/") + path.Base(from.String())
		}
		return withExtension(p["to"], from)
	})
}

func rename(v *command.Vault, p command.Values) (command.Proposal, error) {
	if strings.ContainsAny(p["name"], `/\`) {
		return command.Proposal{}, command.Misuse("Invalid value for name: %s. Use move to=<path> for another folder.", p["name"])
	}
	return moving(v, p, "Renamed", func(from disk.Path) string {
		return path.Join(path.Dir(from.String()), withExtension(p["name"], from))
	})
}

// withExtension adds the extension of a file to its new name, unless the name
// brings that or one that the app knows: what stands behind another dot belongs
// to the name, as in "v1.2 notes".
func withExtension(name string, file disk.Path) string {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	switch {
	case ext != "" && (ext == strings.ToLower(file.Ext()) || slices.Contains(supported, ext)), file.Ext() == "":
		return name
	}
	return name + "." + file.Ext()
}

// supported are the extensions of the files that the app opens.
var supported = strings.Fields("md base canvas avif bmp gif jpeg jpg png svg webp flac m4a mp3 ogg oga opus wav webm 3gp mkv mov mp4 ogv pdf")

// moving returns the proposal to give a file another path. The file itself comes
// first: it is the one that the change is about.
func moving(v *command.Vault, p command.Values, said string, destination func(from disk.Path) string) (command.Proposal, error) {
	t, err := v.Target(p)
	if err != nil {
		return command.Proposal{}, err
	}
	before, err := v.Disk.Read(t.Path)
	if err != nil {
		return command.Proposal{}, command.ReadError(t.Typed, err)
	}
	typed := destination(t.Path)
	to, err := destinationPath(v, t.Path, typed)
	if err != nil {
		return command.Proposal{}, err
	}
	planned := command.Proposal{Message: said + ": " + t.Path.String() + " -> " + to.String(), Note: to}
	if to == t.Path {
		return planned, nil
	}
	if isTaken(v, to, t.Path) {
		return command.Proposal{}, command.AlreadyExists.Failure("Destination file already exists!")
	}
	planned.Steps = []command.Step{{Path: to, From: t.Path, Before: command.Existing(before), After: command.Existing(before)}}
	return planned, updateLinks(v, &planned)
}

// destinationPath returns the path that the file from is to get. Where the disk takes
// spellings for one another, the name of the file is the only one that a move can
// respell.
func destinationPath(v *command.Vault, from disk.Path, typed string) (disk.Path, error) {
	asked, err := disk.ParsePath(typed)
	if err != nil {
		return disk.Path{}, command.Failure("File %q cannot be created: %v.", command.Verbatim(typed), err)
	}
	to, err := v.Disk.Renamed(from, asked)
	switch {
	case err != nil:
		return disk.Path{}, command.WriteError(typed, err)
	case to == from && asked != from:
		return disk.Path{}, command.AlreadyExists.Failure("File %q already exists. This system takes it for %q, and a move does not rename folders.", command.Verbatim(typed), command.Verbatim(from.String()))
	}
	return to, nil
}

// isTaken reports whether something else than the file at from is at to. On some
// systems one file answers to every spelling of its name.
func isTaken(v *command.Vault, to, from disk.Path) bool {
	there, err := v.Disk.Stat(to)
	var refusal *disk.Refusal
	switch {
	case errors.As(err, &refusal):
		return refusal.Path == path.Base(to.String()) // else its folder is none, which is told when it is moved
	case err != nil:
		return !disk.IsMissing(err)
	}
	old, err := v.Disk.Stat(from)
	return err != nil || !strings.EqualFold(to.String(), from.String()) || !os.SameFile(there, old)
}

// updateLinks adds to the proposal of a move what happens to links: they follow if the
// vault is set so. That is off by default, in the app too; then they are counted.
func updateLinks(v *command.Vault, planned *command.Proposal) error {
	var app struct {
		Update bool   `json:"alwaysUpdateLinks"`
		Format string `json:"newLinkFormat"`
	}
	if err := v.ReadConfig("app.json", &app); err != nil {
		return err
	}
	x, err := v.Index()
	if err != nil {
		return err
	}
	moved := planned.Steps[0]
	m := moveIn(x, moved.From.String(), moved.Path.String(), relink.ParseFormat(app.Format))
	var left []string
	for _, source := range concerned(x, m, moved.From, moved.Path) {
		if source == moved.From && app.Update {
			text, _, lost := m.Rewrite(moved.Before.Text, source.String())
			planned.Steps[0].After = command.Existing(text)
			left = append(left, remarks(moved.Path, lost)...)
			continue
		}
		before, err := v.Disk.Read(source)
		if disk.IsMissing(err) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return command.ReadError(source.String(), err)
		}
		after, changed, lost := m.Rewrite(before, source.String())
		if !app.Update {
			planned.Broken.Add(source, changed+len(lost))
			continue
		}
		left = append(left, remarks(source, lost)...)
		if changed > 0 {
			planned.Steps = append(planned.Steps, command.Step{Path: source, Before: command.Existing(before), After: command.Existing(after)})
		}
	}
	planned.Message = strings.Join(append([]string{planned.Message}, left...), "\n")
	return nil
}

// remarks are lines about the links that lead elsewhere from now on.
func remarks(source disk.Path, left []relink.Left) (lines []string) {
	for _, l := range left {
		lines = append(lines, fmt.Sprintf("Link %q in %s, line %d, is left as it is: %s", command.Verbatim(l.Target), source, l.Line, l.Reason))
	}
	return lines
}

// moveIn returns the move of a file among those of an index.
func moveIn(x *index.Index, from, to string, format relink.Format) *relink.Move {
	before, after := make([]string, len(x.Files)), make([]string, len(x.Files))
	for i, f := range x.Files {
		before[i], after[i] = f.Path.String(), f.Path.String()
		if before[i] == from {
			after[i] = to
		}
	}
	return relink.New(from, to, lookup.New(before), lookup.New(after), format)
}

// concerned returns the files in which links have to change, in the order of
// listings. Only a link can be concerned that leads to a file of the old name
// or the new one, and those of the file itself.
func concerned(x *index.Index, m *relink.Move, from, to disk.Path) (sources []disk.Path) {
	near, names := map[int]bool{}, map[string]bool{}
	for _, name := range append(linkNames(from), linkNames(to)...) {
		names[name] = true
	}
	graph := x.Graph()
	for place, f := range x.Files {
		if f.Path == from {
			near[place] = true
		}
		if slices.ContainsFunc(linkNames(f.Path), func(name string) bool { return names[name] }) {
			for _, edge := range graph.In(place) {
				near[int(edge.Place)] = true
			}
		}
	}
	for place, f := range x.Files {
		if !near[place] {
			continue
		}
		// A canvas names files by the exact letters of their paths, which only
		// Rewrite looks at.
		links := f.Facts().Links()
		has := f.Path.Ext() == "canvas" && len(links) > 0
		for i := 0; i < len(links) && !has; i++ {
			has = m.Concerns(links[i], f.Path.String())
		}
		if has {
			sources = append(sources, f.Path)
		}
	}
	return sources
}

// linkNames are the names by which a link may mean a file.
func linkNames(p disk.Path) []string {
	name := lookup.Fold(path.Base(p.String()))
	return []string{name, strings.TrimSuffix(name, ".md")}
}

// meansMoved judges the moved file, and those that link to it: each link has to
// lead to the file to which it led, however it is written.
func meansMoved(v *command.Vault, _ command.Values, c command.AppChange) (command.Verdict, error) {
	if c.Step.From != "" && c.Now.Equal(c.Before) {
		return command.Verdict{Done: true, Style: "the app has not changed the links in the moved file"}, nil
	}
	from, to := c.Entry.Steps[0].From, c.Entry.Steps[0].Path
	now, err := command.AllPaths(v)
	if err != nil {
		return command.Verdict{}, err
	}
	then := slices.Clone(now)
	if i := slices.Index(then, to); i >= 0 {
		then[i] = from
	}
	var app struct {
		Format string `json:"newLinkFormat"`
	}
	if err := v.ReadConfig("app.json", &app); err != nil {
		return command.Verdict{}, err
	}
	after := lookup.New(now)
	source := c.Step.Path
	if c.Step.From != "" {
		source = c.Step.From
	}
	wanted, _, _ := relink.New(from, to, lookup.New(then), after, relink.ParseFormat(app.Format)).Rewrite(c.Before.Text, source)
	return command.Links(wanted, c.Now.Text, func(a, b string) bool {
		i, ok := after.Resolve(a, c.Step.Path)
		k, alsoOK := after.Resolve(b, c.Step.Path)
		return a == b || ok && alsoOK && i == k
	}), nil
}
