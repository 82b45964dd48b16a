package main

import (
	"context"

	"vaultwicket/cmd/internal/doctor"
	"vaultwicket/cmd/internal/doctor/machine"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/screen"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
)

// runDoctor is "vaultwicket doctor": it checks the installation. The exit status is 0
// where all is well, 1 with warnings and 4 with a problem.
func runDoctor(ctx context.Context, std terminal.Streams, args []string) error {
	var look screen.Options
	var strict bool
	m, asJSON, err := machine.Of(std, args, func(f *settings.Flags) {
		look.ColorFlag(f.Set)
		f.Set.BoolVar(&strict, "strict", false, "end with status 1 if there are warnings")
	})
	if err != nil {
		return err
	}
	report := doctor.Check(ctx, m)
	if err := ctx.Err(); err != nil {
		return err
	}
	if asJSON {
		err = report.JSON(std.Out)
	} else {
		s := screen.New(std, look, m.Now())
		err = report.Print(std.Out, doctor.Look{Clean: terminal.Visible, Paint: func(l doctor.Level, text string) string { return s.Paint(levelStyles[l], text) }})
	}
	if err != nil {
		return err
	}
	warned := exit.Done
	if strict {
		warned = exit.Failed
	}
	return exit.Silent(map[doctor.Level]int{doctor.OK: exit.Done, doctor.Warning: warned, doctor.Problem: exit.NotReady}[report.Worst()])
}

// levelStyles are the colours of findings.
var levelStyles = map[doctor.Level]screen.Style{doctor.OK: screen.Good, doctor.Warning: screen.Alert, doctor.Problem: screen.Bad}
