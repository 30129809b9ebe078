/** Tests configuration files with many random edits, and with real processes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../test/database.ts';
import { startHouse } from '../../test/house.ts';
import { BASE } from '../../test/control/configuration-edits.ts';
import { editAndRevert } from '../../test/control/configuration-rounds.ts';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { PROOF_SEED } from '../../test/seeds.ts';

const EDITS = 1000;
const EDITS_PER_ROUND = 5;
const COMMAND = 'dist/control-plane/configuration/command.js';
const SCOPES = 'ADMIN_CATALOG,ADMIN_UPSTREAMS,ADMIN_STOREFRONT,ADMIN_USERS,ADMIN_WALLET';

describe('configuration files', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  it(
    'restore the state after 1,000 random edits were applied and taken back',
    { timeout: 600_000 },
    async () => {
      let applied = 0;
      for (let seed = PROOF_SEED; applied < EDITS; seed += 1) {
        const parts = { base: BASE, rounds: 40, editsPerRound: EDITS_PER_ROUND, seed };
        applied += await editAndRevert(test, parts).catch((cause: unknown) => {
          throw new Error(`The state was not restored with the seed ${seed}.`, { cause });
        });
      }
    },
  );
});

describe('a real control plane', () => {
  it(
    'applies CONFIG_FILE at its start, and the command finds nothing to change',
    { timeout: 120_000 },
    async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'gateway-file-'));
      const file = path.join(folder, 'gateway.yaml');
      const secret = path.join(folder, 'key');
      writeFileSync(secret, 'sk-from-a-file-0123456789\n');
      writeFileSync(
        file,
        `version: 1
upstreams:
  - name: filed
    protocols: [openai-chat]
    baseUrl: http://127.0.0.1:9
    credentials: [{ label: main, secret: "file:${secret}" }, { label: second, secret: "env:SECOND_KEY" }]
routes:
  - { model: swift, upstream: filed, upstreamModel: small, families: [chat_completions] }
`,
      );
      const database = await createTestDatabase();
      const controlEnv = { CONFIG_FILE: file, SECOND_KEY: 'sk-second-0123456789' };
      const house = await startHouse({ databaseUrl: database.url, nodes: 0, controlEnv });
      const environment = { ...process.env, DATABASE_URL: database.url, GATEWAY_URL: house.controlUrl };
      const gateway = async (arguments_: string[], more: Record<string, string>) =>
        (
          await promisify(execFile)(process.execPath, [COMMAND, ...arguments_], {
            env: { ...environment, ...more },
          })
        ).stdout;
      try {
        const token = (await gateway(['token', '--scopes', SCOPES], {})).trim();
        const access = { GATEWAY_TOKEN: token, SECOND_KEY: 'sk-second-0123456789' };
        expect(await gateway(['apply', '-f', file], access)).toBe('No changes.\n');
        const exported = await gateway(['export'], access);
        expect(exported).toContain('name: filed');
        expect(exported).not.toContain('0123456789');
        writeFileSync(file, exported.replace('upstreamModel: small', 'upstreamModel: large'));
        expect(await gateway(['apply', '-f', file, '--dry-run'], access)).toContain(
          '+ route swift → filed (large)',
        );
        expect(await gateway(['apply', '-f', file], access)).toContain('Made 1 changes.');
        expect(await gateway(['apply', '-f', file], access)).toBe('No changes.\n');
      } finally {
        await house.stop();
        await database.drop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
