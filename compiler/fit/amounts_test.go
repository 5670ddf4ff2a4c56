package fit

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// The memory of a large quota has more thousandths than an int64 holds.
func TestDivide(t *testing.T) {
	for _, tt := range []struct{ amount, want string }{{"20Pi", "10Pi"}, {"3", "1500m"}, {"7Gi", "3584Mi"}} {
		got := divide(resource.MustParse(tt.amount), 2)
		if want := resource.MustParse(tt.want); got.Cmp(want) != 0 {
			t.Errorf("half of %s is %s, want %s", tt.amount, got.String(), tt.want)
		}
	}
}
