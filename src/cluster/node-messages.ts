import { createHmac } from 'node:crypto';
import type { NatsServers } from './nats-connection.js';

/**
 * What nodes tell each other over the NATS servers without having it stored: it may be lost. Only nodes that have the secret of the
 * cluster are believed.
 */
export class NodeMessages {
  constructor(
    private readonly nats: Pick<NatsServers, 'tell' | 'listen'>,
    private readonly options: { name: string; secret: string },
  ) {}

  tell(subject: string, value: object): void {
    const text = JSON.stringify(value);
    this.nats.tell(`${this.options.name}.${subject}`, `${this.#signature(text)} ${text}`);
  }

  /** Gives the function that ends it. */
  listen(subject: string, hear: (value: unknown) => void): () => void {
    return this.nats.listen(`${this.options.name}.${subject}`, (signed) => {
      const value = this.#read(signed);
      if (value !== undefined) hear(value);
    });
  }

  /** Undefined for what is not one of ours. */
  #read(signed: string): unknown {
    const text = signed.slice(signed.indexOf(' ') + 1);
    if (signed !== `${this.#signature(text)} ${text}`) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return undefined;
    }
  }

  #signature(text: string): string {
    return createHmac('sha256', this.options.secret).update(text).digest('hex');
  }
}
