package disk

import (
	"io/fs"
	"os"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// place is an open folder in which files are looked at and read. Every name it
// is given is one segment that a [Path] may hold, so none of them can lead out
// of it. Its errors are those of [Folder.Open]. There are two: rooted works
// everywhere, and Linux has one that costs less.
type place interface {
	// list returns the visible files and folders. It may be called once.
	list() ([]listed, error)
	// step opens the sub-folder name, never through a link.
	step(name string) (place, error)
	info(name string) (fs.FileInfo, error)
	stamp(name string) (system.Stamp, error)
	// read is [Entry.ReadInto]. The file was seen to be a regular one.
	read(name string, buf []byte) ([]byte, system.Stamp, error)
	close()
}

// listed is a name in a folder.
type listed struct {
	name   string
	folder bool // else a regular file
}

// place opens the folder that the segments lead to. The caller closes it.
func (f *Folder) place(segments []string) (place, error) {
	at, err := openPlace(f.root, f.view != nil)
	if err != nil {
		return nil, err
	}
	for _, segment := range segments {
		next, err := at.step(segment)
		at.close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// rooted is a place that goes through an os.Root.
type rooted struct {
	dir    *os.Root
	single bool // a file with further names is refused, see [IsHardLinked]
}

func (r rooted) close() { r.dir.Close() }

func (r rooted) list() ([]listed, error) {
	handle, err := r.dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	names, err := handle.ReadDir(-1)
	found := make([]listed, 0, len(names))
	for _, entry := range names {
		if entry.IsDir() || entry.Type().IsRegular() {
			found = append(found, listed{entry.Name(), entry.IsDir()})
		}
	}
	return found, err
}

func (r rooted) step(name string) (place, error) {
	sub, err := step(r.dir, name)
	if err != nil {
		return nil, err
	}
	return rooted{sub, r.single}, nil
}

func (r rooted) info(name string) (fs.FileInfo, error) {
	info, err := statIn(r.dir, name)
	if err != nil || !r.single {
		return info, err
	}
	links, err := linksIn(r.dir, name, info)
	if err == nil {
		err = single(name, links)
	}
	if err != nil {
		return nil, err
	}
	return info, nil
}

// open opens the regular file name.
func (r rooted) open(name string) (*File, error) {
	file, err := openIn(r.dir, name)
	if err != nil || !r.single {
		return file, err
	}
	links, err := file.links()
	if err == nil {
		err = single(name, links)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func (r rooted) stamp(name string) (system.Stamp, error) {
	info, err := r.info(name)
	if err != nil {
		return system.Stamp{}, err
	}
	return system.StampOf(info), nil
}

func (r rooted) read(name string, buf []byte) ([]byte, system.Stamp, error) {
	file, err := r.open(name)
	if err != nil {
		return nil, system.Stamp{}, err
	}
	defer file.Close()
	return readStamped(file, buf, MaxNote)
}
