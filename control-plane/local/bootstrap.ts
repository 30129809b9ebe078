/** Prepares the database for a local start: creates the node's token, the claim link and the demo. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { MikroORM } from '@mikro-orm/postgresql';
import { mintAdminClaim } from '../accounts/account.service.ts';
import { createNode, findNodeByToken, listNodes, rotateNodeToken } from '../nodes/node.service.ts';
import type { Settings } from '../process/settings.ts';
import type { PlayProcessor } from '../payments/play.settings.ts';
import { readSecret, writeSecret } from './data-folder.ts';
import { prepareDemo } from './demo.ts';
import { type BootstrapResult, secretFiles } from './messages.ts';

/**
 * Creates missing rows; may run at every start. The claim link of an earlier start becomes invalid. Reads
 * DEMO, DEMO_UPSTREAM_URL and DEMO_PROCESSOR_URL, which the supervisor sets.
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
    ? await prepareDemo(orm, {
        upstreamUrl,
        allowed: environment.DEMO !== 'off',
        keyFile: files.demoKey,
        processor: playProcessor(settings.dataDir, environment.DEMO_PROCESSOR_URL),
        secretKey: settings.secretKey,
      })
    : { demo: false };
  return { ...demo, ...(claim && { claimUrl: `${settings.consoleUrl}/claim#${claim.token}` }) };
}

/** The card processor of the demo with the secrets that the supervisor made; undefined without one. */
function playProcessor(dataDir: string, address: string | undefined): PlayProcessor | undefined {
  const files = secretFiles(dataDir);
  const key = readSecret(files.processorKey);
  const webhookSecret = readSecret(files.webhookSecret);
  return address && key && webhookSecret ? { address, key, webhookSecret } : undefined;
}

/** Keeps the token in the data folder, or writes a new one if it is missing or unknown to the database. */
async function ensureNodeToken(orm: MikroORM, dataDir: string): Promise<void> {
  const em = orm.em.fork();
  const file = secretFiles(dataDir).nodeToken;
  const kept = readSecret(file);
  if (kept && (await findNodeByToken(em, kept))) return;
  const name = nodeName(dataDir);
  const known = (await listNodes(em)).find((node) => node.name === name);
  writeSecret(file, known ? await rotateNodeToken(em, known.id) : (await createNode(em, name)).token);
}

/** The node's name, unique per machine and data folder, because several may share a database. */
function nodeName(dataDir: string): string {
  return `local-${createHash('sha256').update(`${hostname()}:${dataDir}`).digest('hex').slice(0, 6)}`;
}
