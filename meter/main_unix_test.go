//go:build unix

package meter

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ddpgate/ddpgate/internal/usage"
)

// usedWithChildren is what this process and the children that it has waited for have used, in CPU seconds.
func usedWithChildren() float64 {
	var sum float64
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			panic(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	return sum
}

// touch takes memory that stays resident.
func touch(n int) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	for i := 0; i < n; i += os.Getpagesize() {
		b[i] = 1
	}
}

// serveAndBurn is an app. At each request it starts a program that is orphaned at once, in a session of its own, which uses 200 ms of
// CPU time and then ends; the answer comes when it has.
func serveAndBurn() {
	if os.Getenv("ORPHAN") != "" {
		burn(200 * time.Millisecond)
		conn, err := net.Dial("unix", os.Getenv("ORPHAN"))
		if err != nil {
			panic(err)
		}
		conn.Close()
		return
	}
	ln, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		panic(err)
	}
	http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/orphan" {
			return
		}
		at := fmt.Sprintf("%s/orphan", os.Getenv("DIR"))
		back, err := net.Listen("unix", at)
		if err != nil {
			panic(err)
		}
		defer back.Close()
		cmd := exec.Command("sh", "-c", `"$0" &`, os.Args[0])
		cmd.Env = append(os.Environ(), "ORPHAN="+at)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Run(); err != nil {
			panic(err)
		}
		conn, err := back.Accept()
		if err != nil {
			panic(err)
		}
		conn.Read(make([]byte, 1)) // until it has ended
		conn.Close()
	}))
}

// dropChildren starts children that use 20 ms of CPU time each and of which the system keeps no account. It returns how much they used by
// their own clocks.
func dropChildren(n int) float64 {
	signal.Ignore(syscall.SIGCHLD)
	defer signal.Reset(syscall.SIGCHLD)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer ln.Close()
	before, _ := usage.CPU()
	var sum float64
	for range n {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "PLAY=reporter", "ADDR="+ln.Addr().String())
		if err := child.Start(); err != nil {
			panic(err)
		}
		conn, err := ln.Accept()
		if err != nil {
			panic(err)
		}
		var used float64
		fmt.Fscanln(conn, &used)
		conn.Read(make([]byte, 1)) // until it has ended
		conn.Close()
		sum += used
		child.Wait()
	}
	after, _ := usage.CPU()
	return sum + after - before
}

// reportOwnUse uses CPU time, tells how much it has come to, and ends.
func reportOwnUse() {
	conn, err := net.Dial("tcp", os.Getenv("ADDR"))
	if err != nil {
		panic(err)
	}
	burn(20 * time.Millisecond)
	used, _ := usage.CPU()
	fmt.Fprintln(conn, used)
}
