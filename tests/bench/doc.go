// Package bench measures the built binary against real yardsticks in the same
// run: a bare start of the same client program, a server that does nothing, a
// Go hello world. It prints both sides and the ratio.
//
//	go test ./tests/bench -run "^$" -bench . -skip Large -benchtime 20x
//
// The program in the folder figures runs them all and keeps the table of
// docs/performance.md. Nothing here fails because a machine is slow.
package bench
