import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../bytes.js';
import { attachmentDisposition, boundaryOf, filenameOf } from './content-headers.js';
import { readMultipart } from './multipart-reader.js';
import { MultipartWriter, type OutgoingPart } from './multipart-writer.js';

const json = { 'Content-Type': 'application/json' };

function attachment(name: string, bytes: string, known = true): OutgoingPart {
  return {
    headers: {
      'Content-Disposition': attachmentDisposition(name),
      'Content-Type': 'text/plain',
      'Content-Length': bytes.length,
      'Content-Encoding': undefined,
    },
    content: {
      length: known ? bytes.length : undefined,
      open: async function* () {
        yield Buffer.from(bytes.slice(0, 2));
        yield Buffer.from(bytes.slice(2));
      },
    },
  };
}

async function textOf(writer: MultipartWriter, parts: OutgoingPart[]): Promise<string> {
  let text = '';
  for await (const chunk of writer.chunks(parts)) text += chunk.toString('latin1');
  assert.equal(writer.length(parts), text.length);
  return text;
}

test('a document is followed by its attachments', async () => {
  const writer = new MultipartWriter('related', 'abc');
  assert.equal(writer.contentType, 'multipart/related; boundary="abc"');
  const text = await textOf(writer, [{ headers: json, text: asBytes('{"a":1}') }, attachment('a', 'hello')]);
  assert.equal(
    text,
    '--abc\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n' +
      '--abc\r\nContent-Disposition: attachment; filename="a"\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n' +
      'hello\r\n--abc--',
  );
});

test('documents with attachments are parts of their own', async () => {
  const related = new MultipartWriter('related', 'in');
  const text = await textOf(new MultipartWriter('mixed', 'out'), [
    { headers: { 'X-Doc-Id': 'a' }, multipart: related, parts: [{ headers: json, text: asBytes('{}') }] },
    { headers: { 'Content-Type': 'application/json; error="true"' }, text: asBytes('{"error":"x"}') },
  ]);
  assert.equal(
    text,
    '--out\r\nX-Doc-Id: a\r\nContent-Type: multipart/related; boundary="in"\r\n\r\n' +
      '--in\r\nContent-Type: application/json\r\n\r\n{}\r\n--in--\r\n' +
      '--out\r\nContent-Type: application/json; error="true"\r\n\r\n{"error":"x"}\r\n--out--',
  );
});

test('no parts make an empty body', async () => {
  assert.equal(await textOf(new MultipartWriter('mixed', 'abc'), []), '--abc--');
});

test('the length is unknown when one of a part is', () => {
  const writer = new MultipartWriter('mixed', 'abc');
  assert.equal(writer.length([attachment('a', 'hello', false)]), undefined);
  const nested = {
    multipart: new MultipartWriter('related', 'in'),
    parts: [attachment('a', 'hello', false)],
  };
  assert.equal(writer.length([nested]), undefined);
});

test('what is written is read back, with names of every kind', async () => {
  const names = ['é b.bin', 'say "hi"', 'back\\slash', 'two\r\nX-Evil: 1', '日本'];
  const writer = new MultipartWriter('related', 'in');
  const seen: (string | undefined)[] = [];
  const parts = names.map((name) => attachment(name, 'hello'));
  for await (const part of readMultipart(writer.chunks(parts), boundaryOf(writer.contentType))) {
    seen.push(filenameOf(part.headers));
    assert.equal(part.headers.has('x-evil'), false);
    let body = '';
    for await (const chunk of part.body) body += chunk.toString();
    assert.equal(body, 'hello');
  }
  assert.deepEqual(seen, names.with(3, 'two%0D%0AX-Evil: 1'));
});

test('parts are asked for one at a time, and small ones go out together', async () => {
  let asked = 0;
  const parts = async function* (): AsyncGenerator<OutgoingPart> {
    for (; asked < 1000; asked++) yield { headers: json, text: asBytes('x'.repeat(1000)) };
  };
  let chunks = 0;
  for await (const chunk of new MultipartWriter('mixed', 'abc').chunks(parts())) {
    if (chunks++ === 0) assert.ok(asked < 100);
    assert.ok(chunk.length < 70_000);
  }
  assert.ok(chunks < 30);
});
