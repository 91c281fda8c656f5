import type { Follower } from '../../documents/attachments/attach.js';
import { badRequest, RequestError } from '../../base/errors.js';
import { bodyProblem, openBody } from './body.js';
import type { Exchange } from '../exchange.js';
import { boundaryOf, filenameOf, mayBeNamed } from '../../base/multipart/content-headers.js';
import { readMultipart } from '../../base/multipart/multipart-reader.js';
import { PartsInMemory } from './parts-in-memory.js';

/** The document itself may have this size; the attachments behind it have a limit of their own. */
const documentPartBytesMax = 64 * 1024 * 1024;

/**
 * A `multipart/related` body: the document first, then the attachments that it announces as following, in the order
 * of their announcement. `save` gets the document's bytes, and a way to read each attachment when its turn comes.
 */
export async function withMultipart(
  exchange: Exchange,
  save: (document: Buffer, follower: Follower) => Promise<void>,
): Promise<void> {
  const source = openBody(exchange.request, exchange.bodyBytesMax);
  const parts = readMultipart(source, boundaryOf(exchange.header('content-type')));
  try {
    const first = await parts.next();
    if (first.done) throw badRequest('The multipart body has no parts.');
    checkDocumentType(first.value.headers.get('content-type'));
    const tooLarge = 'The first part of the body is too large for a document.';
    const reader = new PartsInMemory(exchange.bodyShare, documentPartBytesMax, tooLarge);
    const document = await reader.read(first.value);
    reader.end();
    await save(document, {
      open: async ({ name }) => {
        const next = await parts.next();
        if (next.done) throw badRequest(`The multipart body has no part for attachment ${name}.`);
        const { headers } = next.value;
        if (!mayBeNamed(headers, name)) {
          throw badRequest(
            `A part for attachment ${name} was expected, and one for ${filenameOf(headers)} came.`,
          );
        }
        return next.value.body;
      },
      end: async () => {
        if (!(await parts.next()).done)
          throw badRequest('The multipart body has a part that the document does not name.');
      },
    });
  } catch (error) {
    throw bodyProblem(error);
  }
}

/** A part without a type is taken for JSON. */
function checkDocumentType(type = 'application/json'): void {
  if (!/^application\/json *(?:;|$)/i.test(type))
    throw new RequestError('bad_content_type', 'Content-Type must be application/json');
}
