package lookup

import "bytes"

// Moved returns the files after a change of their paths, with little work: a file that
// was at place i is at to[i], or gone where that is negative, and the paths at all other
// places are of new files. The slice of paths must not change any more.
func (f *Files) Moved(to []int32, paths []string) *Files {
	if !f.byPath.fits(len(paths)) {
		return New(paths)
	}
	kept := make([]bool, len(paths))
	for _, place := range to {
		if place >= 0 {
			kept[place] = true
		}
	}
	var fresh []int32
	for place, known := range kept {
		if !known {
			fresh = append(fresh, int32(place))
		}
	}
	next := &Files{paths: paths}
	byPath, byName := next.entries(fresh)
	next.byPath, next.byName = f.byPath.moved(to, byPath, next.compare), f.byName.moved(to, byName, next.compare)
	return next
}

// Key stands for the last segment of a link, or of what it may mean. Links with other
// keys mean other files; links with the same key may do so too.
type Key uint32

// KeyOf returns the key of a link, which is in a file. The arguments are those of
// [Files.Resolve].
func KeyOf(target, source string) Key {
	wanted, _ := anchor(target, parent(source))
	var memory [128]byte
	name := appendFolded(memory[:0], base(wanted))
	return Key(hash(bytes.TrimSuffix(name, []byte(note))))
}

// Keys returns the keys of all links that may mean the file at a path.
func Keys(path string) [2]Key {
	var memory [128]byte
	name := bytes.TrimSuffix(appendFolded(memory[:0], base(path)), []byte(note))
	return [2]Key{Key(hash(name)), Key(hash(bytes.TrimSuffix(name, []byte(note))))}
}

// Rivals returns the places of all files to which a link leads that may mean the file at
// a path, which need not be one of the files.
func (f *Files) Rivals(path string) (places []int32) {
	name := appendFolded(nil, base(path))
	shorter, isNote := bytes.CutSuffix(name, []byte(note))
	names := [][]byte{name, append(bytes.Clone(name), note...)}
	if isNote {
		names = append(names, shorter)
	}
	for _, key := range names {
		for _, e := range f.byName.run(hash(key)) {
			places = append(places, e.place)
		}
	}
	return places
}
