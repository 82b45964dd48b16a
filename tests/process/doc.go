// Package process tests the program as a process among others. Nothing outlives its reason: servers, workers and clients
// of the app end with their calls, their input and the program that started them. It tells of its calls what it should:
// metrics, traces, and what is exported of the audit log. And it bears its load: many clients, long runs and large
// answers.
package process
