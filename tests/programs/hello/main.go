// Command hello is the smallest Go program that prints: the yardstick for the
// start of a process.
package main

import "fmt"

func main() { fmt.Println("hello") }
