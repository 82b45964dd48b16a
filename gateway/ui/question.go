package ui

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// linkPages answers requests for single questions, see [consent.LinkPath]. Anyone with the link sees what is asked, but
// no text of a note. A browser that the owner has paired sees the whole question, and can answer it.
type linkPages struct {
	state, session string // the state folder, and the name of this process in the audit log
	// only limits the questions to those of one session, "" for all.
	only   string
	now    func() time.Time
	log    *slog.Logger
	paired consent.Browsers
	key    [sha256.Size]byte // of the tokens of forms

	mu      sync.Mutex
	decided []decidedQuestion // decided here, oldest first
}

// decidedQuestion is the outcome of a question that the store may no longer have.
type decidedQuestion struct{ ref, act, said string }

// maxDecided is the maximum number of outcomes that are remembered.
const maxDecided = 64

func newLinkPages(state, session, only string, now func() time.Time, log *slog.Logger) *linkPages {
	return &linkPages{
		state:   state,
		session: session,
		only:    only,
		now:     now,
		log:     log,
		paired:  consent.Browsers{State: state, Now: now},
		key:     sha256.Sum256([]byte(random())),
	}
}

// ownerCookie identifies a paired browser. Browsers send it only to the paths of questions, but on every port of this
// host, because each server has its own port.
const ownerCookie = "vaultwicket-owner"

// pair pairs the browser to which the answer is sent. The errors are those of the state folder.
func (q *linkPages) pair(w http.ResponseWriter) error {
	secret, err := q.paired.Pair()
	if err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name:     ownerCookie,
		Value:    secret,
		Path:     consent.LinkPath,
		MaxAge:   int(consent.PairedLife / time.Second),
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
	return nil
}

// ownerOf returns the digest of the cookie of the paired browser that sent a request. ok is false for another browser.
func (q *linkPages) ownerOf(r *http.Request) (cookie digest, ok bool) {
	var secrets []string
	for _, sent := range r.CookiesNamed(ownerCookie) { // other programs on this machine can set this cookie, too
		secrets = append(secrets, sent.Value)
	}
	found, ok := q.paired.Find(secrets[:min(len(secrets), maxCookies)]...)
	return digest(found), ok
}

// questionPage is the data of the page of a question.
type questionPage struct {
	Card         *card // nil if there is nothing to decide
	Act, Said    string
	Problem      *failure.Error
	Paired       bool
	Part, Parts  int // from 1
	Next, Prev   int // other parts, 0 for none
	CSS, Icon    string
	JS           string
	Path         string
	Approve      string // token of the form that approves, "" for no form
	Deny         string // token of the form that denies or withdraws, "" for no form
	Withdrawable bool
}

// Paused returns false: the page of a question does not show whether agents are paused.
func (questionPage) Paused() bool { return false }

// serve answers a request for the page of a question, or a file of it. The guard has already checked the Host header and
// method.
func (q *linkPages) serve(w http.ResponseWriter, r *http.Request, ref string) {
	if isEmbedded(r.Header) {
		refuse(w, http.StatusForbidden, "Open the link in a browser.")
		return
	}
	if r.Method == http.MethodPost {
		q.decide(w, r, ref)
		return
	}
	if ref == pageStyle || ref == pageIcon || ref == pageReads {
		serveAsset(w, r, ref)
		return
	}
	_, isPaired := q.ownerOf(r)
	if site, _ := fetchSite(r.Header); site == "cross-site" && !isPaired {
		// Browsers withhold strict cookies from links on other sites. They send them when our page loads the question.
		writeBare(w, http.StatusOK, barePage{Title: "vaultwicket", Text: "The question is on this page.", GoTo: consent.LinkPath + ref})
		return
	}
	q.show(w, r, ref, nil)
}

// The files of the page of a question. No question has such a reference.
const (
	pageStyle = "page.css"
	pageIcon  = "icon.svg"
	pageReads = "read.js"
)

// show answers with the page of a question, with a problem unless that is nil.
func (q *linkPages) show(w http.ResponseWriter, r *http.Request, ref string, problem *failure.Error) {
	data := questionPage{
		CSS:     consent.LinkPath + pageStyle + "?" + assets()[pageStyle].hashPart,
		Icon:    consent.LinkPath + pageIcon,
		JS:      consent.LinkPath + pageReads + "?" + assets()[pageReads].hashPart,
		Path:    consent.LinkPath + ref,
		Problem: problem,
	}
	cookie, isPaired := q.ownerOf(r)
	data.Paired = isPaired
	status := http.StatusOK
	found, ok := q.find(ref)
	switch {
	case ok && found.State == consent.Pending:
		q.fill(&data, found, r, cookie)
	case ok:
		data.Act = actOf(found)
		data.Said = saidOf(found.State)
		data.Withdrawable = isPaired && found.State == consent.Approved
		data.Deny = q.token(cookie, ref, withdrawing)
	default:
		data.Act, data.Said = q.remembered(ref)
		if data.Said == "" {
			status = http.StatusNotFound
			data.Said = "No question with this link waits: it was answered or withdrawn, or has expired."
		}
	}
	if problem != nil {
		status = http.StatusUnprocessableEntity
	}
	var body bytes.Buffer
	if err := views()["question"].ExecuteTemplate(&body, "question.html", data); err != nil {
		q.log.Error("the page of a question cannot be written", "error", err.Error())
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = body.WriteTo(w)
	}
}

// fill adds a pending question to the data. A browser that is not paired gets no text of a note, and no code.
func (q *linkPages) fill(data *questionPage, found consent.StoredQuestion, r *http.Request, cookie digest) {
	p := &Page{Config: Config{State: q.state, Now: q.now}}
	lines, isWhole := p.linesOf(found)
	parts := partsOf(lines)
	at, _ := strconv.Atoi(r.URL.Query().Get("part")) // without a number, the first part
	at = min(max(at, 1), len(parts))
	part := parts[at-1]
	if !data.Paired {
		part = slices.DeleteFunc(slices.Clone(lines), isOfNote)
		part = part[:min(len(part), partRows)]
	}
	shown := p.cardWith(found, part)
	shown.Act = actOf(found)
	data.Card = &shown
	if !data.Paired {
		return
	}
	data.Part = at
	data.Parts = len(parts)
	data.Prev = at - 1
	if at < len(parts) {
		data.Next = at + 1
	}
	data.Deny = q.token(cookie, found.Ref, denying)
	if isWhole && at == len(parts) && found.Only == "" { // only the last part has the form that approves
		data.Approve = q.token(cookie, found.Ref, approving)
	}
}

// isOfNote reports whether a line contains text of a note, or a value that a client sent.
func isOfNote(l consent.Line) bool {
	switch l.Kind {
	case consent.Words, consent.Act, consent.File:
		return false
	}
	return true
}

// find returns the question to which a link leads, answered or not.
func (q *linkPages) find(ref string) (found consent.StoredQuestion, ok bool) {
	questions, _, _ := consent.OpenStore(consent.Folder(q.state), q.now).List() // unreadable questions cannot be answered
	for _, question := range questions {
		isServed := q.only == "" || ownerfiles.SessionOf(question.Session) == q.only
		if isServed && ref != "" && question.Ref == ref {
			return question, true
		}
	}
	return consent.StoredQuestion{}, false
}

// The actions of the forms of the page.
const (
	approving   = "approve"
	denying     = "deny"
	withdrawing = "withdraw"
)

// token returns the token that a form must send back. It is valid for one browser, one question and one action.
func (q *linkPages) token(cookie digest, ref, action string) string {
	mac := hmac.New(sha256.New, q.key[:])
	_, _ = mac.Write(cookie[:]) // never fails
	_, _ = mac.Write([]byte(ref + " " + action))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// decide answers a question with a form of its page.
func (q *linkPages) decide(w http.ResponseWriter, r *http.Request, ref string) {
	cookie, isPaired := q.ownerOf(r)
	switch {
	case isForeign(r):
		refuse(w, http.StatusForbidden, "Requests from other pages are not allowed.")
		return
	case !isPaired:
		refuse(w, http.StatusForbidden, notPaired)
		return
	}
	form, ok := readForm(w, r)
	if !ok {
		return
	}
	action := form.Get("does")
	tokens := form[tokenField]
	isAuthentic := len(tokens) == 1 && hmac.Equal([]byte(tokens[0]), []byte(q.token(cookie, ref, action)))
	if !isAuthentic {
		refuse(w, http.StatusForbidden, "The form is not of this browser and question. Load the page again.")
		return
	}
	found, ok := q.find(ref)
	if !ok {
		q.show(w, r, ref, nil)
		return
	}
	isApproval := action == approving
	answered, err := consent.Decide(q.state, consent.Answer{
		Code:    found.Code,
		Approve: isApproval,
		By:      Surface,
		Session: q.session,
		Typed:   form.Get("typed"),
	})
	var alreadyAnswered *consent.Answered
	switch {
	case errors.As(err, &alreadyAnswered): // the page shows its answer
	case err != nil:
		q.show(w, r, ref, problemOf(failure.New(failure.CodeBadRequest, "", "%v", err)))
		return
	default:
		q.remember(answered)
	}
	w.Header().Set("Location", consent.LinkPath+ref)
	w.WriteHeader(http.StatusSeeOther)
}

const notPaired = `This browser is not paired. Open the link that "vaultwicket ui" prints in it, once.`

// remember keeps the outcome of a question for display after the answer is used.
func (q *linkPages) remember(answered consent.StoredQuestion) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.decided = slices.DeleteFunc(q.decided, func(d decidedQuestion) bool { return d.ref == answered.Ref })
	q.decided = q.decided[max(0, len(q.decided)+1-maxDecided):]
	said := saidOf(answered.State)
	if answered.State == consent.Approved {
		said = "Approved, and used: the call went on. The local page and \"vaultwicket today\" show what it did."
	}
	q.decided = append(q.decided, decidedQuestion{answered.Ref, actOf(answered), said})
}

// remembered returns the outcome of a question that was decided here and is no longer in the store, or "".
func (q *linkPages) remembered(ref string) (act, said string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range q.decided {
		if d.ref == ref {
			return d.act, d.said
		}
	}
	return "", ""
}

// saidOf describes the answer to a question, "" for none.
func saidOf(state consent.State) string {
	switch state {
	case consent.Approved:
		return "Approved, for one call, on the notes as they were shown. It counts as soon as the agent repeats the call."
	case consent.Denied:
		return "Denied. The agent is not asked about this call again for ten minutes."
	case consent.Withdrawn:
		return "Withdrawn. The call is not carried out."
	}
	return ""
}

// actOf returns the first line of a question.
func actOf(q consent.StoredQuestion) string {
	act, _, _ := strings.Cut(q.Text, "\n")
	if len(q.Lines) > 0 && q.Lines[0].Kind == consent.Act {
		return q.Lines[0].Text
	}
	return cmp.Or(act, q.Command)
}
