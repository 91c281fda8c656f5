import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAttachments, readAttachmentsInSteps } from './attachment-input.js';

function inSteps(bytes: Buffer): { value: unknown; steps: number } {
  const steps = readAttachmentsInSteps(bytes);
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return { value: step.value, steps: count };
  }
}

const outcome = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return String(error);
  }
};

const plain = Buffer.from(Array.from({ length: 300_001 }, (_, n) => n % 251)).toString('base64');
const slashes = 'ab/+'.repeat(100_000);

test('attachments are read in steps as they are in one go', () => {
  const data: [what: string, text: string][] = [
    ['plain', `"${plain}"`],
    ['padded', `"${'A'.repeat(400_002)}=="`],
    ['of whole steps', `"${'QUJD'.repeat(131_072)}"`],
    ['with escaped slashes', `"${slashes.replaceAll('/', '\\/')}"`],
    ['with line ends', `"${slashes}\\r\\n${slashes}"`],
    ['with padding in between', `"${'A'.repeat(300_000)}=AAA${'A'.repeat(300_000)}"`],
    ['with another character', `"${'A'.repeat(400_001)}-AA"`],
    ['too short by one', `"${'A'.repeat(400_003)}"`],
    ['given twice', `"${plain}","data":"QUI="`],
    ['given twice, the large one last', `"QUI=","data":"${plain}"`],
    ['no text', `[${'1,'.repeat(200_000)}1]`],
    ['missing', `"","x":"${plain}"`],
  ];
  for (const [what, text] of data) {
    const bytes = Buffer.from(
      `{"a":{"content_type":"image/png","data":${text},"revpos":3},"b":{"stub":true},"1":{"data":"QUI="},"c":7}`,
    );
    const expected = outcome(() => readAttachments(bytes));
    assert.deepEqual(
      outcome(() => inSteps(bytes).value),
      expected,
      what,
    );
  }
});

test('large data and many attachments are read in many steps', () => {
  const large = Buffer.from(`{"a":{"data":"${'QUJD'.repeat(1_000_000)}"}}`);
  const many = Buffer.from(`{${Array.from({ length: 5_000 }, (_, n) => `"a${n}":{"stub":true}`).join(',')}}`);
  for (const bytes of [large, many]) assert.ok(inSteps(bytes).steps > 10);
});
