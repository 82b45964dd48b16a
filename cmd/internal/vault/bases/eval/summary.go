package eval

import (
	"math"
	"slices"

	"vaultwicket/cmd/internal/vault/bases/value"
)

func sum(numbers []float64, _ int) float64 {
	total := 0.0
	for _, n := range numbers {
		total += n
	}
	return total
}

// mean divides by the length of the whole list, as the app does.
func mean(numbers []float64, all int) float64 { return sum(numbers, all) / float64(all) }

func median(numbers []float64, _ int) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

func least(numbers []float64, _ int) float64    { return slices.Min(numbers) }
func greatest(numbers []float64, _ int) float64 { return slices.Max(numbers) }

func spread(numbers []float64, _ int) float64 { return slices.Max(numbers) - slices.Min(numbers) }

// deviation is that of the numbers as a whole population.
func deviation(numbers []float64, _ int) float64 {
	average, total := sum(numbers, 0)/float64(len(numbers)), 0.0
	for _, n := range numbers {
		total += (n - average) * (n - average)
	}
	return math.Sqrt(total / float64(len(numbers)))
}

// extremeDate returns the first date, for -1, or the last, for 1; null if there
// is none.
func extremeDate(items []value.Value, direction int) value.Value {
	result := value.Value{}
	var best value.Moment
	for _, item := range items {
		m, ok := item.Moment()
		if ok && (result.IsNull() || m.Time.Compare(best.Time) == direction) {
			result, best = item, m
		}
	}
	return result
}

// summaries are those of the app, by their names.
var summaries = map[string]func([]value.Value) value.Value{
	"Average": numeric(mean), "Min": numeric(least), "Max": numeric(greatest), "Sum": numeric(sum), "Median": numeric(median), "Stddev": numeric(deviation),
	"Earliest":  func(values []value.Value) value.Value { return extremeDate(values, -1) },
	"Latest":    func(values []value.Value) value.Value { return extremeDate(values, 1) },
	"Range":     rangeOf,
	"Checked":   counted(func(v value.Value) bool { return v.Kind() == value.Boolean && v.Truthy() }),
	"Unchecked": counted(func(v value.Value) bool { return v.Kind() == value.Boolean && !v.Truthy() }),
	"Empty":     counted(value.Value.Empty),
	"Filled":    counted(func(v value.Value) bool { return !v.Empty() }),
	"Unique":    unique,
}

// IsSummary reports whether the app has a summary of that name.
func IsSummary(name string) bool { return summaries[name] != nil }

// Summarize returns what a summary of the app makes of the values of a column,
// null if it has none of that name.
func Summarize(name string, values []value.Value) value.Value {
	if of := summaries[name]; of != nil {
		return of(values)
	}
	return value.Value{}
}

func numeric(of func([]float64, int) float64) func([]value.Value) value.Value {
	return func(values []value.Value) value.Value { return summarize(values, of) }
}

// rangeOf is the way from the least to the greatest number, or from the first to
// the last date.
func rangeOf(values []value.Value) value.Value {
	first, ok := extremeDate(values, -1).Moment()
	if !ok {
		return summarize(values, spread)
	}
	last, _ := extremeDate(values, 1).Moment()
	return value.OfSpan(value.Span{Millis: float64(last.Time.UnixMilli() - first.Time.UnixMilli())})
}

func counted(test func(value.Value) bool) func([]value.Value) value.Value {
	return func(values []value.Value) value.Value {
		n := 0
		for _, v := range values {
			if test(v) {
				n++
			}
		}
		return value.OfNumber(float64(n))
	}
}

// unique counts the different values, nothing left out.
func unique(values []value.Value) value.Value {
	known := map[string]bool{}
	for _, v := range values {
		if !v.Empty() {
			known[v.Kind().String()+v.Text()] = true
		}
	}
	return value.OfNumber(float64(len(known)))
}

func summarize(items []value.Value, of func(numbers []float64, all int) float64) value.Value {
	var numbers []float64
	for _, item := range items {
		if item.Kind() == value.Number {
			numbers = append(numbers, item.Num())
		}
	}
	if len(numbers) == 0 {
		return value.Value{}
	}
	return value.OfNumber(of(numbers, len(items)))
}
