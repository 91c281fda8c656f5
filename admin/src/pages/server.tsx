import { useEffect, useRef } from 'preact/hooks';
import { databaseInfos, infosMax } from '../api/databases.js';
import { get } from '../api/http.js';
import { formatBytes, formatDuration } from '../lib/format.js';
import { useHistory } from '../lib/history.js';
import { useInterval, useLoad } from '../lib/use-load.js';
import { Chart } from '../ui/chart.js';
import { ErrorBox } from '../ui/error-box.js';
import { Await, Page, Section } from '../ui/page.js';
import { NodesSection } from './nodes-section.js';
import { ReshardingSection } from './resharding-section.js';

const refreshMs = 2000;
const storageMs = 10_000;

interface Stats {
  couchdb: {
    httpd: { requests: { value: number } };
    database_writes?: { value: number };
    request_time: { value: { median: number; percentile: [number, number][] } };
  };
}

interface System {
  uptime: number;
  memory: { rss?: number; heap_used?: number; other: number };
}

async function readFigures(signal: AbortSignal): Promise<{ stats: Stats; system: System; at: number }> {
  const node = ['_node', '_local'];
  const [stats, system] = await Promise.all([
    get<Stats>([...node, '_stats'], undefined, signal),
    get<System>([...node, '_system'], undefined, signal),
  ]);
  return { stats, system, at: performance.now() };
}

/** Bytes of the databases; of the first hundred where there are more. */
async function readStorage(signal: AbortSignal): Promise<{ file: number; active: number; isAll: boolean }> {
  const names = await get<string[]>(['_all_dbs'], { limit: infosMax + 1 }, signal);
  const infos = [...(await databaseInfos(names.slice(0, infosMax), signal)).values()];
  const sum = (kind: 'file' | 'active'): number => infos.reduce((total, { sizes }) => total + sizes[kind], 0);
  return { file: sum('file'), active: sum('active'), isAll: names.length <= infosMax };
}

export function ServerPage() {
  const figures = useLoad(readFigures, []);
  const storage = useLoad(readStorage, []);
  const requests = useHistory(2);
  const latency = useHistory(2);
  const memory = useHistory(2);
  const sizes = useHistory(2);
  const before = useRef<{ requests: number; writes: number; at: number }>(undefined);
  useInterval(figures.reload, refreshMs);
  useInterval(storage.reload, storageMs);
  useEffect(() => {
    if (!figures.data) return;
    const { stats, system, at } = figures.data;
    const now = {
      requests: stats.couchdb.httpd.requests.value,
      writes: stats.couchdb.database_writes?.value ?? 0,
      at,
    };
    const last = before.current;
    before.current = now;
    if (last) {
      const seconds = Math.max((at - last.at) / 1000, 0.001);
      requests.add([(now.requests - last.requests) / seconds, (now.writes - last.writes) / seconds]);
    }
    const { median, percentile } = stats.couchdb.request_time.value;
    latency.add([median, percentile.find(([share]) => share === 95)?.[1] ?? null]);
    memory.add([system.memory.rss ?? system.memory.other, system.memory.heap_used ?? null]);
  }, [figures.data]);
  useEffect(() => {
    if (storage.data) sizes.add([storage.data.file, storage.data.active]);
  }, [storage.data]);
  const rate = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
  return (
    <Page title="Server">
      <ErrorBox error={storage.error} />
      <Await state={figures}>
        {({ system }) => (
          <p class="quiet">
            Running for {formatDuration(system.uptime)}. The charts show what happens while this page is open.
          </p>
        )}
      </Await>
      <div class="columns">
        <Chart
          label="Requests a second"
          series={[
            { label: 'all', color: '--chart-1' },
            { label: 'writes', color: '--chart-2' },
          ]}
          data={requests.data}
          format={rate}
        />
        <Chart
          label="Latency"
          series={[
            { label: 'median', color: '--chart-1' },
            { label: '95 of 100', color: '--chart-2' },
          ]}
          data={latency.data}
          format={(value) => `${rate(value)} ms`}
        />
        <Chart
          label="Memory"
          series={[
            { label: 'process', color: '--chart-1' },
            { label: 'heap', color: '--chart-3' },
          ]}
          data={memory.data}
          format={formatBytes}
        />
        <Chart
          label={storage.data?.isAll === false ? 'Storage of the first 100 databases' : 'Storage'}
          series={[
            { label: 'on disk', color: '--chart-1' },
            { label: 'stored', color: '--chart-2' },
          ]}
          data={sizes.data}
          format={formatBytes}
        />
      </div>
      <Section title="Nodes">
        <NodesSection />
      </Section>
      <Section title="Resharding">
        <ReshardingSection />
      </Section>
    </Page>
  );
}
