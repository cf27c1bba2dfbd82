// The tasks app as a process: HTTP, both transports, a clean end. See README.md for the environment it reads.
import http from 'node:http';
import deflate from 'permessage-deflate';
import sockjs from 'sockjs';
import { handleSocket } from './ddp.js';
import { methods, publications } from './tasks.js';

const { PORT = '3000', HOST = '127.0.0.1', SERVER_WEBSOCKET_COMPRESSION = '{}' } = process.env;

// As Meteor reads it: false turns compression off, an object configures it.
const compression = JSON.parse(SERVER_WEBSOCKET_COMPRESSION);

const stream = sockjs.createServer({
  prefix: '/sockjs',
  log() {},
  heartbeat_delay: 45_000,
  disconnect_delay: 60_000,
  faye_server_options: { extensions: compression ? [deflate.configure(compression)] : [] },
});

const sockets = new Set();
stream.on('connection', socket => {
  if (!socket) return; // the client was gone before sockjs had set the connection up
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  handleSocket(socket, { methods, publications });
});

const server = http.createServer((request, response) => {
  response.writeHead(request.url === '/' ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(request.url === '/' ? 'tasks\n' : 'not found\n');
});
stream.installHandlers(server);
for (const event of ['request', 'upgrade']) {
  // sockjs keeps its raw transport under its own prefix; DDP clients look for it at the root.
  server.prependListener(event, request => {
    request.url = request.url.replace(/^\/websocket\/?(?=\?|$)/, '/sockjs/websocket');
  });
}

server.on('error', error => {
  console.error(error.message);
  process.exitCode = 1;
});
server.listen(Number(PORT), HOST, () => {
  console.log(`listening on http://${HOST}:${server.address().port}`);
});

function stop() {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
  for (const socket of sockets) socket.close();
  setTimeout(() => process.exit(0), 1000).unref(); // for clients that never finish the closing handshake
}
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
