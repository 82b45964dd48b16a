package gateway

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// formOf returns what the rows of the answer to a call are.
func formOf(call allowlist.Call) pageForm {
	format, _ := call.Param("format")
	switch {
	case call.Reply().JSON:
		return formJSON
	case format == "csv":
		return formCSV
	case format == "tsv":
		return formText
	}
	switch call.Reply().Headings {
	case allowlist.ArrowHeadings:
		return formHeaded
	case allowlist.FileHeadings:
		return formNumbered
	}
	return formText
}

// firstPage chooses the fields of an answer and stores the rest after its first page.
func (g *vaultGateway) firstPage(req Request, whole Result) Result {
	g.answers.Sweep()
	// A search that has found nothing, or a call whose note is not found, gets the advice to use find, where that is
	// enabled.
	wider := allowlist.Wider(whole.Command)
	isEmpty := whole.OK && whole.Stdout == "" && !whole.unchanged
	none := isEmpty && wider != ""
	isMissing := wider == "" && whole.Error != nil && whole.Error.Code == failure.CodeNotFound
	if none || isMissing {
		_, byName := req.Params["file"]
		_, byPath := req.Params["path"]
		namesNote := byName || byPath || slices.ContainsFunc(req.Words, func(word string) bool {
			return strings.HasPrefix(word, "file=") || strings.HasPrefix(word, "path=")
		})
		_, enabled := EnabledCommand([]CatalogVault{g.listed()}, allowlist.FindsNotes)
		switch {
		case !enabled:
		case none:
			whole.Notices = append(slices.Clone(whole.Notices), findsMore)
		case namesNote && strings.HasPrefix(whole.Error.Message, `file "`): // and no view or heading of a note that exists
			advised := *whole.Error
			advised.Hint = followedBy(advised.Hint, findsMore)
			whole.Error = &advised
		}
	}
	answer := whole
	if req.Fields != nil && whole.OK && whole.Stdout != "" {
		chosen, err := selectFields(whole.Stdout, req.Fields)
		if err != nil {
			return withoutText(whole, err)
		}
		answer.Stdout = chosen
	}
	shown := g.page(req, answer, whole.Stdout)
	if req.Keep {
		shown.raw = "" // the pages are all that is asked for
	}
	return shown
}

const findsMore = allowlist.FindsNotes + " also searches in other words, and forgives typos"

// followedBy returns a hint with another one after it; a question ends with its own sign.
func followedBy(hint, more string) string {
	switch {
	case hint == "":
		return more
	case strings.HasSuffix(hint, "?"):
		return hint + " " + more
	}
	return hint + "; " + more
}

// withoutText is the result of a read whose answer cannot be shown as requested.
func withoutText(r Result, err error) Result {
	r.OK = false
	r.Error = failure.Of(err)
	r.Stdout = ""
	r.Truncated = nil
	r.raw = ""
	r.missingPart = ""
	return r
}

// page cuts an answer that is longer than the request permits. The rest of the answer to a
// read is stored. JSON for a model is compact.
func (g *vaultGateway) page(req Request, answer Result, whole string) Result {
	if req.Keep && answer.form == formJSON {
		answer.Stdout, answer.rows = compactRows(answer.Stdout)
	}
	shown, next, err := answer.cut(pageLimit{Bytes: req.MaxOutput, Rows: req.Limit})
	if err != nil {
		return withoutText(answer, err)
	}
	if !req.Keep || !answer.OK || next == (pagePosition{}) {
		return shown
	}
	answer = answer.counted()
	if req.batch == "" { // the parts of a batch are too many for remarks on each
		shown = shown.numbered(answer, pagePosition{}, countedPage{})
		if _, outlines := EnabledCommand([]CatalogVault{g.listed()}, allowlist.ListsHeadings); answer.isNote &&
			outlines {
			shown.Notices = append(slices.Clone(shown.Notices), longNote)
		}
	}
	call, err := req.parse()
	if err != nil || call.Effect() != tiers.Reads || len(call.String()) > maxKeptCall {
		return shown
	}
	req.Ask = nil
	req.MaxOutput = 0
	note := FileStamp{}
	if call.PrintsNote() && !call.IsDaily() && answer.Hash != "" {
		note = FileStampOf(g.target().Folder, answer.Path).Before(req.Taken)
	}
	text := answer.Stdout
	if answer.divided != nil {
		answer.divided.plain = text == answer.raw
	}
	answer.Stdout = ""
	answer.raw = ""
	if id, ok := g.answers.Put(req.Caller, text, storedAnswer{request: req, call: call, answer: answer, whole: wholeOf(whole, text), note: note}); ok {
		shown.Truncated.Cursor = cursorAt(id, next)
	}
	return shown
}

const longNote = "this is a part of a long note; " + allowlist.ListsHeadings + " lists its headings, and note:section prints the section of one, or some lines"

// numbered returns a page that begins at a position with the numbers of its rows; known are rows
// counted before. They are unknown if the middle of the answer is missing, and within a row of
// JSON.
func (r Result) numbered(answer Result, at pagePosition, known countedPage) Result {
	if r.Truncated == nil || answer.missingPart != "" || answer.form != r.form {
		return r
	}
	before := known.Rows(answer.Stdout, answer.form, at.At)
	if at.At > 0 && answer.form.HasLines() && answer.Stdout[at.At-1] != '\n' {
		before = max(0, before-1) // its first line began on the page before
	}
	numbered := *r.Truncated
	numbered.From, numbered.To = before+1, before+countedPage{}.Rows(r.Stdout, r.form, len(r.Stdout))
	if answer.form.HasLines() {
		numbered.To = known.Rows(answer.Stdout, answer.form, at.At+len(r.Stdout))
	}
	if _, numbered.Total = answer.whole().Counted(); answer.divided != nil {
		numbered.Total = answer.divided.rows
	}
	r.Truncated = &numbered
	return r
}

// nextPage returns the page of a cursor. The request takes all stages once more: the policy
// must still permit it, and a notice says that the answer has changed since.
func (g *vaultGateway) nextPage(ctx context.Context, hold *exec.Hold, req Request) Result {
	err := g.admission.Open() // an agent that was restored has no answers of before
	var from storedText
	var first storedAnswer
	var page pagePart
	if err == nil {
		from.id, from.at, err = parseCursor(req.Cursor)
	}
	if err == nil {
		from.text, first, err = g.answers.Get(req.Caller, from.id)
	}
	if err == nil {
		err = req.continues(first)
	}
	if err == nil && first.answer.divided == nil { // of a divided answer there is no page yet
		page, err = first.pageAt(req, from)
	}
	if err != nil {
		g.record(ctx, g.name(), req).Refused(err)
		return Reject(req.Command, err)
	}
	now, compares := g.readAgain(ctx, hold, req, first)
	if !now.OK {
		return g.page(req, now, "")
	}
	if first.request.visibility != g.rules.Fingerprint() || !now.unchanged && now.closed != first.answer.closed {
		return Reject(req.Command, ErrPageGone) // it may name a note that was hidden since
	}
	if first.answer.divided != nil {
		if compares {
			first, from, err = first.complete(from)
		} else {
			first, from, err = first.extend(req, from)
		}
		if err == nil {
			page, err = first.pageAt(req, from)
		}
		if err != nil {
			return Reject(req.Command, err)
		}
	}
	answer := first.answer
	answer.Notices = slices.Clone(answer.Notices)
	changed := now.Stdout != from.text
	if first.whole != nil {
		changed = checksumOf(now.Stdout) != *first.whole
	}
	if compares && changed {
		answer.Notices = append(
			answer.Notices,
			"the answer has changed since its first page; this page is of the earlier answer",
		)
	}
	answer.Stdout = from.text
	shown := answer.showing(page).numbered(answer, from.at, first.counted)
	if !page.Last() {
		shown.Truncated.Cursor = cursorAt(from.id, page.Next)
	}
	if counted, ok := countBefore(from.text, answer.form, page.Next, shown.Truncated.To); ok &&
		shown.Truncated.To > 0 {
		first.counted = counted
	}
	g.answers.Replace(req.Caller, from.id, from.text, first) // if it is too large, it is fetched again for each page
	return shown
}

// storedText is a kept text and its id.
type storedText struct {
	id, text string
	at       pagePosition // where the page begins
}

// readAgain carries out the request of a page again, for its present caller. A random answer, and
// an unchanged note, is only judged again; an unchanged answer from an index is left out. Then
// there is no text to compare.
func (g *vaultGateway) readAgain(
	ctx context.Context,
	hold *exec.Hold,
	req Request,
	first storedAnswer,
) (now Result, compares bool) {
	again := first.request
	again.Fields = nil
	again.Limit = 0 // of the whole
	again.Ask = req.Ask
	again.Client = req.Client
	again.Surface = req.Surface
	again.Taken = req.Taken
	if !first.call.IsRandom() &&
		(first.note == FileStamp{} || first.note != FileStampOf(g.target().Folder, first.answer.Path)) {
		now, _ = g.process(exec.UnlessState(ctx, first.answer.state), hold, again, approved{})
		return now, !now.unchanged
	}
	line := g.record(ctx, g.name(), again)
	if _, err := g.admit(ctx, again, line, approved{}); err != nil {
		line.Refused(err)
		return Reject(again.Command, err), false
	}
	line.Ended(audit.End{ExitCode: -1})
	return Result{OK: true, Command: again.Command, ExitCode: -1}, false
}

// continues refuses a request that differs from the one of its cursor.
func (r Request) continues(before storedAnswer) error {
	first := before.request
	asked := r
	asked.Cursor = ""
	asked.Limit = first.Limit
	again, err := asked.withOneLimit().parse()
	switch {
	case r.Command != first.Command:
		return failure.New(
			failure.CodeBadRequest,
			"send it with that command",
			"the cursor belongs to an answer of the command %q",
			first.Command,
		)
	case r.Vault != first.Vault:
		return failure.New(
			failure.CodeBadRequest,
			"leave the vault out",
			"the cursor belongs to an answer about another vault",
		)
	case r.Fields != nil && !slices.Equal(r.Fields, first.Fields):
		return failure.New(
			failure.CodeBadRequest,
			"leave fields out",
			"the cursor belongs to an answer with other fields",
		)
	case len(r.Params)+len(r.Words) > 0 && (err != nil || again.String() != before.call.String()):
		return failure.New(
			failure.CodeBadRequest,
			"leave the parameters out",
			"the cursor belongs to an answer to other parameters",
		)
	case r.ExpectHash != "" || r.IdempotencyKey != "":
		return failure.New(
			failure.CodeBadRequest,
			"leave them out",
			"expectHash and idempotencyKey are for changes, and a cursor reads",
		)
	case r.Limit < 0:
		return r.checkPage(before.call)
	}
	return nil
}

// Kept returns an error unless the answer of a cursor of the caller is stored.
func (g *Gateway) Kept(caller, cursor string) error {
	id, _, err := parseCursor(cursor)
	if err == nil {
		_, _, err = g.answers.Get(g.ofAgent(caller), id)
	}
	return err
}

// Forget drops the stored answers of a caller whose session has ended.
func (g *Gateway) Forget(caller string) { g.answers.Drop(g.ofAgent(caller)) }

// Common is what all gateways of a process have together: the memory for answers whose rest is stored, of which whoever has
// most gives way, and the places of calls that run at once.
type Common struct {
	answers *pageStore[storedAnswer]
	running *shares.Line
}

// NewCommon returns what gateways have together of which so many calls run at once, 0 for [admission.DefaultParallel].
func NewCommon(parallel int) *Common {
	if parallel <= 0 {
		parallel = admission.DefaultParallel
	}
	return &Common{
		answers: newPageStore(storeLimits, time.Now, storedAnswer.size),
		running: shares.NewLine(parallel),
	}
}

// dropAnswers drops the stored answers of all sessions of the gateway.
func (g *shared) dropAnswers() {
	g.answers.DropOf(func(session string) bool { return ownerfiles.AgentOf(session) == g.agent })
}

// storeLimits bound the stored answers: the gateway has memory for one of the largest kind
// while another one is read.
var storeLimits = pageStoreLimits{PerSession: 16, Total: 512, Bytes: 17 << 20, Age: 10 * time.Minute}

// maxKeptCall bounds a call whose answer is stored, in bytes: its parameters are stored with it.
const maxKeptCall = 64 << 10

// storedAnswer is an answer of which the rest is stored, without its text.
type storedAnswer struct {
	request Request // without Ask
	call    allowlist.Call
	answer  Result
	whole   *checksum   // of the text before fields were chosen, nil if it is the stored one
	note    FileStamp   // of the note whose text it is, where that is known
	counted countedPage // the rows before the page that is likely to be next
}

// wholeOf returns the checksum by which a later answer is compared, nil if that is compared with
// the stored text.
func wholeOf(answer, kept string) *checksum {
	if answer == kept { // it is the same string, mostly
		return nil
	}
	sum := checksumOf(answer)
	return &sum
}

// checksum is a keyed hash: writers of notes do not know the seed, so that two answers collide
// with a chance of 2^-64.
type checksum struct {
	size int
	hash uint64
}

// seed is drawn by each process.
var seed = maphash.MakeSeed()

// checksumOf makes no copy.
func checksumOf(text string) checksum {
	return checksum{len(text), maphash.String(seed, text)}
}

// pageAt returns the page of a stored answer at the position of a request.
func (s storedAnswer) pageAt(req Request, from storedText) (pagePart, error) {
	whole := wholeAnswer{Text: from.text, Form: s.answer.form, Rows: s.answer.rows}
	return cutForJSON(
		whole,
		from.at,
		pageLimit{Bytes: req.MaxOutput, Rows: cmp.Or(req.Limit, s.request.Limit)},
	)
}

// divided is a long listing of which only the beginning was made fit to be shown, and searched for what the rules
// about texts are about. For the first page of 1.5 MB of JSON it saves half the time. The rest is with the answer that
// is stored, in no other place, and is looked at when its pages are asked for.
type divided struct {
	reported
	out  exec.Outcome // with the whole text
	rows int          // that it has
	// seen is how many bytes were looked at, plain that they are shown without
	// changes: then further parts can be appended.
	seen  int
	plain bool
}

// divide returns an answer of which as much is looked at as is asked for, nil if that is all of it.
func (r reported) divide(out exec.Outcome, err error) *divided {
	form := formOf(r.route.call)
	failed := err != nil || out.Failure != nil
	isText := out.Image == "" && !out.Cut
	switch {
	case failed || !isText, r.part == 0 || len(out.Stdout) <= r.part:
		return nil
	case out.State == "":
		// An answer from no known state is made and sent once more for its next page, to see whether it
		// has changed: it is not divided.
		return nil
	case !form.HasLines() && out.Rows == 0:
		return nil
	}
	seen := form.RowEnd(out.Stdout, 0, r.part)
	if seen == len(out.Stdout) {
		return nil
	}
	d := &divided{reported: r, out: out, rows: out.Rows, seen: seen}
	if form.HasLines() {
		d.rows = countedPage{}.Rows(out.Stdout, form, len(out.Stdout))
	}
	return d
}

// isArray reports whether its rows are those of an array, which the end of the part that was looked at needs a bracket for.
func (d *divided) isArray() bool { return d.route.call.Reply().JSON }

// whole returns the result of all of the answer.
func (d *divided) whole() Result {
	r := d.reported
	r.part = 0
	return r.result(d.out, nil)
}

// mostAtOnce is how many bytes are looked at beyond what a page needs.
const mostAtOnce = 1 << 20

// complete returns the stored part of a divided answer with all of it.
func (s storedAnswer) complete(from storedText) (storedAnswer, storedText, error) {
	return s.filledWith(s.answer.divided.whole(), from)
}

// extend returns the stored part of a divided answer with as much more of it as the page of a
// request needs; or all of it, where a part cannot be appended.
func (s storedAnswer) extend(req Request, from storedText) (storedAnswer, storedText, error) {
	for s.answer.divided != nil {
		d := *s.answer.divided
		if !d.plain || req.MaxOutput == 0 {
			return s.complete(from)
		}
		missing := from.at.At + req.MaxOutput + 1 - d.seen
		if missing <= 0 {
			if page, err := s.pageAt(req, from); err != nil || !page.Last() {
				return s, from, err
			}
			missing = req.MaxOutput // the page would end with what was looked at
		}
		// Each further page takes more at once, because the text is copied each time.
		text := d.out.Stdout
		end := formOf(d.route.call).RowEnd(text, d.seen, max(missing, min(d.seen, mostAtOnce)))
		shown, report := sanitize.Text(text[d.seen:end])
		if !report.None() {
			return s.filledWith(d.whole(), from)
		}
		before := from.text
		if d.isArray() {
			before = strings.TrimSuffix(before, "]")
		}
		from.text = before + shown
		d.seen = end
		if end < len(text) {
			if d.isArray() {
				from.text += "]"
			}
			s.answer.divided = &d
			continue
		}
		whole := from.text
		if d.isArray() {
			from.text = strings.TrimSuffix(from.text, "\n")
		}
		s.answer.divided = nil
		s.answer.rows = compactedRows{}
		s.whole = wholeOf(whole, from.text)
		s = s.withRows(from.text)
	}
	return s, from, nil
}

// size returns how many bytes of text are stored with an answer, besides its own.
func (s storedAnswer) size() int {
	if s.answer.divided == nil {
		return 0
	}
	return len(s.answer.divided.out.Stdout)
}

// withRows returns the stored answer with the number of its rows.
func (s storedAnswer) withRows(text string) storedAnswer {
	s.answer.Stdout = text
	s.answer = s.answer.counted()
	s.answer.Stdout = ""
	return s
}

// filledWith returns the stored answer with all of its text in place of the first part.
func (s storedAnswer) filledWith(whole Result, from storedText) (storedAnswer, storedText, error) {
	answer := whole
	if answer.form == formJSON {
		answer.Stdout, answer.rows = compactRows(answer.Stdout)
	}
	if at := min(from.at.At, len(from.text)-1); at < 0 || !strings.HasPrefix(answer.Stdout, from.text[:at]) {
		return s, from, ErrPageGone // the position would be a different one
	}
	from.text = answer.Stdout
	answer.Stdout = ""
	answer.raw = ""
	s.answer, s.whole = answer, wholeOf(whole.Stdout, from.text)
	return s.withRows(from.text), from, nil
}
