// Package mistakes sends the requests that models get wrong, and compares what they are
// told: the first suggestion is to be what was meant.
package mistakes
