package secret

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Some programs take a password in an argument that no name announces. The program
// then identifies the password.

// passwordForm is a way in which programs take a password.
type passwordForm struct {
	programs []string
	// flag matches the flag of the password at the start of a text. If separate is true,
	// the next argument is the flag's value.
	flag     *regexp.Regexp
	separate bool
	user     bool // the value is USER:PASSWORD
}

// Sources: curl's manual, -u and -U; MySQL's manual, "Command Options for Connecting to
// the Server", --password.
var passwordForms = []passwordForm{
	{curlPrograms, regexp.MustCompile(`^-[#0-9aBfgGiIjJkLlMnNOpqRsSvVZ]*[uU]$|^--(proxy-)?user$`), true, true},
	{curlPrograms, regexp.MustCompile(`^--(proxy-)?user=|^-[#0-9aBfgGiIjJkLlMnNOpqRsSvVZ]*[uU]`), false, true},
	{mysqlPrograms, regexp.MustCompile(`^-p`), false, false},
}

var (
	curlPrograms  = []string{"curl"}
	mysqlPrograms = []string{
		"mariadb", "mariadb-admin", "mariadb-dump", "mysql", "mysqladmin", "mysqlcheck", "mysqldump", "mysqlimport",
		"mysqlshow",
	}
)

// InArgument returns the password in an element of a command, by byte offsets, that the
// command's program identifies.
func InArgument(command []string, index int) (Match, bool) {
	for _, f := range passwordForms {
		if !slices.ContainsFunc(command[:index], func(e string) bool {
			return slices.Contains(f.programs, path.Base(e))
		}) {
			continue
		}
		from, flag := 0, ""
		if f.separate {
			flag = f.flag.FindString(command[index-1])
		} else {
			flag = f.flag.FindString(command[index])
			from = len(flag)
		}
		if flag == "" {
			continue
		}
		if start, ok := f.passwordOf(command[index][from:]); ok {
			what := "the password of " + strings.TrimSuffix(flag, "=")
			return Match{from + start, len(command[index]), what, false}, true
		}
	}
	return Match{}, false
}

// passwordOf returns the offset of the password in the value of a flag.
func (f passwordForm) passwordOf(value string) (start int, ok bool) {
	user, password := "password", value
	if f.user {
		var found bool
		if user, password, found = strings.Cut(value, ":"); !found || password == user {
			return 0, false
		}
		start = len(user) + 1
	}
	return start, canBePassword(password) && !isFiller(user, password)
}

// commandBefore is the number of bytes before a flag in which its program can stand.
const commandBefore = 300

// argumentPassword returns the password in the argument that begins at an offset. The
// text is a line of a shell, or a list of quoted elements.
func (s *scanner) argumentPassword(at int) (Match, bool) {
	if s.text[at] != '-' || at == 0 || strings.IndexByte(" \t\"'", s.text[at-1]) < 0 {
		return Match{}, false
	}
	const longest = 200
	rest := s.text[at:min(len(s.text), at+longest)]
	end := strings.IndexAny(rest, " \t\r\n\"'\\")
	if end < 0 {
		end = len(rest)
	}
	for _, f := range passwordForms {
		flag := f.flag.FindString(rest[:end])
		if flag == "" {
			continue
		}
		from, what := at+len(flag), "the password of "+strings.TrimSuffix(flag, "=")
		if f.separate {
			from = s.skipBytes(from, `\"'`, 2)
			from = s.skipBytes(from, ", \t\n", 20)
		}
		from = s.skipBytes(from, `\"'`, 2)
		last := from
		for last < min(len(s.text), from+longest) && strings.IndexByte(" \t\r\n\"'`\\", s.text[last]) < 0 {
			last++
		}
		start, ok := f.passwordOf(s.text[from:last])
		if _, shaped := shapeAt(s.text, from+start); ok && !shaped && s.hasProgramBefore(f.programs, at) {
			return Match{from + start, last, what, false}, true
		}
	}
	return Match{}, false
}

// commandStart returns the offset at which the command around an offset starts. In a list
// of elements, a line can end after a comma or a bracket, and a line of a shell after a
// backslash.
func (s *scanner) commandStart(at int) int {
	least := max(0, at-commandBefore)
	for i := at - 1; i > least; i-- {
		switch c, before := s.text[i], s.text[i-1]; {
		case c == ';', c == '|', c == '&' && before == '&', c == 'n' && before == '\\':
			return i + 1
		case c == '\n':
			line := strings.TrimRight(s.text[least:i], " \t\r")
			if line != "" && strings.IndexByte(",[\\", line[len(line)-1]) < 0 {
				return i + 1
			}
		}
	}
	return least
}

// hasProgramBefore reports whether one of the programs starts the command with the flag
// at an offset.
func (s *scanner) hasProgramBefore(programs []string, at int) bool {
	words := strings.FieldsFunc(s.text[s.commandStart(at):at], func(c rune) bool {
		return strings.ContainsRune(" \t\n\"'\\,[(`", c)
	})
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(programs, path.Base(word)) })
}

// registryHost matches the host at the start of a text, and the "/" after it.
var registryHost = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?/`)

// hostPassword returns the password before the host of an address without a scheme, in
// the form USER:PASSWORD@HOST/PATH. at is the offset of the colon. Without a path, the
// text can be an address of mail with a prefix, such as a member of a role.
func (s *scanner) hostPassword(at int) (Match, bool) {
	const longestUser, longest, longestHost = 60, 200, 260
	if s.text[at] != ':' {
		return Match{}, false
	}
	from := at
	for from > max(0, at-longestUser) && (isWord(s.text[from-1]) || s.text[from-1] == '-' || s.text[from-1] == '.') {
		from--
	}
	if from == at || from > 0 && strings.IndexByte(" \t\n\"'", s.text[from-1]) < 0 {
		return Match{}, false
	}
	rest := s.text[at+1 : min(len(s.text), at+1+longest)]
	end := strings.IndexAny(rest, "@/?# \t\r\n\"'`<>{}$\\*()[],;")
	if end < 0 || rest[end] != '@' {
		return Match{}, false
	}
	user, password, after := s.text[from:at], rest[:end], at+1+end+1
	if _, shaped := shapeAt(password, 0); shaped || password == user || !canBePassword(password) ||
		isFiller(user, password) || !registryHost.MatchString(s.text[after:min(len(s.text), after+longestHost)]) {
		return Match{}, false
	}
	return Match{at + 1, at + 1 + end, "the password before a host", false}, true
}
