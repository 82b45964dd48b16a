package handlers

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/vault/command"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

func moveFolders(v *command.Vault, p command.Values) (command.Proposal, error) {
	list := p["path"]
	if p.Has("files") {
		list = p["files"]
		if !strings.HasSuffix(p["to"], "/") {
			return command.Proposal{}, command.Misuse("Invalid value for to: %s. Several folders go to a folder, with a slash at its end.", command.Verbatim(p["to"]))
		}
	}
	return relocateFolders(v, list, "Moved", false, into(p["to"]))
}

// into returns where a folder goes with to=.
func into(to string) func(from disk.Path) string {
	return func(from disk.Path) string {
		if strings.HasSuffix(to, "/") {
			return path.Join(to, path.Base(from.String()))
		}
		return to
	}
}

// relocateFolders moves or copies the folders of a list with all that is in them, as one change.
func relocateFolders(v *command.Vault, list, said string, copies bool, destination func(from disk.Path) string) (command.Proposal, error) {
	folders, err := pathLines(list, func(typed string) (disk.Path, error) { return existingFolder(v, typed) })
	if err != nil {
		return command.Proposal{}, err
	}
	r := relocation{v: v, follow: true, copies: copies, to: map[string]string{}, folders: map[string]string{}}
	var made, gone []command.Step
	var where []string
	files := 0
	for _, t := range folders {
		from := t.Path
		for other := range r.folders {
			if from.String() == other || strings.HasPrefix(from.String(), other+"/") || strings.HasPrefix(other, from.String()+"/") {
				return command.Proposal{}, command.Misuse("%q and %q are in one another.", command.Verbatim(from.String()), command.Verbatim(other))
			}
		}
		in, err := contentsOf(v, t, !copies)
		if err != nil {
			return command.Proposal{}, err
		}
		typed := destination(from)
		to, err := newFolderPath(v, typed)
		if err != nil {
			return command.Proposal{}, err
		}
		if to.Below(from) {
			return command.Proposal{}, command.Misuse("Invalid value for to: %s. It is in the folder itself.", command.Verbatim(typed))
		}
		below := func(p disk.Path) string { return to.String() + strings.TrimPrefix(p.String(), from.String()) }
		for _, folder := range in.Folders {
			at, err := disk.ParseFolder(below(folder))
			if err != nil {
				return command.Proposal{}, command.Failure("Folder %q cannot be created: %v.", command.Verbatim(below(folder)), err)
			}
			for _, s := range makeFolders(v, at) {
				if !slices.ContainsFunc(made, func(other command.Step) bool { return other.Path == s.Path }) {
					made = append(made, s)
				}
			}
			if !in.Stay[folder] && !copies {
				gone = append(gone, command.Step{Path: folder, Before: command.ExistingFolder})
			}
		}
		for _, file := range in.Files {
			if _, err := r.move(command.Target{Path: file, Typed: file.String()}, below(file)); err != nil {
				return command.Proposal{}, err
			}
		}
		files += len(in.Files)
		r.folders[from.String()] = to.String()
		if where = append(where, from.String()+" -> "+to.String()); len(in.Stay) > 0 && !copies {
			r.planned.Notice = fmt.Sprintf("the folder %q stays, because it contains something that is not a file of the vault", command.Verbatim(from.String()))
		}
		if r.planned.Note == (disk.Path{}) {
			r.planned.Note = to
		}
	}
	r.planned.Message = fmt.Sprintf("%s: %s (%s)", said, strings.Join(where, ", "), command.Count(files, "file"))
	if err := r.relink(); err != nil {
		return command.Proposal{}, err
	}
	slices.Reverse(gone)
	r.planned.Steps = slices.Concat(made, r.planned.Steps, gone)
	return r.planned, nil
}

// removeFolder moves all files of a folder to the trash, as remove does with one.
func removeFolder(v *command.Vault, p command.Values) (command.Proposal, error) {
	at, err := existingFolder(v, p["path"])
	if err != nil {
		return command.Proposal{}, err
	}
	in, err := contentsOf(v, command.Target{Path: at, Typed: p["path"]}, true)
	if err != nil {
		return command.Proposal{}, err
	}
	files := command.Map(in.Files, func(file disk.Path) command.Target { return command.Target{Path: file, Typed: file.String()} })
	planned, err := removing(v, files, false)
	if err != nil {
		return command.Proposal{}, err
	}
	planned.Note = at
	planned.Message += at.String() + " (" + command.Count(len(in.Files), "file") + ")"
	for _, folder := range slices.Backward(in.Folders) {
		if !in.Stay[folder] {
			planned.Steps = append(planned.Steps, command.Step{Path: folder, Before: command.ExistingFolder})
		}
	}
	return planned, nil
}

// existingFolder returns the path of a folder as it was typed.
func existingFolder(v *command.Vault, typed string) (disk.Path, error) {
	at, err := v.FolderThere(typed)
	if err == nil && at == (disk.Path{}) {
		err = command.Misuse("Invalid value for path: %s. That is the whole vault.", command.Verbatim(typed))
	}
	return at, err
}

// contentsOf returns what is in a folder. One that is to be changed as a whole is refused, in the
// same words, if the rules let the caller do less than delete somewhere below it, whether or not
// there is a file, and if a pattern of the ignore file hides something in it. Only the second
// depends on hidden files.
func contentsOf(v *command.Vault, t command.Target, whole bool) (disk.Contents, error) {
	in, err := v.Disk.Contents(t.Path)
	switch {
	case disk.IsMissing(err):
		return in, command.FolderNotFound(t.Typed)
	case err != nil:
		return in, command.ReadError(t.Typed, err)
	case whole && (in.Hidden || v.Rules.Restrict() && v.Rules.Lowest(t.Path.String()) < access.Delete):
		return in, command.AccessDenied.Failure("Access denied: the folder %q may not be changed as a whole.", command.Verbatim(t.Path.String()))
	}
	return in, nil
}

// newFolderPath returns the path of a folder that is to be made.
func newFolderPath(v *command.Vault, typed string) (disk.Path, error) {
	at, err := v.FolderOf(strings.TrimPrefix(typed, "/"))
	if err == nil && at == (disk.Path{}) {
		err = fmt.Errorf("that is the whole vault")
	}
	if err != nil {
		return at, command.Failure("Folder %q cannot be created: %v.", command.Verbatim(typed), err)
	}
	if _, err := v.Disk.Stat(at); disk.IsMissing(err) && !v.Disk.IsFolder(at) {
		return at, nil
	}
	return at, command.AlreadyExists.Failure("Destination %q already exists!", command.Verbatim(at.String()))
}

// makeFolders returns the steps that make a folder with those above it that are missing.
func makeFolders(v *command.Vault, at disk.Path) (steps []command.Step) {
	for at != (disk.Path{}) && !v.Disk.IsFolder(at) {
		steps = append(steps, command.Step{Path: at, After: command.ExistingFolder})
		at, _ = disk.ParseFolder(at.Folder()) // a part of a path is one
	}
	slices.Reverse(steps)
	return steps
}
