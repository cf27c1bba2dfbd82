package ddp

import (
	"bytes"
	"compress/flate"
	"testing"

	"pgregory.net/rapid"
)

// deflater compresses as a server does: one context, each message flushed and its tail cut off.
type deflater struct {
	out bytes.Buffer
	w   *flate.Writer
}

func newDeflater(t interface{ Fatal(...any) }) *deflater {
	d := new(deflater)
	var err error
	if d.w, err = flate.NewWriter(&d.out, flate.DefaultCompression); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *deflater) message(t interface{ Fatal(...any) }, b []byte) []byte {
	d.out.Reset()
	if _, err := d.w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := d.w.Flush(); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(d.out.Bytes()) // with the tail
}

// Messages that end exactly at the end of the library's 32 KiB window once made it stop for good.
func TestInflateAcrossWindow(t *testing.T) {
	for _, size := range []int{1, 64, 128, 511, 512, 1024, 4096, 1 << 15, 1<<15 + 1, 1 << 17} {
		d, f := newDeflater(t), new(inflater)
		for i := range max(8, 3<<16/size) {
			want := bytes.Repeat([]byte{byte('a' + i%7), byte(i)}, size/2+1)[:size]
			got, err := f.message(nil, d.message(t, want), 1<<20)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("size %d, message %d: got %d bytes, %v", size, i, len(got), err)
			}
		}
	}
}

func TestInflateProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, f := newDeflater(t), new(inflater)
		for range rapid.IntRange(1, 60).Draw(t, "messages") {
			unit := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "unit")
			want := bytes.Repeat(unit, rapid.IntRange(0, 900).Draw(t, "times"))
			got, err := f.message([]byte("kept"), d.message(t, want), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if string(got[:4]) != "kept" || !bytes.Equal(got[4:], want) {
				t.Fatalf("got %d bytes, want %d", len(got)-4, len(want))
			}
		}
	})
}

func TestInflateRefuses(t *testing.T) {
	d := newDeflater(t)
	whole := d.message(t, bytes.Repeat([]byte("task "), 1000))
	if _, err := new(inflater).message(nil, bytes.Clone(whole), 100); err == nil {
		t.Error("a message over the limit was taken")
	}
	if _, err := new(inflater).message(nil, whole[:len(whole)/2], 1<<20); err == nil {
		t.Error("half a message was taken")
	}
}
