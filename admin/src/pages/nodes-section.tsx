import { ApiError, get } from '../api/http.js';
import { useLoad } from '../lib/use-load.js';
import { Await } from '../ui/page.js';
import { Table } from '../ui/table.js';
import { Text } from '../ui/text.js';

interface Membership {
  all_nodes: string[];
  cluster_nodes: string[];
}

interface Resharding {
  state?: string;
  total?: number;
  running?: number;
  completed?: number;
  failed?: number;
}

interface Nodes {
  version: string;
  nodes: { name: string; isMember: boolean }[];
  resharding: string;
}

async function readNodes(signal: AbortSignal): Promise<Nodes> {
  const [root, membership, resharding] = await Promise.all([
    get<{ version: string; vendor: { name: string; version: string } }>([], undefined, signal),
    get<Membership>(['_membership'], undefined, signal),
    readResharding(signal),
  ]);
  return {
    version: `${root.vendor.name} ${root.vendor.version}`,
    nodes: membership.all_nodes.map((name) => ({ name, isMember: membership.cluster_nodes.includes(name) })),
    resharding,
  };
}

async function readResharding(signal: AbortSignal): Promise<string> {
  try {
    const {
      state,
      total = 0,
      running = 0,
      completed = 0,
      failed = 0,
    } = await get<Resharding>(['_reshard'], undefined, signal);
    return `${state}: ${total} jobs, ${running} running, ${completed} completed, ${failed} failed`;
  } catch (error) {
    if (error instanceof ApiError) return error.reason;
    throw error;
  }
}

export function NodesSection() {
  const state = useLoad(readNodes, []);
  return (
    <Await state={state}>
      {({ version, nodes, resharding }) => (
        <>
          <Table
            label="Nodes"
            rows={nodes}
            keyOf={({ name }) => name}
            columns={[
              { title: 'Node', cell: ({ name }) => <Text value={name} /> },
              { title: 'Version', cell: () => version },
              {
                title: 'State',
                cell: ({ isMember }) =>
                  isMember ? (
                    <span class="badge good">member</span>
                  ) : (
                    <span class="badge waiting">not a member</span>
                  ),
              },
            ]}
          />
          <p class="quiet">Resharding: {resharding} Each database draws its shards under Settings.</p>
        </>
      )}
    </Await>
  );
}
