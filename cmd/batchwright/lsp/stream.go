package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	// maxMessage is the size of the largest message that is read, in bytes. A
	// message can hold a whole file, with each character escaped.
	maxMessage = 128 << 20

	// maxHeader is the length of the longest header line, in bytes.
	maxHeader = 4 << 10
)

// stream reads and writes messages with headers. The library's own stream ends the
// session at the first message that is not valid, and allocates as much memory as a
// message asks for.
type stream struct {
	in  *bufio.Reader
	log *log.Logger

	mu  sync.Mutex // held while a message is written
	out io.Writer
}

func newStream(in io.Reader, out io.Writer, log *log.Logger) *stream {
	return &stream{in: bufio.NewReaderSize(in, 2*maxHeader), out: out, log: log}
}

// WriteObject writes one message.
func (s *stream) WriteObject(object any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.out.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...))
	return err
}

// ReadObject reads the next valid message. It answers a message that is not valid
// with an error, and skips it.
func (s *stream) ReadObject(object any) error {
	for {
		body, err := s.readBody()
		if err != nil {
			return err
		}
		err = errors.New("the message is too large")
		if body != nil {
			if err = json.Unmarshal(body, object); err == nil {
				return nil
			}
		}
		s.log.Printf("skipped a message: %v", err)
		failure := map[string]any{
			"jsonrpc": "2.0", "id": nil,
			"error": jsonrpc2.Error{Code: jsonrpc2.CodeParseError, Message: err.Error()},
		}
		if err := s.WriteObject(failure); err != nil {
			return err
		}
	}
}

// readBody reads the next message. It skips everything that is not a header, and
// returns nil for a message that is too large.
func (s *stream) readBody() ([]byte, error) {
	length := -1
	for {
		line, err := s.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue // not a header
		}
		if err != nil {
			return nil, err
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		if name == "" && length >= 0 {
			break
		}
		if strings.EqualFold(name, "Content-Length") {
			if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n >= 0 {
				length = n
			}
		}
	}
	if length > maxMessage {
		_, err := io.CopyN(io.Discard, s.in, int64(length))
		return nil, err
	}
	body := make([]byte, length)
	_, err := io.ReadFull(s.in, body)
	return body, err
}

// Close does nothing: the streams belong to the caller.
func (s *stream) Close() error { return nil }
