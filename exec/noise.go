package exec

import "strings"

// maxNoise bounds the lines taken for noise: a client prints two or three.
const maxNoise = 16

// noiseSentences begin the lines that an app newer than its installer prints in
// front of every answer, on either stream (recorded on 1.12.7, both streams by
// different people).
var noiseSentences = [...]string{
	"Your Obsidian installer is out of date.",
	"Please download the latest installer",
	"Ignored: Error: ",
}

// packageVerbs and packageKinds make the other line: "Loading updated app
// package <folder>/obsidian-1.12.7.asar".
var (
	packageVerbs = [...]string{"Loading ", "Loaded "}
	packageKinds = [...]string{"updated app package", "main app package"}
)

// Cut takes noise lines from the start of a stream and returns them. What
// comes after the first other line is kept, whatever it looks like.
func cutNoise(text string, isNoise func(string) bool) (rest string, noise []string) {
	for rest = text; len(noise) < maxNoise; {
		line, after, _ := strings.Cut(rest, "\n")
		line = strings.Trim(line, "\r")
		if !isNoise(line) {
			break
		}
		noise, rest = append(noise, line), after
	}
	return rest, noise
}

// Line reports whether a line of either stream is noise.
func isNoise(line string) bool {
	line = withoutTime(line)
	for _, sentence := range noiseSentences {
		if strings.HasPrefix(line, sentence) {
			return true
		}
	}
	for _, verb := range packageVerbs {
		rest, found := strings.CutPrefix(line, verb)
		if !found {
			continue
		}
		for _, kind := range packageKinds {
			if what, found := strings.CutPrefix(rest, kind); found && (what == "" || what[0] == ' ') {
				return true
			}
		}
	}
	return false
}

// isErrorNoise also knows the warnings of the runtime of the older client,
// which are seen on standard error of machines without a display.
func isErrorNoise(line string) bool {
	return isNoise(line) || chromiumLog(line) ||
		strings.HasPrefix(line, "(electron) ") || strings.HasPrefix(line, "(node:")
}

// chromiumLog knows "[4711:1120/135624.123456:ERROR:bus.cc(407)] …".
func chromiumLog(line string) bool {
	head, _, found := strings.Cut(line, "] ")
	if !found || !strings.HasPrefix(head, "[") {
		return false
	}
	for _, level := range [...]string{":ERROR:", ":WARNING:", ":INFO:", ":FATAL:"} {
		if before, _, found := strings.Cut(head[1:], level); found {
			return strings.Trim(before, "0123456789:/.") == ""
		}
	}
	return false
}

const timeShape = "0000-00-00 00:00:00 "

// withoutTime cuts a leading "2026-05-04 13:56:24 ".
func withoutTime(line string) string {
	if len(line) < len(timeShape) {
		return line
	}
	for i := range len(timeShape) {
		digit := line[i] >= '0' && line[i] <= '9'
		if digit != (timeShape[i] == '0') || !digit && line[i] != timeShape[i] {
			return line
		}
	}
	return line[len(timeShape):]
}

// cutBlank takes one empty line from the start, unless nothing else is there:
// recorded on Windows in front of several answers.
func cutBlank(text string) string {
	for _, blank := range [...]string{"\r\n", "\n"} {
		if rest, found := strings.CutPrefix(text, blank); found && rest != "" {
			return rest
		}
	}
	return text
}
