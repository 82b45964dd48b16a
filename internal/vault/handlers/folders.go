package handlers

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

func moveFolders(v *call.Vault, p call.Values) (change.Proposal, error) {
	list := p["path"]
	if p.Has("files") {
		list = p["files"]
		if !strings.HasSuffix(p["to"], "/") {
			return change.Proposal{}, answer.Misuse(
				"Invalid value for to: %s. Several folders go to a folder, with a slash at its end.",
				answer.Verbatim(p["to"]),
			)
		}
	}
	return relocateFolders(v, p, folderRelocation{list: list, verb: "Moved", destination: into(p["to"])})
}

// into returns the function from a folder's path to its destination for to=.
func into(to string) func(from disk.Path) string {
	return func(from disk.Path) string {
		if strings.HasSuffix(to, "/") {
			return path.Join(to, path.Base(from.String()))
		}
		return to
	}
}

// folderRelocation moves or copies the folders of a list.
type folderRelocation struct {
	list        string // one path per line
	verb        string // the first word of the message
	copies      bool
	destination func(from disk.Path) string
}

// relocateFolders plans to move or copy folders with their contents, as one change.
func relocateFolders(v *call.Vault, p call.Values, how folderRelocation) (change.Proposal, error) {
	folders, err := pathLines(how.list, func(typed string) (disk.Path, error) { return existingFolder(v, typed) })
	if err != nil {
		return change.Proposal{}, err
	}
	plan := folderPlan{
		how: how,
		relocation: relocation{
			v:       v,
			follow:  !how.copies || p["links"] == holdLinks,
			holds:   p["links"] == holdLinks,
			copies:  how.copies,
			to:      map[string]string{},
			folders: map[string]string{},
			taken:   map[string]bool{},
		},
		isCreated: map[disk.Path]bool{},
	}
	for _, folder := range folders {
		if err := plan.add(folder); err != nil {
			return change.Proposal{}, err
		}
	}
	return plan.proposal()
}

// folderPlan is what is planned for the folders that have been added.
type folderPlan struct {
	how folderRelocation
	relocation

	created, removed []change.Step
	isCreated        map[disk.Path]bool // the folders that the change creates
	moves            []string           // for the message
	files            int
}

// add plans to move or copy a folder.
func (f *folderPlan) add(target call.Target) error {
	from := target.Path
	for other := range f.folders {
		if isSameOrNested(from.String(), other) {
			return answer.Misuse(
				"%q and %q are in one another.",
				answer.Verbatim(from.String()),
				answer.Verbatim(other),
			)
		}
	}
	contents := contentsToChange
	if f.copies {
		contents = contentsOf
	}
	in, err := contents(f.v, target)
	if err != nil {
		return err
	}
	typed := f.how.destination(from)
	to, err := newFolderPath(f.v, typed)
	if err != nil {
		return err
	}
	if to.Below(from) {
		return answer.Misuse("Invalid value for to: %s. It is in the folder itself.", answer.Verbatim(typed))
	}
	below := func(p disk.Path) string { return to.String() + strings.TrimPrefix(p.String(), from.String()) }
	for _, folder := range in.Folders {
		if err := f.create(below(folder)); err != nil {
			return err
		}
		if !in.Stay[folder] && !f.copies {
			f.removed = append(f.removed, change.Step{Path: folder, Before: change.ExistingFolder})
		}
	}
	for _, file := range in.Files {
		if _, err := f.move(call.Target{Path: file, Typed: file.String()}, below(file)); err != nil {
			return err
		}
	}
	f.files += len(in.Files)
	f.folders[from.String()] = to.String()
	f.moves = append(f.moves, from.String()+" -> "+to.String())
	if len(in.Stay) > 0 && !f.copies {
		f.planned.Notice = answer.Remark(
			"the folder %q stays, because it contains something that is not a file of the vault",
			answer.Verbatim(from.String()),
		)
	}
	if f.planned.Note == (disk.Path{}) {
		f.planned.Note = to
	}
	return nil
}

// create plans to make a folder, and those above it, as far as they are missing and not planned yet.
func (f *folderPlan) create(folder string) error {
	at, err := disk.ParseFolder(folder)
	if err != nil {
		return answer.Failure("Folder %q cannot be created: %v.", answer.Verbatim(folder), err)
	}
	missing, err := missingFolders(f.v, at)
	if err != nil {
		return err
	}
	for _, step := range missing {
		if !f.isCreated[step.Path] {
			f.created = append(f.created, step)
		}
		f.isCreated[step.Path] = true
	}
	return nil
}

// proposal plans the links, and returns the whole change: folders are made first and removed last, the innermost before
// those around it.
func (f *folderPlan) proposal() (change.Proposal, error) {
	moves := strings.Join(f.moves, ", ")
	f.planned.Message = fmt.Sprintf("%s: %s (%s)", f.how.verb, moves, answer.Count(f.files, "file"))
	if err := f.relink(); err != nil {
		return change.Proposal{}, err
	}
	slices.Reverse(f.removed)
	f.planned.Steps = slices.Concat(f.created, f.planned.Steps, f.removed)
	return f.planned, nil
}

// isSameOrNested reports whether two folders are the same, or one contains the other.
func isSameOrNested(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// removeFolder plans to move all files of a folder to the trash, as remove does with one file.
func removeFolder(v *call.Vault, p call.Values) (change.Proposal, error) {
	at, err := existingFolder(v, p["path"])
	if err != nil {
		return change.Proposal{}, err
	}
	contents, err := contentsToChange(v, call.Target{Path: at, Typed: p["path"]})
	if err != nil {
		return change.Proposal{}, err
	}
	files := answer.Map(
		contents.Files,
		func(file disk.Path) call.Target { return call.Target{Path: file, Typed: file.String()} },
	)
	proposal, err := planRemoval(v, files, toTrash)
	if err != nil {
		return change.Proposal{}, err
	}
	proposal.Note = at
	proposal.Outdated = outdatedBySteps(outdatedBelow(at))
	proposal.Message += at.String() + " (" + answer.Count(len(contents.Files), "file") + ")"
	for _, folder := range slices.Backward(contents.Folders) {
		if !contents.Stay[folder] {
			proposal.Steps = append(proposal.Steps, change.Step{Path: folder, Before: change.ExistingFolder})
		}
	}
	return proposal, nil
}

// existingFolder returns the path of a folder from its typed name. The folder must exist, and must not be the whole
// vault.
func existingFolder(v *call.Vault, typed string) (disk.Path, error) {
	at, err := v.FolderThere(typed)
	if err == nil && at == (disk.Path{}) {
		err = answer.Misuse("Invalid value for path: %s. That is the whole vault.", answer.Verbatim(typed))
	}
	return at, err
}

// isRestricted reports whether the access rules do not allow the caller to delete everything in a folder.
func isRestricted(v *call.Vault, folder call.Target) bool {
	return v.Rules.Restrict() && v.Rules.Lowest(folder.Path.String()) < access.Delete
}

// contentsOf returns the contents of a folder.
func contentsOf(v *call.Vault, t call.Target) (disk.Contents, error) {
	contents, err := v.Disk.Contents(t.Path)
	if err != nil {
		return contents, answer.FolderReadError(t.Typed, err)
	}
	return contents, nil
}

// contentsToChange returns the contents of a folder that is changed as a whole. It fails, with the same sentence, if
// the access rules forbid to delete somewhere below it, whether or not a file is there, or if a pattern of the ignore
// file hides something in it. Only the second reason depends on hidden files.
func contentsToChange(v *call.Vault, t call.Target) (disk.Contents, error) {
	contents, err := contentsOf(v, t)
	if err == nil && (contents.Hidden || isRestricted(v, t)) {
		err = answer.AccessDenied.Failure(
			"Access denied: the folder %q may not be changed as a whole.",
			answer.Verbatim(t.Path.String()),
		)
	}
	return contents, err
}

// newFolderPath returns the path of a folder to be created. Neither a file nor a folder may exist there.
func newFolderPath(v *call.Vault, typed string) (disk.Path, error) {
	at, err := v.FolderOf(strings.TrimPrefix(typed, "/"))
	if err == nil && at == (disk.Path{}) {
		err = fmt.Errorf("that is the whole vault")
	}
	if err != nil {
		return at, answer.Failure("Folder %q cannot be created: %v.", answer.Verbatim(typed), err)
	}
	_, errFile := v.Disk.Stat(at)
	_, errFolder := v.Disk.FolderInfo(at)
	for _, err := range []error{errFile, errFolder} {
		if disk.IsUnread(err) {
			return at, answer.FolderReadError(at.String(), err)
		}
	}
	isFolder := errFolder == nil
	if disk.IsMissing(errFile) && !isFolder {
		return at, nil
	}
	kind := answer.AlreadyExists
	if isFolder {
		kind = kind.Advise(
			fmt.Sprintf(
				"with a slash at its end, to=%q is the folder into which it goes",
				answer.Verbatim(at.String()+"/"),
			),
		)
	}
	return at, kind.Failure("Destination %q already exists!", answer.Verbatim(at.String()))
}

// missingFolders returns the steps that create a folder and its missing parents, parents first.
func missingFolders(v *call.Vault, at disk.Path) (steps []change.Step, err error) {
	for at != (disk.Path{}) {
		_, err := v.Disk.FolderInfo(at)
		if disk.IsUnread(err) {
			return nil, answer.FolderReadError(at.String(), err)
		}
		if err == nil {
			break
		}
		steps = append(steps, change.Step{Path: at, After: change.ExistingFolder})
		at, _ = disk.ParseFolder(at.Folder()) // cannot fail for the parent of a valid path
	}
	slices.Reverse(steps)
	return steps, nil
}
