import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkDbAdmin,
  checkMaintenance,
  checkMember,
  checkWriter,
  requireServerAdmin,
  type SecurityObject,
} from './rights.js';
import { anonymous, serverAdminRole, type UserContext } from '../base/user-context.js';

const root: UserContext = { name: 'root', roles: [serverAdminRole] };
const ann: UserContext = { name: 'ann', roles: ['boss'] };
const bob: UserContext = { name: 'bob', roles: ['crew'] };
const eve: UserContext = { name: 'eve', roles: ['x'] };

const closed: SecurityObject = { admins: { roles: ['boss'] }, members: { names: ['bob'], roles: [] } };

test('a database without members is open to everybody, its design only to server admins', () => {
  for (const security of [{}, { members: {} }, { members: { names: [], roles: [] } }, { members: 'odd' }]) {
    for (const user of [anonymous, bob, root]) checkMember(user, security);
    checkDbAdmin(root, security);
    assert.throws(() => checkDbAdmin(bob, security), {
      error: 'forbidden',
      reason: 'You are not a db or server admin.',
    });
    assert.throws(() => checkDbAdmin(anonymous, security), { error: 'unauthorized' });
  }
});

test('viewers read by name or role, and do not write; who is a member too does both', () => {
  const security: SecurityObject = {
    admins: { roles: ['boss'] },
    members: { names: ['bob'] },
    viewers: { names: ['eve', 'bob'], roles: ['guest'] },
  };
  const guest: UserContext = { name: 'gus', roles: ['guest'] };
  for (const user of [root, ann, bob, eve, guest]) checkMember(user, security);
  for (const user of [root, ann, bob]) checkWriter(user, security);
  for (const user of [eve, guest])
    assert.throws(() => checkWriter(user, security), {
      error: 'forbidden',
      reason: 'You are a viewer of this db: you may read it, but not change it.',
    });
  assert.throws(() => checkWriter(anonymous, security), { error: 'unauthorized' });
  assert.throws(() => checkDbAdmin(eve, security), { error: 'forbidden' });
});

test('a database with viewers and no members is not public', () => {
  const security: SecurityObject = { viewers: { names: ['eve'] } };
  checkMember(eve, security);
  assert.throws(() => checkWriter(eve, security), { error: 'forbidden' });
  for (const check of [checkMember, checkWriter]) {
    assert.throws(() => check(bob, security), { error: 'forbidden' });
    assert.throws(() => check(anonymous, security), { error: 'unauthorized' });
    check(root, security);
  }
});

test('members and admins enter by name or role; outsiders do not', () => {
  for (const user of [root, ann, bob]) checkMember(user, closed);
  assert.throws(() => checkMember(anonymous, closed), {
    error: 'unauthorized',
    reason: 'You are not authorized to access this db.',
  });
  assert.throws(() => checkMember(eve, closed), {
    error: 'forbidden',
    reason: 'You are not allowed to access this db.',
  });
  checkDbAdmin(ann, closed);
  assert.throws(() => checkDbAdmin(bob, closed), { error: 'forbidden' });
});

test('readers, the old name of members, count where there are no members', () => {
  checkMember(bob, { readers: { names: ['bob'] } });
  assert.throws(() => checkMember(eve, { readers: { names: ['bob'] } }), { error: 'forbidden' });
  checkMember(eve, { readers: { names: ['bob'] }, members: {} });
});

test('compaction is refused to members in words of its own', () => {
  checkMaintenance(ann, closed);
  assert.throws(() => checkMaintenance(bob, closed), {
    error: 'unauthorized',
    reason: 'You are not a server or db admin.',
  });
  assert.throws(() => checkMaintenance(eve, closed), { error: 'forbidden' });
});

test('only the role _admin makes a server admin', () => {
  requireServerAdmin(root);
  assert.throws(() => requireServerAdmin(ann), {
    error: 'unauthorized',
    reason: 'You are not a server admin.',
  });
});
