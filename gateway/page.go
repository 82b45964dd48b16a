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

// firstPage chooses the fields of an answer, returns its first page and stores the rest.
func (g *vaultGateway) firstPage(req Request, whole Result) Result {
	g.answers.Sweep()
	// If a search found nothing, or the note of a call was not found, suggest find, provided that it is enabled.
	alternative := allowlist.Wider(whole.Command)
	isEmpty := whole.OK && whole.Stdout == "" && !whole.unchanged
	foundNothing := isEmpty && alternative != ""
	isMissing := alternative == "" && whole.Error != nil && whole.Error.Code == failure.CodeNotFound
	if foundNothing || isMissing {
		_, byName := req.Params["file"]
		_, byPath := req.Params["path"]
		namesNote := byName || byPath || slices.ContainsFunc(req.Words, func(word string) bool {
			return strings.HasPrefix(word, "file=") || strings.HasPrefix(word, "path=")
		})
		switch {
		case !g.isEnabled(allowlist.FindsNotes):
		case foundNothing:
			whole.Notices = append(slices.Clone(whole.Notices), hintFind)
		// An error about a view or heading of a note that exists begins otherwise.
		case namesNote && strings.HasPrefix(whole.Error.Message, `file "`):
			advised := *whole.Error
			advised.Hint = followedBy(advised.Hint, hintFind)
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
		shown.raw = "" // the caller only wants the pages
	}
	return shown
}

// isEnabled reports whether a command is enabled for the vault.
func (g *vaultGateway) isEnabled(command string) bool {
	_, enabled := EnabledCommand([]CatalogVault{g.catalog()}, command)
	return enabled
}

const hintFind = allowlist.FindsNotes + " also searches in other words, and forgives typos"

// followedBy returns a hint followed by another one. A question keeps its question mark.
func followedBy(hint, more string) string {
	switch {
	case hint == "":
		return more
	case strings.HasSuffix(hint, "?"):
		return hint + " " + more
	}
	return hint + "; " + more
}

// withoutText returns the result of a read whose answer cannot be shown as requested.
func withoutText(r Result, err error) Result {
	r.OK = false
	r.Error = failure.Of(err)
	r.Stdout = ""
	r.Truncated = nil
	r.raw = ""
	r.missingPart = ""
	return r
}

// page truncates an answer that is longer than the request permits. With Keep, JSON is compacted, and if the call only
// reads, the rest is stored. whole is the text before fields were chosen.
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
	if req.batch == "" { // in a batch there would be too many remarks
		shown = shown.numbered(answer, pagePosition{}, countedPage{})
		if answer.isNote && g.isEnabled(allowlist.ListsHeadings) {
			shown.Notices = append(slices.Clone(shown.Notices), noticeLongNote)
		}
	}
	call, err := req.parse()
	if err != nil || call.Effect() != tiers.Reads || len(call.String()) > maxStoredCall {
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
	stored := storedAnswer{
		request:  req,
		call:     call,
		answer:   answer,
		wholeSum: sumUnlessKept(whole, text),
		note:     note,
	}
	if id, ok := g.answers.Put(req.Caller, text, stored); ok {
		shown.Truncated.Cursor = cursorAt(id, next)
	}
	return shown
}

const noticeLongNote = "this is a part of a long note; " + allowlist.ListsHeadings + " lists its headings, and note:section prints the section of one, or some lines"

// exceedsPage reports whether an answer is longer than the first page of a request.
func (r Result) exceedsPage(req Request) bool {
	if req.Keep && r.form == formJSON {
		r.Stdout, r.rows = compactRows(r.Stdout)
	}
	_, next, err := r.cut(pageLimit{Bytes: req.MaxOutput, Rows: req.Limit})
	return err == nil && next != pagePosition{}
}

// numbered returns a page that begins at a position, with the numbers of its rows. known are the rows counted
// before. The numbers are left out if the middle of the answer is missing, and if the page starts within a row of
// JSON.
func (r Result) numbered(answer Result, at pagePosition, known countedPage) Result {
	if r.Truncated == nil || answer.missingPart != "" || answer.form != r.form {
		return r
	}
	before := known.Rows(answer.Stdout, answer.form, at.At)
	if at.At > 0 && answer.form.HasLines() && answer.Stdout[at.At-1] != '\n' {
		before = max(0, before-1) // its first line began on the previous page
	}
	numbered := *r.Truncated
	numbered.From = before + 1
	numbered.To = before + countedPage{}.Rows(r.Stdout, r.form, len(r.Stdout))
	if answer.form.HasLines() {
		numbered.To = known.Rows(answer.Stdout, answer.form, at.At+len(r.Stdout))
	}
	_, numbered.Total = answer.whole().Counted()
	if answer.divided != nil {
		numbered.Total = answer.divided.rows
	}
	r.Truncated = &numbered
	return r
}

// nextPage returns the page of a cursor. The request goes through all stages again: the policy must still permit it,
// and a notice reports if the answer has changed since.
func (g *vaultGateway) nextPage(ctx context.Context, hold *exec.Hold, req Request) Result {
	err := g.admission.Open() // this also drops the answers of an agent whose credentials were renewed
	var from storedText
	var first storedAnswer
	var page pagePart
	if err == nil {
		from.id, from.start, err = parseCursor(req.Cursor)
	}
	if err == nil {
		from.text, first, err = g.answers.Get(req.Caller, from.id)
	}
	if err == nil {
		err = req.checkContinues(first)
	}
	if err == nil && first.answer.divided == nil { // the page of a divided answer is cut below
		page, err = first.pageAt(req, from)
	}
	if err != nil {
		g.record(ctx, g.name(), req).Refused(err)
		return Reject(req.Command, err)
	}
	isGone := func(current Result) bool { // it might name a note that was hidden since
		return first.request.visibility != g.rules.Fingerprint() ||
			!current.unchanged && current.closed != first.answer.closed
	}
	prepared := first.answer.divided == nil
	prepare := func(current Result) (found findings) {
		if prepared || !current.OK || isGone(current) {
			return findings{}
		}
		prepared = true
		if current.unchanged {
			first, from, err = first.extend(req, from)
		} else {
			first, from, err = first.complete(from)
		}
		if err == nil {
			page, err = first.pageAt(req, from)
		}
		if err != nil || first.answer.divided != nil {
			return findings{}
		}
		return first.answer.found
	}
	current, isComparable := g.readAgain(ctx, hold, req, first, prepare)
	if !current.OK {
		return g.page(req, current, "")
	}
	if !prepared || isGone(current) {
		return Reject(req.Command, ErrPageGone)
	}
	if err != nil {
		return Reject(req.Command, err)
	}
	answer := first.answer
	answer.Notices = slices.Clone(answer.Notices)
	changed := current.Stdout != from.text
	if first.wholeSum != nil {
		changed = checksumOf(current.Stdout) != *first.wholeSum
	}
	if isComparable && changed {
		answer.Notices = append(
			answer.Notices,
			"the answer has changed since its first page; this page is of the earlier answer",
		)
	}
	answer.Stdout = from.text
	shown := answer.showing(page).numbered(answer, from.start, first.counted)
	if !page.Last() {
		shown.Truncated.Cursor = cursorAt(from.id, page.Next)
	}
	if shown.Truncated.To > 0 {
		if counted, ok := countBefore(from.text, answer.form, page.Next, shown.Truncated.To); ok {
			first.counted = counted
		}
	}
	g.answers.Replace(req.Caller, from.id, from.text, first) // if it is too large, each page reads it again
	return shown
}

// storedText is the text of a stored answer, and where a page begins in it.
type storedText struct {
	id, text string
	start    pagePosition
}

// readAgain runs the request of a page again, for its current caller. For a random answer, and for an unchanged
// note, it only checks that the call is permitted; for an unchanged answer from an index, the text is left out. Then
// isComparable is false, and there is no text to compare. prepare prepares the page of a divided answer.
func (g *vaultGateway) readAgain(
	ctx context.Context,
	hold *exec.Hold,
	req Request,
	first storedAnswer,
	prepare func(current Result) findings,
) (now Result, isComparable bool) {
	again := first.request
	again.Fields = nil
	again.Limit = 0 // the whole answer is compared
	again.Ask = req.Ask
	again.Client = req.Client
	again.Surface = req.Surface
	again.Taken = req.Taken
	if !first.call.IsRandom() &&
		(first.note == FileStamp{} || first.note != FileStampOf(g.target().Folder, first.answer.Path)) {
		now, _ = g.process(exec.UnlessState(ctx, first.answer.state), hold, again, approved{prepare: prepare})
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

// checkContinues returns an error if a request differs from the one that its cursor belongs to.
func (r Request) checkContinues(before storedAnswer) error {
	first := before.request
	resent := r
	resent.Cursor = ""
	resent.Limit = first.Limit
	call, err := resent.withOneLimit().parse()
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
	case len(r.Params)+len(r.Words) > 0 && (err != nil || call.String() != before.call.String()):
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

// Kept returns an error unless the answer that a cursor of the caller belongs to is stored.
func (g *Gateway) Kept(caller, cursor string) error {
	id, _, err := parseCursor(cursor)
	if err == nil {
		_, _, err = g.answers.Get(g.ofAgent(caller), id)
	}
	return err
}

// Forget drops the stored answers of a caller whose session has ended.
func (g *Gateway) Forget(caller string) { g.answers.Drop(g.ofAgent(caller)) }

// Common is what all gateways of a process share: the memory for stored answers, and the places for calls that run
// at once. If the memory is full, whoever uses the most of it loses answers.
type Common struct {
	answers *pageStore[storedAnswer]
	running *shares.Line
}

// NewCommon returns what gateways share. parallel is how many calls run at once, 0 for [admission.DefaultParallel].
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

// storeLimits limit the stored answers. Bytes has room for one of the largest, of 16 MiB: the gateway needs as much
// again while it reads another one.
var storeLimits = pageStoreLimits{PerSession: 16, Total: 512, Bytes: 17 << 20, Age: 10 * time.Minute}

// maxStoredCall is the maximum size in bytes of a call whose answer is stored. Its parameters are stored, too.
const maxStoredCall = 64 << 10

// storedAnswer describes an answer whose text is stored, without that text.
type storedAnswer struct {
	request  Request // without Ask
	call     allowlist.Call
	answer   Result
	wholeSum *checksum   // of the text before fields were chosen, nil if that is the stored text
	note     FileStamp   // of the note that the text is from, zero if not known
	counted  countedPage // the rows before the page that will probably be requested next
}

// sumUnlessKept returns the checksum that later answers are compared with, nil if they are compared with the stored
// text.
func sumUnlessKept(answer, kept string) *checksum {
	if answer == kept { // usually they are the same string
		return nil
	}
	sum := checksumOf(answer)
	return &sum
}

// checksum is a keyed hash. Authors of notes do not know its key, so two different answers have the same checksum
// with a probability of 2^-64.
type checksum struct {
	size int
	hash uint64
}

// seed is the key for the checksums of this process.
var seed = maphash.MakeSeed()

// checksumOf returns the checksum of a text, without copying it.
func checksumOf(text string) checksum {
	return checksum{len(text), maphash.String(seed, text)}
}

// pageAt returns the page of a stored answer that starts at the given position.
func (s storedAnswer) pageAt(req Request, from storedText) (pagePart, error) {
	whole := wholeAnswer{Text: from.text, Form: s.answer.form, Rows: s.answer.rows}
	return cutForJSON(
		whole,
		from.start,
		pageLimit{Bytes: req.MaxOutput, Rows: cmp.Or(req.Limit, s.request.Limit)},
	)
}

// divided is a long listing of which only the beginning was prepared for display and searched by the content rules.
// That halves the time for the first page of 1.5 MB of JSON. The rest is stored with the answer, and is prepared
// when its pages are requested.
type divided struct {
	reported
	out  exec.Outcome // with the whole text
	rows int          // rows in the whole text
	// prepared is how many bytes of it are prepared. plain means that they are displayed unchanged, so that further
	// parts can be appended.
	prepared int
	plain    bool
}

// divide returns the answer with as many bytes prepared as requested, or nil if it must be prepared as a whole, or is
// no longer than that.
func (r reported) divide(out exec.Outcome, err error) *divided {
	form := formOf(r.route.call)
	failed := err != nil || out.Failure != nil
	isText := out.Image == "" && !out.Cut
	switch {
	case failed, !isText, r.part == 0, len(out.Stdout) <= r.part:
		return nil
	case out.State == "":
		// The answer does not identify the state it was made from, so for its next page it is made and sent again, to
		// see whether it has changed. It is not divided.
		return nil
	case !form.HasLines() && out.Rows == 0:
		return nil
	}
	prepared := form.RowEnd(out.Stdout, 0, r.part)
	if prepared == len(out.Stdout) {
		return nil
	}
	d := &divided{reported: r, out: out, rows: out.Rows, prepared: prepared}
	if form.HasLines() {
		d.rows = countedPage{}.Rows(out.Stdout, form, len(out.Stdout))
	}
	return d
}

// isArray reports whether the rows are elements of an array, so that the prepared part needs a closing bracket.
func (d *divided) isArray() bool { return d.route.call.Reply().JSON }

// whole returns the result for the whole answer.
func (d *divided) whole() Result {
	r := d.reported
	r.part = 0
	return r.result(d.out, nil)
}

// maxExtension limits how many bytes are prepared at once if a page needs fewer.
const maxExtension = 1 << 20

// complete replaces the prepared part of a stored answer by the whole answer.
func (s storedAnswer) complete(from storedText) (storedAnswer, storedText, error) {
	return s.filledWith(s.answer.divided.whole(), from)
}

// extend prepares as much more of a stored answer as the page of a request needs. If a part cannot be appended, or the
// content rules find anything in it, it prepares the whole answer.
func (s storedAnswer) extend(req Request, from storedText) (storedAnswer, storedText, error) {
	for s.answer.divided != nil {
		d := *s.answer.divided
		if !d.plain || req.MaxOutput == 0 {
			return s.complete(from)
		}
		needed := from.start.At + req.MaxOutput + 1 - d.prepared
		if needed <= 0 {
			if page, err := s.pageAt(req, from); err != nil || !page.Last() {
				return s, from, err
			}
			needed = req.MaxOutput // otherwise the page would end with what is prepared
		}
		// Each further page prepares more at once, because the text is copied each time.
		text := d.out.Stdout
		end := formOf(d.route.call).RowEnd(text, d.prepared, max(needed, min(d.prepared, maxExtension)))
		shown, report := sanitize.Text(text[d.prepared:end])
		if !report.None() || d.route.finds(d.out, d.prepared, end) {
			return s.complete(from)
		}
		before := from.text
		if d.isArray() {
			before = strings.TrimSuffix(before, "]")
		}
		from.text = before + shown
		d.prepared = end
		if end < len(text) {
			if d.isArray() {
				from.text += "]"
			}
			s.answer.divided = &d
			continue
		}
		unstripped := from.text
		if d.isArray() {
			from.text = strings.TrimSuffix(from.text, "\n")
		}
		s.answer.divided = nil
		s.answer.rows = compactedRows{}
		s.wholeSum = sumUnlessKept(unstripped, from.text)
		s = s.withRows(from.text)
	}
	return s, from, nil
}

// size returns how many bytes are stored with the answer in addition to its text.
func (s storedAnswer) size() int {
	if s.answer.divided == nil {
		return 0
	}
	return len(s.answer.divided.out.Stdout)
}

// withRows returns the stored answer with its rows counted.
func (s storedAnswer) withRows(text string) storedAnswer {
	s.answer.Stdout = text
	s.answer = s.answer.counted()
	s.answer.Stdout = ""
	return s
}

// filledWith returns the stored answer with the whole text in place of the prepared part.
func (s storedAnswer) filledWith(whole Result, from storedText) (storedAnswer, storedText, error) {
	answer := whole
	if answer.form == formJSON {
		answer.Stdout, answer.rows = compactRows(answer.Stdout)
	}
	// The last byte of the prepared part may be a bracket that closes it only for now.
	if at := min(from.start.At, len(from.text)-1); at < 0 || !strings.HasPrefix(answer.Stdout, from.text[:at]) {
		return s, from, ErrPageGone // the position would mean another place in the text
	}
	from.text = answer.Stdout
	answer.Stdout = ""
	answer.raw = ""
	s.answer = answer
	s.wholeSum = sumUnlessKept(whole.Stdout, from.text)
	return s.withRows(from.text), from, nil
}
