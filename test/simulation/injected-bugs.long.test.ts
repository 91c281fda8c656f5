import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** A bug that is put into the server for one run of the simulator. */
interface InjectedBug {
  /** Below `src/`. */
  file: string;
  /** What is replaced; it must be in the file exactly once. */
  from: string;
  to: string;
  /** What the simulator says of it. */
  found: RegExp;
}

const bugs: Record<string, InjectedBug> = {
  'a write is answered when its batch is visible, not when it is flushed': {
    file: 'storage/group-commit.ts',
    from: 'write(writes).flushed',
    to: 'write(writes).committed',
    found: /was acknowledged or seen, and is lost/,
  },
  'a blob is removed without a look at whether another document names it': {
    file: 'shard/blob-refs.ts',
    from: 'const after = before + by;',
    to: 'const after = by;',
    // Read, named by a stub in a further revision, or counted wrongly at the end: whichever comes first.
    found: /the attachment .* 404|missing_stub|who needs which blob/,
  },
  'edits are not compared with the digest of the validation functions': {
    file: 'shard/apply-edit.ts',
    from: 'if (!isDesignId(edit.id)) return command.validators !== undefined && command.validators !== validators;',
    to: 'if (edit) return false;',
    found: /was stored, and is forbidden by the rules/,
  },
  'what was applied on top of a batch that the disk refused stays in the overlay': {
    file: 'storage/group-commit.ts',
    from: 'this.overlay.failed();',
    to: 'this.overlay.committed();',
    found: /was refused, and is stored/,
  },
};

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** A second build beside which nothing else runs. */
let copy: string;

before(() => {
  copy = mkdtempSync(join(tmpdir(), 'tuffet-injected-'));
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  for (const part of ['src', 'test'])
    cpSync(join(root, 'dist', part), join(copy, 'dist', part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});

after(() => rmSync(copy, { recursive: true }));

for (const [name, bug] of Object.entries(bugs)) {
  test(`the simulator finds a bug that is put back: ${name}`, () => {
    const compiled = join(copy, 'dist/src', bug.file.replace(/ts$/, 'js'));
    const healthy = readFileSync(compiled);
    writeFileSync(compiled, compileWith(bug));
    const found = firstFailure();
    writeFileSync(compiled, healthy);
    assert.match(found, bug.found);
  });
}

function compileWith({ file, from, to }: InjectedBug): string {
  const parts = readFileSync(join(root, 'src', file), 'utf8').split(from);
  assert.equal(parts.length, 2, `src/${file} has changed: say anew where the bug is put`);
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
  return ts.transpileModule(parts.join(to), { compilerOptions }).outputText;
}

/** What the first seed that fails says. `simulation.test.ts` shows that without a bug none of them does. */
function firstFailure(): string {
  const program = join(copy, 'dist/test/simulation/first-failure.js');
  return spawnSync(process.execPath, [program, '50'], { encoding: 'utf8', timeout: 300_000 }).stdout;
}
