// Package golden holds the expected output of batchwright, and the tests that show
// why it is right.
//
// golden/<blueprint> is the deploy folder of blueprints/<blueprint>, including the
// blueprints that an overlay is laid over. No output is blessed just because the
// compiler prints it: before a folder is compared or updated, it is checked against
// the parsers, schemas and API types of the tools that will read it.
//
// To update: go test ./golden -update
package golden_test
