package lambdatest

import (
	"os/exec"
	"syscall"
)

// dieWithTest has a process killed when this one ends, however it ends.
func dieWithTest(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
