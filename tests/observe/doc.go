// Package observe tests what the program tells of its calls: metrics, traces, and what is exported of the audit log.
package observe
