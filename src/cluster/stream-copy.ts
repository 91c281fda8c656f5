import { Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import { continuedHead } from '../log/stream-end.js';
import { StreamTruncated } from '../log/stream.js';
import type { StreamGroups } from '../node/stream-groups.js';
import type { BlobExchange } from './blob-exchange.js';
import type { Members } from './members.js';
import { bringCopy } from './peer-copy.js';
import type { StreamSources } from './stream-sources.js';

interface CopyParts {
  secret: string;
  members: Members;
  sources: StreamSources;
  blobs: BlobExchange;
  runtime: Runtime;
  logger: Logger;
  catalogueAt(position: number): Promise<void>;
}

/** Copies the databases of a stream from a host, with their attachments, where this node has none of them. */
export async function copyStream(
  stream: number,
  { members, secret, logger, runtime, blobs, sources, catalogueAt }: CopyParts,
  groups: StreamGroups,
  stopping: AbortSignal,
): Promise<void> {
  const { recovered } = await sources.get(stream).info('throw');
  const isSource = (name: string): number => Number(name === recovered?.node);
  const serving = members.others().filter(({ serves }) => serves.includes(stream));
  serving.sort((one, other) => isSource(other.name) - isSource(one.name));
  if (serving.length === 0) throw new Unavailable(`No node that has the stream ${stream} is there.`);
  await groups.withFolder(async (folder) => {
    await bringCopy(serving, secret, folder, logger, runtime, { stream, stopping });
    await groups.take(stream, folder, {
      check: async (stores) => {
        const place = stores.place(stream);
        // The copy may be ahead of what was known of the stream before.
        const info = await sources.get(stream).info('throw');
        if (place === undefined) throw new StreamTruncated(String(stream), 0, info.first);
        continuedHead(String(stream), place, info);
      },
      catalogueAt,
      bring: (digests) => blobs.bring(digests, stream),
    });
  });
  logger.notice({ stream }, 'the databases of a stream were copied from another node');
}

/** Each node begins with another one of the hosts. */
export function rotated(hosts: readonly string[], node: string): string[] {
  const sum = [...node].reduce((before, character) => before + character.charCodeAt(0), 0);
  const by = sum % Math.max(1, hosts.length);
  return [...hosts.slice(by), ...hosts.slice(0, by)];
}
