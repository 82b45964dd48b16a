package gateway

import (
	"context"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
)

// How a dry run shows the steps of a call. Each function receives the steps so far, of which the last one is the
// call, and returns them with the questions that come before the call.

// questionShown returns the step of a question to the app. It has no arguments if err says that the question is not
// a call.
func (r route) questionShown(why string, call allowlist.Call, err error) StepShown {
	shown := StepShown{For: why}
	if err != nil {
		return shown
	}
	if command, err := r.program.Command(call); err == nil {
		shown.Argv = command.Args
	}
	return shown
}

// stepShown returns the step of a question that is a command with one parameter.
func (r route) stepShown(why, command, key, value string) StepShown {
	call, err := allowlist.Parse(command, allowlist.Params{key: allowlist.Text(value)})
	if vault := r.call.Vault(); err == nil && vault != "" {
		call, err = call.In(vault)
	}
	return r.questionShown(why, call, err)
}

func (g *vaultGateway) showAsItIs(_ context.Context, _ route, steps []StepShown) []StepShown {
	return steps
}

func (g *vaultGateway) showLocate(_ context.Context, r route, steps []StepShown) []StepShown {
	name, _ := r.call.Named()
	last := &steps[len(steps)-1]
	last.Argv = slices.Clone(last.Argv)
	for i, word := range last.Argv {
		if strings.HasPrefix(word, "file=") {
			last.Argv[i] = pathOfAnswer
		}
	}
	return slices.Insert(steps, 0, r.stepShown("asks which note the name refers to", "file", "file", name))
}

// pathOfAnswer stands for an argument that depends on the answer to an earlier step.
const pathOfAnswer = "path=<path>"

// showReadDaily asks the embedded program for the path, as a run does. The app is asked only if that is not enough.
func (g *vaultGateway) showReadDaily(ctx context.Context, r route, _ []StepShown) []StepShown {
	question, err := r.call.DailyPath()
	asks := r.questionShown("asks for the path of the note", question, err)
	permit, err := r.decision.Permit()
	if program := g.embeddedProgram(); err == nil && program != nil && !permit.Confined() {
		answer, err := g.runner.Run(ctx, permit.DailyPath(), *program)
		note := strings.TrimSpace(answer.Stdout)
		if err == nil && answer.Failure == nil && g.knownDaily(note) != "" {
			asks.For = "asks for the path, if there is no such note"
			return []StepShown{
				r.stepShown(
					"reads the note at the path that the settings of the vault tell",
					"read",
					"path",
					g.knownDaily(note),
				),
				asks,
			}
		}
	}
	reads := r.stepShown("reads the note at that path", "read", "path", "path")
	if len(reads.Argv) > 0 {
		reads.Argv[len(reads.Argv)-1] = pathOfAnswer
	}
	return []StepShown{asks, reads}
}

func (g *vaultGateway) showAbsent(_ context.Context, r route, steps []StepShown) []StepShown {
	var questions []StepShown
	key, value := r.identifyNew()
	for _, candidate := range createdPaths(key, value) {
		questions = append(questions, r.stepShown("asks whether the note exists", "file", key, candidate))
	}
	return append(questions, steps...)
}

func (g *vaultGateway) showVersion(_ context.Context, r route, steps []StepShown) []StepShown {
	question, err := r.call.VersionText()
	asks := r.questionShown("asks for the text of the version", question, err)
	last := steps[len(steps)-1]
	last.For = "restores it"
	if g.embeddedProgram() != nil {
		last = StepShown{For: "vaultwicket writes that text"}
	}
	return append(slices.Insert(slices.Clone(steps[:len(steps)-1]), len(steps)-1, asks), last)
}
