package vault

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/note"
)

// proposal is what a command that writes is about to do. It is complete before
// anything is done: so it can be shown in place of being carried out, kept in
// the journal beforehand, checked afterwards and taken back as a whole.
type proposal struct {
	steps []step // in this order
	said  string // what is printed once they are done
	note  disk.Path
	// replaces says that what the note held is thrown away as a whole.
	replaces bool
	// undoes is the entry of the journal that this takes back, "" mostly.
	undoes string
	also   []string // further entries that are taken back together
	// own says that the caller made that change: whoever may make a note may take
	// it away again. latest says that it is also the caller's last one.
	own, latest bool
	// lineEnds says that the text got the line ends of the note; asGiven is what the
	// note would hold without that.
	lineEnds bool
	asGiven  []byte
	// reading is an answer that changes nothing, in place of steps.
	reading *reply
}

// step is what happens to one file: it is made, changed, moved as it is, or
// removed.
type step struct {
	path          disk.Path
	from          disk.Path // where it was, if it is moved
	before, after held
	trash         bool   // a removed file can be found in the trash of the vault
	trashed       string // under this name; a file that is made may lie there
}

// held is what a file holds. The zero value is that of no file.
type held struct {
	there bool
	text  []byte
}

func holding(text []byte) held { return held{true, text} }

func (c held) equal(other held) bool {
	return c.there == other.there && bytes.Equal(c.text, other.text)
}

func (c held) isEmpty() bool { return c.there && len(c.text) == 0 }

func (s step) isMove() bool { return s.from != (disk.Path{}) }

// inverse returns the step that takes s back.
func (s step) inverse() step {
	back := step{path: s.path, from: s.from, before: s.after, after: s.before, trashed: s.trashed, trash: s.trashed != ""}
	if s.isMove() {
		back.path, back.from = s.from, s.path
	}
	return back
}

// idle reports whether a step leaves everything as it is.
func (s step) idle() bool { return !s.isMove() && s.before.equal(s.after) }

// changing returns the proposal to change the note at path, which holds before.
// What is put into it gets its line ends.
func changing(path disk.Path, before, after []byte, said string) proposal {
	kept, converted := note.KeepLineEnds(before, after)
	return proposal{
		steps: []step{{path: path, before: holding(before), after: holding(kept)}}, said: said, note: path, lineEnds: converted, asGiven: after,
	}
}

// byApp makes of a proposal what the app would do: it puts text in as it is given.
func (p *proposal) byApp() {
	if p.lineEnds {
		p.steps[0].after, p.lineEnds = holding(p.asGiven), false
	}
}

// editing returns the proposal to change the note that a request means.
func (v *vault) editing(p params, said string, edit func(text []byte) ([]byte, error)) (proposal, error) {
	t, err := v.target(p)
	if err != nil {
		return proposal{}, err
	}
	before, err := v.disk.Read(t.path)
	if err != nil {
		return proposal{}, unreadable(t.typed, err)
	}
	after, err := edit(before)
	if err != nil {
		return proposal{}, err
	}
	return changing(t.path, before, after, said+t.path.String()), nil
}

// current returns what the file at path holds now.
func (v *vault) current(path disk.Path) (held, error) {
	text, err := v.disk.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return held{}, nil
	}
	return holding(text), err
}

// do carries out one step on the disk. It never touches a file that does not
// hold what the step expects.
func (v *vault) do(s *step) error {
	defer v.touch(*s)
	switch {
	case s.idle():
		return nil
	case s.isMove():
		if err := v.disk.Move(s.from, s.path, s.before.text); err != nil || s.before.equal(s.after) {
			return err
		}
		return v.disk.Swap(s.path, s.before.text, s.after.text)
	case !s.before.there:
		return v.bring(*s)
	case s.after.there:
		return v.disk.Swap(s.path, s.before.text, s.after.text)
	case s.trash:
		name, err := v.disk.Trash(s.path, s.before.text)
		s.trashed = name
		return err
	}
	return v.disk.Remove(s.path, s.before.text)
}

// bring makes a file, out of the trash if what it shall hold lies there.
func (v *vault) bring(s step) error {
	if s.trashed != "" {
		err := v.disk.Untrash(s.trashed, s.path, s.after.text)
		if !disk.IsMissing(err) && !errors.Is(err, disk.ErrChanged) {
			return err
		}
	}
	return v.disk.Make(s.path, s.after.text)
}

// touch has the next call look at what a step concerns.
func (v *vault) touch(s step) {
	v.host.known.touch(s.path)
	if s.isMove() {
		v.host.known.touch(s.from)
	}
}

// doAll carries out all steps, or none: those behind a step that failed are not
// begun, those before it are taken back. What cannot be taken back, because
// somebody changed it in between, is in the error.
func (v *vault) doAll(steps []step) error {
	for i := range steps {
		err := v.do(&steps[i])
		if err == nil {
			continue
		}
		left := []error{unwritten(steps[i].path.String(), err), v.takeBackPart(steps[i], err)}
		if left[1] == nil && isLate(err) {
			left[0] = failure("File %q cannot be written: %v. It was taken back.", verbatim(steps[i].path.String()), err)
		}
		for _, done := range slices.Backward(steps[:i]) {
			left = append(left, v.takeBack(done))
		}
		if left = slices.DeleteFunc(left, func(err error) bool { return err == nil }); len(left) > 1 {
			return allOf(left)
		}
		return left[0]
	}
	return nil
}

// isLate reports whether an error came when a file was written already.
func isLate(err error) bool {
	var late *disk.Unsettled
	return errors.As(err, &late)
}

// takeBack takes back a step that was done.
func (v *vault) takeBack(s step) error {
	back := s.inverse()
	err := v.do(&back)
	if err == nil || v.isUndone(s) {
		return nil
	}
	return failure("File %q stays changed: %v", verbatim(s.path.String()), err)
}

// takeBackPart takes back what was done of a step that failed: the move before a
// change, one of two names, or all of it, if the disk told so too late.
func (v *vault) takeBackPart(s step, why error) error {
	refused := errors.Is(why, fs.ErrExist) || errors.Is(why, disk.ErrChanged) && !s.isMove()
	if refused || v.isUndone(s) {
		return nil
	}
	now, err := v.current(s.path)
	if err != nil {
		return nil // what cannot be read was not written
	}
	if !s.isMove() {
		if !now.equal(s.after) {
			return nil
		}
		return v.takeBack(s)
	}
	then, err := v.current(s.from)
	switch {
	case err != nil || !now.equal(s.before) && !now.equal(s.after):
		return nil
	case !then.there:
		return v.takeBack(step{path: s.path, from: s.from, before: s.before, after: now})
	case then.equal(s.before) && now.equal(s.before):
		return v.takeBack(step{path: s.path, after: now})
	}
	return nil
}

// isUndone reports whether everything is as it was before a step.
func (v *vault) isUndone(s step) bool {
	source := s.path
	if s.isMove() {
		if now, err := v.current(s.path); err != nil || now.there {
			return false
		}
		source = s.from
	}
	now, err := v.current(source)
	return err == nil && now.equal(s.before)
}

// allOf returns one failure of the kind of the first that says what all of them
// say, a line for each.
func allOf(failures []error) error {
	lines := make([]string, len(failures))
	for i, err := range failures {
		lines[i] = strings.TrimPrefix(explain(err).text, "Error: ")
	}
	return explain(failures[0]).kind.failure("%s", strings.Join(lines, "\n"))
}
