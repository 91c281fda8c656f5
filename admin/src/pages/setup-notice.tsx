import { call, get } from '../api/http.js';
import { useLoad } from '../lib/use-load.js';
import { ActionButton } from '../ui/action-button.js';
import { notify } from '../ui/toast.js';

/** The way out of an incomplete set-up: the system databases are missing. */
export function SetupNotice({ onDone }: { onDone: () => void }) {
  const state = useLoad((signal) => get<{ state: string }>(['_cluster_setup'], undefined, signal), []);
  if (state.data?.state !== 'single_node_disabled' && state.data?.state !== 'cluster_disabled') return null;
  const setUp = async (): Promise<void> => {
    await call('POST', ['_cluster_setup'], { json: { action: 'finish_cluster' } });
    notify('The server is set up.');
    state.reload();
    onDone();
  };
  return (
    <div class="note row">
      <span class="grow">
        This server is not set up yet: databases for users and replications are missing.
      </span>
      <ActionButton class="primary" onAction={setUp}>
        Set up
      </ActionButton>
    </div>
  );
}
