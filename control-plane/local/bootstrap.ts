/** What a local start makes in a migrated and seeded database: the node's token, the claim link, the demo. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { MikroORM } from '@mikro-orm/postgresql';
import { mintAdminClaim } from '../accounts/account.service.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { createNode, findNodeByToken, listNodes, rotateNodeToken } from '../nodes/node.service.ts';
import type { Settings } from '../settings.ts';
import { readSecret, writeSecret } from './data-folder.ts';
import { prepareDemo } from './demo.ts';
import { type BootstrapResult, secretFiles } from './messages.ts';

/**
 * Makes what is not there yet; safe at every start. The claim link of an earlier start becomes void. The
 * environment holds DEMO and DEMO_UPSTREAM_URL as the supervisor set them.
 */
export async function bootstrap(
  orm: MikroORM,
  settings: Settings,
  environment: NodeJS.ProcessEnv,
): Promise<BootstrapResult> {
  const files = secretFiles(settings.dataDir);
  await ensureNodeToken(orm, settings.dataDir);
  const claim = await mintAdminClaim(orm.em.fork());
  const upstreamUrl = environment.DEMO_UPSTREAM_URL;
  const demo = upstreamUrl
    ? await prepareDemo(orm, { upstreamUrl, allowed: environment.DEMO !== 'off', keyFile: files.demoKey })
    : { demo: false };
  return { ...demo, ...(claim && { claimUrl: `${settings.consoleUrl}/claim#${claim.token}` }) };
}

/**
 * The token in the data folder, or a new one where the database does not know it (another database, a lost
 * file).
 */
async function ensureNodeToken(orm: MikroORM, dataDir: string): Promise<void> {
  const em = orm.em.fork();
  const file = secretFiles(dataDir).nodeToken;
  const kept = readSecret(file);
  if (kept && (await findNodeByToken(em, kept))) return;
  const name = nodeName(dataDir);
  const known = (await listNodes(em)).find((node) => node.name === name);
  writeSecret(
    file,
    known ? await rotateNodeToken(em, known.id) : (await createNode(em, { name, actor: SYSTEM_ACTOR })).token,
  );
}

/** One per machine and data folder: several may share a database. */
function nodeName(dataDir: string): string {
  return `local-${createHash('sha256').update(`${hostname()}:${dataDir}`).digest('hex').slice(0, 6)}`;
}
