import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../../test/support/server.js';
import { LogOutput } from './log-output.js';

function outputTo(file: string): LogOutput {
  return new LogOutput(fs.openSync(file, 'a'));
}

test('lines are written in their order, however they fall together', async () => {
  const file = path.join(temporaryFolder(), 'log');
  const output = outputTo(file);
  const lines = Array.from({ length: 2_000 }, (_, at) => `${at} ${'é'.repeat(at % 40)}\n`);
  for (const [at, line] of lines.entries()) {
    output.write(line);
    if (at % 300 === 0) await output.written();
  }
  await output.written();
  output.close();
  assert.equal(fs.readFileSync(file, 'utf8'), lines.join(''));
});

test('lines that come after another file was named are written to that one', async () => {
  const folder = temporaryFolder();
  const output = outputTo(path.join(folder, 'old'));
  output.write('first\n');
  await output.written();
  output.changeTo(fs.openSync(path.join(folder, 'new'), 'a'));
  output.write('second\n');
  await output.written();
  output.close();
  assert.equal(fs.readFileSync(path.join(folder, 'old'), 'utf8'), 'first\n');
  assert.equal(fs.readFileSync(path.join(folder, 'new'), 'utf8'), 'second\n');
});

test(
  'what cannot be written is written where it later can',
  { skip: !fs.existsSync('/dev/full') },
  async () => {
    const file = path.join(temporaryFolder(), 'log');
    const output = outputTo('/dev/full');
    output.write('kept\n');
    await output.written();
    output.changeTo(fs.openSync(file, 'a'));
    await output.written();
    output.close();
    assert.equal(fs.readFileSync(file, 'utf8'), 'kept\n');
  },
);

test('lines are dropped where too many wait', { skip: !fs.existsSync('/dev/full') }, async () => {
  const file = path.join(temporaryFolder(), 'log');
  const output = outputTo('/dev/full');
  const line = `${'x'.repeat(1023)}\n`;
  for (let at = 0; at < 10_000; at++) {
    output.write(line);
    if (at % 1_000 === 0) await output.written();
  }
  output.changeTo(fs.openSync(file, 'a'));
  await output.written();
  output.close();
  const { size } = fs.statSync(file);
  assert.ok(size >= 4_000_000 && size <= 4 * 1024 * 1024, `${size} bytes were kept`);
});

/** Runs a process that logs and ends without closing its log. */
function endingProcess(file: string, ending: string): number | null {
  const source = `import fs from 'node:fs';
    import { LogOutput } from ${JSON.stringify(pathToFileURL(path.join(import.meta.dirname, 'log-output.js')).href)};
    const output = new LogOutput(fs.openSync(${JSON.stringify(file)}, 'a'));
    output.write('the last line\\n');
    setTimeout(() => { ${ending} }, 50);`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    timeout: 20_000,
  });
  return status;
}

for (const [name, ending, code] of [
  ['an error that nobody caught', "throw new Error('lost')", 1],
  ['an exit', 'process.exit(3)', 3],
] as const) {
  test(`the last line is there after ${name}`, () => {
    const file = path.join(temporaryFolder(), 'log');
    assert.equal(endingProcess(file, ending), code);
    assert.equal(fs.readFileSync(file, 'utf8'), 'the last line\n');
  });

  test(`a log on a full disk does not keep a process alive after ${name}`, (t) => {
    if (!fs.existsSync('/dev/full')) return t.skip('there is no /dev/full');
    assert.equal(endingProcess('/dev/full', ending), code);
  });
}
