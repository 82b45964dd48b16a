package audit

// The export sends the lines of the audit log to where a team keeps them: a collector of OpenTelemetry, syslog, or a
// file.
//
// The queue is the audit log itself. An [Exporter] follows it on the disk and keeps in the state folder how far each
// target has got, so no call waits for it, and nothing is lost while a target is down or no server runs, until the
// log removes its oldest files. What was removed unsent is counted, and the target is told. A lock has one process
// at a time send to a target, so the lines of all servers arrive in the order of the log. After a crash, or where a
// connection breaks, the last lines may arrive twice; each has the part of the log and its number.

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
	batchLines = 256 // of each part of the log are sent at once
	lookEvery  = time.Second
	firstPause = 500 * time.Millisecond // after a failure; doubled up to longestPause
	// longestPause is how long a target that is up again waits at most.
	longestPause = 30 * time.Second
	sendFor      = 10 * time.Second // one try
	closeFor     = 2 * time.Second  // what is left is sent when a server ends
	warnEvery    = time.Minute
)

// ExportConfig is the configuration of an [Exporter].
type ExportConfig struct {
	State   string   // the state folder, which has the audit log
	To      []string // the addresses, see [CheckTarget]
	Getenv  func(string) string
	Version string
	Log     *slog.Logger
	// Signer signs checkpoints of the log, nil for none.
	Signer Signer
}

// ExportEntry is a line of the log as it is sent. Text is JSON: the line as it is in the log, after the
// member "part".
type ExportEntry struct {
	Part string // "audit" or "calls"
	Line Line
	Text []byte
}

// sender sends entries, all of them or none, and is used by one goroutine at a time.
type sender interface {
	send(ctx context.Context, entries []ExportEntry) error
	// delay is how long after send it is certain that entries have arrived, if isUp reports then that
	// nothing was broken off.
	delay() time.Duration
	isUp() bool
	close()
}

// confirmed is for a [sender] of a protocol with answers.
type confirmed struct{}

func (confirmed) delay() time.Duration { return 0 }

func (confirmed) isUp() bool { return true }

// ExportRefused says that a target does not take some entries, and never will.
type ExportRefused struct {
	Entries int
	Reason  string
}

func (e *ExportRefused) Error() string { return e.Reason }

// Exporter sends lines to the targets until it is closed.
type Exporter struct {
	state           string
	stop            context.CancelFunc
	closing, closed chan struct{} // the last checkpoint is due, and written
	signing, done   sync.WaitGroup
}

// StartExport starts to send. It connects when there are lines. The error says which address is wrong.
func StartExport(c ExportConfig) (*Exporter, error) {
	ctx, stop := context.WithCancel(context.Background())
	e := &Exporter{state: c.State, stop: stop, closing: make(chan struct{}), closed: make(chan struct{})}
	var targets []*target
	for _, address := range c.To {
		to, name, err := parseTarget(address, c)
		if err != nil {
			stop()
			return nil, err
		}
		sum := sha256.Sum256([]byte(address))
		targets = append(
			targets,
			&target{
				sender: to,
				name:   name,
				file:   filepath.Join(c.State, "export-"+hex.EncodeToString(sum[:6])),
				config: c,
				closed: e.closed,
			},
		)
	}
	for _, t := range targets {
		e.done.Go(func() { t.run(ctx) })
	}
	if c.Signer != nil {
		e.signing.Go(func() { e.sign(ctx, c) })
	}
	return e, nil
}

// checkpointEvery is the time between two checkpoints.
const checkpointEvery = time.Hour

// sign writes a checkpoint every hour, in one process at a time, and one at the end of each.
func (e *Exporter) sign(ctx context.Context, c ExportConfig) {
	points := NewCheckpoints(c.State, c.Signer)
	sign := func() {
		if err := points.Sign(); err != nil {
			c.Log.Error("no checkpoint of the audit log: " + err.Error())
		}
	}
	defer sign()
	var unlock func()
	hourly := time.NewTicker(checkpointEvery)
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

// Close writes the last checkpoint, sends what is left, for at most two seconds, and ends. It may be
// called on nil.
func (e *Exporter) Close() {
	if e == nil {
		return
	}
	close(e.closing)
	e.signing.Wait()
	close(e.closed)
	timer := time.AfterFunc(closeFor, e.stop)
	e.done.Wait()
	timer.Stop()
	e.stop()
}

// ExportProgress is what is kept of a target: how far each part of the log was sent, and how many lines
// were sent and lost.
type ExportProgress struct {
	Target  string              `json:"target"` // without secrets
	Parts   map[string]Position `json:"parts"`
	Sent    uint64              `json:"sent"`
	Dropped uint64              `json:"dropped"` // removed from the log before they could be sent, or refused
	Time    time.Time           `json:"time"`    // of the last success
}

// ExportProgressOf returns the progress of all targets of a state folder, in the order of their files.
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

// Dropped returns how many lines were lost for the targets of the state folder together.
func (e *Exporter) Dropped() (lines uint64) {
	for _, p := range ExportProgressOf(e.state) {
		lines += p.Dropped
	}
	return lines
}

// target is one address.
type target struct {
	sender
	name   string
	file   string // of its progress and its lock, without the ending
	config ExportConfig
	closed <-chan struct{}
	done   ExportProgress
	at     map[string]Position // how far the log was read
	unsure []batch             // what was sent since done

	warned time.Time
	unsaid uint64 // dropped since the last warning
}

// batch is what was sent at once.
type batch struct {
	sent        time.Time
	next        map[string]Position
	lines, lost uint64
}

// run sends until closed and all is sent, or ctx ends.
func (t *target) run(ctx context.Context) {
	defer t.close()
	var unlock func()
	for unlock == nil {
		var err error
		if unlock, err = ownerfiles.Lock(ctx, t.file+".lock", time.Millisecond); err != nil { // another process sends
			if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, fs.ErrNotExist) {
				t.warn("the state folder cannot be used: "+err.Error(), 0)
			}
			if t.wait(ctx, lookEvery) {
				return
			}
		}
	}
	defer unlock()
	t.done = ExportProgress{Target: t.name, Parts: map[string]Position{}}
	if text, err := ownerfiles.Read(t.file+".json", 4096); err == nil {
		_ = json.Unmarshal(text, &t.done) // damaged, it begins anew: lines arrive twice
	}
	t.at = t.done.Parts
	followers := map[string]*Follower{}
	again := func() {
		t.at = t.done.Parts
		t.unsure = nil
		followers = map[string]*Follower{}
	}
	for pause, last := firstPause, false; ctx.Err() == nil; {
		if len(t.unsure) > 0 && !t.isUp() {
			again()
		}
		for len(t.unsure) > 0 && time.Since(t.unsure[0].sent) >= t.delay() {
			t.keep(t.unsure[0])
			t.unsure = t.unsure[1:]
		}
		entries, next, lost := t.take(followers)
		switch {
		case len(entries) == 0 && len(t.unsure) == 0 && last:
			return
		case len(entries) == 0 && last:
			time.Sleep(t.delay())
			continue
		case len(entries) == 0:
			last = t.wait(ctx, lookEvery)
			continue
		}
		limited, cancel := context.WithTimeout(ctx, sendFor)
		err := t.send(limited, entries)
		cancel()
		var refused *ExportRefused
		switch {
		case errors.As(err, &refused):
			lost += uint64(refused.Entries)
		case err != nil:
			t.warn(err.Error(), 0)
			again()
			if last = t.wait(ctx, pause); last && pause > firstPause {
				return
			}
			pause = min(2*pause, longestPause)
			continue
		}
		pause = firstPause
		t.at = next
		t.unsure = append(t.unsure, batch{time.Now(), next, uint64(len(entries)), lost})
	}
}

// wait waits for a time, and reports whether the exporter was closed.
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

// take returns the next lines of both parts of the log in the order of their times, in which each
// part keeps its own, how far each part is read then, and how many lines are lost before that.
func (t *target) take(
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
	for len(read[0]) > 0 || len(read[1]) > 0 {
		i := 0
		if len(read[0]) == 0 || len(read[1]) > 0 && read[1][0].Line.Time.Before(read[0][0].Line.Time) {
			i = 1
		}
		entries = append(entries, read[i][0])
		read[i] = read[i][1:]
	}
	return entries, next, lost
}

// keep keeps the progress after lines have arrived.
func (t *target) keep(b batch) {
	if b.lost > 0 {
		t.warn("lines were lost: they were removed from the audit log before they could be sent, or refused", b.lost)
	}
	t.done.Parts = b.next
	t.done.Sent += b.lines
	t.done.Dropped += b.lost
	t.done.Time = time.Now().UTC()
	text, err := json.Marshal(t.done)
	if err == nil {
		_, err = ownerfiles.Replace(ownerfiles.Disk{}, t.file+".new", t.file+".json", text, time.Time{})
	}
	if err != nil {
		t.warn("the progress cannot be kept, so lines may arrive twice: "+err.Error(), 0)
	}
}

// warn logs what is wrong, at most once a minute.
func (t *target) warn(reason string, dropped uint64) {
	t.unsaid += dropped
	if now := time.Now(); t.warned.IsZero() || now.Sub(t.warned) >= warnEvery {
		t.config.Log.Warn("audit lines are not exported", "target", t.name, "reason", reason, "dropped", t.unsaid)
		t.warned = now
		t.unsaid = 0
	}
}

// fileSender appends entries to a file, a line each.
type fileSender struct {
	confirmed
	name string
}

func (s fileSender) send(_ context.Context, entries []ExportEntry) error {
	file, err := os.OpenFile(s.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600) // each time: others may rotate it
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
	if _, err = file.Write(text); err == nil {
		err = file.Sync()
	}
	if err != nil {
		_ = file.Truncate(info.Size()) // a disk that is full has taken a part
	}
	return err
}

func (fileSender) close() {}

// isNotable reports whether a line is more than the record of a call.
func (e ExportEntry) isNotable() bool {
	return slices.Contains([]string{"deny", "ask"}, e.Line.Decision) ||
		slices.Contains([]string{"gap", "break", "missing"}, e.Line.Kind)
}
