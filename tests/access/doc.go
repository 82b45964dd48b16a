// Package access tests what callers may read and change: hidden notes, spellings of paths, changes that are off, and that
// a refusal holds wherever two features of the program meet.
//
// The table of all pairs of features that touch a call is pairs.tsv: of each pair it names the tests that would fail if
// the two did not know of each other, or says why they cannot meet. The features are in features.tsv.
//
// A row of the table is two features in the order of their list, and after them either tests or a dash and a reason. A
// test is written folder.TestName, with /part of a name for one of its subtests, or as the path of a script. Nothing but
// the tests of this package reads the table: a feature that is added to the list needs a row with each of the others.
package access
