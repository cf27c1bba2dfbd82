// The tasks: kept in memory, published unscoped, changed by four methods. The names and shapes are those of Meteor's suite.
import { randomId } from './random.js';
import { misbehave } from './faults.js';

const COLLECTION = 'taskCollection';
const tasks = new Map(); // _id -> document, in order of insertion
const observers = new Set();

function remove(ids) {
  for (const id of ids) {
    tasks.delete(id);
    for (const observer of observers) observer.removed(COLLECTION, id);
  }
  return ids.length;
}

const bodies = {
  insertTask({ sessionId, description }) {
    const task = { _id: randomId(), sessionId, description, createdAt: new Date() };
    tasks.set(task._id, task);
    for (const observer of observers) observer.added(COLLECTION, task);
    return task._id;
  },
  removeTask({ taskId }) {
    return remove(tasks.has(taskId) ? [taskId] : []);
  },
  removeAllTasks({ sessionId }) {
    return remove([...tasks.values()].filter(task => task.sessionId === sessionId).map(task => task._id));
  },
  fetchTasks() {
    return [...tasks.values()];
  },
};

// methods by name.
export const methods = new Map(Object.entries(bodies).map(([name, body]) => [name, (...params) => {
  misbehave();
  return body(...params);
}]));

// publications by name: each takes an observer, tells it of every document there is, and returns how to stop.
export const publications = new Map([['fetchTasks', observer => {
  for (const task of tasks.values()) observer.added(COLLECTION, task);
  observers.add(observer);
  return () => observers.delete(observer);
}]]);
