package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/explain"
	"github.com/batchwright/batchwright/compiler/words"
)

func (c Command) explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [CODE... | FIELD [PATH...]]",
		Short: "Explain a finding, or a field of the blueprint",
		Long: `For each CODE of a finding, such as E0602, explain describes the consequence of
the mistake and its correction, with an example of both. It also shows how to
accept the finding, if the finding can be accepted, and the sources of the
facts.

The beginning of a code, such as W08, lists the codes that begin so. W8 is the
same as W08.

For a FIELD of the blueprint, such as cluster.maintenance.start, it shows the
values, the default and the meaning of the field. Write a name that has dots in
quotes. For a team or a capacity, write any name. For an element of a list,
write its number, from 0: tiers.lp.capacity[0]. Without a FIELD, or for ".",
explain describes the whole blueprint.

The name of a field without its path, such as borrow, finds the fields of that
name. A word of Kueue, GKE, Cluster Toolkit or Slurm, such as nominalQuota,
finds the fields that it means. For what a blueprint cannot describe, such as
mig, explain answers "absent" with the fields that come nearest.

PATHs name a blueprint, as for compile. With a blueprint, explain also shows the
field's value in it and the place in the files. The default is the working
directory, if it has CUE files.`,
		Example: `  batchwright explain E0602
  batchwright explain --format json E0602 W0606 | jq -r .why
  batchwright explain W08
  batchwright explain cluster
  batchwright explain borrowingLimit
  batchwright explain gpu-sharing
  batchwright explain capacity.any.consumption
  batchwright explain teams.team-a.quota.lp blueprints/batch-platform`,
		ValidArgsFunction: completeExplain,
	}
	c.addInput(cmd)
	c.addFormat(cmd, "output format of the explanation", formatText, formatJSON)
	c.addColor(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return c.explainField(cmd.Context(), ".", nil)
		case codePattern.MatchString(strings.ToUpper(args[0])):
			return c.explainCodes(args)
		case nearlyCode.MatchString(strings.ToUpper(args[0])):
			return c.listFamilies(args)
		}
		return c.explainField(cmd.Context(), args[0], args[1:])
	}
	return cmd
}

// explainCodes explains codes of findings.
func (c Command) explainCodes(args []string) error {
	var all []explanation
	for _, arg := range args {
		e, err := explainCode(arg)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	for i, e := range all {
		if c.format.value == formatJSON {
			if err := json.NewEncoder(c.Stdout).Encode(e); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(c.Stdout)
		}
		if _, err := fmt.Fprint(c.Stdout, e); err != nil {
			return err
		}
	}
	return nil
}

// explanation is the complete explanation of a code.
type explanation struct {
	Version  int    `json:"version"`
	Type     string `json:"type"`
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
	explain.Text
}

// String returns the text that explain prints. Its lines have at most 80 columns, as
// in the package's texts. A longer link has a line of its own.
func (e explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s[%s]: %s\n\n%s\n", e.Severity, e.Code, e.Title, e.Why)
	for _, example := range e.Examples() {
		fmt.Fprintf(&b, "%s\n\n%s\n", example.Heading, indentExample(example.Source))
	}
	for _, s := range e.Sources {
		fillAfter(&b, "Source: ", "  ", s)
	}
	return b.String()
}

// indentExample returns an example, indented. Tabs become spaces, because a terminal
// shows them wider than the texts assume.
func indentExample(example string) string {
	const margin = "    "
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(example, "\t", "    ")) {
		if line != "\n" {
			b.WriteString(margin)
		}
		b.WriteString(line)
	}
	return b.String()
}

// codePattern is the form of every code, in upper case.
var codePattern = regexp.MustCompile(`^[A-Z][0-9]{4}$`)

// nearlyCode is the form of the beginning of a code, and of a code with too many digits.
var nearlyCode = regexp.MustCompile(`^[EWN][0-9]+$`)

// listFamilies lists the codes that begin as one of the arguments does.
func (c Command) listFamilies(args []string) error {
	var found []diag.Code
	for _, arg := range args {
		begun := strings.ToUpper(arg)
		codes := codesBeginning(begun)
		if len(codes) == 0 {
			codes = codesBeginning(begun[:1] + "0" + begun[1:])
		}
		if len(codes) == 0 {
			return unknownCode(begun)
		}
		found = append(found, codes...)
	}
	if err := c.printCodes(found); err != nil {
		return err
	}
	for _, arg := range args {
		if command := catalogCommandFor(arg); command != "" {
			fmt.Fprintf(c.Stderr, "batchwright explain: the catalogue of machine types also knows %s: run %s\n", arg,
				command)
		}
	}
	return nil
}

// codesBeginning returns the codes that begin with a text in upper case.
func codesBeginning(begun string) []diag.Code {
	return slices.DeleteFunc(findingCodes(), func(c diag.Code) bool { return !strings.HasPrefix(c.ID, begun) })
}

// catalogCommandFor returns the command that shows what the catalogue knows of a word,
// "" if it knows nothing.
func catalogCommandFor(word string) string {
	name := strings.ToLower(word)
	if slices.Contains(zoneNames(), name) {
		return "batchwright catalog --zone " + name
	}
	if named, _ := nameEntries(catalogEntries(), []string{name}); len(named) > 0 {
		return "batchwright catalog " + words.ShellArgument(name)
	}
	return ""
}

// unknownCode returns the error for a code that does not exist, with the codes that may
// be meant.
func unknownCode(code string) error {
	known := findingCodes()
	for _, c := range known {
		if c.ID[1:] == code[1:] {
			return usageErrorf("there is no code %s; did you mean %s?", code, c.ID)
		}
	}
	number, err := strconv.Atoi(code[1:])
	if err != nil {
		return usageErrorf("there is no code %s; batchwright vet --list lists all codes", code)
	}
	distance := func(c diag.Code) int {
		n, _ := strconv.Atoi(c.ID[1:]) // a code is a letter and a number
		return max(n-number, number-n)
	}
	slices.SortStableFunc(known, func(a, b diag.Code) int { return cmp.Compare(distance(a), distance(b)) })
	const most = 3
	var near []string
	for _, c := range known[:most] {
		near = append(near, c.ID+" ("+c.Title+")")
	}
	return usageErrorf("there is no code %s; the nearest are %s", code, words.And(near))
}

// explainCode returns the explanation of a code. The case of arg does not matter.
func explainCode(arg string) (explanation, error) {
	code := strings.ToUpper(arg)
	if !codePattern.MatchString(code) {
		return explanation{}, usageErrorf("%q is not the code of a finding, such as E0602", arg)
	}
	known := findingCodes()
	i := slices.IndexFunc(known, func(c diag.Code) bool { return c.ID[1:] == code[1:] }) // all numbers are unique
	text, ok := explain.Lookup(code)
	if !ok || i < 0 {
		return explanation{}, unknownCode(code)
	}
	return explanation{
		Version: 1, Type: "explanation", Code: code, Severity: known[i].Severity.String(), Title: known[i].Title,
		Text: text,
	}, nil
}

// ruleHelp returns the explanation of a code for SARIF: the reasons as plain text,
// and the reasons with the examples as Markdown. Lines are not broken, because
// viewers break them.
func ruleHelp(code string) (text, markdown string) {
	about, ok := explain.Lookup(code)
	if !ok {
		return "", ""
	}
	var paragraphs []string
	for p := range strings.SplitSeq(strings.TrimSpace(about.Why), "\n\n") {
		paragraphs = append(paragraphs, strings.Join(strings.Fields(p), " "))
	}
	text = strings.Join(paragraphs, "\n\n")
	markdown = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", `\<`).Replace(text)
	for _, example := range about.Examples() {
		markdown += "\n\n" + example.Heading + "\n\n```" + about.Language + "\n" + example.Source + "```"
	}
	return text, markdown
}

// completeExplain makes the shell offer every code with its title, and fields; after
// a field, it offers files.
func completeExplain(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && !codePattern.MatchString(strings.ToUpper(args[0])) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var offers []string
	for _, c := range findingCodes() {
		if strings.HasPrefix(c.ID, strings.ToUpper(begun)) {
			offers = append(offers, cobra.CompletionWithDesc(c.ID, c.Title))
		}
	}
	if len(args) > 0 {
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
	above := begun[:strings.LastIndexByte(begun, '.')+1]
	f, _, err := compiler.ExplainField(context.Background(), compiler.Input{}, strings.TrimSuffix(above, "."))
	for i := 0; err == nil && i < len(f.Fields); i++ {
		if m := f.Fields[i]; strings.HasPrefix(above+m.Name, begun) && !strings.Contains(m.Name, "*") {
			offers = append(offers, cobra.CompletionWithDesc(above+m.Name, m.Doc))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}
