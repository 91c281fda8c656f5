import { createHash } from 'node:crypto';
import type { Progress } from '../progress.js';
import { allChanges } from './changes.js';
import { isCheckpoint, localDocs, putLocalDoc } from './local-docs.js';
import { migrateConfig, type ConfigReport } from './migrate-config.js';
import { pathOf, type RemoteServer } from './remote-server.js';
import { putSecurity } from './put-security.js';

export interface MigrateOptions {
  from: RemoteServer;
  to: RemoteServer;
  /** Only these; all where it is empty. */
  only: readonly string[];
  skip: readonly string[];
  /** Whether options and server admins are taken over too. */
  config: boolean;
  /** Whether documents of replications are copied: the target runs them as soon as they are there. */
  startReplications: boolean;
  progress: Progress;
}

export interface DatabaseReport {
  name: string;
  documents: number;
  deleted: number;
  local_documents: number;
  /** Whether both sides have the same documents with the same leaf revisions. */
  verified: boolean;
  /** Why not, or what else there is to know. */
  remarks: string[];
}

export interface MigrateReport {
  databases: DatabaseReport[];
  config: ConfigReport;
  /** Databases of replications that were not copied, and the number of their documents. */
  paused_replications: { name: string; documents: number }[];
}

interface Info {
  doc_count: number;
  doc_del_count: number;
  update_seq: unknown;
  cluster?: { q?: number };
  props?: { partitioned?: boolean };
}

interface Replicated {
  ok?: boolean;
  no_changes?: boolean;
  history?: { doc_write_failures?: number }[];
}

/** Made by every server for itself. */
const ownDatabases = new Set(['_global_changes', '_dbs', '_nodes', '_metadata']);
const pollMs = 500;

/**
 * Copies the databases of one server to another. Documents come by replications, which the target runs: they keep
 * revisions, conflicts and attachments, and go on where they were when the command is called again.
 */
export async function migrate(options: MigrateOptions): Promise<MigrateReport> {
  const { from, to, only, skip, startReplications } = options;
  const names = await from.get<string[]>('/_all_dbs');
  await to.get('/_all_dbs');
  const wanted = names.filter(
    (name) => !ownDatabases.has(name) && !skip.includes(name) && (only.length === 0 || only.includes(name)),
  );
  // Replications begin when their documents are there: what they copy comes before them.
  wanted.sort((a, b) => Number(isReplicator(a)) - Number(isReplicator(b)));
  const config = options.config ? await migrateConfig(from, to) : { taken: [], left: [] };
  const databases: DatabaseReport[] = [];
  const paused: MigrateReport['paused_replications'] = [];
  for (const name of wanted) {
    if (startReplications || !isReplicator(name)) databases.push(await migrateDatabase(name, options));
    else paused.push({ name, documents: await replicationsIn(from, name) });
  }
  return { databases, config, paused_replications: paused.filter(({ documents }) => documents > 0) };
}

/** The documents of a database but design documents. */
async function replicationsIn(server: RemoteServer, name: string): Promise<number> {
  const { rows } = await server.get<{ rows: { id: string }[] }>(`${pathOf(name)}/_all_docs`);
  return rows.filter(({ id }) => !id.startsWith('_design/')).length;
}

const isReplicator = (name: string): boolean => name === '_replicator' || name.endsWith('/_replicator');

async function migrateDatabase(name: string, options: MigrateOptions): Promise<DatabaseReport> {
  // One that an earlier run has begun is continued.
  await createTarget(name, options.from, options.to, [412]);
  return await copyDatabase(name, options);
}

/** Creates the database as it is at the source, but empty. */
export async function createTarget(
  name: string,
  from: RemoteServer,
  to: RemoteServer,
  accepted: readonly number[] = [],
): Promise<void> {
  const { cluster, props } = await from.get<Info>(pathOf(name));
  const q = cluster?.q === undefined ? '' : `&q=${cluster.q}`;
  await to.put(`${pathOf(name)}?partitioned=${props?.partitioned === true}${q}`, undefined, accepted);
}

/**
 * Copies one database into that of the same name. `runner` is the server that runs the replication, and has to reach the
 * other one. What removes documents by their age is set last: it would remove some before they are compared.
 */
export async function copyDatabase(
  name: string,
  { from, to, progress }: Pick<MigrateOptions, 'from' | 'to' | 'progress'>,
  runner: RemoteServer = to,
): Promise<DatabaseReport> {
  const before = await from.get<Info>(pathOf(name));
  const report: DatabaseReport = {
    name,
    documents: before.doc_count,
    deleted: before.doc_del_count,
    local_documents: 0,
    verified: false,
    remarks: [],
  };
  await copySettings(name, from, to, report);
  await replicate(name, before, { from, to, runner }, progress, report);
  for await (const doc of localDocs(from, name)) {
    if (isCheckpoint(doc)) continue;
    await putLocalDoc(to, name, doc);
    report.local_documents++;
  }
  await verify(name, before, from, to, progress, report);
  await copyUpkeep(name, from, to).catch((error: Error) => {
    report.remarks.push(`what removes documents by their age could not be set: ${error.message}`);
  });
  return report;
}

async function copySettings(
  name: string,
  from: RemoteServer,
  to: RemoteServer,
  { remarks }: DatabaseReport,
): Promise<void> {
  const security = await from.get<Record<string, unknown>>(`${pathOf(name)}/_security`);
  if (Object.keys(security).length > 0 && !name.startsWith('_'))
    remarks.push(...(await putSecurity(to, name, security)));
  for (const setting of ['_revs_limit', '_purged_infos_limit']) {
    const value = await from.find<number>(`${pathOf(name)}/${setting}`);
    if (value !== undefined && value !== (await to.get<number>(`${pathOf(name)}/${setting}`)))
      await to.put(`${pathOf(name)}/${setting}`, value);
  }
}

async function copyUpkeep(name: string, from: RemoteServer, to: RemoteServer): Promise<void> {
  for (const setting of ['_auto_purge', '_expiry']) {
    const value = await from.find<object>(`${pathOf(name)}/${setting}`);
    if (value !== undefined && Object.keys(value).length > 0)
      await to.put(`${pathOf(name)}/${setting}`, value);
  }
}

async function replicate(
  name: string,
  { doc_count, doc_del_count }: Info,
  { from, to, runner }: { from: RemoteServer; to: RemoteServer; runner: RemoteServer },
  progress: Progress,
  report: DatabaseReport,
): Promise<void> {
  progress.begin(name, doc_count + doc_del_count);
  let seen = 0;
  const timer = setInterval(() => {
    void to.get<Info>(pathOf(name)).then(
      (info) => {
        const now = info.doc_count + info.doc_del_count;
        progress.advance(now - seen);
        seen = now;
      },
      () => undefined,
    );
  }, pollMs);
  try {
    const done = await runner.post<Replicated>('/_replicate', {
      source: from.endpoint(name),
      target: to.endpoint(name),
    });
    const failures = done.history?.[0]?.doc_write_failures ?? 0;
    if (failures > 0) report.remarks.push(`${failures} documents were refused by the target`);
  } finally {
    clearInterval(timer);
  }
}

async function verify(
  name: string,
  before: Info,
  from: RemoteServer,
  to: RemoteServer,
  progress: Progress,
  report: DatabaseReport,
): Promise<void> {
  progress.begin(`${name}: verifying`, 2 * (before.doc_count + before.doc_del_count));
  const [source, target] = await Promise.all([from, to].map((server) => digestOf(server, name, progress)));
  report.verified = source === target;
  const after = await from.get<Info>(pathOf(name));
  if (!report.verified) {
    report.remarks.push(
      JSON.stringify(after.update_seq) === JSON.stringify(before.update_seq)
        ? 'the documents of both sides differ'
        : 'the source has changed meanwhile: run the command again',
    );
  }
}

/** A sum over all documents and their leaf revisions, in whatever order they come. */
async function digestOf(server: RemoteServer, db: string, progress: Progress): Promise<string> {
  let sum = 0n;
  let count = 0;
  for await (const page of allChanges(server, db)) {
    for (const { id, changes } of page) {
      const revs = changes.map(({ rev }) => rev).sort();
      const digest = createHash('sha256')
        .update(JSON.stringify([id, ...revs]))
        .digest();
      sum = BigInt.asUintN(128, sum + digest.readBigUInt64BE(0) * 2n ** 64n + digest.readBigUInt64BE(8));
      count++;
    }
    progress.advance(page.length);
  }
  return `${count}:${sum}`;
}
