package guide

import "testing"

func TestCommand(t *testing.T) {
	got := shellCommand("kubectl", "apply", "-f", "a b", "--project=it's", "$(id)", "", "plain-1.0")
	want := `kubectl apply -f 'a b' '--project=it'\''s' '$(id)' '' plain-1.0`
	if got != want {
		t.Errorf("command = %s, want %s", got, want)
	}
}
