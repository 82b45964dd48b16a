// Package process tests that nothing outlives its reason: servers, workers and
// clients of the app end with their calls, their input and the program that started
// them.
package process
