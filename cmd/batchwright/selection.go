package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler/diag"
)

// selection says which findings to omit, by codes and prefixes of codes.
type selection struct {
	disable, enable []string
}

// addFlags adds the flags --disable and --enable.
func (s *selection) addFlags(cmd *cobra.Command) {
	for _, flag := range []struct {
		name, usage string
		values      *[]string
	}{
		{
			"disable", "hide warnings and notes by `codes` or beginnings of codes such as W05, separated by commas",
			&s.disable,
		},
		{"enable", "show `codes`, or beginnings of codes, that --disable hides", &s.enable},
	} {
		cmd.Flags().StringSliceVar(flag.values, flag.name, nil, flag.usage)
		completeFlag(cmd, flag.name, completeHideable)
	}
}

// checkCodes converts the codes to upper case, and rejects values that are no code or
// that cannot be omitted.
func (s *selection) checkCodes() error {
	for i, code := range s.disable {
		s.disable[i] = strings.ToUpper(code)
		if err := checkKnownCode("--disable", s.disable[i]); err != nil {
			return err
		}
		if s.disable[i][:1] == "E" {
			return disableError(s.disable[i])
		}
	}
	for i, code := range s.enable {
		s.enable[i] = strings.ToUpper(code)
		if err := checkKnownCode("--enable", s.enable[i]); err != nil {
			return err
		}
		if slices.Contains(s.disable, s.enable[i]) {
			return usageErrorf("%s is both disabled and enabled", s.enable[i])
		}
	}
	return nil
}

// checkKnownCode rejects a value that is not the prefix of any code.
func checkKnownCode(flag, code string) error {
	if code == "" {
		return usageErrorf("%s: a code is empty", flag)
	}
	var hideable []string
	for _, c := range findingCodes() {
		if strings.HasPrefix(c.ID, code) {
			return nil
		}
		if c.Severity != diag.Error {
			hideable = append(hideable, c.ID)
		}
	}
	if near := diag.Nearest(code, hideable); near != "" {
		return usageErrorf("%s: no code starts with %q; did you mean %s?", flag, code, near)
	}
	return usageErrorf("%s: no code starts with %q; vet --list lists all codes", flag, code)
}

// disableError returns the error for a code whose findings cannot be omitted.
func disableError(code string) error {
	for _, c := range findingCodes() {
		if c.ID == code && !c.Acceptable {
			return usageErrorf("--disable %s: errors cannot be hidden: correct the finding", code)
		}
	}
	return usageErrorf("--disable %s: errors cannot be hidden: correct the finding, or accept it in the blueprint, "+
		"with a "+"reason", code)
}

// shows reports whether a finding is shown. If both lists have a matching entry, the
// longer one decides.
func (s *selection) shows(f diag.Finding) bool {
	return f.Severity == diag.Error || longestPrefix(s.disable, f.Code) <= longestPrefix(s.enable, f.Code)
}

// enables reports whether --enable asks for a finding.
func (s *selection) enables(f diag.Finding) bool { return longestPrefix(s.enable, f.Code) > 0 }

// longestPrefix returns the length of the longest entry that is a prefix of the
// code, 0 if there is none.
func longestPrefix(entries []string, code string) int {
	longest := 0
	for _, e := range entries {
		if strings.HasPrefix(code, e) {
			longest = max(longest, len(e))
		}
	}
	return longest
}

// completeHideable makes the shell offer the codes of warnings and notes for the
// last item of a list.
func completeHideable(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	before := begun[:strings.LastIndex(begun, ",")+1]
	var offers []string
	for _, c := range findingCodes() {
		if c.Severity != diag.Error && strings.HasPrefix(c.ID, strings.ToUpper(begun[len(before):])) {
			offers = append(offers, cobra.CompletionWithDesc(before+c.ID, c.Title))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
