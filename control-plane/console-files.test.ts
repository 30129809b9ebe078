import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECURITY_HEADERS, serveConsole } from './console-files.ts';

const PAGE = '<!doctype html><title>Console</title>';

describe("the console's files", () => {
  let folder: string;
  let server: FastifyInstance;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'console-'));
    mkdirSync(path.join(folder, 'console', 'assets'), { recursive: true });
    writeFileSync(path.join(folder, 'secret.txt'), 'not for browsers');
    writeFileSync(path.join(folder, 'console', 'index.html'), PAGE);
    writeFileSync(path.join(folder, 'console', 'assets', 'main-1a2b.js'), 'void 0');
    server = Fastify();
    await serveConsole(server, path.join(folder, 'console'));
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const get = (url: string, accept = 'text/html') => server.inject({ url, headers: { accept } });

  it('are kept for ever where their name is hashed, and the page is asked for each time', async () => {
    const script = await get('/assets/main-1a2b.js', '*/*');
    expect([script.statusCode, script.headers['cache-control']]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ]);
    expect(script.headers['content-type']).toMatch(/javascript/);
    const page = await get('/');
    expect([page.statusCode, page.headers['cache-control'], page.body]).toEqual([200, 'no-cache', PAGE]);
  });

  it('answer every path of the console with its page, for browsers alone', async () => {
    expect((await get('/usage?model=x')).body).toBe(PAGE);
    expect((await get('/usage', 'application/json')).statusCode).toBe(404);
    expect((await get('/assets/gone.js', '*/*')).statusCode).toBe(404);
    expect((await server.inject({ method: 'POST', url: '/usage' })).statusCode).toBe(404);
  });

  it('end at their folder', async () => {
    for (const url of ['/../secret.txt', '/%2e%2e/secret.txt', '/assets/..%2f..%2f..%2fsecret.txt'])
      expect((await get(url, '*/*')).body).not.toContain('not for browsers');
  });

  it('come with a policy that runs no inline script and lets nobody frame them', () => {
    const policy = SECURITY_HEADERS['content-security-policy'];
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
  });
});
