// Package http tests the server over HTTP: what a browser reaches, subscriptions, and
// many sessions.
package http
