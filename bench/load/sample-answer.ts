import http from 'node:http';

/** An answer of the server, as a floor repeats it. */
export interface SampleAnswer {
  status: number;
  headers: Record<string, string>;
  /** As latin1. */
  body: string;
}

/** These come from node:http itself, in the server and in the floors. */
const automatic = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

export async function sampleAnswer(
  url: string,
  options: http.RequestOptions = {},
  body = '',
): Promise<SampleAnswer> {
  return await new Promise((resolve, reject) => {
    const request = http.request(url, { agent: false, ...options }, (answer) => {
      const headers: Record<string, string> = {};
      for (let i = 0; i < answer.rawHeaders.length; i += 2) {
        const name = answer.rawHeaders[i]!;
        if (!automatic.has(name.toLowerCase())) headers[name] = answer.rawHeaders[i + 1]!;
      }
      let text = '';
      answer.setEncoding('latin1');
      answer.on('data', (piece: string) => (text += piece));
      answer.on('end', () => resolve({ status: answer.statusCode!, headers, body: text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}
