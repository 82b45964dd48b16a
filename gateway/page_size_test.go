package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"vaultwicket/gateway/pages"
	_ "vaultwicket/tests/sameseed"
)

// inJSONString returns how many bytes a client gets of a text.
func inJSONString(t *testing.T, text string) int {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		t.Fatal(err)
	}
	return b.Len() - len("\"\"\n")
}

func TestPagesStaySmallAsStringsOfJSON(t *testing.T) {
	t.Parallel()
	const most = 400
	for name, whole := range map[string]string{
		"text":            strings.Repeat("a line of a note\n", 200),
		"quotation marks": strings.Repeat(`"\`, 900),
		"empty lines":     strings.Repeat("\n", 2000),
		"tabs":            strings.Repeat("\t\"\n", 700),
		"controls":        strings.Repeat("\x01", 600),
		"emoji":           strings.Repeat("😀ü", 300),
		"rows":            "[" + strings.Repeat(`{"a":"\"\"\"\"\"\"\"\""},`, 60) + `{"a":""}]`,
		"a row":           `["` + strings.Repeat(`\"`, 900) + `"]`,
	} {
		for _, form := range []pages.Form{pages.Text, pages.JSON} {
			got, at := "", pages.Position{}
			for turns := 0; ; turns++ {
				page, err := pages.CutForJSON(pages.Whole{Text: whole, Form: form}, at, pages.Limit{Bytes: most})
				if err != nil || turns > len(whole) {
					t.Fatalf("%s, form %d: %v after %d pages", name, form, err, turns)
				}
				if size := inJSONString(t, page.Text); len(page.Text) > most || size > most+most/8 {
					t.Errorf("%s, form %d: a page of %d bytes is %d in JSON", name, form, len(page.Text), size)
				}
				got += page.Text
				if at = page.Next; page.Last() {
					break
				}
			}
			if form != pages.JSON && got != whole {
				t.Errorf("%s, form %d: the pages are not the whole", name, form)
			}
		}
	}
}

func TestAnAnswerWithoutALimitIsWhole(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("\"\n", 5000)
	if got, next, err := (Result{Stdout: whole, Stderr: whole}).cut(pages.Limit{}); err != nil || next != (pages.Position{}) || got.Stdout != whole || got.Stderr != whole {
		t.Errorf("got %d bytes, %v", len(got.Stdout), err)
	}
}

func TestAFirstPageIsABeginningOfWholeCharacters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, limit := rapid.String().Draw(t, "text"), rapid.IntRange(pages.MinBytes, 60).Draw(t, "limit")
		got, next, err := Result{Stdout: text, raw: text}.cut(pages.Limit{Bytes: limit})
		if err != nil || len(got.Stdout) > limit || !strings.HasPrefix(text, got.Stdout) || !utf8.ValidString(got.Stdout) {
			t.Fatalf("%q, %v", got.Stdout, err)
		}
		whole := got.Stdout == text
		if (got.Truncated == nil) != whole || (next == pages.Position{}) != whole || got.Output() != text {
			t.Fatalf("%+v, next %v, the output is %q", got.Truncated, next, got.Output())
		}
		if !whole && *got.Truncated != (Truncated{ShownBytes: len(got.Stdout), TotalBytes: int64(len(text))}) {
			t.Fatalf("%+v", got.Truncated)
		}
	})
}

// An answer of which the middle was dropped keeps its size, and each page of it
// says what is missing.
func TestAPageTellsWhatWasDropped(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 700)
	answer := Result{Stdout: text, raw: text, missingPart: "what is missing", Notices: []string{"first"}, Truncated: &Truncated{ShownBytes: len(text), TotalBytes: 5000}}
	got, next, err := answer.cut(pages.Limit{Bytes: 70})
	if err != nil || next == (pages.Position{}) || *got.Truncated != (Truncated{ShownBytes: 70, TotalBytes: 5000}) {
		t.Errorf("%+v, %v, %v", got.Truncated, next, err)
	}
	if !slices.Equal(got.Notices, []string{"first", "what is missing"}) || !slices.Equal(answer.Notices, []string{"first"}) || got.Output() != text {
		t.Errorf("%q, and %q", got.Notices, answer.Notices)
	}
}

// A text of characters that are shown as escapes is cut where the store of answers ends.
func TestATextOfEscapesIsBounded(t *testing.T) {
	t.Parallel()
	var r Result
	whole := strings.Repeat("\u202e", 5<<20)
	text := r.shown(whole, "stdout")
	if int64(len(text)) > storeLimits.Bytes || r.Truncated == nil || *r.Truncated != (Truncated{ShownBytes: len(text), TotalBytes: int64(len(whole))}) || len(r.Notices) != 2 {
		t.Errorf("%d bytes, %+v, %q", len(text), r.Truncated, r.Notices)
	}
}

// What a program prints as it fails is no answer, and still goes to a model.
func TestAFailureIsNoLongerThanAnAnswer(t *testing.T) {
	t.Parallel()
	answer, _ := listing(60)
	f := newFixture(t, func(c *Config) { c.Backend = Embedded }).embedded(answer)
	req := paged("files")
	next := following(t, req, f.gateway.Do(context.Background(), req))
	for stream, line := range map[string]string{
		"stdout": "exit 1 " + strings.Repeat(`Error: \n`, 5000),
		"stderr": "exit 1 stderr " + strings.Repeat(`Error: \n`, 5000),
	} {
		f.embedded("--facts vault=Work files => " + line)
		for name, asked := range map[string]Request{"the first page": req, "the next page": next} {
			got := f.gateway.Do(context.Background(), asked)
			if got.OK || got.Stdout+got.Stderr == "" || len(got.Stdout) > req.MaxOutput || len(got.Stderr) > leastStderr+len("…") {
				t.Errorf("%s, %s: %d and %d bytes, %+v", name, stream, len(got.Stdout), len(got.Stderr), got.Error)
			}
		}
	}
}

func TestTheSharesOfABatchLeaveRoomForWhatStandsAroundThem(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(`--facts vault=Work read path=N.md => ` + strings.Repeat(`line\n`, 10000))
	var batch Batch
	for i := range MaxOperations {
		batch.Operations = append(batch.Operations, operation(fmt.Sprint(i), "read", "path", "N.md"))
	}
	batch.MaxOutput, batch.Keep = pages.DefaultBytes, true
	text, err := json.Marshal(f.gateway.DoBatch(context.Background(), batch))
	if err != nil || len(text) > 40_000 {
		t.Errorf("the answer to %d operations has %d bytes, %v", MaxOperations, len(text), err)
	}
}
