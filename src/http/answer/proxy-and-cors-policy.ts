import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/config.js';
import { CorsPolicy } from './cors.js';
import { FramePolicy } from './frame-policy.js';
import { headerOf } from '../request/header.js';

/** What the configuration says of the way between server and client, made ready for the path of every request. */
export class ProxyAndCorsPolicy {
  /** Undefined where pages of other origins get nothing, as is the default. */
  cors: CorsPolicy | undefined;
  /** Whether answers may be wrapped in a call of a function. */
  jsonp = false;
  uriBytesMax = Infinity;
  plusIsSpace = true;
  #frames: FramePolicy | undefined;
  #hostHeader = '';
  #protoHeader = '';
  #sslHeader = '';
  readonly #stopListening: (() => void)[];

  constructor(private readonly config: Config) {
    this.#read();
    this.#stopListening = ['chttpd', 'cors', 'x_frame_options'].map((section) =>
      config.onChange(section, undefined, () => this.#read()),
    );
  }

  /** Adds to a flat list of headers what every answer to this request has to carry. */
  mark(request: IncomingMessage, list: (string | number)[]): void {
    this.cors?.mark(request, list);
    this.#frames?.mark(list);
  }

  /** Whether `mark` has something to add. */
  get marks(): boolean {
    return this.cors !== undefined || this.#frames !== undefined;
  }

  /** Whether the client came over TLS, to this server or to a proxy before it. */
  isSecure(request: IncomingMessage): boolean {
    const socket = request.socket as { encrypted?: boolean } | null;
    return (
      socket?.encrypted === true ||
      headerOf(request, this.#sslHeader) === 'on' ||
      headerOf(request, this.#protoHeader) === 'https'
    );
  }

  /** The host by which the client knows this server. */
  hostOf(request: IncomingMessage): string {
    return (
      headerOf(request, this.#hostHeader) ??
      headerOf(request, 'host') ??
      headerOf(request, ':authority') ??
      'localhost'
    );
  }

  close(): void {
    for (const stop of this.#stopListening) stop();
  }

  #read(): void {
    const { config } = this;
    this.cors = config.boolean('chttpd/enable_cors')
      ? new CorsPolicy(config, (request) => this.hostOf(request))
      : undefined;
    this.jsonp = config.boolean('chttpd/allow_jsonp');
    this.uriBytesMax = config.number('chttpd/max_uri_length');
    this.plusIsSpace = config.boolean('chttpd/decode_plus_to_space');
    this.#frames = config.boolean('chttpd/enable_xframe_options') ? new FramePolicy(config) : undefined;
    this.#hostHeader = config.text('chttpd/x_forwarded_host').toLowerCase();
    this.#protoHeader = config.text('chttpd/x_forwarded_proto').toLowerCase();
    this.#sslHeader = config.text('chttpd/x_forwarded_ssl').toLowerCase();
  }
}
