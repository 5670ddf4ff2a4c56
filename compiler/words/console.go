package words

import "net/url"

// ConsolePage returns the address of a page of the Google Cloud console that shows a
// project. The page is its path, such as "monitoring/dashboards".
func ConsolePage(page, project string) string {
	return "https://console.cloud.google.com/" + page + "?project=" + url.QueryEscape(project)
}
