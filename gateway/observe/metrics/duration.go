package metrics

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	vm "github.com/VictoriaMetrics/metrics"
)

// bounds are the upper ends of the buckets: a resident worker answers within the
// first ones, the app within tens of milliseconds, and no call may take longer
// than 55 seconds, but for a person who is asked.
var bounds = [...]time.Duration{
	250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 15 * time.Second, time.Minute,
}

// histogram counts durations in the buckets that Prometheus knows; those of the
// library are of its own kind. The zero value is empty.
type histogram struct {
	buckets [len(bounds) + 1]atomic.Uint64 // not cumulative; the last one is for the rest
	sum     atomic.Int64                   // nanoseconds
}

func (h *histogram) observe(d time.Duration) {
	i, _ := slices.BinarySearch(bounds[:], d)
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

type durationLabels struct{ backend, effect string }

// durations are the histograms of the metric, one for each set of labels. The
// zero value is empty.
type durations struct {
	mu   sync.RWMutex
	made map[durationLabels]*histogram
}

func (d *durations) of(labels durationLabels) *histogram {
	d.mu.RLock()
	h := d.made[labels]
	d.mu.RUnlock()
	if h != nil {
		return h
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if h = d.made[labels]; h == nil {
		if d.made == nil {
			d.made = map[durationLabels]*histogram{}
		}
		h = &histogram{}
		d.made[labels] = h
	}
	return h
}

const durationMetric = "vaultwicket_call_duration_seconds"

func (d *durations) write(w io.Writer) {
	d.mu.RLock()
	var all []durationLabels
	for labels := range d.made {
		all = append(all, labels)
	}
	d.mu.RUnlock()
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b durationLabels) int {
		return cmp.Or(cmp.Compare(a.backend, b.backend), cmp.Compare(a.effect, b.effect))
	})
	vm.WriteMetadataIfNeeded(w, durationMetric, "histogram")
	for _, labels := range all {
		d.of(labels).write(w, labels)
	}
}

// write writes the buckets, each with what is in the smaller ones. The count is
// that of the last bucket, so that the two agree while calls go on.
func (h *histogram) write(w io.Writer, l durationLabels) {
	var total uint64
	for i := range h.buckets {
		total += h.buckets[i].Load()
		end := "+Inf"
		if i < len(bounds) {
			end = strconv.FormatFloat(bounds[i].Seconds(), 'g', -1, 64)
		}
		fmt.Fprintf(w, "%s %d\n", named(durationMetric+"_bucket", "backend", l.backend, "effect", l.effect, "le", end), total)
	}
	fmt.Fprintf(w, "%s %g\n", named(durationMetric+"_sum", "backend", l.backend, "effect", l.effect), time.Duration(h.sum.Load()).Seconds())
	fmt.Fprintf(w, "%s %d\n", named(durationMetric+"_count", "backend", l.backend, "effect", l.effect), total)
}
