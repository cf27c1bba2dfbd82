//go:build unix

package ddp

import (
	"os"
	"syscall"
)

const rawReads = true

// receive is called when something may have come. It returns false where nothing has, to be called again.
func (w *wakeConn) receive(fd uintptr) bool {
	buf := largeBuffers.Get().(*[]byte)
	for {
		n, err := syscall.Read(int(fd), *buf)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			largeBuffers.Put(buf)
			return false
		case err != nil || n <= 0:
			largeBuffers.Put(buf)
			w.err = nil
			if err != nil {
				w.err = os.NewSyscallError("read", err)
			}
		default:
			w.buf, w.pending, w.err = buf, (*buf)[:n], nil
		}
		return true
	}
}
