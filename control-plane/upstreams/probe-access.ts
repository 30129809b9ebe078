/** Brings the request of a probe into the shape of a cloud and authorizes it, as nodes do. */
import { request as send } from 'undici';
import type { Dispatcher } from 'undici';
import { DEFAULT_ACCESS } from '@gateway/shared/clouds/access';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import { CloudAuthorization } from '@gateway/shared/clouds/authorization';
import { styled } from '@gateway/shared/clouds/styles';
import type { TokenIo } from '@gateway/shared/clouds/token-grants';
import { readAnswer } from '../process/read-answer.ts';
import { signWith } from './signing.ts';

/** Maximum size of a token endpoint's answer, in bytes. */
const TOKEN_BYTES_MAX = 64 * 1024;

interface PlainRequest {
  method: 'POST' | 'GET';
  path: string;
  model: string;
  headers: Record<string, string>;
  /** Null for a GET. */
  body: object | null;
}

interface CloudTarget {
  baseUrl: string;
  access: UpstreamAccess | null;
  secret: string | null;
  /** Connections to the token endpoint. */
  dispatcher: Dispatcher;
  timeoutMs: number;
}

/** The request to send. Throws TokenRefused if no token is given. */
export async function cloudRequest(
  { method, path, model, headers, body }: PlainRequest,
  { baseUrl, access, secret, dispatcher, timeoutMs }: CloudTarget,
): Promise<{ url: string; headers: Record<string, string>; body: string | null }> {
  const accepted = {
    ...(body && { 'content-type': 'application/json' }),
    accept: 'application/json',
    ...headers,
  };
  const shaped = styled(access, {
    path,
    model,
    headers: { ...accepted, ...plainAuthorization(access, secret) },
  });
  const edits = [...shaped.edits].map(([name, text]) => [
    name,
    text === undefined ? undefined : JSON.parse(text),
  ]);
  const text = body && JSON.stringify({ ...body, ...Object.fromEntries(edits) });
  const url = baseUrl + shaped.path;
  const authorization = await new CloudAuthorization(() => performance.now(), signWith).headers(
    { method, url, body: text ?? '' },
    {
      access: access ?? DEFAULT_ACCESS,
      credential: secret === null ? undefined : { id: 'probe', secret },
      io: ioOf(dispatcher, timeoutMs),
    },
  );
  return { url, headers: { ...shaped.headers, ...authorization }, body: text };
}

/** The kinds with one header for all formats. The header of `API_KEY` is in the request already. */
function plainAuthorization(access: UpstreamAccess | null, secret: string | null): Record<string, string> {
  if (!secret) return {};
  if (access?.auth === 'BEARER') return { authorization: `Bearer ${secret}` };
  return access?.auth === 'AZURE_API_KEY' ? { 'api-key': secret } : {};
}

function ioOf(dispatcher: Dispatcher, timeoutMs: number): TokenIo {
  return {
    wallNow: () => Date.now(),
    // A probe keeps no token that could be renewed.
    renewalFailed: () => undefined,
    identityToken: () =>
      Promise.reject(
        new Error('Only nodes have this identity. Send a request for the model instead of a probe.'),
      ),
    send: async ({ url, headers, body }) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await send(url, { method: 'POST', dispatcher, signal, headers, body });
      const bytes = await readAnswer(answer.body, TOKEN_BYTES_MAX);
      if (bytes === null)
        throw new Error('The answer of the token endpoint is too large. Check its address.');
      return { status: answer.statusCode, headers: answer.headers, body: bytes.toString('utf8') };
    },
  };
}
