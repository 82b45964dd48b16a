package compare

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes the differences one a line, and a summary. clean makes a text fit to be
// shown.
func (r Report) Print(out io.Writer, clean func(string) string) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, d := range r.Differences {
		fmt.Fprintf(w, "%s\t%s\tapp: %s\tembedded: %s\t%s\n", d.Kind, clean(d.Call), answerText(d.App), answerText(d.Embedded), onlyText(d))
		if d.Texts == nil {
			continue
		}
		w.Flush()
		for _, line := range d.Texts.OnlyApp {
			fmt.Fprintf(out, "  app       %s\n", clean(line))
		}
		for _, line := range d.Texts.OnlyEmbedded {
			fmt.Fprintf(out, "  embedded  %s\n", clean(line))
		}
	}
	w.Flush()
	_, err := fmt.Fprintf(out, "%d calls compared with Obsidian %s: %d same, %d in another order, %d different\n", r.Compared, clean(r.App), r.Same, r.Order, r.Different)
	if err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

func answerText(a Answer) string {
	if a.Code != "" {
		return a.Code
	}
	return fmt.Sprintf("%d lines", a.Lines)
}

func onlyText(d Difference) string {
	if d.OnlyApp+d.OnlyEmbedded == 0 {
		return ""
	}
	return fmt.Sprintf("%d only in the app, %d only in the embedded CLI", d.OnlyApp, d.OnlyEmbedded)
}
