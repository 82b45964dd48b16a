// Command figures runs the benchmarks of tests/bench, each with as many repetitions as its
// figures need, prints the table of what vaultwicket promises of its speed, and keeps it
// as JSON. The table of docs/performance.md is made from that file.
//
//	go run ./tests/bench/figures
//
// It takes some eight minutes for each round, and wants a machine that does nothing else. A row that
// cannot be measured here, such as one against a program that is not installed, says so.
//
//go:generate go test -run TestThePageIsFresh -update .
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	rounds := pflag.Int("rounds", 2, "how often the benchmarks run; a figure is shown as the lowest and the highest")
	file := pflag.String("json", "tests/bench/figures/figures.json", "where the figures are kept; from the top of the repository")
	pflag.Parse()
	if err := run(*rounds, *file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(rounds int, file string) error {
	began := time.Now()
	measured, err := measure(rounds)
	t := newTable(measured, machine())
	fmt.Print(t.markdown())
	fmt.Fprintf(os.Stderr, "measured in %s\n", time.Since(began).Round(time.Second))
	if err != nil {
		return err // part of a table is shown, and not kept
	}
	return t.write(file)
}
