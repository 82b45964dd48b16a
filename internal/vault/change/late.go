package change

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// saveLate saves what another program wrote into the old file of a step after the step replaced it: that
// program still had it open. The file is now a draft that is about to be discarded. Text that was appended to
// it is appended to the new file. Any other text is saved in a note of its own, next to that of the step.
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
	info, err := s.vault.Disk.DraftInfo(draft)
	if disk.IsMissing(err) { // this system cannot exchange two files
		return nil
	}
	if err != nil {
		return err
	}
	isAsBefore := info.Size() == recorded.Before.Size && info.ModTime().UnixNano() == recorded.Modified
	if isAsBefore {
		return nil
	}
	text, err := s.vault.Disk.ReadDraft(draft)
	if err != nil {
		return err
	}
	old := Existing(text)
	before := recorded.Before
	if merged, isMerged := s.actualBefore[i]; isMerged {
		before = merged
	}
	isKept := ImageOf(old) == before || ImageOf(old) == recorded.After
	if isKept {
		return nil
	}
	path, err := ParseStepPath(recorded.Path)
	if err != nil {
		return nil
	}
	if isBegun, late := startsWith(old, before); isBegun {
		return s.appendLate(recorded, path, text[:before.Size], late)
	}
	name, err := s.vault.Disk.KeepBeside(draft, path)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beside = append(s.beside, fmt.Sprintf("what another program wrote into %q meanwhile is in %q", quotable(recorded.Path), quotable(name)))
	return nil
}

// appendLate appends text, which another program appended to the replaced file after its text before, to the new
// one, unless it is already there.
func (s *settler) appendLate(recorded journal.Step, path disk.Path, before, late []byte) error {
	err := disk.ErrChanged
	for n := 0; n < maxTries && errors.Is(err, disk.ErrChanged); n++ {
		var now FileState
		now, err = CurrentState(s.vault, path)
		if err != nil {
			return err
		}
		isAfter, rest := startsWith(now, recorded.After)
		text := now.Text.ForProgram()
		isThere := isAfter && slices.Equal(rest, slices.Concat(lineBreak(before, text[:len(text)-len(rest)], late), late))
		if isThere {
			return nil
		}
		step := recorded
		step.Draft = "" // the draft contains the text that is appended
		err = s.replace(step, path, now, slices.Concat(text, lineBreak(before, text, late), late))
	}
	return err
}
