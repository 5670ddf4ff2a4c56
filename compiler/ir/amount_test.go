package ir_test

import (
	"strings"
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

func TestPrintAlike(t *testing.T) {
	for _, test := range []struct{ resource, quantities, want string }{
		{ir.Memory, "700Gi 715512Mi", "700Gi 698.7Gi"},
		{ir.Memory, "64Gi 541Mi 0", "64Gi 0.5Gi 0Gi"},
		{ir.Memory, "44Gi 45055Mi", "44Gi 43.999Gi"},
		{ir.Memory, "44Gi 1Mi", "44Gi 0.001Gi"},
		{ir.Memory, "44Gi 45056Mi", "44Gi 44Gi"},
		{ir.Memory, "64G 64Gi", "59.6Gi 64Gi"},
		{ir.Memory, "512Mi 541Mi", "512Mi 541Mi"},
		{ir.Memory, "64Gi 0", "64Gi 0"},
		{ir.CPU, "23500m 16k", "23.5 16000"},
	} {
		var in []resource.Quantity
		for q := range strings.FieldsSeq(test.quantities) {
			in = append(in, resource.MustParse(q))
		}
		if got := strings.Join(ir.PrintAlike(test.resource, in...), " "); got != test.want {
			t.Errorf("PrintAlike(%s, %s) = %q, want %q", test.resource, test.quantities, got, test.want)
		}
	}
}
