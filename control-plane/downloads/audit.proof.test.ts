/** Tests the audit log as lines of JSON: content, access, positions, following, and the command. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOf } from '@gateway/shared/secrets';
import { startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { audit } from '../audit/audit.service.ts';
import { run } from '../configuration/command.ts';
import { createFirstToken } from '../configuration/first-token.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { canonicalJson } from '../process/canonical-json.ts';

const PATIENCE = { timeout: 20_000, interval: 20 };
const MANY = 1100;

interface Line extends Record<string, unknown> {
  position: string;
  actor: { kind: string; id: string | null; label: string };
  action: string;
  targetId: string | null;
  prevHash: string;
  hash: string;
}

describe('the export of the audit log', () => {
  let test: TestApp;
  let admin: Browser;
  let reader: string;
  beforeAll(async () => {
    test = await startTestApp();
    admin = await test.admin();
    reader = await tokenWith(['ADMIN_AUDIT_READ']);
  });
  afterAll(() => test.close());

  const tokenWith = (scopes: string[]) =>
    createFirstToken(test.settings.databaseUrl, { name: 'siem', scopes, days: 1, email: null });
  const act = (action: string, count = 1): Promise<void> =>
    inTransaction(test.orm.em.fork(), async (em) => {
      for (let index = 0; index < count; index += 1) {
        const entry = { actor: SYSTEM_ACTOR, targetType: 'Test', targetId: String(index), reason: 'a test' };
        await audit(em, { ...entry, action, after: { index } });
      }
    });
  const get = (search: string, token = reader, signal?: AbortSignal) =>
    fetch(`${test.url}/export/audit.jsonl${search}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(signal && { signal }),
    });
  const linesOf = (text: string): Line[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
  const read = async (search: string): Promise<Line[]> => linesOf(await (await get(search)).text());

  it('has every event once, oldest first, in one hash chain', async () => {
    await act('test.many', MANY);
    const lines = await read('');
    expect(
      lines.filter(({ action }) => action === 'test.many').map(({ targetId }) => Number(targetId)),
    ).toEqual(Array.from({ length: MANY }, (_, index) => index));
    expect(lines.slice(1).map(({ prevHash }) => prevHash)).toEqual(
      lines.slice(0, -1).map(({ hash }) => hash),
    );
  });

  it('has hashes that its reader can compute as the documentation says', async () => {
    const text = (value: unknown): string | null => (value === null ? null : canonicalJson(value));
    for (const line of await read('')) {
      const { kind, id, label } = line.actor;
      const fields = [
        ...[line.prevHash, line['id'], line['at'], kind, id, label, line.action, line['targetType']],
        ...[line.targetId, text(line['before']), text(line['after']), line['reason'], line['ip']],
        line['requestId'],
      ];
      expect(createHash('sha256').update(JSON.stringify(fields)).digest('hex')).toBe(line.hash);
    }
  });

  it('resumes after a position', async () => {
    await act('test.before');
    const position = (await read('')).at(-1)?.position;
    await act('test.after', 2);
    expect((await read(`?after=${position}`)).map(({ action }) => action)).toEqual([
      'test.after',
      'test.after',
    ]);
  });

  it('holds no secret of the token that reads it', async () => {
    expect(await (await get('')).text()).not.toContain(reader);
  });

  it('is refused without an administrator, the scope, or valid parameters', async () => {
    const user = await test.user('nosy@example.com');
    const other = await tokenWith(['ADMIN_NODES']);
    expect((await fetch(`${test.url}/export/audit.jsonl`)).status).toBe(401);
    expect((await get('', 'gqt_unknown')).status).toBe(401);
    expect((await get('', other)).status).toBe(403);
    expect((await user.visit('/export/audit.jsonl')).status).toBe(403);
    expect((await admin.visit('/export/audit.jsonl')).status).toBe(200);
    const wrong = ['?after=x', '?after=-1', '?after=1234567890123456789', '?follow=1', '?from=2026-01-01'];
    for (const search of wrong) expect((await get(search)).status).toBe(400);
  });

  it('goes on with new events while the client follows, and ends when the server stops', async () => {
    const other = await startTestApp();
    const token = await createFirstToken(other.settings.databaseUrl, {
      ...{ name: 'siem', scopes: ['ADMIN_AUDIT_READ'], days: 1, email: null },
    });
    const answer = await fetch(`${other.url}/export/audit.jsonl?follow=true`, {
      headers: { authorization: `Bearer ${token}` },
    });
    let text = '';
    const ended = (async () => {
      for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
    })();
    const entry = { actor: SYSTEM_ACTOR, targetType: 'Test', targetId: null, reason: 'a test' };
    for (const action of ['test.first', 'test.second']) {
      await inTransaction(other.orm.em.fork(), (em) => audit(em, { ...entry, action }));
      await vi.waitFor(() => expect(linesOf(text).at(-1)?.action).toBe(action), PATIENCE);
    }
    await other.close();
    await ended;
    expect(linesOf(text).filter(({ action }) => action.startsWith('test.'))).toHaveLength(2);
  });

  it('prints by command only the events after the position in the state file', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'gateway-audit-'));
    const file = path.join(folder, 'position');
    const command = async (environment = { GATEWAY_URL: test.url, GATEWAY_TOKEN: reader }) => {
      const printed: string[] = [];
      const print = (line: string): unknown => printed.push(line);
      await run(['audit', '--state', file], { environment, print, confirm: async () => false });
      return linesOf(printed.join('\n'));
    };
    try {
      const last = (await command()).at(-1);
      expect(readFileSync(file, 'utf8').trim()).toBe(last?.position);
      await act('test.command');
      expect((await command()).map(({ action }) => action)).toEqual(['test.command']);
      expect(await command()).toEqual([]);
      const wrong = { GATEWAY_URL: test.url, GATEWAY_TOKEN: 'gqt_unknown' };
      await expect(command(wrong)).rejects.toThrow('unknown, expired or revoked');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('ends when the token of its follower is revoked', async () => {
    const token = await tokenWith(['ADMIN_AUDIT_READ']);
    const answer = await get('?follow=true', token);
    const text = answer.text();
    await query(
      test.orm.em.fork(),
      sql`update access_token set revoked_at = now() where token_digest = ${digestOf(token)}`,
    );
    expect(linesOf(await text).length).toBeGreaterThan(0);
    expect((await get('?follow=true', token)).status).toBe(401);
  });
});
