import { Config, type ConfigOptions } from '../../config/config.js';
import { StartupError } from '../../base/startup-error.js';
import { note, type Finding } from './finding.js';

const answerWithinMs = 3_000;

/** Asks the server that uses a data folder whether it is well. It may have been told another address on its command line. */
export async function serverFindings(options: ConfigOptions): Promise<Finding[]> {
  let config: Config;
  try {
    config = new Config(options);
  } catch (error) {
    // What can't be read is told of by others.
    if (error instanceof StartupError) return [];
    throw error;
  }
  const bind = config.text('chttpd/bind_address');
  const host =
    bind === '0.0.0.0' ? '127.0.0.1' : bind === '::' ? '[::1]' : bind.includes(':') ? `[${bind}]` : bind;
  const url = `http://${host}:${config.number('chttpd/port')}`;
  try {
    const answer = await fetch(`${url}/_up`, { signal: AbortSignal.timeout(answerWithinMs) });
    const { status = 'nothing' } = (await answer.json()) as { status?: string };
    const isUp = answer.ok && status === 'ok';
    return [
      isUp
        ? note(url, 'The server answers, and is well.', `For its figures ask ${url}/_node/_local/_stats.`)
        : note(url, `The server answers ${answer.status}: ${status}.`, 'See [couchdb] maintenance_mode.'),
    ];
  } catch (error) {
    const why = (error as { cause?: Error }).cause?.message ?? (error as Error).message;
    return [
      note(
        url,
        `No server answers at the configured address: ${why}.`,
        'It may have been started with another --port or --bind.',
      ),
    ];
  }
}
