import { MemoryStream } from './memory-stream.js';
import { streamLogSuites } from './stream-suites.js';

streamLogSuites('a stream in memory', () => new MemoryStream());
