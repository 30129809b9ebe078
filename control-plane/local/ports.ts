/** Finds free ports, and checks whether a port is free. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Systems give ports from 32768 on to outgoing connections (Linux; 49152 on others). A port below stays free
 * until its server listens.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_767;
const ATTEMPTS = 50;

/**
 * A port of the host that is free at this moment and that no outgoing connection takes. Throws the system's
 * error if the host is not an address of this machine.
 */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    const failure = await tryPort(host, port).then(() => undefined, codeOf);
    if (failure === undefined) return port;
    if (failure !== 'EADDRINUSE' || attempt === ATTEMPTS) return tryPort(host, 0);
  }
}

/** Whether a port of the host is free. */
export function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return tryPort(host, port).then(
    () => true,
    () => false,
  );
}

/** Throws an Error of one line that names the variable to change if the port cannot be used. */
export async function assertPortIsFree(host: string, port: number, variable: string): Promise<void> {
  try {
    await tryPort(host, port);
  } catch (cause) {
    throw new Error(`${reasonOf(cause, host, port)} Set ${adviceOf(cause, variable)}.`, { cause });
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
  if (address === null || typeof address === 'string') throw new Error('The system returned no port.');
  return address.port;
}

function codeOf(cause: unknown): string | undefined {
  return (cause as NodeJS.ErrnoException).code;
}

const isForeignHost = (code: string | undefined): boolean => code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND';

function reasonOf(cause: unknown, host: string, port: number): string {
  const code = codeOf(cause);
  if (code === 'EADDRINUSE') return `Port ${port} of ${host} is in use by another program.`;
  if (code === 'EACCES') return `This user may not use port ${port}.`;
  if (isForeignHost(code)) return `${host} is not an address of this machine.`;
  return `Port ${port} of ${host} cannot be used (${code ?? 'unknown reason'}).`;
}

function adviceOf(cause: unknown, variable: string): string {
  return isForeignHost(codeOf(cause))
    ? 'HOST to an address of this machine, e.g. 127.0.0.1'
    : `${variable} to another port (0 picks a free one)`;
}
