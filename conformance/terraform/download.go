package terraform

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// downloadAddress is the address of the provider that downloader replaces.
const downloadAddress = "registry.terraform.io/hashicorp/http"

// downloader is the provider hashicorp/http with the attributes of its data source that the
// folders use. It sends the request.
type downloader struct {
	tfprotov5.ProviderServer // nil: Terraform asks for nothing else
}

var downloadSchema = &tfprotov5.Schema{Block: &tfprotov5.SchemaBlock{Attributes: []*tfprotov5.SchemaAttribute{
	{Name: "response_body", Type: tftypes.String, Computed: true},
	{Name: "status_code", Type: tftypes.Number, Computed: true},
	{Name: "url", Type: tftypes.String, Required: true},
}}}

func (downloader) GetProviderSchema(context.Context,
	*tfprotov5.GetProviderSchemaRequest) (*tfprotov5.GetProviderSchemaResponse, error) {
	return &tfprotov5.GetProviderSchemaResponse{
		Provider:          &tfprotov5.Schema{Block: &tfprotov5.SchemaBlock{}},
		DataSourceSchemas: map[string]*tfprotov5.Schema{"http": downloadSchema},
	}, nil
}

func (downloader) GetResourceIdentitySchemas(context.Context,
	*tfprotov5.GetResourceIdentitySchemasRequest) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov5.GetResourceIdentitySchemasResponse{}, nil
}

func (downloader) PrepareProviderConfig(_ context.Context,
	r *tfprotov5.PrepareProviderConfigRequest) (*tfprotov5.PrepareProviderConfigResponse, error) {
	return &tfprotov5.PrepareProviderConfigResponse{PreparedConfig: r.Config}, nil
}

func (downloader) ConfigureProvider(context.Context,
	*tfprotov5.ConfigureProviderRequest) (*tfprotov5.ConfigureProviderResponse, error) {
	return &tfprotov5.ConfigureProviderResponse{}, nil
}

func (downloader) StopProvider(context.Context,
	*tfprotov5.StopProviderRequest) (*tfprotov5.StopProviderResponse, error) {
	return &tfprotov5.StopProviderResponse{}, nil
}

func (downloader) ValidateDataSourceConfig(context.Context,
	*tfprotov5.ValidateDataSourceConfigRequest) (*tfprotov5.ValidateDataSourceConfigResponse, error) {
	return &tfprotov5.ValidateDataSourceConfigResponse{}, nil
}

func (downloader) ReadDataSource(ctx context.Context,
	r *tfprotov5.ReadDataSourceRequest) (*tfprotov5.ReadDataSourceResponse, error) {
	config, err := r.Config.Unmarshal(downloadSchema.ValueType())
	if err != nil {
		return nil, err
	}
	arguments, _ := plain(config).(map[string]any)
	url, _ := arguments["url"].(string)
	body, status, err := download(ctx, url)
	if err != nil {
		return &tfprotov5.ReadDataSourceResponse{Diagnostics: refusal(err)}, nil
	}
	state, err := transform(r.Config, downloadSchema,
		func(path *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
			switch dotted(path) {
			case "response_body":
				return tftypes.NewValue(tftypes.String, string(body)), nil
			case "status_code":
				return tftypes.NewValue(tftypes.Number, int64(status)), nil
			}
			return v, nil
		})
	return &tfprotov5.ReadDataSourceResponse{State: state}, err
}

func download(ctx context.Context, url string) ([]byte, int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, 0, fmt.Errorf("error making request: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return body, response.StatusCode, err
}
