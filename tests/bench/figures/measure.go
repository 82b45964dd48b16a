package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// group is what runs in one process, so that it shares its generated vaults.
type group struct {
	benchmarks  string // alternatives of a regular expression
	part        string // of these benchmarks, where not all of them is wanted
	repetitions int
	once        bool // in the first round alone: it takes long, and varies little
}

var groups = []group{
	{"Machine|Vault|Bases|Tasks|Find|Pages|ReadBehindSearch", "", 20, false},
	{"Tools|Answer|Large|HungClient", "", 3, false},
	{"Fifty|ResidentFifty", "", 20, false},
	{"Initialize|OneShotRead", "", 60, false},
	{"Call|ResidentRead|JournaledAppend", "", 400, false},
	{"ResidentAgents", "", 2_500, false},
	{"TextRules", "", 600, false},
	{"Memory", "", 10_000, true},
	{"HTTP", "", 2_000, true},
	{"Sessions|Agents", "", 1, true},
	{"LargeVault", "resident", 3, true},
}

// result has the figures of one round, by benchmark and by the name of the figure.
type result map[string]map[string]float64

// measure runs all groups and returns a result for each round. Figures of a group that
// runs once are in the first. What failed is an error; the figures of the others are there.
func measure(rounds int) ([]result, error) {
	folder, err := os.MkdirTemp("", "figures-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	tests := filepath.Join(folder, "bench.test")
	if out, err := exec.Command("go", "test", "-c", "-o", tests, "./tests/bench").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the benchmarks: %w\n%s", err, out)
	}
	all := make([]result, rounds)
	var failed error
	for round := range all {
		all[round] = result{}
		for _, g := range groups {
			if g.once && round > 0 {
				continue
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, rounds, g.benchmarks)
			failed = errors.Join(failed, g.run(tests, all[round]))
		}
	}
	return all, failed
}

func (g group) run(tests string, into result) error {
	cmd := exec.Command(tests, "-test.run=^$", "-test.bench="+g.pattern(), "-test.benchtime="+strconv.Itoa(g.repetitions)+"x")
	cmd.Dir = filepath.Join("tests", "bench") // where go test runs it
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	into.parse(string(out))
	if err != nil {
		return fmt.Errorf("%s: %w\n%s%s", g.benchmarks, err, out, messages.Bytes())
	}
	return nil
}

func (g group) pattern() string {
	pattern := "^Benchmark(" + g.benchmarks + ")$"
	if g.part != "" {
		pattern += "/^" + g.part + "$"
	}
	return pattern
}

// line is a benchmark's name, without the number of processors, and what it reports.
var line = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// parse adds the figures of the output of benchmarks.
func (r result) parse(output string) {
	for _, found := range line.FindAllStringSubmatch(output, -1) {
		fields := strings.Fields(found[2])
		figures := map[string]float64{}
		for i := 0; i+1 < len(fields); i += 2 {
			if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
				figures[fields[i+1]] = value
			}
		}
		r[found[1]] = figures
	}
}

// span is the lowest and the highest of the figures that rounds gave.
type span struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// spanOf returns the span of a figure over the rounds that have it.
func spanOf(rounds []result, of func(result) (float64, bool)) (s span, found bool) {
	for _, round := range rounds {
		value, measured := of(round)
		if !measured {
			continue
		}
		if !found {
			s = span{value, value}
			found = true
		}
		s = span{min(s.Low, value), max(s.High, value)}
	}
	return s, found
}

// figure returns what reads one figure.
func figure(benchmark, name string) func(result) (float64, bool) {
	return func(r result) (float64, bool) {
		value, found := r[benchmark][name]
		return value, found
	}
}
