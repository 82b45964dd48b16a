// Package load tests the server with many clients, long runs and large answers.
package load
