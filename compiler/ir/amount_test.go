package ir_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

func TestPrintAmount(t *testing.T) {
	for _, test := range []struct{ resource, quantity, number, amount string }{
		{ir.GPU, "1", "1", "1 GPU"},
		{ir.GPU, "16k", "16000", "16000 GPUs"},
		{ir.TPU, "4", "4", "4 TPU chips"},
		{ir.CPU, "2M", "2000000", "2000000 CPUs"},
		{ir.CPU, "158200m", "158.2", "158.2 CPUs"},
		{ir.Memory, "10Gi", "10Gi", "10Gi of memory"},
		{"example.com/nic", "2", "2", "2 example.com/nic"},
	} {
		q := resource.MustParse(test.quantity)
		if got := ir.PrintQuantity(test.resource, q); got != test.number {
			t.Errorf("PrintQuantity(%s, %s) = %q, want %q", test.resource, test.quantity, got, test.number)
		}
		if got := ir.PrintAmount(test.resource, q); got != test.amount {
			t.Errorf("PrintAmount(%s, %s) = %q, want %q", test.resource, test.quantity, got, test.amount)
		}
	}
}
