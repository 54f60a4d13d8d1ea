// What forwarder.py does, for images that have Node and no Python.
import { connect, createServer } from "node:net";

const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ path: "supervisor.sock", allowHalfOpen: true });
  const end = () => {
    near.destroy();
    far.destroy();
  };
  near.on("error", end);
  far.on("error", end);
  near.pipe(far);
  // the gateway's end is the end of both
  far.pipe(near);
  far.on("end", () => near.end(end));
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log(`port ${server.address().port}`));
