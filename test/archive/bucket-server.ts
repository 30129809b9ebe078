/**
 * A server with the interface of S3, which verifies signatures, behind a proxy that can fail on purpose. The
 * server does not know AbortMultipartUpload, so the proxy does that.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import S3rver from '@20minutes/s3rver';
import type { BucketSettings } from '../../control-plane/process/archive-settings.ts';

/** Folder of the server with one folder for each upload. */
const UPLOADS = '._S3rver_uploads';

/**
 * Answers a request instead of the server, or undefined to pass it on. 'cut' ends the connection before the
 * server has the request, 'lost' when the server has answered it.
 */
export type Fault = (
  request: IncomingMessage,
) => { status: number; body?: string } | 'cut' | 'lost' | undefined;

export interface BucketServer {
  settings: BucketSettings;
  /** Requests that arrived, as method and path with query. */
  requests: string[];
  /** Ids of uploads that are neither finished nor ended. */
  uploads(): Promise<string[]>;
  /** Decides about each further request. */
  fail(fault: Fault): void;
  close(): Promise<void>;
}

/** Starts the server with one bucket. */
export async function startBucketServer(): Promise<BucketServer> {
  const directory = await mkdtemp(path.join(tmpdir(), 'bucket-'));
  const own = { port: 0, address: '127.0.0.1', silent: true, directory };
  const storage = new S3rver({ ...own, configureBuckets: [{ name: 'records' }] });
  const { port } = await storage.run();
  const requests: string[] = [];
  let fault: Fault = () => undefined;
  const uploadFolder = path.join(directory, 'records', UPLOADS);
  const uploads = (): Promise<string[]> => readdir(uploadFolder).catch((): string[] => []);
  const abort = async (id: string, outgoing: ServerResponse): Promise<void> => {
    const isThere = (await uploads()).includes(id);
    await rm(path.join(uploadFolder, id), { recursive: true, force: true });
    const error = '<Error><Code>NoSuchUpload</Code></Error>';
    outgoing.writeHead(isThere ? 204 : 404).end(isThere ? undefined : error);
  };
  const proxy = createServer((incoming, outgoing) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    const instead = fault(incoming);
    const upload = new URL(incoming.url ?? '', 'http://bucket').searchParams.get('uploadId');
    if (instead === 'cut') incoming.socket.destroy();
    else if (instead === 'lost') passOn(incoming, outgoing, port, () => incoming.socket.destroy());
    else if (instead)
      outgoing.writeHead(instead.status, { 'content-type': 'application/xml' }).end(instead.body);
    else if (incoming.method === 'DELETE' && upload !== null) void abort(upload, outgoing);
    else passOn(incoming, outgoing, port);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const { port: proxyPort } = proxy.address() as AddressInfo;
  return {
    settings: {
      ...{ bucket: 'records', prefix: 'gateway/usage', region: 'us-east-1', isPathStyle: true },
      ...{ endpoint: `http://127.0.0.1:${proxyPort}`, accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    },
    requests,
    uploads,
    fail: (next) => {
      fault = next;
    },
    close: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Passes a request on with its Host header, which is signed. `lose` is called instead of the answer. */
function passOn(incoming: IncomingMessage, outgoing: ServerResponse, port: number, lose?: () => void): void {
  const { method, url: target, headers } = incoming;
  const onward = request({ host: '127.0.0.1', port, method, path: target, headers }, (answer) => {
    if (lose) return void answer.on('end', lose).resume();
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}
