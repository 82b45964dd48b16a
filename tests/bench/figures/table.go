package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// table is what was measured, as it is kept.
type table struct {
	Machine string   `json:"machine"`
	Rows    []filled `json:"rows"`
}

// filled is a row with its figures. Measured is nil where this machine could not tell.
type filled struct {
	What     string `json:"what"`
	Unit     string `json:"unit,omitempty"`
	Aim      string `json:"aim,omitempty"`
	Measured *span  `json:"measured"`
	Sides    *both  `json:"sides,omitempty"`
}

// both are the two sides of a ratio in milliseconds.
type both struct {
	Ours    span   `json:"ours"`
	Yard    span   `json:"yardstick"`
	Against string `json:"against"`
}

// machine says what is known of this machine without naming it.
func machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

func newTable(rounds []result, machine string) table {
	t := table{Machine: machine}
	for _, r := range append(bare, promises...) {
		t.Rows = append(t.Rows, r.fill(rounds))
	}
	return t
}

func (r row) fill(rounds []result) filled {
	f := filled{What: r.what, Unit: r.unit, Aim: r.aim}
	if s, found := spanOf(rounds, r.value); found {
		f.Measured = &s
	}
	if r.sides != nil && f.Measured != nil {
		ours, _ := spanOf(rounds, figure(r.sides.benchmark, r.sides.ours))
		yard, _ := spanOf(rounds, figure(r.sides.benchmark, r.sides.yard))
		f.Sides = &both{ours, yard, r.sides.against}
	}
	return f
}

// write keeps the table as JSON.
func (t table) write(file string) error {
	text, err := json.MarshalIndent(t, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// readTable reads what write kept.
func readTable(file string) (t table, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(text, &t)
}

// markdown draws the table.
func (t table) markdown() string {
	var b strings.Builder
	b.WriteString("Measured on " + t.Machine + ":\n\n| what | measured | aim | both sides |\n|---|---|---|---|\n")
	for _, r := range t.Rows {
		measured := "not here"
		compared := ""
		if r.Measured != nil {
			measured = r.Measured.text(r.Unit)
		}
		if r.Sides != nil {
			compared = r.Sides.Ours.text("ms") + " against " + r.Sides.Yard.text("ms") + ": " + r.Sides.Against
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.What, measured, r.Aim, compared)
	}
	return b.String() + "\n"
}

// text shows a span with as many digits as mean something.
func (s span) text(unit string) string {
	low := digits(s.Low)
	high := digits(s.High)
	if low != high {
		low += " to " + high
	}
	return strings.TrimSpace(low + " " + unit)
}

// digits shows three digits that count, and thousands apart.
func digits(value float64) string {
	switch {
	case value >= 1000:
		whole := strconv.Itoa(int(value + 0.5))
		return whole[:len(whole)-3] + "," + whole[len(whole)-3:]
	case value >= 100:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case value >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	}
	return strconv.FormatFloat(value, 'f', 2, 64)
}
