import type { Runtime } from '../base/runtime.js';
import { StreamMissing, type StreamInfo } from '../log/stream.js';
import type { NatsServers } from './nats-connection.js';
import type { NatsStream } from './nats-stream.js';

export type StreamName = number | 'catalogue';

interface SourceOptions {
  /** What the names of the streams begin with. */
  name: string;
  streams: number;
  /** NATS servers that keep a copy of each stream. */
  replicas: number;
}

/** The streams of a cluster, as the NATS servers have them. */
export class StreamSources {
  constructor(
    private readonly nats: Pick<NatsServers, 'stream'>,
    private readonly options: SourceOptions,
    private readonly runtime: Runtime,
  ) {}

  get(stream: StreamName): NatsStream {
    const { name, replicas } = this.options;
    return this.nats.stream({
      name: `${name}-${stream}`,
      subject: `${name}.stream.${stream}`,
      replicas,
      newEpoch: () => this.runtime.randomHex(8),
    });
  }

  /** The catalogue's first. */
  get names(): StreamName[] {
    return ['catalogue', ...Array.from({ length: this.options.streams }, (_, at) => at)];
  }

  /** What they are now, the catalogue's first; those that the servers do not have are absent. */
  async infos(): Promise<Map<StreamName, StreamInfo>> {
    const infos = new Map<StreamName, StreamInfo>();
    for (const name of this.names) {
      const info = await this.get(name)
        .info('throw')
        .catch((error: unknown) => {
          if (!(error instanceof StreamMissing)) throw error;
        });
      if (info !== undefined) infos.set(name, info);
    }
    return infos;
  }
}
