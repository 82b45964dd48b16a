package ui

import (
	"bytes"
	"html/template"
	"regexp"
	"sync"

	"github.com/gomarkdown/markdown"
	"github.com/gomarkdown/markdown/html"
	"github.com/gomarkdown/markdown/parser"

	"vaultwicket/gateway/clean"
)

// maxRendered is the maximum size of a note in bytes that is shown as it reads: some texts take the
// parser quadratic time.
const maxRendered = 128 << 10

// plainTag is every tag that a note may have when it is shown as it reads: none that loads, runs,
// leads anywhere or has an attribute of its text's choice.
var plainTag = pattern(`^</?(p|h[1-6]|ul|ol|li|dl|dt|dd|table|thead|tbody|tr|th|td|blockquote|pre|code|tt|em|strong|del|br|hr)( /| align="(left|right|center)"| start="[0-9]{1,9}")?>`)

// rendering returns a note as it reads, without its properties: HTML, images and links in it are left
// out or shown as text. It is "" for a note that is too long, or of which that cannot be said.
func rendering(note []byte) (shown template.HTML) {
	if len(note) > maxRendered {
		return ""
	}
	defer func() {
		if recover() != nil { // in the parser
			shown = ""
		}
	}()
	text, _ := clean.Text(string(note))
	source := []byte(text)
	if rest, found := bytes.CutPrefix(source, []byte("---\n")); found {
		if _, body, closed := bytes.Cut(rest, []byte("\n---\n")); closed {
			source = body
		}
	}
	p := parser.NewWithExtensions(parser.NoIntraEmphasis | parser.Tables | parser.FencedCode | parser.Strikethrough | parser.SpaceHeadings | parser.BackslashLineBreak | parser.NoEmptyLineBeforeBlock)
	made := markdown.ToHTML(source, p, html.NewRenderer(html.RendererOptions{Flags: html.SkipHTML | html.SkipImages | html.SkipLinks}))
	made = codeClass().ReplaceAll(made, []byte("<code>"))
	for rest := made; ; {
		at := bytes.IndexByte(rest, '<')
		if at < 0 {
			return template.HTML(made) // every tag in it is plain
		}
		tag := plainTag().Find(rest[at:])
		if tag == nil {
			return ""
		}
		rest = rest[at+len(tag):]
	}
}

// codeClass is a block of code with its language, which a note chooses.
var codeClass = pattern(`<code class="language-[^"<>]*">`)

// pattern is a regular expression that is compiled for the first page that needs it, and not at each
// start of the program.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
