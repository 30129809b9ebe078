/** Serving of the built console: caching, compression, preloading and security headers. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECURITY_HEADERS, serveConsole, serveExplorer } from './console-files.ts';

const PAGE = '<!doctype html><head><title>Console</title></head>';
const PAGES = [
  {
    path: '/pricing/$name',
    files: ['assets/model-1a2b.js'],
    words: { en: ['assets/words-en.js'], 'zh-CN': ['assets/words-zh.js'] },
  },
];
const SCRIPT = 'void 0';

describe("the console's files", () => {
  let folder: string;
  let server: FastifyInstance;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'console-'));
    mkdirSync(path.join(folder, 'console', 'assets'), { recursive: true });
    writeFileSync(path.join(folder, 'secret.txt'), 'not for browsers');
    writeFileSync(path.join(folder, 'console', 'index.html'), PAGE);
    writeFileSync(path.join(folder, 'console', 'pages.json'), JSON.stringify(PAGES));
    const script = path.join(folder, 'console', 'assets', 'main-1a2b.js');
    writeFileSync(script, SCRIPT);
    writeFileSync(`${script}.br`, brotliCompressSync(SCRIPT));
    writeFileSync(`${script}.gz`, gzipSync(SCRIPT));
    writeFileSync(path.join(folder, 'console', 'assets', 'bare-1a2b.js'), SCRIPT);
    server = Fastify();
    await serveConsole(server, path.join(folder, 'console'));
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const get = (url: string, accept = 'text/html') => server.inject({ url, headers: { accept } });

  it('are cached for a year if their name has a hash, and the page is revalidated each time', async () => {
    const script = await get('/assets/main-1a2b.js', '*/*');
    expect([script.statusCode, script.headers['cache-control']]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ]);
    expect(script.headers['content-type']).toMatch(/javascript/);
    const page = await get('/');
    expect([page.statusCode, page.headers['cache-control'], page.body]).toEqual([200, 'no-cache', PAGE]);
  });

  it('include the page on every path, for browsers only', async () => {
    expect((await get('/usage?model=x')).body).toBe(PAGE);
    expect((await get('/usage', 'application/json')).statusCode).toBe(404);
    expect((await get('/assets/gone.js', '*/*')).statusCode).toBe(404);
    expect((await server.inject({ method: 'POST', url: '/usage' })).statusCode).toBe(404);
  });

  it('are compressed for clients that accept it, and plain for others', async () => {
    const ask = (url: string, encodings: string) =>
      server.inject({ url, headers: { accept: '*/*', 'accept-encoding': encodings } });
    const best = await ask('/assets/main-1a2b.js', 'gzip, deflate, br');
    expect([best.headers['content-encoding'], String(brotliDecompressSync(best.rawPayload))]).toEqual([
      'br',
      SCRIPT,
    ]);
    expect(best.headers['content-type']).toMatch(/javascript/);
    expect(best.headers['cache-control']).toContain('immutable');
    expect(best.headers.vary).toContain('accept-encoding');
    const older = await ask('/assets/main-1a2b.js', 'gzip');
    expect([older.headers['content-encoding'], String(gunzipSync(older.rawPayload))]).toEqual([
      'gzip',
      SCRIPT,
    ]);
    const plain = await ask('/assets/main-1a2b.js', 'identity');
    expect([plain.headers['content-encoding'], plain.body]).toEqual([undefined, SCRIPT]);
    expect((await ask('/assets/bare-1a2b.js', 'br')).body).toBe(SCRIPT);
    expect((await ask('/assets/main-1a2b.js.br', '*/*')).statusCode).toBe(404);
  });

  it('include a page that is compressed for browsers that accept it, by language', async () => {
    const ask = (acceptEncoding: string, acceptLanguage: string) =>
      server.inject({
        url: '/pricing/coder-max',
        headers: {
          ...{ accept: 'text/html', 'accept-language': acceptLanguage },
          'accept-encoding': acceptEncoding,
        },
      });
    for (const [language, words] of [
      ['en', 'words-en.js'],
      ['zh-CN', 'words-zh.js'],
    ] as const) {
      const { body } = await ask('identity', language);
      expect(body).toContain(words);
      for (let time = 0; time < 2; time += 1) {
        const best = await ask('gzip, deflate, br, zstd', language);
        expect(best.headers['content-encoding']).toBe('br');
        expect(best.headers['content-type']).toBe('text/html; charset=utf-8');
        expect(String(brotliDecompressSync(best.rawPayload))).toBe(body);
      }
      const older = await ask('br;q=0, GZIP;q=0.5', language);
      expect(older.headers['content-encoding']).toBe('gzip');
      expect(String(gunzipSync(older.rawPayload))).toBe(body);
      const plain = await ask('br;q=0.0, deflate', language);
      expect([plain.headers['content-encoding'], plain.body]).toEqual([undefined, body]);
    }
  });

  it('are preloaded by the page that needs them, with the messages of its language', async () => {
    const linksAt = async (url: string, language: string) => {
      const { body, headers } = await server.inject({
        url,
        headers: { accept: 'text/html', 'accept-language': language },
      });
      expect(headers.vary).toBe('accept-encoding, accept-language, cookie');
      return [...body.matchAll(/<link rel="modulepreload" crossorigin href="\/assets\/(.*?)">/g)].map(
        ([, file]) => file,
      );
    };
    const chinese = ['model-1a2b.js', 'words-zh.js'];
    const english = ['model-1a2b.js', 'words-en.js'];
    expect(await linksAt('/pricing/coder-max?group=VIP', 'zh-TW,zh;q=0.9,en;q=0.8')).toEqual(chinese);
    expect(await linksAt('/pricing/coder-max/', 'de-DE,de;q=0.9,en;q=0.8')).toEqual(english);
    expect(await linksAt('/pricing/coder-max', '')).toEqual(english);
    expect(await linksAt('/pricing', 'en')).toEqual([]);
    expect((await get('/pages.json', '*/*')).statusCode).toBe(404);
  });

  it('are not served from outside their folder', async () => {
    for (const url of ['/../secret.txt', '/%2e%2e/secret.txt', '/assets/..%2f..%2f..%2fsecret.txt'])
      expect((await get(url, '*/*')).body).not.toContain('not for browsers');
  });

  it('have a policy that forbids inline scripts and frames', () => {
    const policy = SECURITY_HEADERS['content-security-policy'];
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
  });
});

describe('the page of the API explorer', () => {
  it('is compressed for browsers that accept it, under a policy of its own', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'explorer-'));
    writeFileSync(path.join(folder, 'index.html'), PAGE);
    const server = Fastify();
    try {
      const explorer = await serveExplorer(server, folder);
      server.get('/graphql', async (request, reply) => explorer?.(request, reply));
      const ask = (encodings: string) =>
        server.inject({ url: '/graphql', headers: { 'accept-encoding': encodings } });
      const plain = await ask('identity');
      expect([plain.headers['content-encoding'], plain.body]).toEqual([undefined, PAGE]);
      const best = await ask('gzip, br');
      expect([best.headers['content-encoding'], String(brotliDecompressSync(best.rawPayload))]).toEqual([
        'br',
        PAGE,
      ]);
      expect(best.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        vary: 'accept-encoding, accept',
      });
      expect(best.headers['content-security-policy']).toContain("style-src 'self' 'unsafe-inline'");
    } finally {
      await server.close();
      rmSync(folder, { recursive: true });
    }
  });
});
