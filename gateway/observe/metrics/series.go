package metrics

import (
	"fmt"
	"io"
	"sync"

	vm "github.com/VictoriaMetrics/metrics"
)

// counters are the counters of one metric, one for each set of labels that has
// occurred. The zero value is not ready.
type counters[L comparable] struct {
	set  *vm.Set
	name func(L) string
	mu   *sync.RWMutex
	made map[L]*vm.Counter
}

func newCounters[L comparable](set *vm.Set, name func(L) string) counters[L] {
	return counters[L]{set: set, name: name, mu: &sync.RWMutex{}, made: map[L]*vm.Counter{}}
}

// of returns the counter for labels.
func (c *counters[L]) of(labels L) *vm.Counter {
	c.mu.RLock()
	counter := c.made[labels]
	c.mu.RUnlock()
	if counter != nil {
		return counter
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	counter = c.set.GetOrCreateCounter(c.name(labels))
	c.made[labels] = counter
	return counter
}

// series is one value under its name.
type series struct {
	name  string
	value int
}

// writeGauges writes several series of one metric, which the library writes one
// at a time, each as a metric of its own.
func writeGauges(w io.Writer, metric string, all []series) {
	if len(all) == 0 {
		return
	}
	vm.WriteMetadataIfNeeded(w, metric, "gauge")
	for _, s := range all {
		fmt.Fprintf(w, "%s %d\n", s.name, max(s.value, 0))
	}
}
