import type { Bytes } from '../../base/bytes.js';
import type { Framing, PlainFraming } from '../../changes/changes-view.js';

/** How a feed is written: what stands around the rows, and what is sent when there are none. */
export interface FeedForm {
  name: 'list' | 'lines' | 'events';
  opening: Bytes;
  framing: Framing;
  /** The same for short rows, where it does not hold the sequence. */
  plain: PlainFraming | undefined;
  heartbeat: Bytes;
  /** `summary` are the members that tell where the feed ended, without braces. */
  ending: (summary: Bytes) => Bytes;
}

const nothing = (): Bytes => '';

const plainFraming = (before: Bytes, after: Bytes): PlainFraming => ({
  opening: `${before}{"seq":"`,
  end: `"}]}${after}`,
  deletedEnd: `"}],"deleted":true}${after}`,
});

/** One object with all rows: each begins with a comma, but for the first, of which the listener takes it away. */
export const listForm: FeedForm = {
  name: 'list',
  opening: '{"results":[',
  framing: { before: ',\n', after: nothing },
  plain: plainFraming(',\n', ''),
  heartbeat: '\n',
  ending: (summary) => `\n],\n${summary}}\n`,
};

/** One line a row. */
export const linesForm: FeedForm = {
  name: 'lines',
  opening: '',
  framing: { before: '', after: () => '\n' },
  plain: plainFraming('', '\n'),
  heartbeat: '\n',
  ending: (summary) => `{${summary}}\n`,
};

/** As browsers read it with EventSource. The id comes back when the browser does. */
export const eventsForm: FeedForm = {
  name: 'events',
  opening: '',
  framing: { before: 'data: ', after: (seq) => (seq === 'null' ? '\n\n' : `\nid: ${seq}\n\n`) },
  plain: undefined,
  heartbeat: 'event: heartbeat\ndata: \n\n',
  ending: nothing,
};
