//go:build !linux

package disk

import "os"

func openPlace(root *os.Root, single bool) (place, error) {
	dir, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return rooted{dir, single}, nil
}
