// Child process of http.ts: a minimal uWebSockets.js server. Arguments: the name of the package to
// import, then the sizes in bytes of the answers to a range query, a node query and an insert.

const [packageName, ...sizes] = process.argv.slice(2);
const { App, us_socket_local_port } = await import(packageName);
const [range, node, insert] = sizes.map((bytes) => Buffer.alloc(Number(bytes), 'x'));

const answer = (body) => (response) => {
  response.writeHeader('Content-Type', 'application/json').end(body);
};

App()
  .get('/v1/hyperedges', answer(range))
  .get('/v1/hyperedges/node/:id', answer(node))
  .post('/v1/hyperedges', (response) => {
    let bytes = 0;
    response.onAborted(() => {});
    response.onData((chunk, isLast) => {
      bytes += chunk.byteLength;
      if (!isLast || bytes === 0) return;
      response.cork(() => {
        response.writeStatus('201 Created').writeHeader('Content-Type', 'application/json').end(insert);
      });
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (!socket) throw new Error('the bare server cannot listen');
    console.log(`http://127.0.0.1:${us_socket_local_port(socket)}`);
  });

process.once('SIGTERM', () => process.exit(0));
