package audit

// The export sends the lines of the audit log to an OpenTelemetry collector, syslog or a file.
//
// The audit log itself is the queue. An [Exporter] follows it on disk and stores its progress for each target in the
// state folder. So no call waits for it, and nothing is lost while a target is down or no server runs, until the log
// removes its oldest files. Lines that were removed before they could be sent are counted, and the target is told. A
// lock makes only one process at a time send to a target, so the lines of all servers arrive in the order of the log.
// After a crash or a broken connection the last lines may arrive twice; receivers can recognize them by the part of
// the log and the number.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

const (
	batchLines   = 256 // maximum lines of each part of the log in one batch
	pollInterval = time.Second
	firstPause   = 500 * time.Millisecond // after a failure; doubled up to longestPause
	// longestPause bounds how long a target that is available again has to wait.
	longestPause = 30 * time.Second
	sendTimeout  = 10 * time.Second // for one attempt
	closeTimeout = 2 * time.Second  // for the remaining lines when a server ends
	warnInterval = time.Minute
)

// ExportConfig is the configuration of an [Exporter].
type ExportConfig struct {
	State   string   // the state folder, which contains the audit log
	To      []string // addresses of targets, see [CheckTarget]
	Getenv  func(string) string
	Version string
	Log     *slog.Logger
	// Signer signs checkpoints of the log, nil for none.
	Signer Signer
}

// ExportEntry is a line to send. Text is the line in the log as JSON, with the additional first member
// "part".
type ExportEntry struct {
	Part string // "audit" or "calls"
	Line Line
	Text []byte
}

// sender sends entries to a target. Only one goroutine at a time uses it.
type sender interface {
	send(ctx context.Context, entries []ExportEntry) error
	// deliveryDelay is how long after send the entries count as delivered, provided that isConnected then reports
	// that the connection is still open.
	deliveryDelay() time.Duration
	isConnected() bool
	close()
}

// confirmed is embedded in a sender whose protocol acknowledges entries: they are delivered when send
// returns.
type confirmed struct{}

func (confirmed) deliveryDelay() time.Duration { return 0 }

func (confirmed) isConnected() bool { return true }

// ExportRefused is the error of a target that permanently refused some entries.
type ExportRefused struct {
	Entries int
	Reason  string
}

func (e *ExportRefused) Error() string { return e.Reason }

// Exporter sends lines to the targets until it is closed.
type Exporter struct {
	state           string
	stop            context.CancelFunc
	closing, closed chan struct{} // closed when the last checkpoint is due, and when it is written
	signer, senders sync.WaitGroup
}

// StartExport starts an exporter. It connects to a target when there are lines to send. It returns an
// error if an address is invalid.
func StartExport(c ExportConfig) (*Exporter, error) {
	ctx, stop := context.WithCancel(context.Background())
	e := &Exporter{state: c.State, stop: stop, closing: make(chan struct{}), closed: make(chan struct{})}
	var targets []*target
	for _, address := range c.To {
		sender, name, err := parseTarget(address, c)
		if err != nil {
			stop()
			return nil, err
		}
		sum := sha256.Sum256([]byte(address))
		targets = append(
			targets,
			&target{
				sender: sender,
				name:   name,
				file:   filepath.Join(c.State, "export-"+hex.EncodeToString(sum[:6])),
				config: c,
				closed: e.closed,
			},
		)
	}
	for _, t := range targets {
		e.senders.Go(func() { t.run(ctx) })
	}
	if c.Signer != nil {
		e.signer.Go(func() { e.sign(ctx, c) })
	}
	return e, nil
}

// checkpointInterval is the time between two checkpoints.
const checkpointInterval = time.Hour

// sign writes a checkpoint every hour, in one process at a time, and one when the exporter closes.
func (e *Exporter) sign(ctx context.Context, c ExportConfig) {
	checkpoints := NewCheckpoints(c.State, c.Signer)
	sign := func() {
		if err := checkpoints.Sign(); err != nil {
			c.Log.Error("no checkpoint of the audit log: " + err.Error())
		}
	}
	defer sign()
	var unlock func()
	hourly := time.NewTicker(checkpointInterval)
	defer hourly.Stop()
	for {
		select {
		case <-e.closing:
			if unlock != nil {
				unlock()
			}
			return
		case <-hourly.C:
			if unlock == nil {
				unlock, _ = ownerfiles.Lock(ctx, filepath.Join(c.State, "checkpoints.lock"), time.Millisecond)
			}
			if unlock != nil {
				sign()
			}
		}
	}
}

// Close writes the last checkpoint, spends at most closeTimeout on sending the remaining lines, and stops
// the exporter. Close may be called on nil.
func (e *Exporter) Close() {
	if e == nil {
		return
	}
	close(e.closing)
	e.signer.Wait()
	close(e.closed)
	timer := time.AfterFunc(closeTimeout, e.stop)
	e.senders.Wait()
	timer.Stop()
	e.stop()
}

// ExportProgress is the stored progress of a target.
type ExportProgress struct {
	Target  string              `json:"target"` // its address without secrets
	Parts   map[string]Position `json:"parts"`  // how far each part of the log was sent
	Sent    uint64              `json:"sent"`
	Dropped uint64              `json:"dropped"` // removed from the log before they could be sent, or refused
	Time    time.Time           `json:"time"`    // when lines were last delivered
}

// ExportProgressOf returns the progress of all targets in a state folder, in the order of their file
// names.
func ExportProgressOf(state string) (list []ExportProgress) {
	files, _ := filepath.Glob(filepath.Join(state, "export-*.json"))
	for _, file := range files {
		if text, err := ownerfiles.Read(file, 4096); err == nil {
			var p ExportProgress
			if json.Unmarshal(text, &p) == nil {
				list = append(list, p)
			}
		}
	}
	return list
}

// Dropped returns the total number of lines that were lost for the targets of the state folder.
func (e *Exporter) Dropped() (lines uint64) {
	for _, p := range ExportProgressOf(e.state) {
		lines += p.Dropped
	}
	return lines
}

// target sends lines to one address.
type target struct {
	sender
	name        string
	file        string // path of its progress and its lock, without the extension
	config      ExportConfig
	closed      <-chan struct{}
	progress    ExportProgress
	at          map[string]Position // how far the log was read
	unconfirmed []batch             // sent, but not certain to be delivered

	lastWarning time.Time
	unreported  uint64 // lines dropped since the last warning
}

// batch describes lines that were sent together.
type batch struct {
	sent        time.Time
	next        map[string]Position // the positions after them
	lines, lost uint64
}

// run sends lines until the exporter is closed and no lines are left, or ctx is done.
func (t *target) run(ctx context.Context) {
	defer t.close()
	unlock := t.lock(ctx)
	if unlock == nil {
		return
	}
	defer unlock()
	t.loadProgress()
	followers := map[string]*Follower{}
	restart := func() {
		t.at = t.progress.Parts
		t.unconfirmed = nil
		followers = map[string]*Follower{}
	}
	pause := firstPause
	isClosing := false
	for ctx.Err() == nil {
		if len(t.unconfirmed) > 0 && !t.isConnected() {
			restart()
		}
		t.confirmDelivered()
		entries, next, lost := t.nextEntries(followers)
		if len(entries) == 0 {
			switch {
			case !isClosing:
				isClosing = t.wait(ctx, pollInterval)
			case len(t.unconfirmed) > 0:
				time.Sleep(t.deliveryDelay())
			default:
				return
			}
			continue
		}
		sendCtx, cancel := context.WithTimeout(ctx, sendTimeout)
		err := t.send(sendCtx, entries)
		cancel()
		if refused, ok := errors.AsType[*ExportRefused](err); ok {
			lost += uint64(refused.Entries)
			err = nil
		}
		if err != nil {
			t.warn(err.Error(), 0)
			restart()
			isClosing = t.wait(ctx, pause)
			if isClosing && pause > firstPause {
				return
			}
			pause = min(2*pause, longestPause)
			continue
		}
		pause = firstPause
		t.at = next
		t.unconfirmed = append(t.unconfirmed, batch{
			sent:  time.Now(),
			next:  next,
			lines: uint64(len(entries)),
			lost:  lost,
		})
	}
}

// lock waits until no other process sends to the target, and returns the function that releases the lock.
// It returns nil if the exporter is closed before.
func (t *target) lock(ctx context.Context) (unlock func()) {
	for {
		unlock, err := ownerfiles.Lock(ctx, t.file+".lock", time.Millisecond)
		if err == nil {
			return unlock
		}
		isHeldOrMissing := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fs.ErrNotExist)
		if !isHeldOrMissing {
			t.warn("the state folder cannot be used: "+err.Error(), 0)
		}
		if t.wait(ctx, pollInterval) {
			return nil
		}
	}
}

// loadProgress reads the stored progress.
func (t *target) loadProgress() {
	t.progress = ExportProgress{Target: t.name, Parts: map[string]Position{}}
	if text, err := ownerfiles.Read(t.file+".json", 4096); err == nil {
		_ = json.Unmarshal(text, &t.progress) // if it is damaged, sending starts again, and lines arrive twice
	}
	t.at = t.progress.Parts
}

// confirmDelivered saves the progress of the batches that are certain to be delivered.
func (t *target) confirmDelivered() {
	for len(t.unconfirmed) > 0 && time.Since(t.unconfirmed[0].sent) >= t.deliveryDelay() {
		t.saveProgress(t.unconfirmed[0])
		t.unconfirmed = t.unconfirmed[1:]
	}
}

// wait waits for d. It returns early, with closed true, if the exporter is closed or ctx is done.
func (t *target) wait(ctx context.Context, d time.Duration) (closed bool) {
	select {
	case <-t.closed:
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.closed:
		return true
	case <-ctx.Done():
		return true
	case <-timer.C:
		return false
	}
}

// nextEntries returns the next lines of both parts of the log, merged by time; within each part their order
// is kept. next is the position in each part after these lines, and lost is how many lines before
// them were removed from the log unsent.
func (t *target) nextEntries(
	followers map[string]*Follower,
) (entries []ExportEntry, next map[string]Position, lost uint64) {
	next = map[string]Position{}
	folders := [2]string{AuditFolder(t.config.State), CallsFolder(t.config.State)}
	var read [2][]ExportEntry
	for i, part := range []string{"audit", "calls"} {
		f := followers[part]
		if f == nil {
			f = FollowFrom(folders[i], t.at[part])
			followers[part] = f
		}
		seq := t.at[part].Seq
		err := f.Take(batchLines, func(_ Place, line Line, text []byte) {
			if seq > 0 && line.Seq != seq+1 {
				missing := ExportEntry{Part: part, Line: Line{Seq: seq, Time: line.Time, Kind: "missing"}}
				if line.Seq > seq {
					missing.Line.Count = line.Seq - seq - 1
					lost += missing.Line.Count
				}
				missing.Text = fmt.Appendf(
					nil,
					`{"part":%q,"kind":"missing","after":%d,"next":%d,"dropped":%d}`,
					part,
					seq,
					line.Seq,
					missing.Line.Count,
				)
				read[i] = append(read[i], missing)
			}
			seq = line.Seq
			read[i] = append(read[i], ExportEntry{part, line, fmt.Appendf(nil, `{"part":%q,%s`, part, text[1:])})
		})
		if err != nil {
			t.warn("the audit log cannot be read: "+err.Error(), 0)
		}
		next[part] = f.Position()
	}
	return mergeEntries(read[0], read[1]), next, lost
}

// mergeEntries merges two lists by the times of their lines. Within each list the order is kept.
func mergeEntries(a, b []ExportEntry) (merged []ExportEntry) {
	for len(a) > 0 && len(b) > 0 {
		if b[0].Line.Time.Before(a[0].Line.Time) {
			merged = append(merged, b[0])
			b = b[1:]
			continue
		}
		merged = append(merged, a[0])
		a = a[1:]
	}
	return append(append(merged, a...), b...)
}

// saveProgress adds a delivered batch to the progress and stores it.
func (t *target) saveProgress(b batch) {
	if b.lost > 0 {
		t.warn("lines were lost: they were removed from the audit log before they could be sent, or refused", b.lost)
	}
	t.progress.Parts = b.next
	t.progress.Sent += b.lines
	t.progress.Dropped += b.lost
	t.progress.Time = time.Now().UTC()
	text, err := json.Marshal(t.progress)
	if err == nil {
		_, err = ownerfiles.Replace(ownerfiles.Disk{}, t.file+".new", t.file+".json", text, time.Time{})
	}
	if err != nil {
		t.warn("the progress cannot be kept, so lines may arrive twice: "+err.Error(), 0)
	}
}

// warn logs why lines are not exported, at most once per warnInterval.
func (t *target) warn(reason string, dropped uint64) {
	t.unreported += dropped
	now := time.Now()
	if now.Sub(t.lastWarning) < warnInterval {
		return
	}
	t.config.Log.Warn("audit lines are not exported", "target", t.name, "reason", reason, "dropped", t.unreported)
	t.lastWarning = now
	t.unreported = 0
}

// fileSender appends entries to a file, one per line.
type fileSender struct {
	confirmed
	name string
}

func (s fileSender) send(_ context.Context, entries []ExportEntry) error {
	file, err := os.OpenFile(s.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600) // reopened: it may have been rotated
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !filenames.IsFileAt(s.name, info.Mode()) {
		return errors.New("it is not a regular file")
	}
	var text []byte
	for _, e := range entries {
		text = append(append(text, e.Text...), '\n')
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		_ = file.Truncate(info.Size()) // a full disk may have stored a part
	}
	return err
}

func (fileSender) close() {}

// isNotable reports whether a line deserves attention: a denial, a request for approval, or damage.
func (e ExportEntry) isNotable() bool {
	return slices.Contains([]string{"deny", "ask"}, e.Line.Decision) ||
		slices.Contains([]string{"gap", "break", "missing"}, e.Line.Kind)
}
