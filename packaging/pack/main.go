// Command pack makes the parts of a release that goreleaser does not make itself. It
// reads files and writes files; it starts nothing. The folder dist is the one that
// goreleaser builds in, and stage the one that stage.sh fills.
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

// options are the flags of all parts.
type options struct {
	binary, version, out, dist, stage, bundle string
	seconds                                   int64
}

// parts are the subcommands, and the flags that each must have.
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

// run makes one part and returns an exit status: 0 done, 1 not made, 2 wrong arguments.
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
	var o options
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	set.SetOutput(log)
	texts := map[string]*string{"binary": &o.binary, "version": &o.version, "out": &o.out, "dist": &o.dist, "stage": &o.stage, "mcpb": &o.bundle}
	for _, name := range part.flags {
		if text, ok := texts[name]; ok {
			set.StringVar(text, name, "", "")
		} else {
			set.Int64Var(&o.seconds, name, 0, "")
		}
	}
	err := set.Parse(args[1:])
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() != "" })
	missing := slices.IndexFunc(part.flags, func(name string) bool { return !given[name] }) // all are required
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
