package change

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// saveLate keeps what another program has written into the note of a step after that was replaced: it had the note open, which is
// a draft by now and is going to be discarded. What it appended is put behind the new text, as if it had come a moment later. Any other
// text becomes a note of its own, next to the one of the step.
func (s *settler) saveLate(i int) error {
	kept := s.entry.Steps[i]
	isReplaced := kept.Before.Exists && kept.After.Exists && kept.Draft != ""
	if !isReplaced || isFolderStep(kept) {
		return nil
	}
	draft, err := disk.ParseDraft(kept.Draft)
	if err != nil {
		return nil
	}
	info, err := s.vault.Disk.DraftInfo(draft)
	if disk.IsMissing(err) { // the system cannot exchange two files
		return nil
	}
	if err != nil {
		return err
	}
	isAsBefore := info.Size() == kept.Before.Size && info.ModTime().UnixNano() == kept.Modified
	if isAsBefore {
		return nil
	}
	text, err := s.vault.Disk.ReadDraft(draft)
	if err != nil {
		return err
	}
	old := Existing(text)
	was := kept.Before
	if merged, isMerged := s.was[i]; isMerged {
		was = merged
	}
	isKept := ImageOf(old) == was || ImageOf(old) == kept.After
	if isKept {
		return nil
	}
	path, err := ParseStepPath(kept.Path)
	if err != nil {
		return nil
	}
	if isBegun, late := startsWith(old, was); isBegun {
		return s.appendLate(kept, path, late)
	}
	name, err := s.vault.Disk.KeepBeside(draft, path)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beside = append(s.beside, fmt.Sprintf("what another program wrote into %q meanwhile is in %q", named(kept.Path), named(name)))
	return nil
}

// appendLate puts what another program has appended to the former note of a step behind the new one, unless it is there.
func (s *settler) appendLate(kept journal.Step, path disk.Path, late []byte) error {
	err := disk.ErrChanged
	for n := 0; n < maxTries && errors.Is(err, disk.ErrChanged); n++ {
		var now FileState
		now, err = CurrentState(s.vault, path)
		if err != nil {
			return err
		}
		isAfter, rest := startsWith(now, kept.After)
		isThere := isAfter && slices.Equal(rest, late)
		if isThere {
			return nil
		}
		step := kept
		step.Draft = "" // which holds what is put back
		err = s.replace(step, path, now, slices.Concat(now.Text.ForProgram(), late))
	}
	return err
}
