package disk

import "vaultwicket/cmd/internal/vault/disk/system"

// Stamper looks at many files. The folder of one is open until a file of another one is asked
// for, so that files of one folder that follow each other cost one look each. It is for one
// goroutine, and has to be closed.
type Stamper struct {
	in     *Folder
	at     place // nil if no folder is open
	folder string
}

// Stamper returns a stamper for files of the folder.
func (f *Folder) Stamper() *Stamper { return &Stamper{in: f} }

// Stamp is [Folder.Stamp].
func (s *Stamper) Stamp(p Path) (system.Stamp, error) {
	if err := s.in.admit(p); err != nil {
		return system.Stamp{}, err
	}
	if folder := p.Folder(); s.at == nil || folder != s.folder {
		s.Close()
		at, err := s.in.place(p.parents())
		if err != nil {
			return system.Stamp{}, err
		}
		s.at, s.folder = at, folder
	}
	return s.at.stamp(p.base())
}

// Close closes the folder that is open. The stamper can be used again.
func (s *Stamper) Close() {
	if s.at != nil {
		s.at.close()
		s.at = nil
	}
}
