import { useState } from 'preact/hooks';
import { createReplication, type Endpoint } from '../../api/replications.js';
import { useSession } from '../../lib/session-context.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox, Field, Form } from '../../ui/form.js';
import { notify } from '../../ui/toast.js';

export function CreateReplication({ onClose }: { onClose: () => void }) {
  const user = useSession().session.userCtx.name ?? '';
  const [source, setSource] = useState<Endpoint>({ place: '', user, password: '' });
  const [target, setTarget] = useState<Endpoint>({ place: '', user, password: '' });
  const [id, setId] = useState('');
  const [selector, setSelector] = useState('');
  const [isContinuous, setIsContinuous] = useState(true);
  const [createsTarget, setCreatesTarget] = useState(false);
  const create = async (): Promise<void> => {
    await createReplication({ id, source, target, isContinuous, createsTarget, selector });
    notify('The replication is on its way.');
    onClose();
  };
  return (
    <Dialog title="New replication" onClose={onClose} isWide>
      <Form onSubmit={create} submit="Start" onCancel={onClose}>
        <div class="columns">
          <EndpointFields title="From" value={source} onChange={setSource} />
          <EndpointFields title="To" value={target} onChange={setTarget} />
        </div>
        <Checkbox label="Go on with later changes" isChecked={isContinuous} onChange={setIsContinuous} />
        <Checkbox
          label="Create the target if it is missing"
          isChecked={createsTarget}
          onChange={setCreatesTarget}
        />
        <Field
          label="Only documents that match a selector"
          value={selector}
          onInput={setSelector}
          placeholder='{"city": "Oslo"}'
        />
        <Field label="Name" value={id} onInput={setId} hint="Made up by the server where it is empty." />
      </Form>
    </Dialog>
  );
}

interface EndpointProps {
  title: string;
  value: Endpoint;
  onChange: (value: Endpoint) => void;
}

function EndpointFields({ title, value, onChange }: EndpointProps) {
  const set = (name: keyof Endpoint) => (text: string) => onChange({ ...value, [name]: text });
  return (
    <div class="form">
      <Field
        label={title}
        value={value.place}
        onInput={set('place')}
        required
        hint="The name of a database of this server, or an address: https://example.com/orders"
      />
      <Field label={`${title}: user`} value={value.user} onInput={set('user')} />
      <Field
        label={`${title}: password`}
        value={value.password}
        onInput={set('password')}
        isSecret
        autocomplete="new-password"
        hint="The server logs in with it, to its own databases too."
      />
    </div>
  );
}
