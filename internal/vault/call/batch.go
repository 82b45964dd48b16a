package call

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// Batch are the operations of a batch that are planned and not made. Each is worked out on the vault as those before it
// will leave it: its files, its names and its index. Nothing of it is on the disk.
type Batch struct {
	ID      string
	Overlay *disk.Overlay
	// Planned is what package change keeps of the operations.
	Planned any
	count   atomic.Int64 // of the operations that are planned
	host    *Host
	// budget is charged with what is kept between the operations: together they may use as much as one call.
	budget  *budget.Budget
	release context.CancelFunc // what the budget has taken of that of the process
}

// Hold counts bytes of texts that are kept until the batch ends. The error is that of [budget.Budget.Hold].
func (b *Batch) Hold(bytes int64) error { return b.budget.Hold(bytes) }

// batches are the batches of a host, by their ids; or of the host of one batch what it covers the vault with.
type batches struct {
	mu   sync.Mutex
	open map[string]*Batch

	overlay  *disk.Overlay
	covered  *disk.Folder // the shared folder
	covering *disk.Folder // the same over the overlay
}

// BeginBatch begins to plan a batch. One of the same id is forgotten.
func (h *Host) BeginBatch(id string) *Batch {
	ctx, release := context.WithCancel(context.Background())
	b := &Batch{ID: id, Overlay: disk.NewOverlay(), budget: budget.New(budget.Limits{}), release: release}
	budget.With(ctx, b.budget)
	b.host = h.over(b.Overlay)
	h.batches.mu.Lock()
	defer h.batches.mu.Unlock()
	if h.batches.open == nil {
		h.batches.open = map[string]*Batch{}
	}
	h.batches.open[id] = b
	return b
}

// Batch returns the batch of an id of which so many operations are planned; nil if there is none.
func (h *Host) Batch(id string, count int) *Batch {
	h.batches.mu.Lock()
	defer h.batches.mu.Unlock()
	if b := h.batches.open[id]; b != nil && b.Count() == count {
		return b
	}
	return nil
}

// Add counts one more operation that is planned.
func (b *Batch) Add() { b.count.Add(1) }

// Count returns how many operations are planned.
func (b *Batch) Count() int { return int(b.count.Load()) }

// EndBatch forgets a batch.
func (h *Host) EndBatch(id string) {
	h.batches.mu.Lock()
	b := h.batches.open[id]
	delete(h.batches.open, id)
	h.batches.mu.Unlock()
	if b != nil {
		b.release()
		b.host.Knowledge.Close()
	}
}

// over returns a host for the vault as it will be. It keeps nothing beyond the batch, and writes no cache.
func (h *Host) over(o *disk.Overlay) *Host {
	next := &Host{
		Env: h.Env, Now: h.Now, Pause: h.Pause, AppVaults: h.AppVaults, Sandbox: h.Sandbox,
		identity: h.identity, rules: h.rules, rulesErr: h.rulesErr, marker: h.marker, exceptions: h.exceptions,
		judge: h.judge, judging: h.judging, beneath: h,
	}
	next.locked.Do(func() {})
	next.batches.overlay = o
	next.Knowledge.Plan(&h.Knowledge, o.Changed)
	return next
}

// Over returns the vault as the call will find it when the batch is made.
func (v *Vault) Over(b *Batch) *Vault {
	next := *v
	next.Host = b.host
	next.Batch = b
	b.host.batches.cover(&next)
	return &next
}

// cover has a vault be read over the overlay. Calls share one folder, by which what is known of it is found.
func (b *batches) cover(v *Vault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.covered != v.shared {
		b.covered = v.shared
		b.covering = v.shared.Over(b.overlay)
	}
	v.onDisk = v.shared
	v.shared = b.covering
	v.Disk = v.Disk.Over(b.overlay)
}
