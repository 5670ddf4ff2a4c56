// Package disk writes a tree into a deploy folder, all of it or nothing, and reads a
// folder. A tree goes in with the options of the caller, and a report comes out: what was
// written and removed, and which files a person has edited. Write is the only code that
// changes a deploy folder. It finishes the work of an earlier Write that has crashed, and
// writers of one folder take turns.
package disk
