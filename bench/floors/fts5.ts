import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import Database from 'libsql';
import type { Sample } from '../figures/figure.js';
import { makeTexts } from '../texts.js';
import { answerEach, serve, settings } from './child.js';

/** Floor 9: SQLite's FTS5. It inserts texts when it is asked, and answers queries by HTTP. */
const { folder, docs } = settings<{ folder: string; docs: number }>();
const docsOfCommit = 1_000;
const found = 25;
const texts = makeTexts(docs);
let builds = 0;

interface Table {
  database: Database.Database;
  statement: Database.Statement;
}

function build(): Table {
  fs.mkdirSync(folder, { recursive: true });
  const database = new Database(path.join(folder, `${++builds}.sqlite`));
  database.exec('PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE texts USING fts5(body)');
  const insert = database.prepare('INSERT INTO texts (rowid, body) VALUES (?, ?)');
  for (let at = 0; at < docs; at += docsOfCommit) {
    database.exec('BEGIN');
    for (const [i, text] of texts.slice(at, at + docsOfCommit).entries()) insert.run(at + i, text);
    database.exec('COMMIT');
  }
  const query = `SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ${found}`;
  return { database, statement: database.prepare(query) };
}

let table = build();

answerEach(() => {
  table.database.close();
  const started = performance.now();
  table = build();
  const sample: Sample = { units: docs, seconds: (performance.now() - started) / 1000 };
  return Promise.resolve(sample);
});

serve(
  http.createServer((request, response) => {
    const q = new URL(request.url!, 'http://localhost').searchParams.get('q')!;
    const body = JSON.stringify({ rows: table.statement.all(q) });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  }),
);
