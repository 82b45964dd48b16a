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
	if len(args) == 0 {
		fmt.Fprintln(log, "pack: name what to make:", strings.Join(names(), ", "))
		return 2
	}
	part, known := parts[args[0]]
	if !known {
		fmt.Fprintf(log, "pack: unknown part %q; there are %s\n", args[0], strings.Join(names(), ", "))
		return 2
	}
	o, err := parse(args, part.flags, log)
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

func names() []string {
	var all []string
	for name := range parts {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// parse reads the flags of a part, all of which are required.
func parse(args, required []string, log io.Writer) (o options, err error) {
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	set.SetOutput(log)
	texts := map[string]*string{"binary": &o.binary, "version": &o.version, "out": &o.out, "dist": &o.dist, "stage": &o.stage, "mcpb": &o.bundle}
	for _, name := range required {
		if text, ok := texts[name]; ok {
			set.StringVar(text, name, "", "")
		} else {
			set.Int64Var(&o.seconds, name, 0, "")
		}
	}
	if err := set.Parse(args[1:]); err != nil {
		return o, err
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() != "" })
	for _, name := range required {
		if !given[name] {
			return o, fmt.Errorf("%s: --%s is missing", args[0], name)
		}
	}
	if set.NArg() > 0 {
		return o, fmt.Errorf("%s: unexpected argument %q", args[0], set.Arg(0))
	}
	return o, nil
}
