import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpClient } from './http-client.js';
import { newDb } from './server.js';

interface AnswerCase {
  /** The request; `~` stands for the database. */
  do: string;
  json?: unknown;
  headers?: Record<string, string>;
  anonymous?: true;
  status: number;
  /** Members of the response, by dotted name. */
  has?: Record<string, unknown>;
}

type Area = (name: string, docs: readonly object[], cases: readonly AnswerCase[]) => void;

/** Tests that send the requests of an area one after the other to a database with some documents. */
export function answerAreas(client: HttpClient, parameters = ''): Area {
  return (name, docs, cases) => {
    test(name, async () => {
      const db = await newDb(client, parameters);
      await client.post(`${db}/_bulk_docs`, { docs });
      for (const { do: request, json, headers = {}, anonymous, status, has = {} } of cases) {
        const [method, path] = request.split(' ') as [string, string];
        const address = encodeURI(path.replaceAll('~', db)).replaceAll('%25', '%');
        const sender = anonymous ? client.anonymous : client;
        const answer = await sender.send(method, address, { json, headers });
        const shown = `${request} ${JSON.stringify(json)}: ${answer.text}`;
        assert.equal(answer.status, status, shown);
        for (const [member, value] of Object.entries(has))
          assert.deepEqual(at(answer.body, member), value, shown);
      }
    });
  };
}

const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((found, name) => (found as Record<string, unknown> | undefined)?.[name], value);
