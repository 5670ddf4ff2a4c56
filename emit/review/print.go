package review

import "io"

// Text writes a review for a terminal.
func Text(w io.Writer, r *Review, color bool) error { return nil }

// Markdown writes a review for a comment on a pull request.
func Markdown(w io.Writer, r *Review) error { return nil }

// JSON writes a review for programs.
func JSON(w io.Writer, r *Review) error { return nil }

// GitHub writes a review as workflow commands of GitHub Actions.
func GitHub(w io.Writer, r *Review, folder string) error { return nil }
