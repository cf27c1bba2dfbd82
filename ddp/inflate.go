package ddp

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
)

// tail is what a sender cuts off a message: the end of the empty block by which it flushed (RFC 7692, section 7.2.1).
var tail = []byte{0, 0, 0xff, 0xff}

// An inflater inflates the messages of one connection. With context takeover it holds the last 32 KiB of what came, in
// the library's own window: some 40 KiB in all.
type inflater struct {
	alone bool // each message stands alone
	in    feed
	fr    io.ReadCloser
}

// minRead is the least room that the library is given to write into.
const minRead = 512

// message appends the content of a compressed message, which ends in tail, to dst.
func (f *inflater) message(dst, in []byte, limit int64) ([]byte, error) {
	f.in = feed{b: in}
	if f.fr == nil {
		f.fr = flate.NewReader(&f.in)
	} else if f.alone {
		if err := f.fr.(flate.Resetter).Reset(&f.in, nil); err != nil {
			return dst, err
		}
	}
	start := len(dst)
	for {
		if cap(dst)-len(dst) < minRead {
			dst = append(dst, make([]byte, minRead)...)[:len(dst)]
		}
		room := dst[len(dst):cap(dst)]
		n, err := f.read(room)
		dst = dst[:len(dst)+n]
		switch {
		case int64(len(dst)-start) > limit:
			return dst, &ConnError{Cause: TooLarge, Err: errTooLarge(limit)}
		case errors.Is(err, errFlushed), err == nil && f.in.flushed() && n < len(room):
			return dst, nil
		case err != nil:
			return dst, fmt.Errorf("inflate: %w", err)
		}
	}
}

// errFlushed says that a message has been read to its end.
var errFlushed = errors.New("flushed")

// read reads from the library. Asked for more than a message has, the library would take the end of its input for the end of
// the stream and never read again. A panic out of the input is the one way out that leaves it able to go on with the next
// message; it is needed once in 32 KiB of content at most, where a message ends at the end of the library's window.
func (f *inflater) read(p []byte) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != any(errFlushed) {
				panic(r)
			}
			n, err = 0, errFlushed
		}
	}()
	return f.fr.Read(p)
}

// A feed is one message's compressed bytes.
type feed struct {
	b      []byte
	i      int
	length bool // the last bytes were read as the length of a stored block, as the tail is
}

// flushed tells whether all has been read, the tail as what it is.
func (f *feed) flushed() bool { return f.i == len(f.b) && f.length }

// ReadByte implements io.ByteReader: bits of blocks.
func (f *feed) ReadByte() (byte, error) {
	if f.flushed() {
		panic(errFlushed)
	}
	f.length = false
	if f.i == len(f.b) {
		return 0, io.EOF
	}
	f.i++
	return f.b[f.i-1], nil
}

// Read implements io.Reader: the length and the content of stored blocks.
func (f *feed) Read(p []byte) (int, error) {
	if f.i == len(f.b) {
		return 0, io.EOF
	}
	n := copy(p, f.b[f.i:])
	f.i += n
	f.length = n <= len(tail)
	return n, nil
}
