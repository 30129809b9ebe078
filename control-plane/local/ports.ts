/** Ports to listen on: a free one, or the assurance that a chosen one is free. */
import { createServer } from 'node:net';

/** A port of the host that nobody listened on a moment ago. */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  return tryPort(host, 0);
}

/** Whether a port of 127.0.0.1 can be listened on. */
export function isPortFree(port: number): Promise<boolean> {
  return tryPort('127.0.0.1', port).then(
    () => true,
    () => false,
  );
}

/** Throws one line that names the variable to change when the port cannot be listened on. */
export async function assertPortIsFree(host: string, port: number, variable: string): Promise<void> {
  try {
    await tryPort(host, port);
  } catch (cause) {
    throw new Error(`${describe(cause, host, port)}; set ${variable} to another port (0 picks a free one).`, {
      cause,
    });
  }
}

async function tryPort(host: string, port: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host, port, exclusive: true }, resolve);
  });
  const address = server.address();
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  if (address === null || typeof address === 'string') throw new Error('The system gave no port.');
  return address.port;
}

function describe(cause: unknown, host: string, port: number): string {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') return `Port ${port} of ${host} is in use by another program`;
  if (code === 'EACCES') return `Port ${port} needs rights that this user does not have`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${host} is not an address of this machine (HOST)`;
  return `Port ${port} of ${host} cannot be listened on (${code ?? 'unknown reason'})`;
}
