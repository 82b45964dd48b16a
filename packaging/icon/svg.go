package icon

import (
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"image/color"
	"strconv"
	"strings"
)

// drawing is what of SVG is understood: squares of pixels with a rectangle that is filled,
// and paths of straight strokes with round ends.
type drawing struct {
	XMLName xml.Name   `xml:"http://www.w3.org/2000/svg svg"`
	ViewBox string     `xml:"viewBox,attr"`
	Rest    []xml.Attr `xml:",any,attr"`
	Rect    struct {
		Width  string     `xml:"width,attr"`
		Height string     `xml:"height,attr"`
		Radius string     `xml:"rx,attr"`
		Fill   string     `xml:"fill,attr"`
		Rest   []xml.Attr `xml:",any,attr"`
	} `xml:"rect"`
	Paths []struct {
		Steps  string     `xml:"d,attr"`
		Fill   string     `xml:"fill,attr"`
		Stroke string     `xml:"stroke,attr"`
		Width  string     `xml:"stroke-width,attr"`
		Cap    string     `xml:"stroke-linecap,attr"`
		Join   string     `xml:"stroke-linejoin,attr"`
		Rest   []xml.Attr `xml:",any,attr"`
	} `xml:"path"`
	Other []struct{ XMLName xml.Name } `xml:",any"`
}

// parse returns the shapes, the lowest first, and the length of a side in units.
func parse(svg []byte) (shapes []shape, side int64, err error) {
	var d drawing
	if err := xml.Unmarshal(svg, &d); err != nil {
		return nil, 0, err
	}
	box := strings.Fields(d.ViewBox)
	if len(box) != 4 || box[0] != "0" || box[1] != "0" || box[2] != box[3] || len(d.Other) > 0 || len(d.Rect.Rest) > 0 {
		return nil, 0, fmt.Errorf("want a square with one rectangle and paths, not %+v", d)
	}
	r := reader{}
	side = r.units(box[2])
	ground := rectangle{to: point{r.units(d.Rect.Width), r.units(d.Rect.Height)}, radius: r.units(d.Rect.Radius), NRGBA: r.colour(d.Rect.Fill)}
	shapes = append(shapes, ground)
	for _, p := range d.Paths {
		if p.Fill != "none" || p.Cap != "round" || p.Join != "round" || len(p.Rest) > 0 {
			return nil, 0, fmt.Errorf("want a path of round strokes, not %+v", p)
		}
		for _, l := range r.path(p.Steps) {
			l.radius, l.NRGBA = r.units(p.Width)/2, r.colour(p.Stroke)
			shapes = append(shapes, l)
		}
	}
	return shapes, side, r.err
}

// reader keeps the first error.
type reader struct{ err error }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// units reads a number with up to two decimal places.
func (r *reader) units(text string) int64 {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 32)
	if err != nil || len(fraction) > 2 {
		r.fail("%q is not a number with at most two decimal places", text)
	}
	return n * unitsEach / 100
}

func (r *reader) colour(text string) color.NRGBA {
	digits, err := hex.DecodeString(strings.TrimPrefix(text, "#"))
	if err != nil || len(digits) != 3 {
		r.fail("%q is not a colour such as #2f6b4f", text)
		return color.NRGBA{}
	}
	return color.NRGBA{digits[0], digits[1], digits[2], 255}
}

// path reads the steps M, h, v and l, the last three in relative coordinates.
func (r *reader) path(steps string) (lines []line) {
	var at point
	for len(steps) > 0 {
		step := steps[0]
		steps = steps[1:]
		end := strings.IndexAny(steps, "Mhvl")
		if end < 0 {
			end = len(steps)
		}
		numbers := strings.Fields(steps[:end])
		steps = steps[end:]
		if want := map[byte]int{'M': 2, 'l': 2, 'h': 1, 'v': 1}[step]; want == 0 || len(numbers) != want {
			r.fail("the step %c of a path has the numbers %q", step, numbers)
			return nil
		}
		first, last := r.units(numbers[0]), r.units(numbers[len(numbers)-1])
		from := at
		switch step {
		case 'M':
			at = point{first, last}
			continue
		case 'h':
			at = at.plus(first, 0)
		case 'v':
			at = at.plus(0, first)
		case 'l':
			at = at.plus(first, last)
		}
		lines = append(lines, line{from: from, to: at})
	}
	return lines
}
