import http from 'node:http';
import type { SampleAnswer } from '../load/sample-answer.js';
import { serve, settings } from './child.js';

/** Floor 1: an HTTP server that says the same bytes to everybody. */
const { status, headers, body } = settings<SampleAnswer>();

serve(
  http.createServer((_request, response) => {
    response.writeHead(status, headers);
    response.end(body, 'latin1');
  }),
);
