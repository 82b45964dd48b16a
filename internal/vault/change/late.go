package change

import (
	"errors"
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// replacedFile is a file that was at a path until the text after took its place. It is a draft now, which is about to be
// discarded.
type replacedFile struct {
	path          disk.Path
	draft         disk.Draft
	before, after journal.Image
	// modified is the modification time before, in nanoseconds, 0 if it is unknown.
	modified int64
}

// saveLate saves what another program wrote into the old file of a step after the step replaced it: that
// program still had it open.
func (s *settler) saveLate(i int) error {
	recorded := s.entry.Steps[i]
	isReplaced := recorded.Before.Exists && recorded.After.Exists && recorded.Draft != ""
	if !isReplaced || isFolderStep(recorded) {
		return nil
	}
	draft, err := disk.ParseDraft(recorded.Draft)
	if err != nil {
		return nil
	}
	path, err := ParseStepPath(recorded.Path)
	if err != nil {
		return nil
	}
	r := replacedFile{path: path, draft: draft, before: recorded.Before, after: recorded.After, modified: recorded.Modified}
	if merged, isMerged := s.actualBefore[i]; isMerged {
		r.before = merged
		r.modified = 0
	}
	return s.saveLateText(r)
}

// saveLateText waits until no program writes into a replaced file. Text that was appended to it is appended to the new
// file. Any other text is saved in a note of its own, next to that.
func (s *settler) saveLateText(r replacedFile) error {
	info, hasWriter, err := s.vault.Disk.ReplacedInfo(r.draft)
	if disk.IsMissing(err) { // this system cannot exchange two files
		return nil
	}
	if err != nil {
		return err
	}
	if hasWriter {
		s.tell(answer.Remark(
			"another program keeps %q open for writing: what it writes from now on is not in the note",
			quotable(r.path.String()),
		))
	}
	isAsBefore := info.Size() == r.before.Size && info.ModTime().UnixNano() == r.modified
	if isAsBefore {
		return nil
	}
	text, err := s.vault.Disk.ReadDraft(r.draft)
	if err != nil {
		return err
	}
	old := Existing(text)
	isKept := ImageOf(old) == r.before || ImageOf(old) == r.after
	if isKept {
		return nil
	}
	if isBegun, late := startsWith(old, r.before); isBegun {
		return s.appendLate(r, text[:r.before.Size], late)
	}
	name, err := s.vault.Disk.KeepBeside(r.draft, r.path)
	if err != nil {
		return err
	}
	s.tell(answer.Remark(
		"what another program wrote into %q meanwhile is in %q",
		quotable(r.path.String()),
		quotable(name),
	))
	return nil
}

// tell adds a notice about what another program wrote.
func (s *settler) tell(notice answer.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beside = append(s.beside, notice)
}

// appendLate appends text, which another program appended to the replaced file after its text before, to the new
// one, unless it is already there.
func (s *settler) appendLate(r replacedFile, before, late []byte) error {
	err := disk.ErrChanged
	for n := 0; n < maxTries && errors.Is(err, disk.ErrChanged); n++ {
		var now FileState
		now, err = CurrentState(s.vault, r.path)
		if err != nil {
			return err
		}
		isAfter, rest := startsWith(now, r.after)
		text := now.Text.ForProgram()
		isThere := isAfter && slices.Equal(rest, slices.Concat(lineBreak(before, text[:len(text)-len(rest)], late), late))
		if isThere {
			return nil
		}
		// Not the draft of the step: that contains the text that is appended.
		err = s.replaceBy(s.vault.Disk.NewDraft(r.path), r.path, now, slices.Concat(text, lineBreak(before, text, late), late))
	}
	return err
}

// replaceBy replaces the text of a file by means of a draft of its own.
func (s *settler) replaceBy(draft disk.Draft, path disk.Path, now FileState, text []byte) error {
	err := s.vault.Disk.Stage(disk.Staging{Draft: draft, Text: func() ([]byte, error) { return text, nil }, Like: path})
	if err != nil {
		return err
	}
	if err := s.vault.Disk.Replace(path, now.content(), draft, disk.Text(text)); err != nil {
		// Otherwise the draft is a text of another program that could not be put back.
		isOurs, _ := s.vault.Disk.Holds(draft, disk.Text(text))
		if isOurs {
			err = errors.Join(err, s.vault.Disk.Discard(draft))
		}
		return err
	}
	r := replacedFile{path: path, draft: draft, before: ImageOf(now), after: journal.ImageOf(text)}
	return errors.Join(s.saveLateText(r), s.vault.Disk.Discard(draft))
}
