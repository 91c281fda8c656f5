import { get } from '../api/http.js';
import { useLoad } from '../lib/use-load.js';
import { Await } from '../ui/page.js';
import { Table } from '../ui/table.js';
import { Text } from '../ui/text.js';

interface Membership {
  all_nodes: string[];
  cluster_nodes: string[];
}

interface Nodes {
  version: string;
  nodes: { name: string; isMember: boolean }[];
}

async function readNodes(signal: AbortSignal): Promise<Nodes> {
  const [root, membership] = await Promise.all([
    get<{ version: string; vendor: { name: string; version: string } }>([], undefined, signal),
    get<Membership>(['_membership'], undefined, signal),
  ]);
  return {
    version: `${root.vendor.name} ${root.vendor.version}`,
    nodes: membership.all_nodes.map((name) => ({ name, isMember: membership.cluster_nodes.includes(name) })),
  };
}

export function NodesSection() {
  const state = useLoad(readNodes, []);
  return (
    <Await state={state}>
      {({ version, nodes }) => (
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
      )}
    </Await>
  );
}
