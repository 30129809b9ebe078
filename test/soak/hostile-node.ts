/**
 * The process of a node with fake accounts, so that its memory can be measured from outside. Its only
 * upstream is at the port of the first argument. It sends its port and a key, and ends with its parent.
 */
import { makeRoute, startNode } from '../request-path.ts';

const node = await startNode();
node.store.routes.push(makeRoute(`http://127.0.0.1:${process.argv[2]}`));
process.once('disconnect', () => process.exit(0));
process.send?.({ port: node.port, key: node.secret });
