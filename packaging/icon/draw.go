package icon

import "image/color"

const (
	unitsEach = 400 // of what the drawing counts in: hundredths of that are whole
	samples   = 4   // per pixel in each direction
)

// point has integers for coordinates. A drawing has a side of up to some thousand units,
// so that the square of an area fits.
type point struct{ x, y int64 }

func (p point) minus(q point) point   { return point{p.x - q.x, p.y - q.y} }
func (p point) times(q point) int64   { return p.x*q.x + p.y*q.y }
func (p point) squared() int64        { return p.times(p) }
func (p point) plus(x, y int64) point { return point{p.x + x, p.y + y} }

// shape is something of one colour.
type shape interface {
	contains(p point) bool
	colour() color.NRGBA
}

// line is a stroke with round ends: whatever is within a radius of it.
type line struct {
	from, to point
	radius   int64
	color.NRGBA
}

func (l line) colour() color.NRGBA { return l.NRGBA }

// contains compares squares, as there are no roots of integers.
func (l line) contains(p point) bool {
	if p.x < min(l.from.x, l.to.x)-l.radius || p.x > max(l.from.x, l.to.x)+l.radius ||
		p.y < min(l.from.y, l.to.y)-l.radius || p.y > max(l.from.y, l.to.y)+l.radius {
		return false
	}
	along, to := l.to.minus(l.from), p.minus(l.from)
	length, reach := along.squared(), along.times(to)
	switch {
	case reach <= 0:
		return to.squared() <= l.radius*l.radius
	case reach >= length:
		return p.minus(l.to).squared() <= l.radius*l.radius
	}
	area := along.x*to.y - along.y*to.x // the distance from the line, times its length
	return area*area <= l.radius*l.radius*length
}

// rectangle has rounded corners.
type rectangle struct {
	from, to point
	radius   int64
	color.NRGBA
}

func (r rectangle) colour() color.NRGBA { return r.NRGBA }

func (r rectangle) contains(p point) bool {
	if p.x < r.from.x || p.y < r.from.y || p.x > r.to.x || p.y > r.to.y {
		return false
	}
	nearest := point{
		min(max(p.x, r.from.x+r.radius), r.to.x-r.radius),
		min(max(p.y, r.from.y+r.radius), r.to.y-r.radius),
	}
	return p.minus(nearest).squared() <= r.radius*r.radius
}

// pixel is the mean colour of the samples in a pixel of a picture with a size. The last
// shape that contains a sample is on top.
func pixel(shapes []shape, side int64, size, x, y int) color.NRGBA {
	const all = samples * samples
	var red, green, blue, covered int
	grid := int64(size) * samples * 2
	for i := range samples * samples {
		p := point{
			(int64(x*samples+i%samples)*2 + 1) * side / grid,
			(int64(y*samples+i/samples)*2 + 1) * side / grid,
		}
		for at := len(shapes) - 1; at >= 0; at-- {
			if shapes[at].contains(p) {
				c := shapes[at].colour()
				red, green, blue, covered = red+int(c.R), green+int(c.G), blue+int(c.B), covered+1
				break
			}
		}
	}
	if covered == 0 {
		return color.NRGBA{}
	}
	mean := func(sum int) uint8 { return uint8((sum + covered/2) / covered) }
	return color.NRGBA{mean(red), mean(green), mean(blue), uint8((covered*255 + all/2) / all)}
}
