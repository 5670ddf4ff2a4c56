package objects

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Functions returns Terraform's functions in the arguments that replace a resource, in the keys
// of resources, and in what these refer to.
func Functions() map[string]function.Function { return maps.Clone(functions) }

var functions = map[string]function.Function{
	"length": stdlib.LengthFunc,
	"merge":  stdlib.MergeFunc,
	"range":  stdlib.RangeFunc,
	// Only of texts, as for_each accepts them: to find a common type of other values can take
	// longer than their size suggests.
	"toset": function.New(&function.Spec{
		Params: []function.Parameter{{Name: "v", Type: cty.List(cty.String)}},
		Type:   function.StaticReturnType(cty.Set(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if args[0].LengthInt() == 0 {
				return cty.SetValEmpty(cty.String), nil
			}
			return cty.SetVal(args[0].AsValueSlice()), nil
		},
	}),
	"cidrsubnet": function.New(&function.Spec{
		Params: []function.Parameter{
			{Name: "prefix", Type: cty.String}, {Name: "newbits", Type: cty.Number},
			{Name: "netnum", Type: cty.Number},
		},
		Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			s, err := cidrSubnet(args[0].AsString(), args[1], args[2])
			return cty.StringVal(s), err
		},
	}),
}

// cidrSubnet returns a part of an IPv4 range, like Terraform's cidrsubnet.
func cidrSubnet(prefix string, newBits, number cty.Value) (string, error) {
	p, err := netip.ParsePrefix(prefix)
	if err != nil {
		return "", err
	}
	bits, _ := newBits.AsBigFloat().Int64()
	n, _ := number.AsBigFloat().Int64()
	if !p.Addr().Is4() || bits < 0 || bits > int64(32-p.Bits()) || n < 0 || n >= 1<<bits {
		return "", fmt.Errorf("%s has no part %d of %d bits more", prefix, n, bits)
	}
	length := p.Bits() + int(bits)
	a := p.Masked().Addr().As4()
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(a[:])+uint32(n)<<(32-length))
	return netip.PrefixFrom(netip.AddrFrom4(a), length).String(), nil
}
