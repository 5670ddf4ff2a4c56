package compiler

// For the benchmarks of what comes after the compiler.
var (
	BenchSizes     = benchSizes
	BenchName      = benchName
	BenchBlueprint = benchBlueprint
)
