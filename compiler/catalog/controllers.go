package catalog

import (
	"strconv"
	"strings"
)

// OldestExistingKueue is the oldest Kueue of others that serves v1beta2, the API of the
// manifests and of the visibility server, with all fields that the manifests set. Since
// 0.16 it is also the API in which Kueue stores its objects; 0.15 converts them, and loses
// none of these fields. Sources: Kueue, CHANGELOG-0.15 and CHANGELOG-0.16;
// apis/kueue/v1beta2 and apis/kueue/v1beta1/clusterqueue_conversion.go at v0.15.0.
//
// It is lower than the oldest release that the platform installs: the two ways to exceed a
// quota that Kueue 0.19.2 closed are closed for the teams by the platform's own policies,
// which refuse owners that are controllers, and by their role, which creates no pods.
const OldestExistingKueue = "0.15.0"

// OlderRelease reports whether release a is older than b. Each release consists of three
// numbers.
func OlderRelease(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m < n
		}
	}
	return false
}
