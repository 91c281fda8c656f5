import type { Logger } from '../base/logger.js';

/** The first version of the NATS server that can flush each message before it confirms it, and tells whether it does. */
const safeVersion = [2, 10];
const monitoringPort = 8222;
const answerMs = 5_000;

interface LogServers {
  /** Addresses of NATS servers, and of their monitoring ports, separated by commas. Empty: the usual port of each. */
  servers: string;
  monitoring: string;
  /** The version of the server that the node is connected to. */
  version: string;
}

/**
 * Why NATS servers may lose what they have confirmed, if they may: by default they flush every two minutes. Whether they flush
 * each message is shown by their monitoring ports alone. One that does not answer may be down while others serve.
 */
export async function whyUnsafe(
  { servers, monitoring, version }: LogServers,
  logger: Logger,
): Promise<string | undefined> {
  if (!isSafeVersion(version)) return `The NATS server has version ${version}.`;
  const urls = monitoring === '' ? split(servers).map(usualMonitoring) : split(monitoring);
  const answers = await Promise.all(urls.map((url) => ask(url)));
  const unsafe = answers.find(({ problem }) => problem !== undefined);
  if (unsafe !== undefined) return unsafe.problem;
  const silent = answers.filter(({ failure }) => failure !== undefined);
  if (silent.length === answers.length)
    return `No monitoring port of a NATS server answers ([cluster] nats_monitoring): ${silent[0]?.failure ?? 'none is named'}.`;
  for (const { failure } of silent)
    logger.warn({ reason: failure }, 'whether a NATS server flushes each message is not known');
  return undefined;
}

interface Answer {
  /** Why the server is not safe. */
  problem?: string;
  /** Why nothing is known of it. */
  failure?: string;
}

async function ask(url: string): Promise<Answer> {
  try {
    const answer = await fetch(new URL('/varz', url), { signal: AbortSignal.timeout(answerMs) });
    if (answer.status !== 200) return { failure: `${url} answers ${answer.status}` };
    const { version, jetstream } = (await answer.json()) as Partial<ServerVariables>;
    if (typeof version !== 'string') return { failure: `${url} is not the monitoring port of a NATS server` };
    if (!isSafeVersion(version)) return { problem: `The NATS server at ${url} has version ${version}.` };
    return jetstream?.config?.sync_always === true
      ? {}
      : { problem: `The NATS server at ${url} runs without "sync_interval: always".` };
  } catch (error) {
    const { message, cause } = error as Error;
    return { failure: `${url}: ${cause instanceof Error ? cause.message : message}` };
  }
}

/** What is needed of `/varz`. */
interface ServerVariables {
  version: string;
  jetstream: { config?: { sync_always?: boolean } };
}

const split = (addresses: string): string[] =>
  addresses
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

function usualMonitoring(server: string): string {
  const { hostname } = new URL(server.includes('://') ? server : `nats://${server}`);
  return `http://${hostname}:${monitoringPort}`;
}

function isSafeVersion(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > safeVersion[0]! || (major === safeVersion[0] && minor >= safeVersion[1]!);
}
