import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { filenameOf, boundaryOf } from './content-headers.js';
import { readMultipart, type MultipartLimits } from './multipart-reader.js';

interface ReadPart {
  headers: Record<string, string>;
  body: string;
}

async function* chunksOf(bytes: Buffer, nextLength: () => number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length;) {
    const length = nextLength();
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

async function partsOf(
  body: string | Buffer,
  {
    boundary = 'abc',
    nextLength = () => 1e9,
    limits,
  }: { boundary?: string; nextLength?: () => number; limits?: MultipartLimits } = {},
): Promise<ReadPart[]> {
  const parts: ReadPart[] = [];
  const source = chunksOf(Buffer.from(body as string, 'latin1'), nextLength);
  for await (const part of readMultipart(source, boundary, limits)) {
    let text = '';
    for await (const chunk of part.body) text += chunk.toString('latin1');
    parts.push({ headers: Object.fromEntries(part.headers), body: text });
  }
  return parts;
}

/** A generator that gives the same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const plain = (...bodies: string[]): ReadPart[] => bodies.map((body) => ({ headers: {}, body }));

test('parts come with their headers and bodies, each in every cut', async () => {
  const cases: [string, ReadPart[]][] = [
    ['--abc\r\n\r\nhello\r\n--abc\r\n\r\nbye\r\n--abc--', plain('hello', 'bye')],
    ['--abc\r\nA: b\r\nC-d:  e \r\n\r\nx\r\n--abc--\r\n', [{ headers: { a: 'b', 'c-d': 'e' }, body: 'x' }]],
    ['--abc\r\nA: b;\r\n\tc\r\n\r\nx\r\n--abc--', [{ headers: { a: 'b; c' }, body: 'x' }]],
    ['ignore\r\n--abcd\r\nme\r\n--abc\r\n\r\nx\r\n--abc--\r\nand\r\n--abc\r\nme', plain('x')],
    ['\r\n--abc\r\n\r\nx\r\n--abc--', plain('x')],
    ['--abc \t\r\n\r\nx\r\n--abc-- ', plain('x')],
    ['--abc--', []],
    ['--abc\r\n\r\n\r\n--abc\r\n\r\n--abc--', plain('', '')],
    ['--abc\r\n\r\n\r\n\r\nx\r\n\r\n\r\n--abc--', plain('\r\n\r\nx\r\n\r\n')],
    [
      '--abc\r\n\r\na\r\n--abcdef b\r\n--ab\r\n--abc\n\r\n--abc-\r\n--abc--',
      plain('a\r\n--abcdef b\r\n--ab\r\n--abc\n\r\n--abc-'),
    ],
    ['--abc\r\n\r\n\r\r\n\r\n-\r\r\n--abc--', plain('\r\r\n\r\n-\r')],
    ['--abc\r\n\r\n--abcx\r\n--abc--', plain('--abcx')],
  ];
  for (const [body, parts] of cases) {
    for (const length of [1e9, 1, 2, 3, 5, 7]) {
      assert.deepEqual(
        await partsOf(body, { nextLength: () => length }),
        parts,
        JSON.stringify({ body, length }),
      );
    }
  }
});

test('any cut of the bytes gives the same parts', async () => {
  const seed = Number(process.env.TUFFET_TEST_SEED ?? randomInt(2 ** 31));
  const next = random(seed);
  const alphabet = [
    '\r',
    '\n',
    '\r\n',
    '-',
    '--',
    '--abc',
    '\r\n--ab',
    '\r\n--abc',
    'a',
    'b',
    'c',
    ' ',
    '\0',
    '\xff',
    'text',
  ];
  for (let round = 0; round < 1000; round++) {
    const parts = Array.from({ length: next(5) }, (): ReadPart => {
      const body = Array.from({ length: next(12) }, () => alphabet[next(alphabet.length)]!).join('');
      return { headers: next(2) === 0 ? {} : { 'content-type': `t/${next(100)}` }, body };
    });
    // A boundary that the bodies cannot hold.
    const boundary = 'abcZ';
    let body = next(3) === 0 ? 'preamble\r\n' : '';
    for (const part of parts) {
      const headers = Object.entries(part.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      body += `--${boundary}\r\n${headers.join('')}\r\n${part.body}\r\n`;
    }
    body += `--${boundary}--${next(3) === 0 ? '\r\nepilogue\r\n--abcZ' : ''}`;
    const read = await partsOf(body, { boundary, nextLength: () => 1 + next(1 + next(60)) });
    assert.deepEqual(read, parts, `seed ${seed}, round ${round}`);
  }
});

test('what is malformed is refused with a reason', async () => {
  const refused: [string, RegExp][] = [
    ['', /ends before its closing boundary/],
    ['nothing at all', /ends before its closing boundary/],
    ['--abc', /ends before/],
    ['--abc\r\n\r\nhello', /ends before/],
    ['--abc\r\n\r\nhello\r\n--abc', /ends before/],
    ['--abc\r\n\r\nhello\r\n--abc-', /ends before/],
    ['--abc\n\nhello\n--abc--', /ends before/],
    ['--abc\r\nContent-Type: x', /ends before/],
    ['--abc\r\nContent-Type: x\r\n--abc--', /ends before/],
    ['--abc\r\nnonsense\r\n\r\nx\r\n--abc--', /malformed header line/],
    ['--abc\r\n: x\r\n\r\nx\r\n--abc--', /malformed header line/],
    ['--abc\r\nA b: x\r\n\r\nx\r\n--abc--', /malformed header line/],
    ['--abc\r\nA: x\ny\r\n\r\nx\r\n--abc--', /stray control character/],
    ['--abc\r\nA: x\r\na: y\r\n\r\nx\r\n--abc--', /twice/],
  ];
  for (const [body, reason] of refused) {
    for (const length of [1e9, 1, 4]) {
      await assert.rejects(
        partsOf(body, { nextLength: () => length }),
        { error: 'bad_request', reason },
        body,
      );
    }
  }
});

test('headers and the number of parts are bounded', async () => {
  const limits = { headerBytesMax: 100, partsMax: 3 };
  const long = `--abc\r\nA: ${'x'.repeat(200)}`;
  for (const body of [long, `${long}\r\n\r\nx\r\n--abc--`]) {
    for (const length of [1e9, 10]) {
      const read = partsOf(body, { limits, nextLength: () => length });
      await assert.rejects(read, { error: 'bad_request', reason: /longer than 100 bytes/ });
    }
  }
  assert.equal((await partsOf('--abc\r\n\r\n\r\n'.repeat(3) + '--abc--', { limits })).length, 3);
  await assert.rejects(partsOf('--abc\r\n\r\n\r\n'.repeat(4) + '--abc--', { limits }), {
    reason: /more than 3 parts/,
  });
});

test('a part that is not read, or not to its end, is passed over', async () => {
  const source = chunksOf(Buffer.from('--abc\r\n\r\nhello\r\n--abc\r\nN: 2\r\n\r\nbye\r\n--abc--'), () => 3);
  const seen: unknown[] = [];
  for await (const part of readMultipart(source, 'abc')) {
    seen.push(part.headers.get('n'));
    for await (const chunk of part.body) if (chunk.length > 0) break;
  }
  assert.deepEqual(seen, [undefined, '2']);
});

test('bodies nest', async () => {
  const body =
    '--out\r\nContent-Type: multipart/related; boundary="in"\r\n\r\n--in\r\n\r\none\r\n--in\r\n\r\ntwo\r\n--in--\r\n--out\r\n\r\nthree\r\n--out--';
  const seen: string[] = [];
  for await (const part of readMultipart(
    chunksOf(Buffer.from(body), () => 4),
    'out',
  )) {
    const type = part.headers.get('content-type');
    if (type === undefined) for await (const chunk of part.body) seen.push(chunk.toString());
    else
      for await (const inner of readMultipart(part.body, boundaryOf(type)))
        for await (const chunk of inner.body) seen.push(chunk.toString());
  }
  assert.equal(seen.join(''), 'onetwothree');
});

test('the boundary is found quoted or not, and its absence is refused', () => {
  assert.equal(boundaryOf('multipart/related; boundary=abc'), 'abc');
  assert.equal(boundaryOf('multipart/related;boundary="a b;c"; type="x"'), 'a b;c');
  assert.equal(boundaryOf('Multipart/Related; type="application/json"; Boundary=a_b\'c'), "a_b'c");
  for (const type of [
    undefined,
    'application/json',
    'multipart/related',
    'multipart/related; boundary=',
    'multipart/mixed; boundary=""',
  ]) {
    assert.throws(() => boundaryOf(type), { error: 'bad_request' });
  }
  assert.throws(() => boundaryOf(`multipart/related; boundary=${'x'.repeat(201)}`), {
    reason: /longer than 200/,
  });
});

test('the name of a part is found in every usual form', () => {
  const name = (value: string): string | undefined => filenameOf(new Map([['content-disposition', value]]));
  assert.equal(name('attachment; filename="a b.txt"'), 'a b.txt');
  assert.equal(name('attachment; filename=a.txt; size=3'), 'a.txt');
  assert.equal(name('attachment; filename="say \\"hi\\" \\\\ c:\\dir"'), 'say "hi" \\ c:\\dir');
  assert.equal(name('attachment'), undefined);
  assert.equal(filenameOf(new Map()), undefined);
});

test('a stream of 200 MB goes through without being kept', async () => {
  const chunk = randomBytes(64 * 1024);
  const source = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from('--abc\r\n\r\n');
    for (let i = 0; i < 3200; i++) yield Buffer.from(chunk);
    yield Buffer.from('\r\n--abc--');
  };
  let length = 0;
  let most = 0;
  const before = process.memoryUsage().rss;
  for await (const part of readMultipart(source(), 'abc')) {
    for await (const piece of part.body) {
      length += piece.length;
      if (length % (5 << 20) < piece.length) most = Math.max(most, process.memoryUsage().rss - before);
    }
  }
  assert.equal(length, 3200 * chunk.length);
  assert.ok(most < 80 << 20, `memory grew by ${most >> 20} MB`);
});
