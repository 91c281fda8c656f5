import { parentPort } from 'node:worker_threads';
import { Rpc } from '../base/rpc.js';
import { Evaluator, type Verdict } from './evaluate.js';
import type { EvaluationRequest } from './large-docs.js';

/** The module of the threads of `large-docs.ts`. */
let evaluator: Evaluator | undefined;

function handle({ evaluation, doc }: EvaluationRequest): Verdict {
  if (evaluation !== undefined) evaluator = new Evaluator(evaluation);
  return evaluator!.judge(doc);
}

const port = parentPort!;
const rpc = new Rpc<never, never, never, EvaluationRequest>(port, handle);
port.on('message', (message) => rpc.receive(message));
