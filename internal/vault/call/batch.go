package call

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// Batch is a batch of operations that are planned but not made. Each operation is planned on the vault as the previous
// operations will leave it, with its files, names and index. None of it is on the disk.
type Batch struct {
	ID      string
	Overlay *disk.Overlay
	// Planned is the state of package change for the operations.
	Planned any
	count   atomic.Int64 // number of planned operations
	host    *Host
	// budget is charged for what is kept between the operations: together they may use as much as one call.
	budget  *budget.Budget
	release context.CancelFunc // returns the budget's share to that of the process
}

// Hold charges the memory for texts that are kept until the batch ends. The error is that of [budget.Budget.Hold].
func (b *Batch) Hold(bytes int64) error { return b.budget.Hold(bytes) }

// batches contains the open batches of a host; for the host of a batch, it contains the overlay.
type batches struct {
	mu   sync.Mutex
	open map[string]*Batch // by id

	overlay  *disk.Overlay
	covered  *disk.Folder // the shared folder
	covering *disk.Folder // the shared folder with the overlay
}

// BeginBatch begins to plan a batch. It replaces a batch with the same id.
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

// Batch returns the batch with an id if exactly count operations are planned, else nil.
func (h *Host) Batch(id string, count int) *Batch {
	h.batches.mu.Lock()
	defer h.batches.mu.Unlock()
	if b := h.batches.open[id]; b != nil && b.Count() == count {
		return b
	}
	return nil
}

// Add counts another planned operation.
func (b *Batch) Add() { b.count.Add(1) }

// Count returns the number of planned operations.
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

// over returns a host for the vault with an overlay. Its state ends with the batch, and it does not write the cache.
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

// Over returns the vault as it will be after the planned operations of a batch.
func (v *Vault) Over(b *Batch) *Vault {
	next := *v
	next.Host = b.host
	next.Batch = b
	b.host.batches.cover(&next)
	return &next
}

// cover makes a vault read through the overlay. All calls share one folder, because it is the key of cached knowledge.
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
