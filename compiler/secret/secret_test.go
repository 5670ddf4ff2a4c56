package secret

import (
	"encoding/base64"
	"strings"
	"testing"
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

// webTokenOf returns a signed JSON Web Token with the header.
func webTokenOf(header string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(header)) + "." + encode([]byte(`{"sub":"1"}`)) + "." + mixed
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
		"a web token": {
			"x " + webTokenOf(`{"alg":"HS256"}`) + ".", webTokenOf(`{"alg":"HS256"}`) + " is a JSON Web Token",
		},
		"no web token": {webTokenOf(`{"typ":"HS256"}`), ""},

		"a short password":         {"export PGPASSWORD=hunter2; psql", "hunter2 is the value of PGPASSWORD"},
		"a short flag":             {"mysql --password hunter2 && ls", "hunter2 is the value of password"},
		"a short flag with a sign": {"mysql --password=hunter2", "hunter2 is the value of password"},
		"a flag in a list":         {`["x", "--password", "hunter2"]`, "hunter2 is the value of password"},
		"a field of YAML":          {"db:\n  password: hunter2\n", "hunter2 is the value of password"},
		"a field of JSON":          {`{"api_key": "abc123def"}`, "abc123def is the value of api_key"},
		"an escaped field":         {`{\"password\": \"hunter2\"}`, "hunter2 is the value of password"},
		"a URL":                    {"postgres://app:hunter2@db/x", "hunter2 is the password of a URL"},
		"a URL without a user":     {"redis://:hunter2@redis:6379", "hunter2 is the password of a URL"},

		"a user":                  {"curl -sS -u me:hunter2 https://x", "hunter2 is the password of -u"},
		"a user after a sign":     {"x; curl --user=me:hunter2 y", "hunter2 is the password of --user"},
		"a user in a list":        {`["curl", "-u", "me:hunter2"]`, "hunter2 is the password of -u"},
		"a user on another line":  {"[\"/bin/curl\",\n\t\"-u\",\n\t\"me:hunter2\"]", "hunter2 is the password of -u"},
		"a user of a proxy":       {"curl -U me:hunter2", "hunter2 is the password of -U"},
		"joined to a flag":        {"mysql -u root -phunter2", "hunter2 is the password of -p"},
		"before a host":           {`"me:hunter2@gcr.io/p/i:1"`, "hunter2 is the password before a host"},
		"a user of another":       {"docker run -u me:hunter2 x; mkdir -phunter2", ""},
		"an earlier program":      {"mysql -e x && mkdir -phunter2\ncurl x | y -u me:hunter2", ""},
		"a user without password": {"curl -u me -H a:hunter2 -user-agent b:hunter2 -u $A:$B -u me:password", ""},
		"a member and a digest":   {"user:alice1@example.com a/b:tag12@sha256:0123/ x:tag12@sha256:0123/", ""},

		"a URL's reference":   {"postgres://app:$(PW)@db/x postgres://app:${PW}@db", ""},
		"a URL's format":      {"postgres://{user}:{password}@{host} http://%s:%s@%s", ""},
		"a URL's default":     {"postgres://postgres:postgres@localhost https://user:password@host", ""},
		"a URL's port":        {"http://host:8080/@v1 ssh://git@github.com:22/a", ""},
		"a Python keyword":    {"connect(password=password2, token=args.token1, api_key=key_1234)", ""},
		"a Python annotation": {"def login(token: float32, password: str, api_key: bytes32):", ""},
		"a Python read":       {`password = os.environ["PW1234"]`, ""},
		"a comparison":        {`if password == "hunter2":`, ""},
		"a model's token":     {`pad_token = "extra_id_99"; {"mask_token": "extra1d"}`, ""},
		"a count":             {"run --token-count 500000 --max-tokens 4096x2", ""},
		"a name of a secret":  {`API_KEY=api-key-1 DB_PASSWORD="postgres-password-2"`, ""},
		"a shell's output":    {"TOKEN=$(cat /etc/a1b2c3) PGPASSWORD=`pass1234`", ""},
		"another flag":        {"psql --password --host=db1234", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, m := range Find(test.text) {
				got += test.text[m.Start:m.End] + " is " + m.What
				if m.Shaped == strings.HasPrefix(m.What, "the ") {
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
	for text, want := range map[string]bool{
		"DB_PASSWORD=hunter2": true, "PGPASSWORD=letmein": true, "MYSQL_PWD=letmein": true, "API_KEY=abc123def": true,
		"HF_TOKEN=abc123def": true, "JWT_SECRET=s3cr3t-value": true, "REDIS_PASS=letmein": true,
		"ADMIN_PASSWORD=12345678": true, "password=letmein": true, "DB_PASSWORD=db-hunter": true,

		"API_TOKEN=false": false, "DB_PASSWORD=": false, "DB_PASSWORD=changeme": false, "DB_PASSWORD=$(PW)": false,
		"DB_PASSWORD=password": false, "DB_PASSWORD=db-credentials": false, "PASSWORD=/etc/secret/password": false,
		"API_KEY=EMPTY": false, "API_KEY=dummy": false, "API_KEY=not-needed": false, "API_KEY=<your-key>": false,
		"API_KEY=projects/p/secrets/key1": false, "PRIVATE_KEY=key.pem": false, "PASSWORD_FILE=hunter2": false,
		"MAX_TOKENS=4096": false, "TOKEN=4096": false, "EOS_TOKEN=extra_id_99": false, "EOS_TOKEN_ID=id1234": false,
		"TOKENIZERS_PARALLELISM=abc123": false, "TOKENIZER=gpt2x9": false, "PWD=workspace": false,
		"USE_AUTH_TOKEN=abc123": false, "NO_PASSWORD=mydatabase": false, "CACHE_KEY=abc123": false,
		"DB_SECRET=db-1234": false, "FORWARD_PASS=second": false, "PASSWORD=xxxxxxxx": false,
	} {
		name, value, _ := strings.Cut(text, "=")
		if got := IsValue(name, value); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestMask: a password of letters is masked, although Find does not report it.
func TestMask(t *testing.T) {
	const text = `env: DB_PASSWORD: "letmein", --password "letmein"`
	if got := Mask(text); strings.Contains(got, "letmein") || len(Find(text)) > 0 {
		t.Errorf("%s: %v", got, Find(text))
	}
	if got := Mask(`DB_PASSWORD: [ "hunter2"]`); got != `DB_PASSWORD: [ "*******"]` {
		t.Error(got)
	}
	for text, want := range map[[2]string]string{
		{"DB_PASSWORD", `"hunter2"`}: `"*******"`, {"MODEL", "hunter2"}: "hunter2",
		{"COMMAND", "x --token abc123def"}: "x --token *********",
	} {
		if got := MaskValue(text[0], text[1]); got != want {
			t.Errorf("%v: %s, want %s", text, got, want)
		}
	}
}

// TestShapes: every prefix is found, and none hides another.
func TestShapes(t *testing.T) {
	var earlier []string
	for _, s := range shapes {
		rest := strings.Repeat("0123456789ABCDEF", 8)
		if s.alphabet == hexadecimal {
			rest = strings.ToLower(rest)
		}
		for _, prefix := range strings.Fields(s.prefixes) {
			if m, ok := shapeAt(prefix+rest, 0); !ok || m.What != s.what || m.End != len(prefix)+len(rest) {
				t.Errorf("%s: %v, %v", prefix, m, ok)
			}
			for _, e := range earlier {
				if strings.HasPrefix(prefix, e) {
					t.Errorf("%s stands after %s, which hides it", prefix, e)
				}
			}
			earlier = append(earlier, prefix)
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

func TestInArgument(t *testing.T) {
	for command, want := range map[string]string{
		"curl -u me:hunter2": "hunter2", "env A=1 /usr/bin/curl -s --proxy-user me:hunter2": "hunter2",
		"curl --user=me:hunter2": "hunter2", "curl -ume:hunter2": "hunter2", "mysqldump -u root -phunter2": "hunter2",
		"curl -u me": "", "docker -u me:hunter2": "", "curl -H me:hunter2": "", "mkdir -phunter2": "", "curl": "",
		"mysql -p hunter2": "", "curl -u me:$(PW)": "",
	} {
		elements, got := strings.Fields(command), ""
		for i := range elements {
			if m, ok := InArgument(elements, i); ok {
				got += elements[i][m.Start:m.End]
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
