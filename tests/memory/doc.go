// Package memory puts the temporary folders of tests into memory, for packages whose
// tests do not depend on a disk: most of them waited for nothing but the disk. What
// is tested is the same, since a process that is killed leaves the same on
// both. Tests of what file systems differ in stay on the disk.
package memory
