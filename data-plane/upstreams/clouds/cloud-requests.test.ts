/** Tests requests to the three clouds over real sockets: what arrives there, and what the client gets. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bindingOf } from '@gateway/shared/clouds/access';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import {
  AWS_KEYS,
  KEY_FILE,
  TokenServer,
  accessOf,
  assumedRole,
  claimsOf,
  isSigned,
} from '../../../test/clouds.ts';
import { makeModel, makeRoute, startNode } from '../../../test/request-path.ts';
import type { CallOptions, TestNode } from '../../../test/request-path.ts';
import { startUpstream } from '../../../test/upstream.ts';
import type { FakeUpstream, Play } from '../../../test/upstream.ts';
import type { DialectName } from '@gateway/shared/catalog';

const CHAT: CallOptions = { body: { model: 'swift', messages: [{ role: 'user', content: 'Hello' }] } };
const CHAT_ANSWER: Play = {
  chunks: [
    JSON.stringify({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    }),
  ],
};
const MESSAGE = { model: 'swift', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] };
const MESSAGE_ANSWER: Play = {
  chunks: [
    JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 2 },
    }),
  ],
};
const START = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  usage: { input_tokens: 3 },
};
const EVENTS = [
  { type: 'message_start', message: START },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];
const GENERATED: Play = {
  chunks: [
    JSON.stringify({
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
      modelVersion: 'm',
      responseId: 'r1',
    }),
  ],
};

let upstream: FakeUpstream;
let node: TestNode;
let logged: string[];
let clockOffsetMs: number;
const folder = mkdtempSync(path.join(tmpdir(), 'gateway-identity-'));
const identityFile = path.join(folder, 'token');

beforeEach(async () => {
  logged = [];
  clockOffsetMs = 0;
  writeFileSync(identityFile, 'identity.of.node\n');
  upstream = await startUpstream(() => CHAT_ANSWER);
  const note = (fields: object): void => void logged.push(JSON.stringify(fields));
  node = await startNode({
    wallNow: () => Date.now() + clockOffsetMs,
    identityTokenFiles: { AWS: identityFile, GOOGLE: identityFile },
    log: { info: note, warn: note, error: note },
  });
  node.store.modelList = [
    makeModel({ families: ['chat_completions', 'messages', 'generative_language', 'responses'] }),
  ];
});
afterEach(async () => {
  await node.close();
  await upstream.close();
});

interface Cloud {
  protocol: DialectName;
  access: UpstreamAccess;
  secret?: string;
  base?: string;
  model?: string;
}

function connect({ protocol, access, secret, base = '', model = 'vendor-model' }: Cloud): void {
  const { origin } = upstream;
  const binding = bindingOf(access);
  node.store.routes = [
    makeRoute(origin, {
      provider: { protocols: [protocol], baseUrl: origin + base, access },
      route: { upstreamModel: model },
      credentials: secret === undefined ? [] : [{ id: 'crd_1', origin, secret, binding }],
    }),
  ];
}

/** Serves tokens under /token, and other paths as `play` says. */
function withTokens(server: TokenServer, play: Play): void {
  upstream.play = (request) => {
    if (request.path.endsWith('/token')) return server.issue();
    return server.accepts(request) ? play : { status: 401, chunks: ['{"error":{"message":"who?"}}'] };
  };
}

const tokenUrl = () => `${upstream.origin}/token`;
const requests = () => upstream.seen.filter((seen) => !seen.path.endsWith('/token'));

describe('a request to Azure', () => {
  it('carries the key in api-key, the deployment in the path, and extra headers and query', async () => {
    const access = accessOf({
      auth: 'AZURE_API_KEY',
      pathTemplate: '/openai/deployments/{model}{path}',
      query: [{ name: 'api-version', value: '2024-10-21' }],
      headers: [{ name: 'X-Team', value: 'one' }],
    });
    connect({ protocol: 'openai-chat', access, secret: 'azure-secret', model: 'my gpt' });
    expect((await node.call(CHAT)).status).toBe(200);
    const [seen] = requests();
    expect(seen?.path).toBe('/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21');
    expect(seen?.headers).toMatchObject({ 'api-key': 'azure-secret', 'x-team': 'one' });
    expect(seen?.headers.authorization).toBeUndefined();
  });

  it('carries an Entra token, which is asked for with the client secret', async () => {
    const server = new TokenServer(3_600_000);
    withTokens(server, CHAT_ANSWER);
    const access = accessOf({
      auth: 'AZURE_ENTRA',
      tenantId: 'tenant',
      clientId: 'client',
      tokenUrl: tokenUrl(),
    });
    connect({ protocol: 'openai-chat', access, secret: 'client-secret', base: '/openai/v1' });
    expect((await node.call(CHAT)).status).toBe(200);
    expect((await node.call(CHAT)).status).toBe(200);
    const [grant] = upstream.seen;
    expect(Object.fromEntries(new URLSearchParams(grant?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'client',
      client_secret: 'client-secret',
      scope: 'https://cognitiveservices.azure.com/.default',
    });
    expect(server.issued).toBe(1);
    expect(requests().map((seen) => seen.path)).toEqual(Array(2).fill('/openai/v1/chat/completions'));
  });

  it('tries another credential if no token is given for the first', async () => {
    const server = new TokenServer(3_600_000);
    const access = accessOf({ auth: 'AZURE_ENTRA', tenantId: 't', clientId: 'c', tokenUrl: tokenUrl() });
    connect({ protocol: 'openai-chat', access, secret: 'good-secret' });
    const [route] = node.store.routes;
    const [good] = route?.credentials ?? [];
    if (!route || !good) throw new Error('no route');
    node.store.routes = [{ ...route, credentials: [good, { ...good, id: 'crd_2', secret: 'bad-secret' }] }];
    upstream.play = (request) => {
      if (!request.path.endsWith('/token')) return CHAT_ANSWER;
      if (request.body.includes('good-secret')) return server.issue();
      return { status: 401, chunks: ['{"error":"invalid_client","error_codes":[7000215]}'] };
    };
    const ask = (_: unknown, index: number) =>
      node.call({ body: { model: 'swift', messages: [{ role: 'user', content: `Hello ${index}` }] } });
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(logged.join()).toContain('gave no token: 401 invalid_client (AADSTS7000215).');
    expect(logged.join()).not.toMatch(/good-secret|bad-secret|token-1/);
  });

  it('never carries a secret that was added for another kind of authentication', async () => {
    connect({ protocol: 'openai-chat', access: accessOf({ auth: 'AZURE_API_KEY' }), secret: 'azure-secret' });
    const [route] = node.store.routes;
    if (!route) throw new Error('no route');
    const binding = 'AZURE_ENTRA https://login.microsoftonline.com';
    node.store.routes = [{ ...route, credentials: route.credentials.map((each) => ({ ...each, binding })) }];
    expect((await node.call(CHAT)).status).toBe(502);
    expect(upstream.seen).toEqual([]);
  });
});

const AWS = accessOf({ auth: 'AWS_KEYS', region: 'us-east-1', style: 'BEDROCK' });
const CLAUDE = 'anthropic.claude-sonnet-4-20250514-v1:0';

describe('a request to Bedrock', () => {
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes).toString('utf8'),
    (text) => Buffer.from(text, 'utf8'),
  );
  const frame = (event: object): Buffer => {
    const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
    const text = (value: string) => ({ type: 'string' as const, value });
    const headers = { ':message-type': text('event'), ':event-type': text('chunk') };
    return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify({ bytes })) }));
  };
  const streamed = (chunks: Buffer[]): Play => ({
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    chunks,
  });

  it('is signed and has the body of InvokeModel', async () => {
    upstream.play = () => MESSAGE_ANSWER;
    connect({ protocol: 'anthropic-messages', access: AWS, secret: JSON.stringify(AWS_KEYS), model: CLAUDE });
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07' };
    const answer = await node.call({ path: '/v1/messages', body: MESSAGE, headers });
    expect(answer.status).toBe(200);
    const [seen] = requests();
    if (!seen) throw new Error('no request');
    expect(seen.path).toBe(`/model/${encodeURIComponent(CLAUDE)}/invoke`);
    expect(await isSigned(upstream.origin, seen)).toBe(true);
    const { messages, max_tokens } = MESSAGE;
    expect(JSON.parse(seen.body)).toEqual({
      max_tokens,
      messages,
      anthropic_version: 'bedrock-2023-05-31',
      ...(seen.body.includes('anthropic_beta') && { anthropic_beta: ['context-1m-2025-08-07'] }),
    });
    expect(seen.headers['anthropic-version']).toBeUndefined();
  });

  it.each(['anthropic-messages', 'openai-chat'])('streams its answer to a client of %s', async (format) => {
    upstream.play = () => streamed(EVENTS.map(frame));
    connect({ protocol: 'anthropic-messages', access: AWS, secret: JSON.stringify(AWS_KEYS), model: CLAUDE });
    const native = format === 'anthropic-messages';
    const body = native ? { ...MESSAGE, stream: true } : { ...(CHAT.body as object), stream: true };
    const answer = await node.call({ path: native ? '/v1/messages' : '/v1/chat/completions', body });
    expect(answer).toMatchObject({ status: 200, broken: false });
    expect(answer.text).toContain('Hi');
    expect(answer.text).toMatch(native ? /event: message_stop\ndata: .*\n\n$/ : /data: \[DONE\]\n\n$/);
    const [seen] = requests();
    expect(seen?.path).toBe(`/model/${encodeURIComponent(CLAUDE)}/invoke-with-response-stream`);
    expect(JSON.parse(seen?.body ?? '')).not.toHaveProperty('stream');
    expect(node.ledger.charges).toHaveLength(1);
  });

  it('is free and answered with an error if the stream is damaged before any content', async () => {
    const bytes = frame(EVENTS[0] ?? {});
    bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
    upstream.play = () => streamed([bytes]);
    connect({ protocol: 'anthropic-messages', access: AWS, secret: JSON.stringify(AWS_KEYS) });
    const answer = await node.call({ path: '/v1/messages', body: { ...MESSAGE, stream: true } });
    expect(answer.status).toBe(502);
    expect(node.ledger.charges).toHaveLength(0);
  });

  it('passes the message of a refusal on in the format of the client', async () => {
    upstream.play = () => ({ status: 400, chunks: ['{"message":"max_tokens is too large"}'] });
    connect({ protocol: 'anthropic-messages', access: AWS, secret: JSON.stringify(AWS_KEYS) });
    const answer = await node.call({ path: '/v1/messages', body: MESSAGE });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'max_tokens is too large' },
    });
  });

  it('is signed with the keys of a role that the node takes with its identity token', async () => {
    const keys = { ...AWS_KEYS, sessionToken: 'session-1' };
    const role = assumedRole(keys, new Date(Date.now() + 3_600_000));
    upstream.play = ({ path: requested }) => (requested === '/token' ? role : MESSAGE_ANSWER);
    const access = accessOf({
      ...AWS,
      auth: 'AWS_WEB_IDENTITY',
      roleArn: 'arn:aws:iam::123456789012:role/gateway',
      tokenUrl: tokenUrl(),
    });
    connect({ protocol: 'anthropic-messages', access });
    expect((await node.call({ path: '/v1/messages', body: MESSAGE })).status).toBe(200);
    const grant = new URLSearchParams(upstream.seen[0]?.body);
    expect(grant.get('Action')).toBe('AssumeRoleWithWebIdentity');
    expect(grant.get('WebIdentityToken')).toBe('identity.of.node');
    const [seen] = requests();
    expect(seen?.headers['x-amz-security-token']).toBe('session-1');
    expect(seen && (await isSigned(upstream.origin, seen, keys))).toBe(true);
  });
});

describe('a request to Vertex AI', () => {
  const base = '/v1/projects/p/locations/global';
  const vertex = (): UpstreamAccess =>
    accessOf({ auth: 'GOOGLE_SERVICE_ACCOUNT', style: 'VERTEX', tokenUrl: tokenUrl() });

  it('goes to the publisher Google with a token for the service account', async () => {
    const server = new TokenServer(3_600_000);
    withTokens(server, GENERATED);
    connect({ protocol: 'google-generate', access: vertex(), secret: KEY_FILE, base, model: 'gemini-3-pro' });
    expect((await node.call(CHAT)).status).toBe(200);
    expect(requests()[0]?.path).toBe(`${base}/publishers/google/models/gemini-3-pro:generateContent`);
    const claims = claimsOf(new URLSearchParams(upstream.seen[0]?.body));
    expect(claims).toMatchObject({
      iss: 'gateway@project-1.iam.gserviceaccount.com',
      aud: tokenUrl(),
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
  });

  it.each([false, true])('goes to the publisher Anthropic; streamed: %s', async (stream) => {
    const server = new TokenServer(3_600_000);
    const text = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    withTokens(
      server,
      stream ? { headers: { 'content-type': 'text/event-stream' }, chunks: text } : MESSAGE_ANSWER,
    );
    connect({ protocol: 'anthropic-messages', access: vertex(), secret: KEY_FILE, base, model: 'claude-x' });
    const answer = await node.call({ path: '/v1/messages', body: { ...MESSAGE, stream } });
    expect(answer).toMatchObject({ status: 200, broken: false });
    const [seen] = requests();
    const verb = stream ? 'streamRawPredict' : 'rawPredict';
    expect(seen?.path).toBe(`${base}/publishers/anthropic/models/claude-x:${verb}`);
    const body: unknown = JSON.parse(seen?.body ?? '');
    expect(body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream });
    expect(body).not.toHaveProperty('model');
  });

  it('carries the token of a service account that the node acts as with its identity token', async () => {
    const server = new TokenServer(3_600_000);
    upstream.play = (request) => {
      if (request.path === '/token') return { chunks: ['{"access_token":"federated","expires_in":3600}'] };
      if (!request.path.includes(':generateAccessToken')) return GENERATED;
      const expireTime = new Date(Date.now() + 3_600_000).toISOString();
      return { chunks: [JSON.stringify({ accessToken: 'impersonated', expireTime })] };
    };
    const access = accessOf({
      ...vertex(),
      auth: 'GOOGLE_WORKLOAD_IDENTITY',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b',
      serviceAccount: 'gateway@project-1.iam.gserviceaccount.com',
    });
    connect({ protocol: 'google-generate', access, base });
    expect((await node.call(CHAT)).status).toBe(200);
    expect(new URLSearchParams(upstream.seen[0]?.body).get('subject_token')).toBe('identity.of.node');
    expect(upstream.seen[1]?.headers.authorization).toBe('Bearer federated');
    expect(upstream.seen[2]?.headers.authorization).toBe('Bearer impersonated');
    expect(server.issued).toBe(0);
  });
});
