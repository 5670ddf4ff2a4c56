package review

// replacements lists what Terraform must replace.
func replacements(before, after State) ([]Replacement, error) { return nil, nil }
