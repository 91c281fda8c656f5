/** Where clocks, timers and random numbers of the process may be used directly, with the reason. */
export const machineUsers: Readonly<Record<string, string>> = {
  'src/base/runtime.ts': 'Makes the runtime that all others are given.',
  'src/main/': 'The command line starts servers, and is none.',
  'src/compare/': 'A client that compares servers over HTTP.',
  'src/operations/': 'Commands on data folders and on remote servers, run by the command line.',
  'src/blobs/temporary-files.ts':
    'Names of temporary files tell this process from every earlier one, whatever its runtime.',
  'src/script/messages.ts':
    'Two threads read one clock to find functions that run too long; a simulation has no threads.',
};

/** State of modules, with the reason why it has no other owner. */
export const moduleStates: Readonly<Record<string, string>> = {
  // Scratch space: holds nothing that is read after the call that wrote it.
  'src/base/piece-buffers.ts: pieceBuffers': 'Memory to be filled again; what it held was sent.',
  'src/indexes/search-notes.ts: scratch': 'A buffer, filled and read within one call.',
  'src/indexes/tree/tree-node.ts: cursor': 'Spares an object for each number that is read from a node.',
  'src/json/canonical.ts: scratch': 'A buffer, filled and read within one call.',
  'src/json/order-key.ts: scratch': 'A buffer, filled and read within one call.',
  'src/json/order-key.ts: at': 'The position in that buffer.',
  'src/json/order-key.ts: isWide': 'Whether the key in that buffer has wide characters.',
  'src/json/order-key.ts: next': 'The position in the key that is being decoded.',
  'src/json/order-key.ts: double': 'A number, to be read as bytes.',
  'src/json/scan.ts: walker': 'Walks one text within one call.',
  'src/search/postings.ts: scratch': 'A number, to be read as bytes.',

  // What is remembered of an object, and goes with it.
  'src/http/connection/client-error.ts: answered': 'Connections whose client was told why they end.',
  'src/http/feeds/raw-chunk.ts: chunks': 'Bytes as a chunk of HTTP/1.1.',
  'src/query/bookmark.ts: heads': 'The head of a bookmark, by index.',
  'src/query/query-indexes.ts: remembered': 'The Mango indexes of a database, which is of a lower layer.',
  'src/revisions/tree-index.ts: indexes': 'The index of a large revision tree.',
  'src/revisions/tree.ts: rawTrees': 'Trees that are known to have raw hashes alone.',
  'src/revisions/tree.ts: sortedLeaves':
    'The leaves of a large tree in their order, for as long as there is the tree.',

  'src/search/analysis/analyzer.ts: made': 'The analyzer of a definition.',

  'src/search/analysis/analyzer.ts: shared':
    'What splits texts, by the name of an analyzer: the same name, the same terms.',
  'src/shard/recent-trees.ts: recent':
    'A few large trees by the bytes that they are decoded from: the same bytes, the same tree.',

  // What the process or a thread has only one of.
  'src/base/log-output.ts: openOutputs':
    'One handler for the end of the process, however many logs are open.',
  'src/base/tick-shape.ts: kept': 'One object of a thread, whose shape Node uses for all of the thread.',
  'src/blobs/blob-worker.ts: hashes': 'The entry point of a thread.',
  'src/blobs/blob-worker.ts: rpc': 'The entry point of a thread.',
  'src/selectors/evaluate-worker.ts: evaluator': 'The entry point of a thread.',
  'src/selectors/evaluate-worker.ts: rpc': 'The entry point of a thread.',
  'src/selectors/large-docs.ts: pool':
    'Threads that all databases of the process share; they end by themselves.',
  'src/replication/replication-worker.ts: rpc': 'The entry point of a thread.',
  'src/replication/replication-worker.ts: runs': 'The entry point of a thread.',
  'src/operations/copy-worker.ts: rpc': 'The entry point of a thread.',
  'src/indexes/index-thread.ts: documents': 'The entry point of a thread.',
  'src/indexes/index-thread.ts: indexer': 'The entry point of a thread.',
  'src/indexes/index-thread.ts: rpc': 'The entry point of a thread.',
  'src/indexes/index-thread.ts: runtime': 'The entry point of a thread.',
  'src/indexes/index-thread.ts: scripts': 'The entry point of a thread.',
  'src/indexes/index-thread.ts: store': 'The entry point of a thread.',
  'src/script/script-worker.ts: rpc': 'The entry point of a thread.',
  'src/script/script-worker.ts: runner': 'The entry point of a thread.',
  'src/workers/worker-process.ts: rpc': 'The entry point of a process.',
  'src/workers/worker-process.ts: server': 'The entry point of a process.',
  'src/node/data-folder.ts: lockedHere': 'Two servers of one process must not use the same folder.',
  'src/storage/lmdb-environment.ts: opening':
    'The native object that the library is opening; it has no way to ask for it.',
  'src/storage/lmdb-reading.ts: roomBytes':
    'The library reads into one buffer for all stores of a thread; this is its size.',
};
