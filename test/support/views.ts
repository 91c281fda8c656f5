import { SystemRuntime } from '../../src/base/runtime.js';
import type { Logger } from '../../src/base/logger.js';
import { ScriptHost } from '../../src/script/script-host.js';
import { SoleBackend } from '../../src/indexes/index-backends.js';
import { MemoryBackend } from '../../src/indexes/memory-backend.js';
import { Views } from '../../src/indexes/views.js';

/** Indexes in memory, for tests that make a registry of their own. */
export function memoryViews(logger: Logger): Views {
  const runtime = new SystemRuntime();
  const scripts = new ScriptHost({
    runtime,
    threads: 1,
    memory_bytes: 32 * 1024 * 1024,
    timeoutMs: () => 5_000,
    log: () => {},
  });
  return new Views(new SoleBackend(new MemoryBackend(scripts, runtime)), scripts, 1_000_000, logger, runtime);
}
