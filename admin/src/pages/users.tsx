import { useState } from 'preact/hooks';
import {
  deleteAdmin,
  deleteUser,
  readAdmins,
  readUsers,
  saveAdmin,
  saveUser,
  type User,
} from '../api/users.js';
import { useSession } from '../lib/session-context.js';
import { useLoad } from '../lib/use-load.js';
import { ConfirmDialog } from '../ui/confirm-dialog.js';
import { Await, Page, Section } from '../ui/page.js';
import { Table } from '../ui/table.js';
import { Text, visible } from '../ui/text.js';
import { notify } from '../ui/toast.js';
import { PersonDialog, type Person } from './person-dialog.js';

interface Editing {
  kind: 'user' | 'admin';
  user?: User;
  name?: string;
}

export function UsersPage() {
  const [editing, setEditing] = useState<Editing>();
  const [removing, setRemoving] = useState<Editing>();
  const [begin, setBegin] = useState('');
  const users = useLoad((signal) => readUsers(begin, signal), [begin]);
  const admins = useLoad(readAdmins, []);
  const reload = (): void => {
    users.reload();
    admins.reload();
  };
  const save = async ({ name, password, roles }: Person): Promise<void> => {
    if (editing!.kind === 'admin') await saveAdmin(name, password);
    else await saveUser({ ...editing!.user, name, roles, ...(password === '' ? {} : { password }) });
    notify('Saved.');
    setEditing(undefined);
    reload();
  };
  const remove = async (): Promise<void> => {
    if (removing!.kind === 'admin') await deleteAdmin(removing!.name!);
    else await deleteUser(removing!.user!);
    notify('Deleted.');
    reload();
  };
  const name = removing?.user?.name ?? removing?.name ?? '';
  return (
    <Page title="Users">
      <Section title="Users" actions={<AddButton kind="user" onAdd={setEditing} />}>
        <input
          type="search"
          aria-label="Find users by the beginning of the name"
          placeholder="Find by the beginning of the name"
          value={begin}
          onInput={(event) => setBegin(event.currentTarget.value)}
        />
        <Await state={users}>
          {(rows) => (
            <Table
              label="Users"
              rows={rows}
              keyOf={({ _id }) => _id}
              empty="No users. They log in with a name and a password, and have roles."
              columns={[
                { title: 'Name', cell: (user) => <Text value={user.name} max={60} /> },
                {
                  title: 'Roles',
                  cell: ({ roles }) => <Text value={(roles ?? []).join(', ') || 'none'} max={120} />,
                },
                {
                  title: 'Action',
                  cell: (user) => (
                    <RowActions
                      name={user.name}
                      onEdit={() => setEditing({ kind: 'user', user })}
                      onDelete={() => setRemoving({ kind: 'user', user })}
                    />
                  ),
                },
              ]}
            />
          )}
        </Await>
      </Section>
      <Admins state={admins} onEdit={setEditing} onDelete={setRemoving} />
      {editing && (
        <PersonDialog
          title={editing.kind === 'admin' ? 'Server admin' : 'User'}
          person={
            editing.user ?? (editing.name === undefined ? undefined : { name: editing.name, roles: [] })
          }
          hasRoles={editing.kind === 'user'}
          onSave={save}
          onClose={() => setEditing(undefined)}
        />
      )}
      {removing && (
        <ConfirmDialog
          title={`Delete ${visible(name)}?`}
          submit="Delete"
          onConfirm={remove}
          onClose={() => setRemoving(undefined)}
        >
          <p>Their sessions end at once. Documents stay as they are.</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

interface AdminsProps {
  state: ReturnType<typeof useLoad<string[]>>;
  onEdit: (editing: Editing) => void;
  onDelete: (editing: Editing) => void;
}

function Admins({ state, onEdit, onDelete }: AdminsProps) {
  const { session } = useSession();
  return (
    <Section title="Server admins" actions={<AddButton kind="admin" onAdd={onEdit} />}>
      <p class="quiet">They may do everything on this server.</p>
      <Await state={state}>
        {(names) => (
          <Table
            label="Server admins"
            rows={names}
            keyOf={(name) => name}
            columns={[
              {
                title: 'Name',
                cell: (name) => (
                  <>
                    <Text value={name} max={60} />{' '}
                    {name === session.userCtx.name && <span class="badge">you</span>}
                  </>
                ),
              },
              {
                title: 'Action',
                cell: (name) =>
                  name !== session.userCtx.name && (
                    <RowActions
                      name={name}
                      onEdit={() => onEdit({ kind: 'admin', name })}
                      onDelete={() => onDelete({ kind: 'admin', name })}
                    />
                  ),
              },
            ]}
          />
        )}
      </Await>
    </Section>
  );
}

function AddButton({ kind, onAdd }: { kind: 'user' | 'admin'; onAdd: (editing: Editing) => void }) {
  return (
    <button type="button" class="small" onClick={() => onAdd({ kind })}>
      {kind === 'user' ? 'Add user' : 'Add admin'}
    </button>
  );
}

function RowActions({ name, onEdit, onDelete }: { name: string; onEdit: () => void; onDelete: () => void }) {
  return (
    <div class="row">
      <button type="button" class="small" aria-label={`Edit ${visible(name)}`} onClick={onEdit}>
        Edit
      </button>
      <button
        type="button"
        class="small danger-text"
        aria-label={`Delete ${visible(name)}`}
        onClick={onDelete}
      >
        Delete
      </button>
    </div>
  );
}
