package index

// difference is what differs between two lists of files in the order of listings.
type difference struct {
	to      []int32 // where each file of the old list is in the new one, or gone
	removed []int32 // places in the old list
	added   []int32 // places in the new list
	changed []int32 // places in the new list of files that were there and held something else
}

// gone is the place of a file that is not there any more.
const gone = -1

func (d *difference) sameNames() bool { return len(d.removed)+len(d.added) == 0 }

// Kept returns for each file of a list the place of the very same one in another list, or -1
// if it is new or holds something else. Both lists are in the order of listings.
func Kept(before, after []*File) []int32 {
	kept := make([]int32, len(after))
	for i := range kept {
		kept[i] = gone
	}
	d := compare(before, after)
	for old, place := range d.to {
		if place >= 0 && before[old] == after[place] {
			kept[place] = int32(old)
		}
	}
	return kept
}

func compare(before, after []*File) difference {
	d := difference{to: make([]int32, len(before))}
	i, k := 0, 0
	for i < len(before) || k < len(after) {
		switch c := compareNext(before[i:], after[k:]); {
		case c < 0:
			d.to[i] = gone
			d.removed = append(d.removed, int32(i))
			i++
		case c > 0:
			d.added = append(d.added, int32(k))
			k++
		default:
			d.to[i] = int32(k)
			if before[i] != after[k] {
				d.changed = append(d.changed, int32(k))
			}
			i, k = i+1, k+1
		}
	}
	return d
}

// compareNext compares the paths of the first files of two lists, of which one may have
// ended.
func compareNext(before, after []*File) int {
	switch {
	case len(before) == 0:
		return 1
	case len(after) == 0:
		return -1
	case before[0] == after[0]:
		return 0
	}
	return inOrder(before[0], after[0])
}
