package gateway

import (
	"strings"

	"vaultwicket/exec"
)

// Image is an image that a call has read.
type Image struct {
	MediaType string
	Base64    string // its bytes
}

// takeImage takes the image out of an outcome that has one. What is left of the answer
// is the line about it. An image of which a part was dropped is none.
func takeImage(out *exec.Outcome) *Image {
	if out.Image == "" {
		return nil
	}
	about, data, found := strings.Cut(strings.TrimSuffix(out.Stdout, "\n"), "\n")
	whole := found && !out.Cut
	out.Stdout, out.Total, out.Cut = strings.Clone(about)+"\n", int64(len(about)+1), false
	if !whole {
		return nil
	}
	return &Image{MediaType: out.Image, Base64: data}
}
