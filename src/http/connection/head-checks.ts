import type { IncomingMessage } from 'node:http';
import { badRequest, RequestError } from '../../base/errors.js';
import { headerOf } from '../request/header.js';

/** Looks at the head of a request for what the parser lets through and HTTP, or a limit, does not allow. */
export class HeadChecks {
  #lastHost = '';

  constructor(private readonly headersMax: number) {}

  check(request: IncomingMessage, uriBytesMax: number): void {
    const { rawHeaders, url = '/', httpVersionMajor, httpVersionMinor } = request;
    if (url.length > uriBytesMax) throw uriTooLong();
    if (rawHeaders.length > 2 * this.headersMax) throw headTooLong();
    if (httpVersionMajor === 0) throw badRequest('HTTP before 1.0 is not spoken here.');
    if (httpVersionMajor !== 1) return checkExpectation(request);
    let host: string | undefined;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      if (rawHeaders[i]!.length !== 4 || rawHeaders[i]!.toLowerCase() !== 'host') continue;
      if (host !== undefined) throw badRequest('The request has more than one Host header.');
      host = rawHeaders[i + 1]!;
    }
    if (host !== undefined) this.#checkHost(host);
    else if (httpVersionMinor >= 1) throw badRequest('The request has no Host header.');
    // Chunks came with HTTP/1.1: something between here and the client may see the end of this request elsewhere.
    if (httpVersionMinor === 0 && headerOf(request, 'transfer-encoding') !== undefined) {
      throw badRequest('An HTTP/1.0 request cannot be sent in chunks.');
    }
  }

  /** Nearly always the same as in the request before. */
  #checkHost(host: string): void {
    if (host === this.#lastHost) return;
    if (!/^[\w.~!$&'()*+,;=:%[\]-]*$/.test(host))
      throw badRequest('The Host header is not the name of a host.');
    this.#lastHost = host;
  }
}

const uriTooLong = (): RequestError => new RequestError('too_long', 'the request uri is too long');

const headTooLong = (): RequestError =>
  new RequestError('request_header_fields_too_large', 'The headers of the request are too many or too long.');

/** Node looks at this itself where it reads HTTP/1.1. */
function checkExpectation(request: IncomingMessage): void {
  const expected = headerOf(request, 'expect');
  if (expected !== undefined && expected.toLowerCase() !== '100-continue') throw expectationFailed();
}

export const expectationFailed = (): RequestError =>
  new RequestError('expectation_failed', 'The only thing that a request may expect is 100-continue.');
