package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// MaxSize is the largest record that is read, in bytes of JSON.
const MaxSize = 256 << 20

// Why a file is no record that this build can read. A FileError wraps one of them, or an error of the system.
var (
	ErrNotRecord = errors.New("not a ddpgate record")
	ErrTruncated = errors.New("truncated")
	ErrNewer     = errors.New("written by a newer ddpgate")
	ErrInvalid   = errors.New("not a valid record")
	ErrTooLarge  = errors.New("too large")
)

// A FileError names the file that could not be read as a record, and why.
type FileError struct {
	File   string
	Reason error
}

func (e *FileError) Error() string { return "record " + e.File + ": " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Reason }

// Read reads a record from a file, plain or compressed with gzip. Each error is a *FileError.
func Read(path string) (*Record, error) { return ReadAtMost(path, MaxSize) }

// ReadAtMost reads a record as Read does, of no more bytes of JSON than a limit. It is for records that strangers made.
func ReadAtMost(path string, limit int64) (*Record, error) {
	f, err := os.Open(path)
	if err != nil {
		if e := new(os.PathError); errors.As(err, &e) {
			err = e.Err // the path is named once
		}
		return nil, &FileError{path, err}
	}
	defer f.Close()
	return decodeAtMost(path, f, limit)
}

// Decode reads a record, plain or compressed with gzip; name is the file's name for errors, each of which is a *FileError. The
// record's ID is that of what was read: where the file says another, it was changed after it was written, and Altered is set.
// Fields that this build does not know are left out.
func Decode(name string, r io.Reader) (*Record, error) { return decodeAtMost(name, r, MaxSize) }

// DecodeKnown reads a record as Decode does, that Encode is known to have written with this id. While its content still has that hash it is not held against the schema again,
// which takes as long as to read it.
func DecodeKnown(id string, r io.Reader) (*Record, error) { return decodeKnown(id, id, r, MaxSize) }

func decodeAtMost(name string, r io.Reader, limit int64) (*Record, error) {
	return decodeKnown(name, "", r, limit)
}

func decodeKnown(name, id string, r io.Reader, limit int64) (*Record, error) {
	b, err := readAll(r, limit)
	if err != nil {
		return nil, &FileError{name, err}
	}
	rec, err := decode(b, id)
	if err != nil {
		return nil, &FileError{name, err}
	}
	return rec, nil
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		b, err = gunzip(b, limit)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: the compressed file ends too early", ErrTruncated)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return nil, fmt.Errorf("%w: %w", ErrNotRecord, err)
	case err != nil:
		return nil, err
	case int64(len(b)) > limit:
		return nil, fmt.Errorf("%w: more than %d MiB", ErrTooLarge, limit>>20)
	}
	return b, nil
}

func gunzip(b []byte, limit int64) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(zip, limit+1))
}

func decode(b []byte, known string) (*Record, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return nil, jsonFault(b, err)
	}
	if err := checkFormat(members); err != nil {
		return nil, err
	}
	id, err := idOf(members)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if id != known {
		if err := validate(b); err != nil {
			return nil, err
		}
	}
	var rec Record
	if err := json.Unmarshal(b, &rec); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := Check(&rec); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	rec.Altered = rec.ID != "" && rec.ID != id
	rec.ID = id
	return &rec, nil
}

// jsonFault says what it is about text that is no JSON object.
func jsonFault(b []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return fmt.Errorf("%w: the file is empty", ErrTruncated)
	case !errors.As(err, &syntax):
		return fmt.Errorf("%w: it is JSON, but no object", ErrNotRecord)
	case bytes.TrimSpace(b)[0] != '{':
		return fmt.Errorf("%w: it is not JSON", ErrNotRecord)
	case endsEarly(b):
		return fmt.Errorf("%w: the JSON ends too early, after %d bytes", ErrTruncated, len(b))
	}
	before := b[:syntax.Offset-1]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("%w: line %d, column %d: %w", ErrNotRecord, line, column, err)
}

// endsEarly says whether the JSON is right as far as it goes.
func endsEarly(b []byte) bool {
	var whole json.RawMessage
	return errors.Is(json.NewDecoder(bytes.NewReader(b)).Decode(&whole), io.ErrUnexpectedEOF)
}

func checkFormat(members map[string]json.RawMessage) error {
	var format string
	if raw, found := members["format"]; !found {
		return fmt.Errorf("%w: it has no field format", ErrNotRecord)
	} else if err := json.Unmarshal(raw, &format); err != nil {
		return fmt.Errorf("%w: its format is no text", ErrNotRecord)
	}
	if format == Format {
		return nil
	}
	kind, current, _ := cutVersion(Format)
	other, version, ok := cutVersion(format)
	if ok && other == kind && version > current {
		return fmt.Errorf("%w: its format is %s, this build reads %s; update ddpgate", ErrNewer, format, Format)
	}
	return fmt.Errorf("%w: its format is %q, this build reads %s", ErrNotRecord, format, Format)
}

// cutVersion cuts a format, kind/version.
func cutVersion(format string) (kind string, version int, ok bool) {
	i := strings.LastIndexByte(format, '/')
	if i < 0 {
		return "", 0, false
	}
	version, err := strconv.Atoi(format[i+1:])
	return format[:i], version, err == nil
}
