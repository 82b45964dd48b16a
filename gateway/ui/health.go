package ui

import (
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
)

// healthData is the data of the view of health.
type healthData struct {
	Findings        []Finding
	Problems, Warns int
	Logs            []checkedLog
	Folders         []folderSize
	State           string
	Go              string
	At              time.Time // time of the check, zero before the first
	Running         bool
}

// Worst returns what the checks found of level problem.
func (d healthData) Worst() (what []string) {
	for _, f := range d.Findings {
		if f.Level == "problem" {
			what = append(what, f.What)
		}
	}
	return what
}

// checkedLog is a part of the audit log with the result of its verification.
type checkedLog struct {
	About  string
	Report audit.Report
	Err    string
}

// folderSize is the size of a folder in the state folder.
type folderSize struct {
	Name, Size string
	Files      int
}

// health checks the installation, one check at a time.
type health struct {
	page *Page

	mu   sync.Mutex
	data healthData
	done chan struct{} // closed at the end of the latest check, nil before the first
}

const (
	healthLimit = time.Minute
	// healthWait is how long a view waits for a check that it started. Most checks end earlier.
	healthWait = 1500 * time.Millisecond
	// healthFresh is the maximum age of a check before the view starts another one.
	healthFresh = 10 * time.Minute
)

// begin starts a check. done is closed when it ends; it is nil if a check was already running.
func (h *health) begin() (done chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.data.Running {
		return nil
	}
	h.data.Running = true
	done = make(chan struct{})
	h.done = done
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(h.page.working, healthLimit)
		defer cancel()
		var data healthData
		if panicked := panics.Try(func() { data = h.page.checkHealth(ctx) }); panicked != nil { // the server must go on
			h.page.Log.Error("a check of the page panicked", "stack", string(panicked.Stack))
		}
		h.mu.Lock()
		h.data = data
		h.mu.Unlock()
		e := h.page.events
		e.mu.Lock()
		defer e.mu.Unlock()
		e.version++
		e.send(e.current("health"))
	}()
	return done
}

// latest returns the result of the latest check.
func (h *health) latest() healthData {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.data
}

// checkHealth runs all checks.
func (p *Page) checkHealth(ctx context.Context) healthData {
	data := healthData{State: p.State, Go: runtime.Version(), At: p.Now(), Findings: p.Health(ctx)}
	for _, f := range data.Findings {
		switch f.Level {
		case "problem":
			data.Problems++
		case "warning":
			data.Warns++
		}
	}
	for _, part := range []struct{ about, folder string }{
		{"Changes, approvals and denials", audit.AuditFolder(p.State)},
		{"Other calls", audit.CallsFolder(p.State)},
	} {
		report, err := audit.Verify(ctx, part.folder)
		log := checkedLog{About: part.about, Report: report}
		if err != nil {
			log.Err = err.Error()
		}
		if log.Err != "" || log.Report.Broken != nil {
			data.Problems++
		}
		data.Logs = append(data.Logs, log)
	}
	// The sizes of the folders in the state folder.
	var folders []folderSize
	for _, name := range []string{"audit", "audit-calls", "approvals", "journal", "servers"} {
		files := 0
		bytes := int64(0)
		_ = filepath.WalkDir(filepath.Join(p.State, name), func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil // unreadable entries are not counted
			}
			if info, err := entry.Info(); err == nil {
				files++
				bytes += info.Size()
			}
			return nil
		})
		if files > 0 {
			folders = append(folders, folderSize{name, size(bytes), files})
		}
	}
	data.Folders = folders
	return data
}

// healthView shows the latest check, and starts one if that is old.
func (p *Page) healthView(r request) view {
	data := p.health.latest()
	if !data.Running && p.Now().Sub(data.At) > healthFresh {
		if done := p.health.begin(); done != nil {
			select {
			case <-done:
			case <-time.After(healthWait):
			case <-r.Context().Done():
			}
		}
		data = p.health.latest()
	}
	return view{template: "health", title: "Health", data: data}
}
