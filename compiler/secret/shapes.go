package secret

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// The characters of a token after its prefix.
const (
	digits       = "0123456789"
	hexadecimal  = digits + "abcdef"
	upper        = digits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphanumeric = upper + "abcdefghijklmnopqrstuvwxyz"
	wordBytes    = alphanumeric + "_"
	joined       = wordBytes + "-"
	dotted       = joined + "."
)

// shape describes the tokens of a service.
type shape struct {
	prefixes string // separated by spaces
	alphabet string // of the part after the prefix
	least    int    // least bytes of the part after the prefix
	what     string
}

// shapes are the tokens that a prefix identifies. The least length is at most the
// documented one, because tokens get longer.
//
// Sources: for GitHub's tokens its documentation, "About authentication to GitHub",
// token formats; for GitLab's, "GitLab token overview", token prefixes; for AWS's,
// "IAM identifiers", unique identifiers; for Slack's, "Tokens"; for Stripe's, "API
// keys"; for the lengths and for most others gitleaks, config/gitleaks.toml; for NVIDIA,
// Replicate, Groq and Docker Hub trufflehog, pkg/detectors.
var shapes = [...]shape{
	{"hf_ api_org_", alphanumeric, 30, "a Hugging Face token"},
	{"ghp_ gho_ ghu_ ghs_ ghr_", alphanumeric, 36, "a GitHub token"},
	{"github_pat_", joined, 60, "a GitHub token"},
	{"glpat- gldt- glrt- glcbt- glft- glimt- glagent- gloas- glsoat-", joined, 20, "a GitLab token"},
	{"glptt-", hexadecimal, 40, "a GitLab token"},
	{"AIza", joined, 35, "a Google API key"},
	{"ya29.", dotted, 20, "a Google OAuth token"},
	{"GOCSPX-", joined, 24, "a Google OAuth client secret"},
	{"AKIA ASIA", upper, 16, "an AWS access key"},
	{"sk-ant-", joined, 40, "an Anthropic API key"},
	{"sk-proj- sk-svcacct- sk-admin-", joined, 20, "an OpenAI API key"},
	{"sk-", alphanumeric, 32, "an API key"},
	{"xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xapp-", joined, 20, "a Slack token"},
	{"sk_live_ rk_live_", alphanumeric, 20, "a Stripe key"},
	{"SG.", dotted, 66, "a SendGrid key"},
	{"npm_", alphanumeric, 36, "an npm token"},
	{"pypi-AgEIcHlwaS5vcmc", joined, 50, "a PyPI token"},
	{"dapi", hexadecimal, 32, "a Databricks token"},
	{"hvs.", joined, 90, "a HashiCorp Vault token"},
	{"dop_v1_", hexadecimal, 64, "a DigitalOcean token"},
	{"nvapi-", joined, 60, "an NVIDIA API key"},
	{"r8_", joined, 37, "a Replicate token"},
	{"gsk_", alphanumeric, 48, "a Groq API key"},
	{"pplx-", alphanumeric, 48, "a Perplexity API key"},
	{"dckr_pat_", joined, 27, "a Docker Hub token"},
	{"glsa_", joined, 40, "a Grafana token"},
	{"AGE-SECRET-KEY-1", upper, 58, "an age secret key"},
}

// prefixes holds the prefixes of the shapes by their first byte.
var prefixes = func() (by [256][]prefixed) {
	for i := range shapes {
		for _, p := range strings.Fields(shapes[i].prefixes) {
			by[p[0]] = append(by[p[0]], prefixed{p, &shapes[i]})
		}
	}
	return by
}()

// prefixed is a prefix of a shape.
type prefixed struct {
	prefix string
	*shape
}

// shapeAt returns the token that begins at an offset of a text, and reports whether
// there is one.
func shapeAt(text string, at int) (Match, bool) {
	// Every random token has more bits per byte. A placeholder such as ghp_xxxx has
	// fewer.
	const leastBits = 2.5
	rest := text[at:]
	if rest == "" {
		return Match{}, false
	}
	if n := webTokenLength(rest); n > 0 {
		return Match{at, at + n, "a JSON Web Token", true}, true
	}
	for _, p := range prefixes[rest[0]] {
		after, found := strings.CutPrefix(rest, p.prefix)
		if !found {
			continue
		}
		longer := strings.TrimLeft(after, p.alphabet)
		token := after[:len(after)-len(longer)]
		// If a word character follows the token, the text is a longer word and not a
		// token.
		if len(token) < p.least || longer != "" && isWord(longer[0]) {
			continue
		}
		if byteEntropy(token) >= leastBits && !isPlaceholder(token) {
			return Match{at, at + len(p.prefix) + len(token), p.what, true}, true
		}
	}
	return Match{}, false
}

// webToken matches a signed JSON Web Token: three parts in base64url.
var webToken = regexp.MustCompile(`^(eyJ[\w-]+)\.eyJ[\w-]+\.[\w-]{20,}`)

// webTokenLength returns the length of the JSON Web Token at the start of a text, 0 if
// there is none. Its first part is an object with the field alg. Source: RFC 7515,
// sections 3.1 and 4.1.1.
func webTokenLength(text string) int {
	const longest = 8000
	if !strings.HasPrefix(text, "eyJ") {
		return 0
	}
	token := webToken.FindStringSubmatch(text[:min(len(text), longest)])
	if token == nil {
		return 0
	}
	header, err := base64.RawURLEncoding.DecodeString(token[1])
	if err != nil || !strings.Contains(string(header), `"alg"`) {
		return 0
	}
	return len(token[0])
}
