/**
 * Many idle feeds, in a process of their own, so that their memory is not the server's. Told how many and where by its
 * arguments; says when all have begun, and how long each took to hear of a document that it is told of.
 */
import net from 'node:net';

const [, , host = '', port = '0', path = '', count = '0'] = process.argv;

interface Idle {
  text: string;
  begun: boolean;
}

const idle: Idle[] = [];
let wanted: { id: string; at: number; heard: number } | undefined;

function say(message: object): void {
  process.send!(message);
}

function open(): void {
  const feed: Idle = { text: '', begun: false };
  idle.push(feed);
  const socket = net.connect({ host, port: Number(port) });
  socket.on('data', (data) => {
    feed.text = (feed.text + data.toString('latin1')).slice(-2_000);
    if (!feed.begun && feed.text.includes('\r\n\r\n')) {
      feed.begun = true;
      if (!feed.text.startsWith('HTTP/1.1 200')) say({ failed: feed.text.slice(0, 200) });
      next();
    }
    if (wanted !== undefined && feed.text.includes(wanted.id)) {
      feed.text = '';
      if (++wanted.heard === idle.length) say({ heardMs: Date.now() - wanted.at });
    }
  });
  socket.on('error', (error) => say({ failed: error.message }));
  socket.on('close', () => say({ closed: true }));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\n\r\n`);
}

/** A few at a time, so that the server's queue of connections has room for all. */
const atOnce = 50;
let opened = 0;
let ready = 0;

function next(): void {
  ready++;
  if (opened < Number(count)) {
    opened++;
    open();
  } else if (ready === Number(count)) say({ ready: true });
}

process.on('message', ({ id }: { id: string }) => {
  wanted = { id, at: Date.now(), heard: 0 };
  say({ waiting: id });
});
process.on('disconnect', () => process.exit());
for (; opened < Math.min(atOnce, Number(count)); opened++) open();
