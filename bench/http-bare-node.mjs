// Child process of http.ts: a minimal node:http server. Arguments: the sizes in bytes of the
// answers to a range query, a node query and an insert.

import { createServer } from 'node:http';

const [range, node, insert] = process.argv.slice(2).map((bytes) => Buffer.alloc(Number(bytes), 'x'));

const headers = (body) => ['Content-Type', 'application/json', 'Content-Length', String(body.length)];

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    let bytes = 0;
    request.on('data', (chunk) => {
      bytes += chunk.length;
    });
    request.on('end', () => {
      if (bytes > 0) response.writeHead(201, headers(insert)).end(insert);
    });
    return;
  }
  const body = request.url.startsWith('/v1/hyperedges/node/') ? node : range;
  response.writeHead(200, headers(body)).end(body);
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));

process.once('SIGTERM', () => process.exit(0));
