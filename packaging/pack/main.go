// Command pack makes the parts of a release that goreleaser does not make. It reads and
// writes files, and starts no programs. dist is the folder in which goreleaser builds, and
// stage the folder that stage.sh fills.
//
//	pack sbom --binary FILE --version V --out FILE
//	pack mcpb --dist DIR --stage DIR --version V --out FILE
//	pack npm --dist DIR --stage DIR --version V --out DIR
//	pack server-json --version V --mcpb FILE --out FILE
//	pack licences < modules
//	pack debian-changelog --version V --seconds N
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

type options map[string]string

// parts are the subcommands with their flags, which are all required.
var parts = map[string]struct {
	flags []string
	make  func(options, io.Reader, io.Writer) error
}{
	"sbom":             {[]string{"binary", "version", "out"}, writeSBOM},
	"mcpb":             {[]string{"dist", "stage", "version", "out"}, writeBundle},
	"npm":              {[]string{"dist", "stage", "version", "out"}, writeNPM},
	"server-json":      {[]string{"version", "mcpb", "out"}, writeServer},
	"licences":         {nil, writeLicences},
	"debian-changelog": {[]string{"version", "seconds"}, writeChangelog},
}

// run makes one part and returns the exit status: 0 if it was made, 1 if that failed, 2 for wrong arguments.
func run(args []string, in io.Reader, out, log io.Writer) int {
	names := strings.Join(slices.Sorted(maps.Keys(parts)), ", ")
	if len(args) == 0 {
		fmt.Fprintln(log, "pack: name what to make:", names)
		return 2
	}
	part, known := parts[args[0]]
	if !known {
		fmt.Fprintf(log, "pack: unknown part %q; there are %s\n", args[0], names)
		return 2
	}
	o := options{}
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	set.SetOutput(log)
	for _, name := range part.flags {
		set.Func(name, "", func(text string) error {
			o[name] = text
			return nil
		})
	}
	err := set.Parse(args[1:])
	missing := slices.IndexFunc(part.flags, func(name string) bool { return o[name] == "" })
	switch {
	case err != nil:
	case missing >= 0:
		err = fmt.Errorf("%s: --%s is missing", args[0], part.flags[missing])
	case set.NArg() > 0:
		err = fmt.Errorf("%s: unexpected argument %q", args[0], set.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(log, "pack:", err)
		return 2
	}
	if err := part.make(o, in, out); err != nil {
		fmt.Fprintf(log, "pack: %s: %v\n", args[0], err)
		return 1
	}
	return 0
}
