package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// software returns the names of what the platform installs beside its own objects.
func software(p *ir.Platform) (names []markup) {
	if p.InstallsKueue() {
		names = append(names, "Kueue")
	}
	if p.InstallsJobSet() {
		names = append(names, "JobSet")
	}
	return names
}
