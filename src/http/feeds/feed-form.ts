import { asBytes, noBytes, type Bytes } from '../../base/bytes.js';
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

const nothing = (): Bytes => noBytes;

const plainFraming = (before: Bytes, after: Bytes): PlainFraming => ({
  opening: asBytes(`${before}{"seq":"`),
  end: asBytes(`"}]}${after}`),
  deletedEnd: asBytes(`"}],"deleted":true}${after}`),
});

/** One object with all rows: each begins with a comma, but for the first, of which the listener takes it away. */
export const listForm: FeedForm = {
  name: 'list',
  opening: asBytes('{"results":['),
  framing: { before: asBytes(',\n'), after: nothing },
  plain: plainFraming(asBytes(',\n'), noBytes),
  heartbeat: asBytes('\n'),
  ending: (summary) => asBytes(`\n],\n${summary}}\n`),
};

/** One line a row. */
export const linesForm: FeedForm = {
  name: 'lines',
  opening: noBytes,
  framing: { before: noBytes, after: () => asBytes('\n') },
  plain: plainFraming(noBytes, asBytes('\n')),
  heartbeat: asBytes('\n'),
  ending: (summary) => asBytes(`{${summary}}\n`),
};

/** As browsers read it with EventSource. The id comes back when the browser does. */
export const eventsForm: FeedForm = {
  name: 'events',
  opening: noBytes,
  framing: {
    before: asBytes('data: '),
    after: (seq) => (seq === 'null' ? asBytes('\n\n') : asBytes(`\nid: ${seq}\n\n`)),
  },
  plain: undefined,
  heartbeat: asBytes('event: heartbeat\ndata: \n\n'),
  ending: nothing,
};
