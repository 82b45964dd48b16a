package ui

import (
	"fmt"
	"time"

	"vaultwicket/gateway/ui/activity"
)

// chart is a chart of bars, which the page draws as SVG, with a title and a description; the
// numbers are in a table beside it.
type chart struct {
	Width, Height int
	Title, About  string
	Bars          []bar
	Labels        []label
}

// bar is one part of a bar. Class is allowed, failed, asked or denied, and Title what it shows.
type bar struct {
	X, Y, Width, Height int
	Class, Title        string
}

// label is a text below the bars.
type label struct {
	X    int
	Text string
}

const (
	width, height = 720, 120
	below         = 18 // for the labels
	mostLabels    = 8
	mostBars      = 168 // a week of hours; more are put together
)

// chartOf returns a chart of the calls of some hours, in the time zone in.
func chartOf(hours []activity.Hour, in *time.Location) chart {
	hours, each := together(hours)
	c := chart{Width: width, Height: height, Title: "Calls over time"}
	most, calls, denied := 1, 0, 0
	for _, h := range hours {
		all := h.Allowed + h.Denied + h.Failed + h.Asked
		most, calls, denied = max(most, all), calls+all, denied+h.Denied
	}
	c.About = fmt.Sprintf("%d calls, %d denied; at most %d in %s", calls, denied, most, lengthOf(each))
	if calls == 0 {
		c.About = "No calls"
	}
	for i, h := range hours {
		c.bars(i, len(hours), most, h, in)
	}
	every := max(1, (len(hours)+mostLabels-1)/mostLabels)
	for i := 0; i < len(hours); i += every {
		c.Labels = append(c.Labels, label{i * width / len(hours), labelOf(hours[i].Start.In(in), len(hours)*each)})
	}
	return c
}

// together puts neighbouring hours together when there are too many for one chart.
func together(hours []activity.Hour) (fewer []activity.Hour, each int) {
	each = (len(hours) + mostBars - 1) / mostBars
	if each <= 1 {
		return hours, 1
	}
	for i, h := range hours {
		if i%each == 0 {
			fewer = append(fewer, activity.Hour{Start: h.Start})
		}
		sum := &fewer[len(fewer)-1]
		sum.Allowed, sum.Denied, sum.Failed, sum.Asked = sum.Allowed+h.Allowed, sum.Denied+h.Denied, sum.Failed+h.Failed, sum.Asked+h.Asked
	}
	return fewer, each
}

func lengthOf(hours int) string {
	if hours == 1 {
		return "an hour"
	}
	return fmt.Sprintf("%d hours", hours)
}

// bars adds the parts of one bar, from the bottom.
func (c *chart) bars(i, n, most int, h activity.Hour, in *time.Location) {
	x, next := i*width/n, (i+1)*width/n
	w := max(1, next-x-1)
	y := height - below
	for _, part := range []struct {
		calls int
		class string
	}{{h.Allowed, "allowed"}, {h.Failed, "failed"}, {h.Asked, "asked"}, {h.Denied, "denied"}} {
		if part.calls == 0 {
			continue
		}
		tall := max(1, part.calls*(height-below-4)/most)
		y -= tall
		c.Bars = append(c.Bars, bar{x, max(0, y), w, tall, part.class, fmt.Sprintf("%s: %d %s", h.Start.In(in).Format("Mon 2 Jan 15:04"), part.calls, part.class)})
	}
}

func labelOf(at time.Time, hours int) string {
	if hours > 48 {
		return at.Format("2 Jan")
	}
	return at.Format("15:04")
}
