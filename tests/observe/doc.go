// Package observe tests what the program tells of its calls: metrics and traces.
package observe
