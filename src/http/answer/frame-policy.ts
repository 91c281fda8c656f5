import type { Config } from '../../config/config.js';

const policyName = 'Content-Security-Policy';

/** Which pages may show answers of this server in a frame. */
export class FramePolicy {
  readonly #option: string;
  /** Browsers heed this before the option, and know no `ALLOW-FROM` of the option any more. */
  readonly #ancestors: string | undefined;

  constructor(config: Config) {
    const isSameOrigin = config.boolean('x_frame_options/same_origin');
    const hosts = config.text('x_frame_options/hosts');
    this.#option = isSameOrigin ? 'SAMEORIGIN' : 'DENY';
    this.#ancestors =
      isSameOrigin || hosts === '' ? undefined : `frame-ancestors ${hosts.split(/\s*,\s*/).join(' ')}`;
  }

  /** Adds to a flat list of headers what it does not say itself. */
  mark(list: (string | number)[]): void {
    // The page of the server says DENY, whatever is configured.
    if (list.includes('X-Frame-Options')) return;
    list.push('X-Frame-Options', this.#option);
    if (this.#ancestors === undefined) return;
    const at = list.indexOf(policyName);
    if (at < 0) list.push(policyName, this.#ancestors);
    else list[at + 1] = `${list[at + 1]}, ${this.#ancestors}`;
  }
}
