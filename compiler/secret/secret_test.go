package secret

import (
	"strings"
	"testing"
	"time"
)

// Texts that look like secrets are put together here, so that scanners of this
// repository find none.
const (
	letters = "qWeRtYuIoPaSdFgHjKlZxCvBnMqWeRtYuIoPaS"
	mixed   = "q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0"
	hex     = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
)

// privateKey returns a private key up to its last line, with line ends as they stand
// in a text.
func privateKey(label, lineEnd string) string {
	line := strings.Repeat(mixed, 2)[:64] + lineEnd
	return "-----BEGIN " + label + "-----" + lineEnd + line + line
}

const isKey = " is a private key"

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string // the secret with what it is, "" for none
	}{
		"Hugging Face": {"hf_" + letters[:34], "hf_" + letters[:34] + " is a Hugging Face token"},
		"GitHub": {
			"https://x:ghp_" + mixed[:36] + "@github.com/o/r",
			"ghp_" + mixed[:36] + " is a GitHub token",
		},
		"fine-grained": {
			"github_pat_" + mixed + "_" + mixed,
			"github_pat_" + mixed + "_" + mixed + " is a GitHub token",
		},
		"GitLab":             {"'glpat-" + mixed[:20] + "'", "glpat-" + mixed[:20] + " is a GitLab token"},
		"Google":             {"key=AIza" + mixed[:35], "AIza" + mixed[:35] + " is a Google API key"},
		"OAuth":              {"Bearer ya29.a0" + mixed, "ya29.a0" + mixed + " is a Google OAuth token"},
		"AWS":                {"AKIAQ3W7E5R2T4Y6U7IO", "AKIAQ3W7E5R2T4Y6U7IO is an AWS access key"},
		"Slack":              {"xoxb-" + mixed[:24], "xoxb-" + mixed[:24] + " is a Slack token"},
		"OpenAI":             {"sk-proj-" + mixed, "sk-proj-" + mixed + " is an OpenAI API key"},
		"after an escape":    {`\nghp_` + mixed[:36], "ghp_" + mixed[:36] + " is a GitHub token"},
		"escaped quotes":     {`{\"token\": \"` + mixed + `\"}`, mixed + " is the value of token"},
		"environment":        {"DB_PASSWORD=" + mixed[:20], mixed[:20] + " is the value of DB_PASSWORD"},
		"a flag":             {"train.py --api-key " + mixed[:20], mixed[:20] + " is the value of api-key"},
		"a flag with a sign": {"train.py --apiKey=" + mixed[:20] + " x", mixed[:20] + " is the value of apiKey"},
		"YAML":               {"client_secret: '" + hex + "'", hex + " is the value of client_secret"},
		"Python": {
			"os.environ[\"WANDB_API_KEY\"] = \"" + hex + "\"", hex + " is the value of WANDB_API_KEY",
		},
		"a header": {"-H 'Authorization: Bearer " + mixed + "'", mixed + " is the value of Bearer"},
		"a private key": {
			"x" + privateKey("PRIVATE KEY", "\n") + "-----END PRIVATE KEY-----",
			privateKey("PRIVATE KEY", "\n") + isKey,
		},
		"a service account": {
			`"private_key": "` + privateKey("PRIVATE KEY", `\n`) + `-----END PRIVATE KEY-----\n"`,
			privateKey("PRIVATE KEY", `\n`) + isKey,
		},
		"SSH": {
			privateKey("OPENSSH PRIVATE KEY", "\n") + "-----END OPENSSH PRIVATE KEY-----",
			privateKey("OPENSSH PRIVATE KEY", "\n") + isKey,
		},
		"a search for a key":  {"grep -- '-----BEGIN PRIVATE KEY-----' file", ""},
		"a certificate":       {privateKey("CERTIFICATE", "\n"), ""},
		"a placeholder":       {"ghp_" + strings.Repeat("x", 36), ""},
		"AWS's example":       {"AKIAIOSFODNN7EXAMPLE", ""},
		"another word":        {"hf_transfer_and_a_very_long_name_without_any_end", ""},
		"a package":           {"pip install sk-learn-contrib-something-or-other", ""},
		"a reference":         {"API_TOKEN=$(SECRET_TOKEN_1234567)", ""},
		"a shell's reference": {"API_TOKEN=${SECRET_TOKEN_1234567}", ""},
		"a path":              {"TOKEN_FILE=/var/run/secrets/a1b2c3d4e5f6g7h8", ""},
		"a secret's name":     {"secret: \"projects/my-project/secrets/hugging-face/versions/12\"", ""},
		"a tokenizer":         {"TOKENIZER=meta-llama/Llama-3.1-8B-Instruct-2024", ""},
		"a number":            {"MAX_TOKENS=100000000000000000", ""},
		"code":                {"token = os.environ[\"HF_TOKEN\"]", ""},
		"a digest":            {"image@sha256:" + hex + hex[:24], ""},
		"a commit":            {"git checkout " + hex, ""},
		"a sort key":          {"SORT_KEY=" + mixed, ""},
		"words":               {"password: correct-horse-battery-staple", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, m := range Find(test.text) {
				got += test.text[m.Start:m.End] + " is " + m.What
				if m.Shaped == strings.HasPrefix(m.What, "the value of ") {
					t.Errorf("%s, shaped: %v", m.What, m.Shaped)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if masked := Mask(test.text); len(masked) != len(test.text) || (masked == test.text) != (test.want == "") {
				t.Errorf("masked: %q", masked)
			}
		})
	}
}

func TestIsValue(t *testing.T) {
	for name, want := range map[string]bool{
		"API_TOKEN": true, "apiToken": true, "WANDB_API_KEY": true, "DB_PASSWORD": true,
		"TOKEN_FILE": false, "SECRET_NAME": false, "MODEL": false, "KEY": false, "": false,
	} {
		if got := IsValue(name, mixed); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	if IsValue("API_TOKEN", "false") {
		t.Error("false is a secret")
	}
}

// TestShapes: every prefix is found, and none hides another.
func TestShapes(t *testing.T) {
	for i, s := range shapes {
		rest := strings.Repeat("0123456789ABCDEF", 8)
		if s.alphabet == hexadecimal {
			rest = strings.ToLower(rest)
		}
		if m, ok := shapeAt(s.prefix+rest, 0); !ok || m.What != s.what || m.End != len(s.prefix)+len(rest) {
			t.Errorf("%s: %v, %v", s.prefix, m, ok)
		}
		for _, earlier := range shapes[:i] {
			if strings.HasPrefix(s.prefix, earlier.prefix) {
				t.Errorf("%s stands after %s, which hides it", s.prefix, earlier.prefix)
			}
		}
	}
}

// TestLinear: no text takes more than its length, whatever is repeated in it.
func TestLinear(t *testing.T) {
	for _, part := range []string{
		"token=", "-----BEGIN PRIVATE KEY-----", "a", "sk-", "AIza", "\\", privateKey("PRIVATE KEY", "\n"),
		"--token ", `"token": "`,
	} {
		text := strings.Repeat(part, 1<<20/len(part))
		began := time.Now()
		Mask(text)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q: %v", part, took)
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("DB_PASSWORD=" + mixed + "\nghp_" + mixed[:36] + privateKey("PRIVATE KEY", "\n"))
	f.Add(`\`)
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, m := range Find(text) {
			if m.Start < at || m.End <= m.Start || m.End > len(text) || m.What == "" {
				t.Fatalf("%+v of %q", m, text)
			}
			at = m.End
		}
		if masked := Mask(text); len(masked) != len(text) || strings.Count(masked, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q becomes %q", text, masked)
		}
	})
}
