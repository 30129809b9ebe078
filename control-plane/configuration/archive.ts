/** The command `gateway archive`: lists, makes and checks the archive of the usage log. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { createOrm } from '../database/orm.ts';
import { archiveOf } from '../process/archive-settings.ts';
import type { ArchiveSettings } from '../process/archive-settings.ts';
import { retentionOf } from '../process/settings.ts';
import { archiveDue } from '../usage/archive/archive.service.ts';
import { openTarget } from '../usage/archive/open-target.ts';
import { archivedFiles, forgetFiles } from '../usage/archive/state.ts';
import type { ArchivedFile } from '../usage/archive/state.ts';
import type { ArchiveTarget } from '../usage/archive/target.ts';
import type { ArchiveOptions } from './options.ts';

/** Bytes of a file that `check` reads at once. */
const CHUNK_BYTES = 8 * 1024 * 1024;

interface Process {
  environment: NodeJS.ProcessEnv;
  print(line: string): void;
}

/** Runs the command and returns the exit code. Throws an Error with advice if it fails. */
export async function runArchiveCommand(
  { action, partition }: ArchiveOptions,
  { environment, print }: Process,
): Promise<number> {
  const databaseUrl = environment['DATABASE_URL'];
  if (!databaseUrl) throw new Error('DATABASE_URL is not set. Set it to the address of the database.');
  const settings = action === 'now' || action === 'check' ? archiveSettings(environment) : undefined;
  const orm = await createOrm(databaseUrl, { connectionsMax: 2 });
  const em = (): EntityManager => orm.em.fork();
  try {
    if (action === 'now' && settings) return await archiveNow(em, settings, print);
    if (action === 'check' && settings) return await checkFiles(em(), settings, print);
    if (action === 'forget') return await forget(em(), partition, print);
    for (const file of await archivedFiles(em())) print(JSON.stringify(shown(file)));
    return 0;
  } finally {
    await orm.close(true);
  }
}

/** A file as `list` prints it: the charge in micro-USD, times in ISO 8601. */
function shown({ last: _last, isLast: _isLast, cost, ...file }: ArchivedFile): Record<string, unknown> {
  return { ...file, costMicroUsd: cost.toString() };
}

async function archiveNow(
  em: () => EntityManager,
  { settings, retentionDays }: GivenSettings,
  print: (line: string) => void,
): Promise<number> {
  const target = openTarget(settings);
  const log = ({ file, rows }: Record<string, unknown>): void =>
    print(`${String(file)}: ${String(rows)} rows`);
  try {
    for (;;) {
      const result = await archiveDue({ em, target, retentionDays, log });
      if (result === 'PAUSED') continue;
      const isDone = result === 'DONE';
      print(isDone ? 'Every expired partition is archived.' : 'A control plane archives at the moment.');
      return isDone ? 0 : 1;
    }
  } finally {
    await target.close();
  }
}

async function checkFiles(
  em: EntityManager,
  { settings }: GivenSettings,
  print: (line: string) => void,
): Promise<number> {
  const target = openTarget(settings);
  let broken = 0;
  try {
    for (const file of await archivedFiles(em)) {
      const trouble = await troubleOf(target, file);
      if (trouble) broken += 1;
      print(`${file.location}: ${trouble ?? 'unchanged'}`);
    }
  } finally {
    await target.close();
  }
  return broken === 0 ? 0 : 1;
}

/** Why a file is not what was recorded; undefined if it is. */
async function troubleOf(target: ArchiveTarget, file: ArchivedFile): Promise<string | undefined> {
  const name = file.location.slice(file.location.lastIndexOf('/') + 1);
  if (target.locate(name) !== file.location) return 'USAGE_ARCHIVE names another place; not checked';
  const size = await target.sizeOf(name);
  if (size === undefined) return 'missing; restore it from a copy';
  if (size !== file.bytes) return `has ${size} bytes instead of ${file.bytes}; restore it from a copy`;
  const hash = createHash('sha256');
  for (let start = 0; start < size; start += CHUNK_BYTES)
    hash.update(await target.read(name, { start, end: Math.min(size, start + CHUNK_BYTES) }));
  return hash.digest('hex') === file.sha256 ? undefined : 'was changed; restore it from a copy';
}

async function forget(em: EntityManager, partition: string, print: (line: string) => void): Promise<number> {
  const files = await forgetFiles(em, partition);
  print(
    files === 0
      ? `No archived file of ${partition} can be forgotten: it has none, or its rows were dropped.`
      : `Forgot ${files} files of ${partition}. Move them away before the next round archives it again.`,
  );
  return files === 0 ? 1 : 0;
}

interface GivenSettings {
  settings: ArchiveSettings;
  retentionDays: number;
}

function archiveSettings(env: NodeJS.ProcessEnv): GivenSettings {
  const retentionDays = retentionOf(env);
  const settings = archiveOf(env, retentionDays);
  if (settings && retentionDays !== null) return { settings, retentionDays };
  throw new Error('USAGE_ARCHIVE is not set. Set the variables of the control plane for this command, too.');
}
