package secret

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// alphabet is the set of characters of a token after its prefix.
type alphabet int

const (
	alphanumeric alphabet = iota // letters and digits
	upper                        // upper-case letters and digits
	hexadecimal                  // lower case
	joined                       // letters, digits, underscores and hyphens
	dotted                       // letters, digits, underscores, hyphens and dots
)

func (a alphabet) has(c byte) bool {
	switch a {
	case upper:
		return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z'
	case hexadecimal:
		return '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
	case joined:
		return isWord(c) || c == '-'
	case dotted:
		return isWord(c) || c == '-' || c == '.'
	}
	return isAlphanumeric(c)
}

// shape describes the tokens of a service.
type shape struct {
	prefix   string
	alphabet alphabet // of the part after the prefix
	least    int      // least bytes of the part after the prefix
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
	{"hf_", alphanumeric, 30, "a Hugging Face token"},
	{"api_org_", alphanumeric, 30, "a Hugging Face token"},

	{"ghp_", alphanumeric, 36, "a GitHub token"},
	{"gho_", alphanumeric, 36, "a GitHub token"},
	{"ghu_", alphanumeric, 36, "a GitHub token"},
	{"ghs_", alphanumeric, 36, "a GitHub token"},
	{"ghr_", alphanumeric, 36, "a GitHub token"},
	{"github_pat_", joined, 60, "a GitHub token"},

	{"glpat-", joined, 20, "a GitLab token"},
	{"gldt-", joined, 20, "a GitLab token"},
	{"glrt-", joined, 20, "a GitLab token"},
	{"glptt-", hexadecimal, 40, "a GitLab token"},
	{"glcbt-", joined, 20, "a GitLab token"},
	{"glft-", joined, 20, "a GitLab token"},
	{"glimt-", joined, 20, "a GitLab token"},
	{"glagent-", joined, 20, "a GitLab token"},
	{"gloas-", joined, 20, "a GitLab token"},
	{"glsoat-", joined, 20, "a GitLab token"},

	{"AIza", joined, 35, "a Google API key"},
	{"ya29.", dotted, 20, "a Google OAuth token"},
	{"GOCSPX-", joined, 24, "a Google OAuth client secret"},

	{"AKIA", upper, 16, "an AWS access key"},
	{"ASIA", upper, 16, "an AWS access key"},

	{"sk-ant-", joined, 40, "an Anthropic API key"},
	{"sk-proj-", joined, 20, "an OpenAI API key"},
	{"sk-svcacct-", joined, 20, "an OpenAI API key"},
	{"sk-admin-", joined, 20, "an OpenAI API key"},
	{"sk-", alphanumeric, 32, "an API key"},

	{"xoxb-", joined, 20, "a Slack token"},
	{"xoxp-", joined, 20, "a Slack token"},
	{"xoxa-", joined, 20, "a Slack token"},
	{"xoxr-", joined, 20, "a Slack token"},
	{"xoxs-", joined, 20, "a Slack token"},
	{"xoxe-", joined, 20, "a Slack token"},
	{"xapp-", joined, 20, "a Slack token"},

	{"sk_live_", alphanumeric, 20, "a Stripe key"},
	{"rk_live_", alphanumeric, 20, "a Stripe key"},
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

// shapesBy holds the indices of the shapes by the first byte of their prefixes.
var shapesBy = func() (by [256][]int) {
	for i, s := range &shapes {
		by[s.prefix[0]] = append(by[s.prefix[0]], i)
	}
	return by
}()

// shapeAt returns the token that begins at an offset of a text, and reports whether
// there is one.
func shapeAt(text string, at int) (Match, bool) {
	// Every random token has more bits per byte. A placeholder such as ghp_xxxx has
	// fewer.
	const leastBits = 2.5
	rest := text[at:]
	if token, ok := webToken(rest); ok {
		return Match{at, at + token, "a JSON Web Token", true}, true
	}
	if rest == "" {
		return Match{}, false
	}
	for _, i := range shapesBy[rest[0]] {
		s := &shapes[i]
		after, found := strings.CutPrefix(rest, s.prefix)
		if !found {
			continue
		}
		n := 0
		for n < len(after) && s.alphabet.has(after[n]) {
			n++
		}
		// If a word character follows the token, the text is a longer word and not a
		// token.
		if n < len(after) && isWord(after[n]) {
			continue
		}
		token := after[:n]
		if n >= s.least && byteEntropy(token) >= leastBits && !isPlaceholder(token) {
			return Match{at, at + len(s.prefix) + n, s.what, true}, true
		}
	}
	return Match{}, false
}

// webToken returns the length of the signed JSON Web Token at the start of a text, and
// reports whether there is one: three parts in base64url, of which the first is an
// object with the field alg. Source: RFC 7515, sections 3.1 and 4.1.1.
func webToken(text string) (length int, ok bool) {
	const start, longest, leastSignature = "eyJ", 8000, 20
	if !strings.HasPrefix(text, start) {
		return 0, false
	}
	for length < min(len(text), longest) && dotted.has(text[length]) {
		length++
	}
	text = strings.TrimRight(text[:length], ".")
	parts := strings.Split(text, ".")
	if len(parts) != 3 || !strings.HasPrefix(parts[1], start) || len(parts[2]) < leastSignature {
		return 0, false
	}
	header, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil {
		return 0, false
	}
	var fields struct {
		Algorithm string `json:"alg"`
	}
	return len(text), json.Unmarshal(header, &fields) == nil && fields.Algorithm != ""
}
