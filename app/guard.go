package app

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/ddpgate/ddpgate/internal/affinity"
)

// guardName is what a guard finds as its program's name, and what ps shows.
const guardName = "ddpgate-guard"

// A spec is what a guard starts. It comes as JSON on the guard's standard input, which stays open as long as somebody wants the
// process: its end is how a guard learns that the program that called Start was killed.
type spec struct {
	Path string
	Args []string
	Env  []string
	Dir  string
	CPUs []int  `json:",omitempty"` // to keep it on
	Tmp  string // removed when the program that called Start is gone
}

// endMark is what a guard writes, as a line of its own, behind the last output of a process that has ended: the output comes another
// way than the events, and this tells that nothing is still to come.
const endMark = "\x00" + guardName + "\x00"

// Orders follow the spec on the guard's standard input.
type order struct{ Do string }

const (
	orderTerm = "term" // ask the processes to end
	orderEnd  = "end"  // kill what is left, then exit
)

// An event is one line of JSON on a guard's standard output. It tells of one thing.
type event struct {
	Started int    `json:",omitempty"` // the process's id
	Groups  groups `json:",omitzero"`  // of its own, with Started
	Failed  string `json:",omitempty"` // why it could not be started
	Exited  *ended `json:",omitempty"` // how the process ended
	Empty   bool   `json:",omitempty"` // it has ended, and all below it
}

// groups are the directories of the control groups that were made for a process, or why there are none.
type groups struct {
	Directories []string `json:",omitempty"`
	Why         string   `json:",omitempty"`
}

// ended is how a process ended, as Exit has it.
type ended struct {
	PID    int
	Code   int
	Signal string
}

// Guard, called first in main, turns a process that Start made of this same executable into the guard of an app, which starts it, hands
// on how it ends, and kills all that descends from it when the program that called Start is gone. Then ok is true and main must exit
// with the code. In any other process it does nothing.
//
//	if code, ok := app.Guard(os.Args); ok {
//		os.Exit(code)
//	}
func Guard(args []string) (code int, ok bool) {
	if len(args) == 0 || args[0] != guardName {
		return 0, false
	}
	// The kernel sends the parent-death signal when the thread that forked ends, so the thread must last as long as the guard.
	runtime.LockOSThread()
	if err := guard(os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", guardName, err)
		return 1, true
	}
	return 0, true
}

// guard starts one process and stays until its own input ends.
func guard(control io.Reader, events io.Writer, output *os.File) error {
	// Taken rather than ignored, because what is ignored stays so in the app. SIGPIPE would end the guard when it writes an
	// event that nobody reads any more, with the app still there.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	in := json.NewDecoder(control)
	var s spec
	if err := in.Decode(&s); err != nil {
		return fmt.Errorf("read what to start: %w", err)
	}
	w := watch{spec: s, output: output, events: json.NewEncoder(events), exits: make(chan ended)}
	if err := w.start(output); err != nil {
		return w.events.Encode(event{Failed: err.Error()})
	}
	defer w.tree.release()
	w.tell(event{Started: w.tree.root, Groups: w.tree.groups})
	orders := make(chan string)
	go func() {
		defer close(orders)
		for {
			var o order
			if in.Decode(&o) != nil {
				return
			}
			orders <- o.Do
		}
	}()
	go w.tree.reap(w.exits)
	w.loop(orders, signals)
	return nil
}

// A watch is a guard at work.
type watch struct {
	spec     spec
	output   io.Writer
	tree     tree
	events   *json.Encoder
	exits    chan ended // nil when nothing is left
	rootGone bool
	stopping bool
}

// start starts the tree on its CPUs. The thread that forks must be the caller's.
func (w *watch) start(output *os.File) error {
	if err := affinity.Thread(w.spec.CPUs); err != nil {
		return err
	}
	return w.tree.start(w.spec, output)
}

func (w *watch) loop(orders <-chan string, signals <-chan os.Signal) {
	for {
		select {
		case e, ok := <-w.exits:
			w.exited(e, ok)
		case do, ok := <-orders:
			switch {
			case !ok:
				w.kill()
				w.cleanUp()
				return
			case do == orderTerm:
				w.term()
			default:
				w.kill()
				return
			}
		case s := <-signals:
			if s != syscall.SIGPIPE {
				w.kill()
				return
			}
		}
	}
}

func (w *watch) exited(e ended, ok bool) {
	switch {
	case !ok:
		w.exits = nil
		w.tell(event{Empty: true})
	case e.PID == w.tree.root:
		w.rootGone = true
		_, _ = io.WriteString(w.output, "\n"+endMark+"\n")
		w.tell(event{Exited: &e})
		if w.stopping {
			w.tree.termRest(false)
		}
	}
}

// term asks the process group to end, and when its first process is gone those outside of the group: who started a process
// group of its own may want to end it in its own way.
func (w *watch) term() {
	w.stopping = true
	if w.rootGone {
		w.tree.termRest(true)
		return
	}
	w.tree.term()
}

// tell hands an event on. When nobody reads any more, the end of the guard's input follows and does what is to be done.
func (w *watch) tell(e event) { _ = w.events.Encode(e) }

// kill kills until nothing is left: what is forked while it looks is found the next time.
func (w *watch) kill() {
	if w.exits == nil {
		return
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	w.tree.kill()
	for w.exits != nil {
		select {
		case e, ok := <-w.exits:
			w.exited(e, ok)
		case <-again.C:
			w.tree.kill()
		}
	}
}

// cleanUp removes the temporary directory, which nobody else is left to remove. Of several guards the last one to end gets it empty.
func (w *watch) cleanUp() {
	if w.spec.Tmp != "" {
		_ = os.RemoveAll(w.spec.Tmp)
	}
}
