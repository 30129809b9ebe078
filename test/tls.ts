/** TLS in front of a plain port, as a load balancer gives it, with a certificate made for the occasion. */
import 'reflect-metadata';
import { X509CertificateGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:tls';

/** Listens on a port of its own; `stop` cuts what is open. */
export interface TlsFront {
  port: number;
  /** In PEM: what a client has to trust. */
  certificate: string;
  stop(): Promise<void>;
}

const DAY_MS = 86_400_000;

/** Ends TLS for these names, by default `localhost`, and passes the bytes on to the port, both ways. */
export async function startTlsFront(targetPort: number, names?: readonly string[]): Promise<TlsFront> {
  const { certificate, key } = await selfSigned(names);
  const sockets = new Set<Socket>();
  const server = createServer({ cert: certificate, key }, (secured) => {
    const plain = connect(targetPort, '127.0.0.1');
    for (const [socket, other] of [
      [secured, plain],
      [plain, secured],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    certificate,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
};

/** A certificate for these names and its key, in PEM, good for a day. */
export async function selfSigned(
  names: readonly string[] = ['localhost'],
  kind: 'EC' | 'RSA' = 'EC',
): Promise<{ certificate: string; key: string }> {
  const algorithm = kind === 'EC' ? EC : RSA;
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    // Of two trusted issuers with one name, OpenSSL tries the first alone.
    name: `CN=${crypto.randomUUID()}`,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + DAY_MS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value }))),
    ],
  });
  const secret = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    certificate: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n`,
  };
}
