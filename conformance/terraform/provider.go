// Package terraform lets Terraform itself validate, plan and apply the roots of
// deploy folders, without a network and a cloud. It replaces the provider
// hashicorp/google by a server of Terraform's plugin protocol that has the real
// provider's schema and none of its code.
//
// Terraform checks every argument against the schema and evaluates its entire
// language. Behind the provider, api.go keeps the resources that exist. Google's APIs
// rewrite what they are sent: answers.go has a row for each argument that reads back
// otherwise. They also reject more than the schema does: rejections.go has the rules that a
// compiled folder once violated. Each row and rule has its source. Additional rules in the
// provider's code, such as arguments that exclude each other, are not checked.
package terraform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// double answers like the provider in front of Google's APIs. Computed attributes are
// unknown in a plan, and get invented values when they are applied or read.
type double struct {
	// The interface is nil: Terraform does not ask here about functions and ephemeral
	// resources, which it would answer.
	tfprotov5.ProviderServer

	schemas schemas
	// replacing are the arguments whose change replaces a resource, by type, as
	// in "node_config.spot".
	replacing map[string][]string
	made      atomic.Int64 // number of invented values
	rights    rights       // of the build
	cloud     cloud
	// endpoint is the DNS endpoint of every cluster, and token the access token of the user.
	// They are invented if they are "".
	endpoint, token string
}

// readDouble returns a double with the schema in a folder.
func readDouble(folder string) (*double, error) {
	schema, err := os.ReadFile(filepath.Join(folder, "google-schema.json"))
	if err != nil {
		return nil, err
	}
	replacing, err := os.ReadFile(filepath.Join(folder, "force-new.json"))
	if err != nil {
		return nil, err
	}
	d := &double{}
	d.schemas, err = parseSchemas(schema)
	return d, errors.Join(err, json.Unmarshal(replacing, &d.replacing))
}

// serve starts the double and returns the value of TF_REATTACH_PROVIDERS with which
// Terraform uses it, any number of times. The double ends with ctx.
func (d *double) serve(ctx context.Context, opts ...tf5server.ServeOpt) (string, error) {
	return serveProviders(ctx, map[string]tfprotov5.ProviderServer{address: d}, opts...)
}

// serveProviders is serve for several providers, by address.
func serveProviders(ctx context.Context, providers map[string]tfprotov5.ProviderServer,
	opts ...tf5server.ServeOpt) (string, error) {
	// The plugin library's own type does not marshal its address.
	type addr struct{ Network, String string }
	type reattach struct {
		Protocol        plugin.Protocol
		ProtocolVersion int
		Pid             int
		Test            bool
		Addr            addr
	}
	servers := map[string]reattach{}
	for name, provider := range providers {
		started := make(chan *plugin.ReattachConfig, 1)
		all := append(slices.Clone(opts), tf5server.WithDebug(ctx, started, nil),
			tf5server.WithGoPluginLogger(hclog.NewNullLogger()))
		go tf5server.Serve(name, func() tfprotov5.ProviderServer { return provider }, all...)
		select {
		case c := <-started:
			servers[name] = reattach{
				c.Protocol, c.ProtocolVersion, c.Pid, c.Test, addr{c.Addr.Network(), c.Addr.String()},
			}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	out, err := json.Marshal(servers)
	return string(out), err
}

func (d *double) GetProviderSchema(context.Context,
	*tfprotov5.GetProviderSchemaRequest) (*tfprotov5.GetProviderSchemaResponse, error) {
	return &tfprotov5.GetProviderSchemaResponse{
		Provider: d.schemas.provider, ResourceSchemas: d.schemas.resources, DataSourceSchemas: d.schemas.data,
	}, nil
}

// GetResourceIdentitySchemas is called by Terraform from version 1.12 on.
func (d *double) GetResourceIdentitySchemas(context.Context,
	*tfprotov5.GetResourceIdentitySchemasRequest) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov5.GetResourceIdentitySchemasResponse{}, nil
}

func (d *double) PrepareProviderConfig(_ context.Context,
	r *tfprotov5.PrepareProviderConfigRequest) (*tfprotov5.PrepareProviderConfigResponse, error) {
	return &tfprotov5.PrepareProviderConfigResponse{PreparedConfig: r.Config}, nil
}

func (d *double) ConfigureProvider(context.Context,
	*tfprotov5.ConfigureProviderRequest) (*tfprotov5.ConfigureProviderResponse, error) {
	return &tfprotov5.ConfigureProviderResponse{}, nil
}

func (d *double) StopProvider(context.Context,
	*tfprotov5.StopProviderRequest) (*tfprotov5.StopProviderResponse, error) {
	return &tfprotov5.StopProviderResponse{}, nil
}

func (d *double) ValidateResourceTypeConfig(_ context.Context,
	r *tfprotov5.ValidateResourceTypeConfigRequest) (*tfprotov5.ValidateResourceTypeConfigResponse, error) {
	diags, err := validate(r.Config, d.schemas.resources[r.TypeName])
	return &tfprotov5.ValidateResourceTypeConfigResponse{Diagnostics: diags}, err
}

func (d *double) ValidateDataSourceConfig(_ context.Context,
	r *tfprotov5.ValidateDataSourceConfigRequest) (*tfprotov5.ValidateDataSourceConfigResponse, error) {
	diags, err := validate(r.Config, d.schemas.data[r.TypeName])
	return &tfprotov5.ValidateDataSourceConfigResponse{Diagnostics: diags}, err
}

// validate returns the diagnostics of Terraform's library for providers that
// Terraform itself does not report.
func validate(config *tfprotov5.DynamicValue, schema *tfprotov5.Schema) ([]*tfprotov5.Diagnostic, error) {
	v, err := config.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	var out []*tfprotov5.Diagnostic
	err = tftypes.Walk(v, func(path *tftypes.AttributePath, v tftypes.Value) (bool, error) {
		a := attribute(schema.Block, path)
		d := &tfprotov5.Diagnostic{Severity: tfprotov5.DiagnosticSeverityError, Attribute: path}
		switch {
		case a == nil || v.IsNull() && !a.Required:
			return true, nil
		case v.IsNull():
			d.Summary = "Null for a required argument"
		case !a.Required && !a.Optional:
			d.Summary = "Value for a computed attribute"
		case a.Deprecated:
			d.Severity, d.Summary = tfprotov5.DiagnosticSeverityWarning, "Deprecated argument"
		default:
			return true, nil
		}
		d.Detail = a.Name
		out = append(out, d)
		return true, nil
	})
	return out, err
}

func (d *double) UpgradeResourceState(_ context.Context,
	r *tfprotov5.UpgradeResourceStateRequest) (*tfprotov5.UpgradeResourceStateResponse, error) {
	kind := d.schemas.resources[r.TypeName].ValueType()
	v, err := r.RawState.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	state, err := tfprotov5.NewDynamicValue(kind, v)
	return &tfprotov5.UpgradeResourceStateResponse{UpgradedState: &state}, err
}

// ReadResource returns every resource as the cloud returns it, if the build may read
// it.
func (d *double) ReadResource(_ context.Context,
	r *tfprotov5.ReadResourceRequest) (*tfprotov5.ReadResourceResponse, error) {
	out := &tfprotov5.ReadResourceResponse{NewState: r.CurrentState, Private: r.Private}
	if err := d.rights.read(r.TypeName); err != nil {
		out.Diagnostics = refusal(err)
		return out, nil
	}
	kind := d.schemas.resources[r.TypeName].ValueType()
	v, err := r.CurrentState.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	state, err := tfprotov5.NewDynamicValue(kind, d.cloud.read(r.TypeName, v))
	out.NewState = &state
	return out, err
}

// refusal returns an API's error as diagnostics for Terraform.
func refusal(err error) []*tfprotov5.Diagnostic {
	return []*tfprotov5.Diagnostic{{Severity: tfprotov5.DiagnosticSeverityError, Summary: err.Error()}}
}

func (d *double) ReadDataSource(_ context.Context,
	r *tfprotov5.ReadDataSourceRequest) (*tfprotov5.ReadDataSourceResponse, error) {
	d.cloud.Lock()
	denied := d.cloud.unreadable == r.TypeName
	d.cloud.Unlock()
	if denied {
		return &tfprotov5.ReadDataSourceResponse{
			Diagnostics: refusal(errors.New("googleapi: Error 403: Required 'compute.subnetworks.get' permission")),
		}, nil
	}
	schema := d.schemas.data[r.TypeName]
	made, err := d.madeCluster(r)
	if err != nil {
		return &tfprotov5.ReadDataSourceResponse{Diagnostics: refusal(err)}, nil
	}
	state, err := transform(r.Config, schema,
		func(path *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
			a := attribute(schema.Block, path)
			switch {
			case a == nil || !a.Computed || !v.IsNull():
				return v, nil
			case r.TypeName == "google_compute_subnetwork" && subnetAnswers(a) != nil:
				return *subnetAnswers(a), nil
			case made != nil && made[a.Name].Type() != nil && made[a.Name].Type().Equal(a.Type):
				return made[a.Name], nil
			case r.TypeName == "google_container_cluster" && clusterAnswers(a) != nil:
				return *clusterAnswers(a), nil
			case r.TypeName == "google_client_config" && a.Name == "access_token" && d.token != "":
				return tftypes.NewValue(a.Type, d.token), nil
			case a.Type.Is(tftypes.String):
				// A second read returns the same.
				return tftypes.NewValue(a.Type, r.TypeName+"."+a.Name), nil
			}
			return d.value(r.TypeName, a)
		})
	return &tfprotov5.ReadDataSourceResponse{State: state}, err
}

// madeCluster returns the attributes of the cluster that a data source reads, nil if the data
// source reads something else or a cluster that Terraform has not made.
func (d *double) madeCluster(r *tfprotov5.ReadDataSourceRequest) (map[string]tftypes.Value, error) {
	const kind = "google_container_cluster"
	if r.TypeName != kind {
		return nil, nil
	}
	config, err := r.Config.Unmarshal(d.schemas.data[kind].ValueType())
	if err != nil {
		return nil, err
	}
	arguments, _ := plain(config).(map[string]any)
	id := identity(kind, arguments)
	d.cloud.Lock()
	defer d.cloud.Unlock()
	v, exists := d.cloud.stored[[2]string{kind, id}]
	switch {
	case exists:
		return as[map[string]tftypes.Value](v), nil
	case d.cloud.made[id] > 0: // and deleted
		return nil, fmt.Errorf("googleapi: Error 404: Not found: %s", id)
	}
	return nil, nil
}

// clusterAnswers returns what the API says of an attribute of every existing cluster, nil
// for what no folder reads. The cluster fits the example existing.
func clusterAnswers(a *tfprotov5.SchemaAttribute) *tftypes.Value {
	answer := func(v any) *tftypes.Value {
		value := tftypes.NewValue(a.Type, v)
		return &value
	}
	// one returns a list of one object, of which one field is set.
	one := func(field, text string) *tftypes.Value {
		object := a.Type.(tftypes.List).ElementType.(tftypes.Object)
		fields := map[string]tftypes.Value{}
		for name, kind := range object.AttributeTypes {
			fields[name] = tftypes.NewValue(kind, nil)
		}
		fields[field] = tftypes.NewValue(tftypes.String, text)
		return answer([]tftypes.Value{tftypes.NewValue(object, fields)})
	}
	switch a.Name {
	case "enable_autopilot":
		return answer(false)
	case "datapath_provider":
		return answer("ADVANCED_DATAPATH")
	case "workload_identity_config":
		return one("workload_pool", "my-project.svc.id.goog")
	case "authenticator_groups_config":
		return one("security_group", "gke-security-groups@example.com")
	}
	return nil
}

// subnetAnswers returns what the API says of an attribute of every existing subnet, nil
// for what no folder reads. The subnet fits the example shared-vpc.
func subnetAnswers(a *tfprotov5.SchemaAttribute) *tftypes.Value {
	answer := func(v any) *tftypes.Value {
		value := tftypes.NewValue(a.Type, v)
		return &value
	}
	switch a.Name {
	case "private_ip_google_access":
		return answer(true)
	case "network":
		return answer("https://www.googleapis.com/compute/v1/projects/net-host/global/networks/shared")
	case "ip_cidr_range":
		return answer("10.128.0.0/24")
	case "secondary_ip_range":
		object := a.Type.(tftypes.List).ElementType.(tftypes.Object)
		var ranges []tftypes.Value
		for _, r := range [][2]string{{"batch-pods", "10.132.0.0/16"}, {"batch-services", "10.0.32.0/20"}} {
			fields := map[string]tftypes.Value{}
			for name, kind := range object.AttributeTypes {
				fields[name] = tftypes.NewValue(kind, nil)
			}
			fields["range_name"] = tftypes.NewValue(tftypes.String, r[0])
			fields["ip_cidr_range"] = tftypes.NewValue(tftypes.String, r[1])
			ranges = append(ranges, tftypes.NewValue(object, fields))
		}
		return answer(ranges)
	}
	return nil
}

// PlanResourceChange plans the requested values, and the ones that were read where the
// provider takes both for the same. Like every provider that is built with Terraform's
// first SDK, it may plan other values than the configuration has, and apply other values
// than it has planned.
func (d *double) PlanResourceChange(_ context.Context,
	r *tfprotov5.PlanResourceChangeRequest) (*tfprotov5.PlanResourceChangeResponse, error) {
	out := &tfprotov5.PlanResourceChangeResponse{
		PlannedState: r.ProposedNewState, PlannedPrivate: r.PriorPrivate,
		//lint:ignore SA1019 the real provider sets it, too
		UnsafeToUseLegacyTypeSystem: true,
	}
	if gone, err := r.ProposedNewState.IsNull(); gone || err != nil {
		return out, err
	}
	schema := d.schemas.resources[r.TypeName]
	prior, err := r.PriorState.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	requested, err := r.ProposedNewState.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	settled, err := tfprotov5.NewDynamicValue(schema.ValueType(), settle(r.TypeName, prior, requested))
	if err != nil {
		return nil, err
	}
	planned, err := transform(&settled, schema,
		func(path *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
			if a := attribute(schema.Block, path); a != nil && a.Computed && v.IsNull() {
				return tftypes.NewValue(a.Type, tftypes.UnknownValue), nil
			}
			return v, nil
		})
	if err != nil {
		return nil, err
	}
	out.PlannedState = planned
	out.RequiresReplace, err = d.replaced(r.TypeName, r.PriorState, planned)
	return out, err
}

// replaced returns the arguments that differ and that can only be changed by
// replacing the resource.
func (d *double) replaced(kind string, prior, planned *tfprotov5.DynamicValue) ([]*tftypes.AttributePath, error) {
	if creates, err := prior.IsNull(); creates || err != nil {
		return nil, err
	}
	schema := d.schemas.resources[kind]
	before, err := prior.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	after, err := planned.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	diffs, err := before.Diff(after)
	var out []*tftypes.AttributePath
	for _, diff := range diffs {
		// A block itself differs only if the number of its instances differs: the list of
		// differences also contains a block if anything in it differs.
		other := within(schema.Block, diff.Path) || blocks(diff.Value1) != blocks(diff.Value2)
		path := dotted(diff.Path)
		if other && (slices.Contains(d.replacing[kind], path) || moves(kind, path, diff)) {
			out = append(out, diff.Path)
		}
	}
	return out, err
}

// within reports whether a path leads to an attribute or into one, such as to an
// element of a set.
func within(block *tfprotov5.SchemaBlock, path *tftypes.AttributePath) bool {
	for ; path != nil && len(path.Steps()) > 0; path = path.WithoutLastStep() {
		if attribute(block, path) != nil {
			return true
		}
	}
	return false
}

// moves reports whether a difference changes a subnet's range to one that does not
// contain the earlier range. No schema says so, but the provider then replaces the
// subnet. Source: its resource_compute_subnetwork.go.
func moves(kind, path string, diff tftypes.ValueDiff) bool {
	if kind != "google_compute_subnetwork" || path != "ip_cidr_range" {
		return false
	}
	var from, to string
	if diff.Value1.As(&from) != nil || diff.Value2.As(&to) != nil {
		return false
	}
	old, err := netip.ParsePrefix(from)
	if err != nil {
		return false
	}
	now, err := netip.ParsePrefix(to)
	return err == nil && !(now.Bits() <= old.Bits() && now.Contains(old.Addr()))
}

// blocks returns the number of blocks in a value, or -1 if it is unknown or the
// value does not consist of blocks.
func blocks(v *tftypes.Value) int {
	var list []tftypes.Value
	if v == nil || !v.IsKnown() || v.As(&list) != nil {
		return -1
	}
	return len(list)
}

// ApplyResourceChange applies the planned values.
func (d *double) ApplyResourceChange(_ context.Context,
	r *tfprotov5.ApplyResourceChangeRequest) (*tfprotov5.ApplyResourceChangeResponse, error) {
	out := &tfprotov5.ApplyResourceChangeResponse{
		NewState: r.PlannedState, Private: r.PlannedPrivate,
		//lint:ignore SA1019 the real provider sets it, too
		UnsafeToUseLegacyTypeSystem: true,
	}
	if err := d.cloud.unavailable(); err != nil {
		out.NewState, out.Diagnostics = r.PriorState, refusal(err)
		return out, nil
	}
	schema := d.schemas.resources[r.TypeName]
	if gone, err := r.PlannedState.IsNull(); gone || err != nil {
		prior, err := r.PriorState.Unmarshal(schema.ValueType())
		if err != nil || protected(prior) {
			out.NewState = r.PriorState
			out.Diagnostics = []*tfprotov5.Diagnostic{
				{Severity: tfprotov5.DiagnosticSeverityError, Summary: "Protected from deletion", Detail: r.TypeName},
			}
			return out, err
		}
		if err := d.cloud.remove(r.TypeName, prior); err != nil {
			out.NewState, out.Diagnostics = r.PriorState, refusal(err)
		}
		return out, nil
	}
	prior, err := r.PriorState.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	planned, err := r.PlannedState.Unmarshal(schema.ValueType())
	if err != nil {
		return nil, err
	}
	arguments, _ := plain(planned).(map[string]any)
	id := identity(r.TypeName, arguments)
	complete, err := tftypes.Transform(planned,
		func(path *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
			a := attribute(schema.Block, path)
			switch at := dotted(path); {
			case a == nil || v.IsKnown():
				return v, nil
			case id != "" && at == "id":
				return tftypes.NewValue(a.Type, id), nil
			case id != "" && at == "self_link":
				return tftypes.NewValue(a.Type, selfLink(r.TypeName, id)), nil
			case d.endpoint != "" && at == "control_plane_endpoints_config.dns_endpoint_config.endpoint":
				return tftypes.NewValue(a.Type, d.endpoint), nil
			}
			return d.value(r.TypeName, a)
		})
	if err != nil {
		return nil, err
	}
	applied, err := d.cloud.apply(r.TypeName, prior, complete)
	if err != nil {
		out.NewState, out.Diagnostics = r.PriorState, refusal(err)
		return out, nil
	}
	// A created resource remains even if it cannot be read.
	if err := d.rights.read(r.TypeName); err != nil {
		out.Diagnostics = refusal(err)
	}
	state, err := tfprotov5.NewDynamicValue(schema.ValueType(), applied)
	out.NewState = &state
	return out, errors.Join(err, d.cloud.setPolicies(r.TypeName, prior, planned))
}

// ImportResourceState returns a resource that was applied before, also by another
// configuration.
func (d *double) ImportResourceState(_ context.Context,
	r *tfprotov5.ImportResourceStateRequest) (*tfprotov5.ImportResourceStateResponse, error) {
	v, found := d.cloud.find(r.TypeName, r.ID)
	if !found {
		err := fmt.Errorf("resource %s does not exist: Cannot import non-existent remote object", r.ID)
		return &tfprotov5.ImportResourceStateResponse{Diagnostics: refusal(err)}, nil
	}
	kind := d.schemas.resources[r.TypeName].ValueType()
	state, err := tfprotov5.NewDynamicValue(kind, v)
	return &tfprotov5.ImportResourceStateResponse{
		ImportedResources: []*tfprotov5.ImportedResource{{TypeName: r.TypeName, State: &state}},
	}, err
}

// protected reports whether a resource has deletion_protection in its state. The
// configuration does not count. Source: the provider's guide to
// google_container_cluster.
func protected(state tftypes.Value) bool {
	var arguments map[string]tftypes.Value
	if state.As(&arguments) != nil {
		return false
	}
	var protection *bool
	v, ok := arguments["deletion_protection"]
	return ok && v.As(&protection) == nil && protection != nil && *protection
}

// value invents the value of an attribute. No two texts are equal; lists, sets and
// maps are empty.
func (d *double) value(resource string, a *tfprotov5.SchemaAttribute) (tftypes.Value, error) {
	switch {
	case a.Type.Is(tftypes.String):
		return tftypes.NewValue(a.Type, fmt.Sprintf("%s.%s-%d", resource, a.Name, d.made.Add(1))), nil
	case a.Type.Is(tftypes.Number):
		return tftypes.NewValue(a.Type, d.made.Add(1)), nil
	case a.Type.Is(tftypes.Bool):
		return tftypes.NewValue(a.Type, false), nil
	case a.Type.Is(tftypes.Map{}):
		return tftypes.NewValue(a.Type, map[string]tftypes.Value{}), nil
	case a.Type.Is(tftypes.List{}), a.Type.Is(tftypes.Set{}):
		return tftypes.NewValue(a.Type, []tftypes.Value{}), nil
	}
	return tftypes.Value{}, fmt.Errorf("%s.%s: no value of type %s is known here", resource, a.Name, a.Type)
}

func transform(in *tfprotov5.DynamicValue, schema *tfprotov5.Schema,
	change func(*tftypes.AttributePath, tftypes.Value) (tftypes.Value, error)) (*tfprotov5.DynamicValue, error) {
	kind := schema.ValueType()
	v, err := in.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	if v, err = tftypes.Transform(v, change); err != nil {
		return nil, err
	}
	out, err := tfprotov5.NewDynamicValue(kind, v)
	return &out, err
}

// attribute returns the attribute at a path into a block. It returns nil for a
// block, and for a value inside an attribute.
func attribute(block *tfprotov5.SchemaBlock, path *tftypes.AttributePath) *tfprotov5.SchemaAttribute {
	var out *tfprotov5.SchemaAttribute
	for _, step := range path.Steps() {
		name, ok := step.(tftypes.AttributeName)
		switch {
		case out != nil:
			return nil
		case !ok:
			continue // of a list or set of blocks
		}
		for _, a := range block.Attributes {
			if a.Name == string(name) {
				out = a
			}
		}
		for _, b := range block.BlockTypes {
			if b.TypeName == string(name) {
				block = b.Block
				break
			}
		}
	}
	return out
}
