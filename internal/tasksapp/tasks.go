package tasksapp

import (
	"bytes"
	"container/list"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ddpgate/ddpgate/ddp"
)

// tasks are the documents and who is shown them. One lock guards both; nothing blocks under it, because sending is adding
// to an outbox. That is also the write fence: what a method wrote is in every outbox before its updated is in one.
type tasks struct {
	drop float64

	mu          sync.Mutex
	lost        *rand.Rand
	byID        map[string]*list.Element
	order       *list.List // of *task, oldest first
	subscribers []*outbox
}

// A task is kept as the JSON that is asked for again and again.
type task struct {
	id      string
	owner   []byte // the sessionId as canonical JSON; nil for none
	fields  []byte
	added   *message
	removed *message
}

func newTasks(opts Options) *tasks {
	return &tasks{
		drop:  opts.Drop,
		lost:  rand.New(rand.NewPCG(opts.Seed, 0)),
		byID:  make(map[string]*list.Element),
		order: list.New(),
	}
}

// newTask makes a document; a field that was not given it has not.
func newTask(id string, owner, description []byte, created time.Time) *task {
	fields := []byte("{")
	if owner != nil {
		fields = fmt.Appendf(fields, `"sessionId":%s,`, owner)
	}
	if description != nil {
		fields = fmt.Appendf(fields, `"description":%s,`, description)
	}
	fields = fmt.Appendf(fields, `"createdAt":{"$date":%d}}`, created.UnixMilli())
	return &task{id: id, owner: owner, fields: fields, added: added(id, fields), removed: removed(id)}
}

// commit runs a method's body and sends its caller result and updated, everybody its writes. The order is Meteor's: where a
// write reaches a subscriber the result comes first, else last.
func (t *tasks) commit(caller *outbox, id []byte, do func(*tasks) ([]byte, []*message, error)) {
	t.mu.Lock()
	value, writes, err := do(t)
	answer := resultFailed(id)
	if err == nil {
		answer = result(id, value)
	}
	observed := len(writes) > 0 && len(t.subscribers) > 0
	if observed {
		caller.send(answer)
	}
	for _, w := range writes {
		for _, o := range t.subscribers {
			t.show(o, w)
		}
	}
	t.mu.Unlock()
	caller.send(updated(id))
	if !observed {
		caller.send(answer)
	}
}

// show sends a data message, unless it is to be lost.
func (t *tasks) show(o *outbox, m *message) {
	if t.drop > 0 && t.lost.Float64() < t.drop {
		return
	}
	o.send(m)
}

// join shows a new subscriber what there is, and from now on what changes.
func (t *tasks) join(o *outbox) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for task := range t.all() {
		t.show(o, task.added)
	}
	t.subscribers = append(t.subscribers, o)
}

// withdraw takes back from a subscriber what it was shown.
func (t *tasks) withdraw(o *outbox) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(o)
	for task := range t.all() {
		t.show(o, task.removed)
	}
}

// leave forgets a subscriber, if it is one.
func (t *tasks) leave(o *outbox) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(o)
}

func (t *tasks) forget(o *outbox) {
	if i := slices.Index(t.subscribers, o); i >= 0 {
		t.subscribers = slices.Delete(t.subscribers, i, i+1)
	}
}

func (t *tasks) all() func(yield func(*task) bool) {
	return func(yield func(*task) bool) {
		for e := t.order.Front(); e != nil && yield(e.Value.(*task)); e = e.Next() {
		}
	}
}

func (t *tasks) insert(task *task) { t.byID[task.id] = t.order.PushBack(task) }

// find returns the task with an id that is given as JSON, or nil.
func (t *tasks) find(id []byte) *task {
	if e, ok := t.byID[string(ddp.Text(id))]; ok {
		return e.Value.(*task)
	}
	return nil
}

// of returns the tasks with a sessionId, oldest first.
func (t *tasks) of(owner []byte) []*task {
	var found []*task
	for task := range t.all() {
		if bytes.Equal(task.owner, owner) && (task.owner == nil) == (owner == nil) {
			found = append(found, task)
		}
	}
	return found
}

// remove removes a task and returns the message that says so.
func (t *tasks) remove(task *task) *message {
	t.order.Remove(t.byID[task.id])
	delete(t.byID, task.id)
	return task.removed
}

// list returns all tasks as a JSON array of whole documents.
func (t *tasks) list() []byte {
	size := 2
	for task := range t.all() {
		size += len(task.fields) + len(`{"_id":"",`) + len(task.id)
	}
	out := append(make([]byte, 0, size), '[')
	for task := range t.all() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, `{"_id":`...)
		out = ddp.AppendString(out, []byte(task.id))
		out = append(out, ',')
		out = append(out, task.fields[1:]...)
	}
	return append(out, ']')
}
