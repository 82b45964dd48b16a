// Command shiftedclock runs tests as if on another day and in another time zone:
//
//	go run ./tests/programs/shiftedclock DAY ZONE [argument of go test ...]
//	go run ./tests/programs/shiftedclock 2028-02-29 Pacific/Kiritimati ./...
//	go run ./tests/programs/shiftedclock 2026-12-31T23:59:50 America/New_York ./tests/cli
//
// DAY is a date, which means noon, or a date with a time; ZONE is a name of the
// time zone database. Both hold for the tests and for all that they build with the
// go command: time.Now of the standard library is replaced, and so are the times of
// files, which the kernel takes from the machine's clock. It is all compiled in, so
// programs that get no environment have it as well.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			os.Exit(exit.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "shiftedclock:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) == 1 && args[0] == "now" {
		return printNow()
	}
	if len(args) < 2 {
		return errors.New("usage: shiftedclock DAY ZONE [argument of go test ...]")
	}
	moment, err := parseMoment(args[0], args[1])
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "shiftedclock-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	environment, err := shiftedEnvironment(folder, moment, time.Now())
	if err != nil {
		return err
	}
	if err := check(environment, moment); err != nil {
		return err
	}
	fmt.Printf("shiftedclock: it is %s\n", moment.Format(time.RFC1123Z))
	return goCommand(environment, append([]string{"test", "-count=1"}, args[2:]...)...).Run()
}

// printNow prints what time it is, and the time of a file that is written.
func printNow() error {
	file, err := os.CreateTemp("", "shiftedclock-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	_, err = fmt.Println(time.Now().Format(seen) + "\n" + info.ModTime().Format(seen))
	return errors.Join(err, file.Close())
}

// parseMoment returns the moment that day and zone mean.
func parseMoment(day, zone string) (time.Time, error) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("time zone %q: %w", zone, err)
	}
	if date, err := time.ParseInLocation(time.DateOnly, day, location); err == nil {
		return time.Date(date.Year(), date.Month(), date.Day(), 12, 0, 0, 0, location), nil
	}
	moment, err := time.ParseInLocation("2006-01-02T15:04:05", day, location)
	if err != nil {
		return time.Time{}, fmt.Errorf("invalid day %q: want 2028-02-29 or 2028-02-29T23:59:50", day)
	}
	return moment, nil
}

// shiftedEnvironment returns the environment in which the go command builds
// programs whose clock says moment when the machine's says now.
func shiftedEnvironment(folder string, moment, now time.Time) ([]string, error) {
	goroot, err := setting("GOROOT")
	if err != nil {
		return nil, err
	}
	flags, err := setting("GOFLAGS")
	if err != nil {
		return nil, err
	}
	overlay, err := writeOverlay(goroot, runtime.GOARCH, folder)
	if err != nil {
		return nil, err
	}
	seconds := int64(moment.Sub(now).Round(time.Second).Seconds())
	flags += fmt.Sprintf(" -overlay=%s '-ldflags=-w -X=%s=%d'", overlay, shiftVariable, seconds)
	return append(os.Environ(), "GOFLAGS="+strings.TrimSpace(flags), "TZ="+moment.Location().String()), nil
}

// setting returns a setting of the go command.
func setting(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("go env %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// seen is what the check prints of the clock: the hour, and the offset of the zone.
const seen = "2006-01-02T15 -0700"

// check asks a program that is built in environment for its time. The first time
// the standard library is compiled, which may take minutes.
func check(environment []string, moment time.Time) error {
	command := goCommand(environment, "run", "github.com/vaultwicket/vaultwicket/tests/programs/shiftedclock", "now")
	command.Stdout = nil
	begun := time.Now()
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("build with a shifted clock: %w", err)
	}
	// The shift is in whole seconds, so the clock may be half of one behind.
	first := moment.Add(-time.Second).Format(seen)
	last := moment.Add(time.Since(begun) + time.Second).Format(seen)
	for got := range strings.Lines(string(out)) {
		if got = strings.TrimSpace(got); got < first || got > last {
			return fmt.Errorf("a program built with a shifted clock prints %q, want %q", out, first)
		}
	}
	return nil
}

// goCommand returns the go command, which prints where this program prints.
func goCommand(environment []string, args ...string) *exec.Cmd {
	command := exec.Command("go", args...)
	command.Env = environment
	command.Stdout = os.Stdout
	command.Stderr = os.Stderr
	return command
}
