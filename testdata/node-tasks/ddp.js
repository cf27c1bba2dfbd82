// One DDP session on one socket, as Meteor's server holds it.
import EJSON from 'ejson';
import { randomId } from './random.js';

const VERSIONS = ['1', 'pre2', 'pre1'];
const HEARTBEAT_MS = 15_000; // between looks at whether the client spoke, and again until it counts as gone

// An error that the client may see; any other becomes a 500 without its text.
class ClientError {
  constructor(error, reason) {
    Object.assign(this, { isClientSafe: true, error, reason, message: `${reason} [${error}]`, errorType: 'Meteor.Error' });
  }
}

const isStrings = list => Array.isArray(list) && list.every(s => typeof s === 'string');
const send = (socket, message) => socket.write(EJSON.stringify(message)); // fields that are undefined are left out

function sendError(socket, reason, offendingMessage) {
  send(socket, { msg: 'error', reason, offendingMessage: offendingMessage ?? undefined });
}

// parse gives null for what is no JSON object or array.
function parse(text) {
  try {
    const message = EJSON.parse(text);
    return typeof message === 'object' ? message : null;
  } catch {
    return null;
  }
}

// pick chooses the first version of the client's list that is known here.
function pick({ version, support }) {
  if (typeof version !== 'string' || !isStrings(support) || !support.includes(version)) return VERSIONS[0];
  return support.find(v => VERSIONS.includes(v)) ?? VERSIONS[0];
}

// handleSocket speaks DDP on a sockjs connection for as long as it is open.
export function handleSocket(socket, app) {
  let session = null;
  socket.on('close', () => session?.stop());
  socket.on('data', text => {
    const message = parse(text);
    if (!message?.msg) return sendError(socket, 'Bad request', message);
    if (message.msg !== 'connect') {
      return session ? session.receive(message) : sendError(socket, 'Must connect first', message);
    }
    if (session) return sendError(socket, 'Already connected', message);
    const version = pick(message);
    if (message.version === version && isStrings(message.support)) {
      session = new Session(socket, version, app);
      return;
    }
    send(socket, { msg: 'failed', version });
    socket.close();
  });
}

class Session {
  constructor(socket, version, app) {
    Object.assign(this, { socket, version, app });
    this.subs = new Map(); // subscription id -> function that stops its publication
    this.views = new Map(); // the merge box: "collection id" -> the document's place and the subscriptions that carry it
    this.send({ msg: 'connected', session: randomId() });
    this.heard = false;
    if (version !== 'pre1') this.beat = setInterval(() => this.heartbeat(), HEARTBEAT_MS);
  }

  send(message) {
    send(this.socket, message);
  }

  stop() {
    clearInterval(this.beat);
    clearTimeout(this.dying);
    for (const stop of this.subs.values()) stop();
    this.subs.clear();
  }

  heartbeat() {
    if (!this.heard && !this.dying) {
      this.send({ msg: 'ping' });
      this.dying = setTimeout(() => this.socket.close(), HEARTBEAT_MS);
    }
    this.heard = false;
  }

  // Methods are synchronous here, so that one message is done before the next is looked at.
  receive(message) {
    this.heard = true;
    clearTimeout(this.dying);
    this.dying = null;
    const pings = this.version !== 'pre1';
    switch (message.msg) {
      case 'sub': return this.sub(message);
      case 'unsub': return this.unsub(message);
      case 'method': return this.method(message);
      case 'ping': if (pings) return this.send({ msg: 'pong', id: message.id }); break;
      case 'pong': if (pings) return undefined; break;
    }
    return sendError(this.socket, 'Bad request', message);
  }

  sub(message) {
    const { id, name, params = [] } = message;
    if (typeof id !== 'string' || typeof name !== 'string' || !Array.isArray(params)) {
      return sendError(this.socket, 'Malformed subscription', message);
    }
    const publish = this.app.publications.get(name);
    if (!publish) {
      return this.send({ msg: 'nosub', id, error: new ClientError(404, `Subscription '${name}' not found`) });
    }
    if (this.subs.has(id)) return undefined;
    this.subs.set(id, publish({
      added: (collection, doc) => this.added(id, collection, doc),
      removed: (collection, docId) => this.removed(id, collection, docId),
    }));
    return this.send({ msg: 'ready', subs: [id] });
  }

  unsub({ id }) {
    this.subs.get(id)?.();
    this.subs.delete(id);
    for (const { collection, docId } of this.views.values()) this.removed(id, collection, docId);
    this.send({ msg: 'nosub', id });
  }

  added(sub, collection, { _id, ...fields }) {
    const key = `${collection} ${_id}`;
    const view = this.views.get(key);
    if (view) {
      view.subs.add(sub);
      return;
    }
    this.views.set(key, { collection, docId: _id, subs: new Set([sub]) });
    this.send({ msg: 'added', collection, id: _id, fields });
  }

  removed(sub, collection, id) {
    const key = `${collection} ${id}`;
    const view = this.views.get(key);
    if (!view?.subs.delete(sub) || view.subs.size > 0) return;
    this.views.delete(key);
    this.send({ msg: 'removed', collection, id });
  }

  method(message) {
    const { id, method, params = [], randomSeed = '' } = message;
    if (typeof id !== 'string' || typeof method !== 'string' || !Array.isArray(params) || typeof randomSeed !== 'string') {
      return sendError(this.socket, 'Malformed method invocation', message);
    }
    const body = this.app.methods.get(method);
    const answer = { msg: 'result', id };
    const updated = { msg: 'updated', methods: [id] };
    if (!body) {
      this.send({ ...answer, error: new ClientError(404, `Method '${method}' not found`) });
      return this.send(updated);
    }
    // What a method writes reaches the publications before it returns, so that updated always comes after the data.
    Object.assign(answer, invoke(method, body, params));
    this.send(updated);
    return this.send(answer);
  }
}

function invoke(name, body, params) {
  try {
    return { result: body(...params) };
  } catch (error) {
    console.error(`method ${name}: ${error.message}`);
    return { error: new ClientError(500, 'Internal server error') };
  }
}
